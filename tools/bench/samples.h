/* SPDX-License-Identifier: Apache-2.0 */
/* Times of single calls, and what is told of them. */
#ifndef MCPUMP_BENCH_SAMPLES_H
#define MCPUMP_BENCH_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

struct bench_samples {
    double *us; /* owned */
    size_t count;
    size_t capacity;
};

int64_t bench_now_ns(void);

void bench_samples_add(struct bench_samples *samples, double us);
void bench_samples_append(struct bench_samples *samples, const struct bench_samples *more);
void bench_samples_done(struct bench_samples *samples);

/* Starts afresh, and times calls until the slice is over: at least one. */
void bench_samples_take(struct bench_samples *samples, int64_t slice_ns, void (*call)(void *),
                        void *context);

/* `part`: 0.5 is the median. NAN when there are none. */
double bench_percentile(struct bench_samples *samples, double part);
double bench_mean(const struct bench_samples *samples);

#endif
