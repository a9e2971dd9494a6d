/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "process/ladder.h"

#define MS 1000000

Test(ladder, climbs_with_a_grace_behind_each_action)
{
    struct mp_ladder ladder;
    mp_deadline now = 5000 * (mp_deadline)MS;
    mp_ladder_init(&ladder, 2000, 300);
    cr_expect_eq(mp_ladder_step(&ladder, now), MP_LADDER_CLOSE_STDIN);
    cr_expect_eq(ladder.until, now + 2000 * (mp_deadline)MS);
    cr_expect_eq(mp_ladder_step(&ladder, ladder.until - 1), MP_LADDER_ACTIONS);

    /* The next grace counts from when the action was due to be done, not from when it could be. */
    now = ladder.until + 7;
    cr_expect_eq(mp_ladder_step(&ladder, now), MP_LADDER_TERMINATE);
    cr_expect_eq(ladder.until, now + 300 * (mp_deadline)MS);
    cr_expect_eq(mp_ladder_step(&ladder, ladder.until - 1), MP_LADDER_ACTIONS);
    cr_expect_not(mp_ladder_is_over(&ladder, MP_NEVER - 1));

    now = ladder.until;
    cr_expect_eq(mp_ladder_step(&ladder, now), MP_LADDER_KILL);
    cr_expect_gt(ladder.until, now, "SIGKILL needs time too");
    cr_expect_lt(ladder.until, now + 60000 * (mp_deadline)MS, "but not for ever");
    cr_expect_not(mp_ladder_is_over(&ladder, ladder.until - 1));
    cr_expect(mp_ladder_is_over(&ladder, ladder.until));
    cr_expect_eq(mp_ladder_step(&ladder, ladder.until + 1), MP_LADDER_ACTIONS, "nothing is left");
}

Test(ladder, is_due_at_once_at_any_time)
{
    static const mp_deadline times[] = {0, 1, MP_NEVER - 1};
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        struct mp_ladder ladder;
        mp_ladder_init(&ladder, 2000, 2000);
        cr_expect_eq(mp_ladder_step(&ladder, times[i]), MP_LADDER_CLOSE_STDIN);
    }
}

Test(ladder, without_graces_all_is_due_at_once)
{
    struct mp_ladder ladder;
    mp_ladder_init(&ladder, 0, 0);
    cr_expect_eq(mp_ladder_step(&ladder, 9), MP_LADDER_CLOSE_STDIN);
    cr_expect_eq(mp_ladder_step(&ladder, 9), MP_LADDER_TERMINATE);
    cr_expect_eq(mp_ladder_step(&ladder, 9), MP_LADDER_KILL);
    cr_expect_eq(mp_ladder_step(&ladder, 9), MP_LADDER_ACTIONS);
    cr_expect_not(mp_ladder_is_over(&ladder, 9));
}

Test(ladder, huge_graces_saturate)
{
    struct mp_ladder ladder;
    mp_ladder_init(&ladder, INT64_MAX, INT64_MAX / MS);
    cr_expect_eq(mp_ladder_step(&ladder, 100), MP_LADDER_CLOSE_STDIN);
    cr_expect_eq(ladder.until, MP_NEVER);
    cr_expect_eq(mp_ladder_step(&ladder, MP_NEVER - 1), MP_LADDER_ACTIONS);
}

/* Escalates after so many steps; what is due next. */
static const struct {
    const char *name;
    int steps;
    enum mp_ladder_action next;
} escalations[] = {
    {"before the first action", 0, MP_LADDER_KILL},
    {"with stdin closed", 1, MP_LADDER_KILL},
    {"after SIGTERM", 2, MP_LADDER_KILL},
    {"after SIGKILL", 3, MP_LADDER_ACTIONS},
};

Test(ladder, escalates)
{
    for (size_t i = 0; i < sizeof(escalations) / sizeof(escalations[0]); i++) {
        struct mp_ladder ladder;
        mp_deadline now = 1;
        mp_ladder_init(&ladder, 2000, 2000);
        for (int step = 0; step < escalations[i].steps; step++) {
            mp_ladder_step(&ladder, now);
            now = ladder.until;
        }
        bool killed = escalations[i].steps == 3;
        mp_deadline until = ladder.until;
        now = killed ? until - 1 : 1;
        mp_ladder_escalate(&ladder);
        cr_expect_eq(mp_ladder_step(&ladder, now), escalations[i].next, "%s", escalations[i].name);
        cr_expect(!killed || ladder.until == until, "%s: the wait changed", escalations[i].name);
        cr_expect_not(mp_ladder_is_over(&ladder, now), "%s", escalations[i].name);
    }
}
