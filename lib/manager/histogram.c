/* SPDX-License-Identifier: Apache-2.0 */
#include "manager/histogram.h"

#include <stddef.h>

/* Each doubling has 2^SHARE buckets; the first 2^SHARE values have one each. */
#define SHARE 3

static size_t bucket_of(uint64_t us)
{
    if (us < (1u << SHARE))
        return (size_t)us;
    int doubling = 63 - __builtin_clzll(us) - SHARE;
    size_t bucket = ((size_t)doubling << SHARE) + (size_t)(us >> doubling);
    return bucket < MP_HISTOGRAM_BUCKETS ? bucket : MP_HISTOGRAM_BUCKETS - 1;
}

/* The largest value of a bucket. */
static int64_t top_of(size_t bucket)
{
    if (bucket < (1u << SHARE))
        return (int64_t)bucket;
    size_t doubling = (bucket >> SHARE) - 1;
    uint64_t first = ((uint64_t)1 << SHARE) + (bucket & ((1u << SHARE) - 1));
    return (int64_t)(((first + 1) << doubling) - 1);
}

void mp_histogram_add(struct mp_histogram *histogram, int64_t us)
{
    size_t bucket = bucket_of(us > 0 ? (uint64_t)us : 0);
    atomic_fetch_add_explicit(&histogram->counts[bucket], 1, memory_order_relaxed);
}

int64_t mp_histogram_percentile(const struct mp_histogram *histogram, int percent)
{
    uint64_t total = 0, below = 0;
    uint32_t counts[MP_HISTOGRAM_BUCKETS];
    for (size_t i = 0; i < MP_HISTOGRAM_BUCKETS; i++) {
        counts[i] = atomic_load_explicit(&histogram->counts[i], memory_order_relaxed);
        total += counts[i];
    }
    uint64_t wanted = (total * (uint64_t)percent + 99) / 100;
    for (size_t i = 0; i < MP_HISTOGRAM_BUCKETS; i++) {
        below += counts[i];
        if (total > 0 && below >= wanted)
            return top_of(i);
    }
    return -1;
}
