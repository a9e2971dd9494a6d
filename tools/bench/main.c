/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "run.h"

/* How long all of it takes: about 30 seconds, and three minutes. */
#define QUICK_ROUNDS      9
#define QUICK_SLICE_MS    80
#define QUICK_IDLE_MS     1000
#define THOROUGH_ROUNDS   25
#define THOROUGH_SLICE_MS 200
#define THOROUGH_IDLE_MS  5000

static const char usage[] =
    "Usage: mcpump-bench [--quick] [--json] [--only NAME] [--rounds N] [--slice-ms N]\n"
    "                    [--server PATH]\n"
    "What calls through mcpump cost, beside a raw loop at pipes with the same server.\n"
    "  --quick         half a minute instead of three\n"
    "  --json          one JSON object instead of a table\n"
    "  --only NAME     one measurement\n"
    "  --rounds N      how often each side has its turn\n"
    "  --slice-ms N    for how long\n"
    "  --server PATH   the server to call (default: the demo server of this build)\n"
    "Measurements:";

struct options {
    bool is_quick;
    bool is_json;
    const char *only; /* or NULL */
    const char *server;
    int rounds;   /* 0: not given */
    int slice_ms; /* 0: not given */
};

static int print_usage(FILE *file)
{
    fputs(usage, file);
    for (size_t i = 0; i < bench_table_size; i++)
        fprintf(file, " %s", bench_table[i].name);
    fputc('\n', file);
    return file == stdout ? 0 : 2;
}

static bool parse_count(const char *text, int max, int *ret_count)
{
    char *end;
    errno = 0;
    long count = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || count < 1 || count > max)
        return false;
    *ret_count = (int)count;
    return true;
}

static bool parse_name(const char *text, const char **ret_name)
{
    for (size_t i = 0; i < bench_table_size; i++) {
        if (strcmp(bench_table[i].name, text) == 0) {
            *ret_name = bench_table[i].name;
            return true;
        }
    }
    return false;
}

static bool take_option(struct options *options, int option, const char *value)
{
    switch (option) {
    case 'q':
        options->is_quick = true;
        return true;
    case 'j':
        options->is_json = true;
        return true;
    case 'o':
        return parse_name(value, &options->only);
    case 'r':
        return parse_count(value, 1000, &options->rounds);
    case 'm':
        return parse_count(value, 10000, &options->slice_ms);
    case 's':
        options->server = value;
        return true;
    default:
        return false;
    }
}

/* False: the usage is to be shown. */
static bool parse_options(int argc, char **argv, struct options *ret_options)
{
    static const struct option known[] = {
        {"quick", no_argument, NULL, 'q'},          {"json", no_argument, NULL, 'j'},
        {"only", required_argument, NULL, 'o'},     {"rounds", required_argument, NULL, 'r'},
        {"slice-ms", required_argument, NULL, 'm'}, {"server", required_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (option == 'h')
            exit(print_usage(stdout));
        if (!take_option(ret_options, option, optarg))
            return false;
    }
    return optind == argc;
}

/* The demo server of the build that this program is part of. */
static const char *built_server(void)
{
    static char path[PATH_MAX];
    static const char from_here[] = "/../demo/mcpump-demo-server";
    ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - sizeof(from_here));
    char *slash = size > 0 ? memrchr(path, '/', (size_t)size) : NULL;
    if (slash == NULL)
        bench_die("where this program stands is not known; use --server");
    memcpy(slash, from_here, sizeof(from_here));
    return path;
}

static struct bench_plan make_plan(const struct options *options)
{
    int rounds = options->is_quick ? QUICK_ROUNDS : THOROUGH_ROUNDS;
    int64_t slice_ms = options->is_quick ? QUICK_SLICE_MS : THOROUGH_SLICE_MS;
    int64_t idle_ms = options->is_quick ? QUICK_IDLE_MS : THOROUGH_IDLE_MS;
    if (options->slice_ms > 0)
        slice_ms = options->slice_ms;
    struct bench_plan plan = {
        .server = options->server != NULL ? options->server : built_server(),
        .rounds = options->rounds > 0 ? options->rounds : rounds,
        .slice_ns = slice_ms * BENCH_NS_PER_MS,
        .idle_ns = idle_ms * BENCH_NS_PER_MS,
    };
    if (access(plan.server, X_OK) != 0)
        bench_die("%s: %s", plan.server, strerror(errno));
    return plan;
}

static bool run_in_places(const struct bench_measurement *measurement,
                          const struct bench_plan *plan, struct bench_report *report)
{
    struct bench_values values[BENCH_PLACE_COUNT];
    bool measured = true;
    for (int p = 0; p < BENCH_PLACE_COUNT; p++) {
        if ((measurement->places & 1u << p) != 0)
            measured &= bench_run(measurement, (enum bench_place)p, plan, &values[p]);
    }
    bench_report_add(report, measurement, values);
    return measured;
}

int main(int argc, char **argv)
{
    struct options options = {.is_quick = false};
    if (!parse_options(argc, argv, &options))
        return print_usage(stderr);
    struct bench_plan plan = make_plan(&options);
    struct bench_report report = {.is_json = options.is_json};
    bool measured = true;
    bench_report_begin(&report);
    for (size_t i = 0; i < bench_table_size; i++) {
        if (options.only == NULL || options.only == bench_table[i].name)
            measured &= run_in_places(&bench_table[i], &plan, &report);
    }
    bench_report_end(&report);
    return measured ? 0 : 1;
}
