/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/lease.h"

/* The word. LENT is set by the reader alone, HELD by who takes the lease; the others only ever end
 * a lending. */
#define LENT    1u  /* the reader does not watch stdout */
#define HELD    2u  /* a caller reads; only with LENT */
#define WANTED  4u  /* it is to drop the lease; only with HELD */
#define DOZES   8u  /* the reader sleeps until it is rung; only with HELD */
#define SLEEPER 16u /* the rest is their number */

/* So many replies are quiet before the reader lends. */
#define QUIET_REPLIES 16

int mp_lease_init(struct mp_lease *lease, const struct mp_bell *reader)
{
    lease->reader = reader;
    mp_lease_reset(lease);
    return mp_alarm_init(&lease->alarm);
}

void mp_lease_done(struct mp_lease *lease)
{
    mp_alarm_done(&lease->alarm);
}

/* Sleepers of an earlier connection may not have stood up yet. */
void mp_lease_reset(struct mp_lease *lease)
{
    atomic_fetch_and(&lease->word, ~(SLEEPER - 1));
    lease->quiet = 0;
}

static bool change(struct mp_lease *lease, uint32_t *word, uint32_t to)
{
    return atomic_compare_exchange_weak(&lease->word, word, to);
}

/* -- by the reader thread */

void mp_lease_offer(struct mp_lease *lease)
{
    uint32_t word = 0;
    if (atomic_load(&lease->word) != 0)
        lease->quiet = 0;
    else if (++lease->quiet >= QUIET_REPLIES &&
             atomic_compare_exchange_strong(&lease->word, &word, LENT)) {
        lease->quiet = 0;
        lease->seen = atomic_load_explicit(&lease->taken, memory_order_relaxed);
    }
}

bool mp_lease_is_lent(const struct mp_lease *lease)
{
    return (atomic_load(&lease->word) & LENT) != 0;
}

mp_deadline mp_lease_until(const struct mp_lease *lease)
{
    bool dozes = (atomic_load(&lease->word) & DOZES) != 0;
    return dozes ? MP_NEVER : mp_deadline_after_ms(MP_LEASE_MS);
}

void mp_lease_review(struct mp_lease *lease)
{
    uint32_t taken = atomic_load_explicit(&lease->taken, memory_order_relaxed);
    uint32_t word = atomic_load(&lease->word);
    bool is_idle = taken == lease->seen;
    lease->seen = taken;
    while (is_idle && (word & LENT) != 0 &&
           !change(lease, &word, (word & HELD) != 0 ? word | DOZES : word & ~LENT)) {
    }
}

bool mp_lease_reclaim(struct mp_lease *lease)
{
    uint32_t word = atomic_load(&lease->word);
    while ((word & LENT) != 0 &&
           !change(lease, &word, (word & HELD) != 0 ? word | WANTED | DOZES : word & ~LENT)) {
    }
    if ((word & HELD) != 0)
        mp_alarm_raise(&lease->alarm);
    return (word & HELD) == 0;
}

/* -- by a caller */

bool mp_lease_take(struct mp_lease *lease)
{
    uint32_t word = LENT;
    if (!atomic_compare_exchange_strong(&lease->word, &word, LENT | HELD))
        return false;
    atomic_fetch_add_explicit(&lease->taken, 1, memory_order_relaxed);
    return true;
}

bool mp_lease_is_free(const struct mp_lease *lease)
{
    return (atomic_load(&lease->word) & (LENT | HELD)) == LENT;
}

bool mp_lease_is_wanted(const struct mp_lease *lease)
{
    return (atomic_load(&lease->word) & WANTED) != 0;
}

void mp_lease_drop(struct mp_lease *lease, bool for_good)
{
    uint32_t word = atomic_load(&lease->word), to;
    do {
        bool has_to_end = for_good || (word & WANTED) != 0 || word >= SLEEPER;
        to = word & ~(has_to_end ? SLEEPER - 1 : HELD | DOZES);
    } while (!change(lease, &word, to));
    if ((to & LENT) == 0 || (word & DOZES) != 0)
        mp_bell_ring(lease->reader);
}

void mp_lease_sit(struct mp_lease *lease, struct mp_besides *ret_besides)
{
    uint32_t word = atomic_load(&lease->word), to;
    do {
        to = word + SLEEPER;
        if ((word & HELD) != 0)
            to |= WANTED;
        else
            to &= ~LENT;
    } while (!change(lease, &word, to));
    if ((word & HELD) != 0)
        mp_alarm_raise(&lease->alarm);
    else if ((word & LENT) != 0)
        mp_bell_ring(lease->reader);
    *ret_besides = (struct mp_besides){.number = &lease->word, .one = SLEEPER};
}

void mp_lease_stand(struct mp_lease *lease)
{
    atomic_fetch_sub(&lease->word, SLEEPER);
}
