/* SPDX-License-Identifier: Apache-2.0 */
#include "base/latch.h"

#define IS_SET ((uint64_t)1)
#define ONE    ((uint64_t)2)

void mp_latch_set(struct mp_latch *latch)
{
    uint64_t word = atomic_load(&latch->word);
    while (!atomic_compare_exchange_weak(&latch->word, &word, (word + ONE) | IS_SET)) {
    }
}

void mp_latch_clear(struct mp_latch *latch)
{
    atomic_fetch_and(&latch->word, ~IS_SET);
}

void mp_latch_clear_before(struct mp_latch *latch, uint64_t count)
{
    uint64_t word = count * ONE | IS_SET;
    atomic_compare_exchange_strong(&latch->word, &word, count * ONE);
}

bool mp_latch_is_set(const struct mp_latch *latch)
{
    return (atomic_load(&latch->word) & IS_SET) != 0;
}

uint64_t mp_latch_count(const struct mp_latch *latch)
{
    return atomic_load(&latch->word) / ONE;
}

bool mp_latch_hits(const struct mp_latch *latch, uint64_t count)
{
    uint64_t word = atomic_load(&latch->word);
    return (word & IS_SET) != 0 || word / ONE != count;
}
