/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interrupt latch: set or clear, and how often it was ever set. A call remembers the count at
 * its start, so that a set followed at once by a clear still aborts it. All functions are
 * async-signal-safe and lock-free.
 */
#ifndef MP_BASE_LATCH_H
#define MP_BASE_LATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct mp_latch {
    /* Count in the upper bits, state in the lowest: one word, so that nobody sees one without the
     * other. Sequentially consistent: a setter stores, then rings; a waiter registers, then loads.
     */
    _Atomic uint64_t word;
};

void mp_latch_set(struct mp_latch *latch);
void mp_latch_clear(struct mp_latch *latch);

/* Clears it unless it was set again since it had this count. */
void mp_latch_clear_before(struct mp_latch *latch, uint64_t count);

bool mp_latch_is_set(const struct mp_latch *latch);

/* How often it was set. */
uint64_t mp_latch_count(const struct mp_latch *latch);

/* Whether a call that started at `count` must be aborted: set now, or set since. */
bool mp_latch_hits(const struct mp_latch *latch, uint64_t count);

#endif
