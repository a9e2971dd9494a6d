/* SPDX-License-Identifier: Apache-2.0 */
#include "rounds.h"

#include <math.h>

#include "samples.h"

void bench_values_clear(struct bench_values *values)
{
    for (int f = 0; f < BENCH_FIGURE_COUNT; f++)
        values->of[f] = NAN;
}

void bench_rounds(const struct bench_plan *plan, bench_round_fn *round, void *context,
                  struct bench_values *ret_values)
{
    struct bench_samples columns[BENCH_FIGURE_COUNT] = {{NULL, 0, 0}};
    struct bench_values values;
    round(context, &values);
    for (int r = 0; r < plan->rounds; r++) {
        bench_values_clear(&values);
        round(context, &values);
        for (int f = 0; f < BENCH_FIGURE_COUNT; f++) {
            if (!isnan(values.of[f]))
                bench_samples_add(&columns[f], values.of[f]);
        }
    }
    for (int f = 0; f < BENCH_FIGURE_COUNT; f++) {
        ret_values->of[f] = bench_percentile(&columns[f], 0.5);
        bench_samples_done(&columns[f]);
    }
}
