/* SPDX-License-Identifier: Apache-2.0 */
/* Taking turns: a round lets each side measure for one slice. */
#ifndef MCPUMP_BENCH_ROUNDS_H
#define MCPUMP_BENCH_ROUNDS_H

#include "bench.h"

typedef void bench_round_fn(void *context, struct bench_values *ret_values);

/* One round to get warm, whose figures are dropped, then plan->rounds of them; returns the median
 * of each figure over the rounds. */
void bench_rounds(const struct bench_plan *plan, bench_round_fn *round, void *context,
                  struct bench_values *ret_values);

/* No figure is there. */
void bench_values_clear(struct bench_values *values);

#endif
