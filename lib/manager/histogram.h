/* SPDX-License-Identifier: Apache-2.0 */
/* How long calls took: counts in buckets that grow by an eighth at most. Any thread, no lock. */
#ifndef MP_MANAGER_HISTOGRAM_H
#define MP_MANAGER_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

/* Eight buckets for each doubling, from 1 us to about an hour. */
#define MP_HISTOGRAM_BUCKETS 256

struct mp_histogram {
    _Atomic uint32_t counts[MP_HISTOGRAM_BUCKETS]; /* relaxed: each is a number of its own */
};

void mp_histogram_add(struct mp_histogram *histogram, int64_t us);

/* The time that `percent` of the calls did not exceed, in us; -1 when there were none. */
int64_t mp_histogram_percentile(const struct mp_histogram *histogram, int percent);

#endif
