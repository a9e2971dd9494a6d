/* SPDX-License-Identifier: Apache-2.0 */
/* The figures as they come: one JSON object, or a table for people. */
#ifndef MCPUMP_BENCH_REPORT_H
#define MCPUMP_BENCH_REPORT_H

#include "bench.h"

struct bench_report {
    bool is_json;
    const char *separator; /* before the next measurement of the JSON */
};

void bench_report_begin(struct bench_report *report);

/* One measurement: the values of each place, of which those in measurement->places count. */
void bench_report_add(struct bench_report *report, const struct bench_measurement *measurement,
                      const struct bench_values values[BENCH_PLACE_COUNT]);

void bench_report_end(struct bench_report *report);

#endif
