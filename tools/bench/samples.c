/* SPDX-License-Identifier: Apache-2.0 */
#include "samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

#define FIRST_CAPACITY 4096

int64_t bench_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void make_room(struct bench_samples *samples, size_t more)
{
    size_t capacity = samples->capacity > 0 ? samples->capacity : FIRST_CAPACITY;
    while (capacity - samples->count < more)
        capacity *= 2;
    if (capacity == samples->capacity)
        return;
    samples->us = bench_need(realloc(samples->us, capacity * sizeof(*samples->us)));
    samples->capacity = capacity;
}

void bench_samples_add(struct bench_samples *samples, double us)
{
    make_room(samples, 1);
    samples->us[samples->count++] = us;
}

void bench_samples_append(struct bench_samples *samples, const struct bench_samples *more)
{
    if (more->count == 0)
        return;
    make_room(samples, more->count);
    memcpy(samples->us + samples->count, more->us, more->count * sizeof(*more->us));
    samples->count += more->count;
}

void bench_samples_done(struct bench_samples *samples)
{
    free(samples->us);
    *samples = (struct bench_samples){NULL, 0, 0};
}

void bench_samples_take(struct bench_samples *samples, int64_t slice_ns, void (*call)(void *),
                        void *context)
{
    samples->count = 0;
    int64_t now = bench_now_ns(), end = now + slice_ns;
    do {
        int64_t before = now;
        call(context);
        now = bench_now_ns();
        bench_samples_add(samples, (double)(now - before) / 1e3);
    } while (now < end);
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double bench_percentile(struct bench_samples *samples, double part)
{
    if (samples->count == 0)
        return NAN;
    qsort(samples->us, samples->count, sizeof(*samples->us), compare);
    return samples->us[(size_t)(part * (double)(samples->count - 1) + 0.5)];
}

double bench_mean(const struct bench_samples *samples)
{
    double sum = 0;
    for (size_t i = 0; i < samples->count; i++)
        sum += samples->us[i];
    return samples->count > 0 ? sum / (double)samples->count : NAN;
}
