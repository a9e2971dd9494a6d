/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Six threads call, with deadlines that some calls miss and interrupts that hit some, while the
 * trace is started and stopped again and again, by two threads at once, and a tap looks on. Each
 * trace is whole, the tap sees each direction in one thread at a time, and nothing is left.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stress.h"

enum { CALLERS = 6, TRACERS = 2 };
#define ROUNDS 4000
#define TRACES 60

struct storm {
    mcpump_server *server;
    int rounds, traces;
    atomic_int calling;
    atomic_int started;
    char path[64];
    atomic_bool is_shown[2];
    long shown[2]; /* no atomics: TSan is to see that they are changed by one thread at a time */
};

static void tap(void *user, mcpump_direction direction, const char *line, size_t size)
{
    struct storm *storm = user;
    STRESS_CHECK(!atomic_exchange(&storm->is_shown[direction], true), "two at once");
    STRESS_CHECK(size > 1 && line[0] == '{' && line[size - 1] == '}', "%.*s", (int)size, line);
    storm->shown[direction]++;
    atomic_store(&storm->is_shown[direction], false);
}

static void check_file(const char *path)
{
    char end[4] = "";
    FILE *file = fopen(path, "r");
    STRESS_CHECK(file != NULL && fgetc(file) == '[', "%s has no start", path);
    fseek(file, -4, SEEK_END);
    STRESS_CHECK(fread(end, 1, 4, file) == 4 && memcmp(end, "}\n]\n", 4) == 0, "%s has no end",
                 path);
    fclose(file);
}

static void trace(struct storm *storm)
{
    for (int i = 0; i < storm->traces || atomic_load(&storm->calling) > 0; i++) {
        mcpump_err err = mcpump_trace_start(storm->path, NULL);
        STRESS_CHECK(err == MCPUMP_OK || err == MCPUMP_ERR_ALREADY_OPEN, "start: %s",
                     mcpump_err_name(err));
        if (err != MCPUMP_OK)
            continue;
        atomic_fetch_add(&storm->started, 1);
        if (i % 10 == 0)
            mcpump_server_interrupt(storm->server);
        mcpump_server_clear_interrupt(storm->server);
        mcpump_err again = mcpump_trace_start(storm->path, NULL);
        STRESS_CHECK(again == MCPUMP_ERR_ALREADY_OPEN, "again: %s", mcpump_err_name(again));
        mcpump_trace_stop();
    }
}

static void body(void *context, int number)
{
    struct storm *storm = context;
    if (number >= CALLERS) {
        trace(storm);
        return;
    }
    for (int round = 0; round < storm->rounds; round++) {
        mcpump_err err = stress_echo(storm->server, number, round, round % 50 == 0 ? 1 : 0);
        STRESS_CHECK(err == MCPUMP_OK || err == MCPUMP_ERR_TIMEOUT || err == MCPUMP_ERR_INTERRUPTED,
                     "a call ended by %s", mcpump_err_name(err));
    }
    atomic_fetch_sub(&storm->calling, 1);
}

int main(int argc, char **argv)
{
    struct stress stress = stress_init(argc, argv);
    struct stress_footprint before = stress_footprint();
    struct storm storm = {.rounds = stress_count(&stress, ROUNDS),
                          .traces = stress_count(&stress, TRACES)};
    const char *args[] = {NULL};
    mcpump_server_options options = MCPUMP_SERVER_OPTIONS_INIT;
    options.transport.command = stress.server;
    options.transport.args = args;
    options.transport.stderr_sink = MCPUMP_STDERR_DISCARD;
    options.transport.tap_fn = tap;
    options.transport.tap_user = &storm;
    snprintf(storm.path, sizeof(storm.path), "/tmp/mcpump-stress-%d.json", (int)getpid());
    atomic_init(&storm.calling, CALLERS);
    STRESS_CHECK(mcpump_server_new(&options, &storm.server, NULL) == MCPUMP_OK, "new");
    stress_run(CALLERS + TRACERS, body, &storm);
    STRESS_CHECK(mcpump_trace_start(storm.path, NULL) == MCPUMP_OK, "the last trace");
    STRESS_CHECK(stress_echo(storm.server, 0, 0, 0) == MCPUMP_OK, "the last call");
    mcpump_trace_stop();
    check_file(storm.path);
    mcpump_server_free(storm.server);
    unlink(storm.path);
    stress_check_footprint(before);
    printf("%d traces; %ld lines to the server, %ld from it\n", atomic_load(&storm.started),
           storm.shown[MCPUMP_TO_SERVER], storm.shown[MCPUMP_FROM_SERVER]);
    return 0;
}
