/* SPDX-License-Identifier: Apache-2.0 */
/* What a transport counts. Relaxed: each is a number of its own, nothing is concluded from two. */
#ifndef MP_TRANSPORT_COUNTERS_H
#define MP_TRANSPORT_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

struct mp_counters {
    _Atomic uint64_t opens, requests, replies, notifications_sent, notifications_read,
        server_requests, late_replies, duplicate_replies, unknown_replies, junk_lines,
        cancelled_on_wire, bytes_written, bytes_read, stderr_lines, stderr_lines_dropped;
};

static inline void mp_count(_Atomic uint64_t *counter, uint64_t by)
{
    atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

static inline uint64_t mp_counted(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

#endif
