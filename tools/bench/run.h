/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one measurement in a process of its own. */
#ifndef MCPUMP_BENCH_RUN_H
#define MCPUMP_BENCH_RUN_H

#include "bench.h"

/* The plan's place and argument are filled in here. A place that this machine does not have leaves
 * the figures absent and is no failure; false: the measurement failed. Says why in both cases. */
bool bench_run(const struct bench_measurement *measurement, enum bench_place place,
               const struct bench_plan *plan, struct bench_values *ret_values);

#endif
