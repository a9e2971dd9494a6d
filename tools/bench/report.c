/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <math.h>
#include <stdio.h>

#include "place.h"

#define NUMBER_SIZE 32

static const struct {
    const char *key;
    int decimals;
} figures[] = {[BENCH_NONE] = {"", 0},
#define BENCH_X(name, key, decimals) [BENCH_##name] = {key, decimals},
               BENCH_FIGURES(BENCH_X)
#undef BENCH_X
};

/* Returns text. `absent`: for a figure that was not measured, or that the measurement lacks. */
static const char *number(const struct bench_values *values, enum bench_figure figure,
                          const char *absent, char text[NUMBER_SIZE])
{
    double value = figure != BENCH_NONE ? values->of[figure] : NAN;
    if (isfinite(value))
        snprintf(text, NUMBER_SIZE, "%.*f", figures[figure].decimals, value);
    else
        snprintf(text, NUMBER_SIZE, "%s", absent);
    return text;
}

/* -- JSON */

static void json_member(const struct bench_values *values, enum bench_figure figure,
                        const char **separator)
{
    char text[NUMBER_SIZE];
    if (figure == BENCH_NONE)
        return;
    printf("%s\"%s\":%s", *separator, figures[figure].key, number(values, figure, "null", text));
    *separator = ",";
}

static void json_figures(const struct bench_view *view, const struct bench_values *values)
{
    const char *separator = "";
    putchar('{');
    json_member(values, view->main, &separator);
    for (int i = 0; i < BENCH_MAX_BESIDES; i++)
        json_member(values, view->besides[i], &separator);
    json_member(values, view->raw, &separator);
    if (view->raw != BENCH_NONE)
        json_member(values, BENCH_RATIO, &separator);
    putchar('}');
}

static void json_add(struct bench_report *report, const struct bench_measurement *measurement,
                     const struct bench_values values[])
{
    const char *separator = "";
    bool is_flat = measurement->view->is_flat;
    printf("%s\n\"%s\":%s", report->separator, measurement->name, is_flat ? "" : "{");
    report->separator = ",";
    for (int p = 0; p < BENCH_PLACE_COUNT; p++) {
        if ((measurement->places & 1u << p) == 0)
            continue;
        if (!is_flat)
            printf("%s\"%s\":", separator, bench_place_name((enum bench_place)p));
        separator = ",";
        json_figures(measurement->view, &values[p]);
    }
    fputs(is_flat ? "" : "}", stdout);
}

/* -- the table */

static void table_line(const struct bench_measurement *measurement, enum bench_place place,
                       const struct bench_values *values)
{
    const struct bench_view *view = measurement->view;
    char text[NUMBER_SIZE];
    printf("%-13s %-9s %-20s", measurement->name, bench_place_name(place), figures[view->main].key);
    printf("%10s", number(values, view->main, "-", text));
    printf("%10s", number(values, view->raw, "-", text));
    printf("%8s ", number(values, view->raw != BENCH_NONE ? BENCH_RATIO : BENCH_NONE, "-", text));
    for (int i = 0; i < BENCH_MAX_BESIDES; i++) {
        enum bench_figure figure = view->besides[i];
        if (figure != BENCH_NONE)
            printf("  %s %s", figures[figure].key, number(values, figure, "-", text));
    }
    putchar('\n');
}

/* -- both */

void bench_report_begin(struct bench_report *report)
{
    report->separator = "";
    if (report->is_json)
        putchar('{');
    else
        printf("%-13s %-9s %-20s%10s%10s%8s   besides\n", "measurement", "place", "figure",
               "mcpump", "raw", "ratio");
}

void bench_report_add(struct bench_report *report, const struct bench_measurement *measurement,
                      const struct bench_values values[BENCH_PLACE_COUNT])
{
    if (report->is_json) {
        json_add(report, measurement, values);
    } else {
        for (int p = 0; p < BENCH_PLACE_COUNT; p++) {
            if ((measurement->places & 1u << p) != 0)
                table_line(measurement, (enum bench_place)p, &values[p]);
        }
    }
    fflush(stdout);
}

void bench_report_end(struct bench_report *report)
{
    if (report->is_json)
        puts("\n}");
}
