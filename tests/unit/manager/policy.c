/* SPDX-License-Identifier: Apache-2.0 */
#include "manager/policy.h"

#include <criterion/criterion.h>

static const struct mp_policy policy = {
    .backoff_first_ms = 1000, .backoff_most_ms = 60000, .stable_ms = 30000, .max_reconnects = 5};

static struct mp_policy_step next(int64_t tries, int64_t ready_ms, uint64_t chance)
{
    struct mp_outage outage = {tries, ready_ms, true, chance};
    return mp_policy_next(&policy, &outage);
}

/* The longest delay: the one that the bound is. */
static int64_t bound(int64_t tries, int64_t ready_ms)
{
    if (tries >= 5 && ready_ms < 0)
        return next(tries, ready_ms, 0).delay_ms;
    int64_t longest = 0;
    for (uint64_t chance = 0; chance <= 60000; chance++) {
        int64_t delay = next(tries, ready_ms, chance).delay_ms;
        cr_assert_geq(delay, 0);
        longest = delay > longest ? delay : longest;
    }
    return longest;
}

Test(policy, bounds_double_up_to_the_most)
{
    static const int64_t bounds[] = {1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000};
    for (int64_t tries = 0; tries < 8; tries++)
        cr_assert_eq(bound(tries, -1), bounds[tries], "after %d tries", (int)tries);
    cr_assert_eq(bound(1000000, -1), 60000);
}

Test(policy, delays_are_drawn_from_the_whole_range)
{
    cr_assert_eq(next(0, -1, 0).delay_ms, 0);
    cr_assert_eq(next(0, -1, 1000).delay_ms, 1000);
    cr_assert_eq(next(0, -1, 1001).delay_ms, 0);
    cr_assert_lt(next(0, -1, UINT64_MAX).delay_ms, 1001);
}

Test(policy, so_many_in_a_row_by_itself)
{
    int64_t tries = 0;
    for (int i = 0; i < 5; i++) {
        struct mp_policy_step step = next(tries, -1, 7);
        cr_assert(step.by_itself);
        cr_assert_eq(step.tries_in_row, tries + 1);
        tries = step.tries_in_row;
    }
    struct mp_policy_step step = next(tries, -1, 7);
    cr_assert_not(step.by_itself);
    cr_assert_eq(step.tries_in_row, 5, "a failed server stays so");
}

Test(policy, only_a_stable_connection_starts_anew)
{
    cr_assert_eq(next(3, 29999, 0).tries_in_row, 4, "a handshake is not enough");
    cr_assert_eq(next(3, 30000, 0).tries_in_row, 1);
    cr_assert_eq(bound(3, 30000), 1000);
}

Test(policy, no_reconnects_at_all)
{
    struct mp_policy none = policy;
    none.max_reconnects = 0;
    struct mp_outage outage = {0, 100000, true, 0};
    struct mp_policy_step step = mp_policy_next(&none, &outage);
    cr_assert_not(step.by_itself);
    cr_assert_eq(step.tries_in_row, 0);
}

Test(policy, what_does_not_come_back_by_itself_waits_for_the_whole_bound)
{
    struct mp_outage outage = {2, -1, false, 17};
    struct mp_policy_step step = mp_policy_next(&policy, &outage);
    cr_assert_not(step.by_itself);
    cr_assert_eq(step.delay_ms, 4000);
    cr_assert_eq(step.tries_in_row, 3, "it counts all the same");
}
