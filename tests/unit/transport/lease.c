/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/lease.h"

#include <criterion/criterion.h>
#include <poll.h>

struct stand {
    struct mp_bell reader;
    struct mp_lease lease;
};

static void stand_init(struct stand *stand)
{
    *stand = (struct stand){.reader = {-1}};
    cr_assert_eq(mp_bell_init(&stand->reader), 0);
    cr_assert_eq(mp_lease_init(&stand->lease, &stand->reader), 0);
}

static void stand_done(struct stand *stand)
{
    mp_lease_done(&stand->lease);
    mp_bell_done(&stand->reader);
}

/* Whether it was rung since the last question. */
static bool is_rung(const struct mp_bell *bell)
{
    struct pollfd fd = {bell->fd, POLLIN, 0};
    bool rung = poll(&fd, 1, 0) == 1;
    mp_bell_hear(bell);
    return rung;
}

static void lend(struct stand *stand)
{
    int offers = 0;
    while (!mp_lease_is_lent(&stand->lease)) {
        mp_lease_offer(&stand->lease);
        cr_assert_leq(++offers, 100);
    }
    cr_assert_gt(offers, 1, "not at the first quiet reply");
}

static void sit(struct stand *stand)
{
    struct mp_besides besides;
    mp_lease_sit(&stand->lease, &besides);
    cr_assert_eq(besides.number, &stand->lease.word);
}

Test(lease, is_not_to_be_had_until_it_is_lent)
{
    struct stand stand;
    stand_init(&stand);
    cr_expect_not(mp_lease_take(&stand.lease));
    lend(&stand);
    cr_expect(mp_lease_take(&stand.lease));
    cr_expect_not(mp_lease_take(&stand.lease), "one at a time");
    mp_lease_drop(&stand.lease, false);
    cr_expect_not(is_rung(&stand.reader), "a drop costs nothing");
    cr_expect(mp_lease_take(&stand.lease), "and it is there for the next");
    mp_lease_drop(&stand.lease, false);
    stand_done(&stand);
}

Test(lease, is_not_lent_while_somebody_sleeps)
{
    struct stand stand;
    stand_init(&stand);
    sit(&stand);
    for (int i = 0; i < 100; i++)
        mp_lease_offer(&stand.lease);
    cr_expect_not(mp_lease_is_lent(&stand.lease));
    mp_lease_stand(&stand.lease);
    lend(&stand);
    stand_done(&stand);
}

Test(lease, who_is_posted_has_stood_up)
{
    struct stand stand;
    struct mp_besides besides;
    struct mp_promise promise;
    struct mp_vigil vigil;
    stand_init(&stand);
    mp_promise_init(&promise);
    const struct mp_promises promises = mp_promises_of(&promise);
    mp_lease_sit(&stand.lease, &besides);
    cr_assert(mp_vigil_begin(&vigil, &promises, &besides));
    struct mp_wakes wakes = {NULL, 0};
    mp_promise_keep(&promise, &wakes);
    cr_expect(mp_vigil_end(&vigil));
    lend(&stand);
    mp_promise_done(&promise);
    stand_done(&stand);
}

Test(lease, who_sits_ends_the_lending)
{
    struct stand stand;
    stand_init(&stand);
    lend(&stand);
    sit(&stand);
    cr_expect_not(mp_lease_is_lent(&stand.lease));
    cr_expect(is_rung(&stand.reader), "it watches stdout again");
    cr_expect_not(mp_lease_take(&stand.lease));
    sit(&stand);
    cr_expect_not(is_rung(&stand.reader), "once");
    stand_done(&stand);
}

Test(lease, who_sits_asks_the_holder)
{
    struct stand stand;
    stand_init(&stand);
    lend(&stand);
    cr_assert(mp_lease_take(&stand.lease));
    cr_expect_not(mp_lease_is_wanted(&stand.lease));
    mp_alarm_arm(&stand.lease.alarm);
    sit(&stand);
    cr_expect(is_rung(&stand.lease.alarm.bell));
    cr_expect(mp_lease_is_wanted(&stand.lease));
    cr_expect(mp_lease_is_lent(&stand.lease), "until it is dropped");
    mp_lease_drop(&stand.lease, false);
    cr_expect_not(mp_lease_is_lent(&stand.lease));
    cr_expect(is_rung(&stand.reader));
    stand_done(&stand);
}

Test(lease, a_drop_for_good_gives_it_back)
{
    struct stand stand;
    stand_init(&stand);
    lend(&stand);
    cr_assert(mp_lease_take(&stand.lease));
    mp_lease_drop(&stand.lease, true);
    cr_expect_not(mp_lease_is_lent(&stand.lease));
    cr_expect(is_rung(&stand.reader));
    stand_done(&stand);
}

Test(lease, ends_when_it_is_not_made_use_of)
{
    struct stand stand;
    stand_init(&stand);
    lend(&stand);
    cr_assert(mp_lease_take(&stand.lease));
    mp_lease_drop(&stand.lease, false);
    cr_expect_neq(mp_lease_until(&stand.lease), MP_NEVER);
    mp_lease_review(&stand.lease);
    cr_expect(mp_lease_is_lent(&stand.lease), "it was, since");
    mp_lease_review(&stand.lease);
    cr_expect_not(mp_lease_is_lent(&stand.lease));
    stand_done(&stand);
}

Test(lease, the_reader_dozes_while_it_is_held)
{
    struct stand stand;
    stand_init(&stand);
    lend(&stand);
    cr_assert(mp_lease_take(&stand.lease));
    mp_lease_review(&stand.lease);
    cr_expect_neq(mp_lease_until(&stand.lease), MP_NEVER);
    mp_lease_review(&stand.lease);
    cr_expect_eq(mp_lease_until(&stand.lease), MP_NEVER);
    mp_lease_drop(&stand.lease, false);
    cr_expect(is_rung(&stand.reader), "or nobody would watch");
    cr_expect(mp_lease_is_lent(&stand.lease));
    cr_expect_neq(mp_lease_until(&stand.lease), MP_NEVER);
    stand_done(&stand);
}

Test(lease, is_reclaimed)
{
    struct stand stand;
    stand_init(&stand);
    cr_expect(mp_lease_reclaim(&stand.lease), "it is the reader's anyway");
    lend(&stand);
    cr_expect(mp_lease_reclaim(&stand.lease), "nobody holds it");
    cr_expect_not(mp_lease_take(&stand.lease));
    lend(&stand);
    cr_assert(mp_lease_take(&stand.lease));
    mp_alarm_arm(&stand.lease.alarm);
    cr_expect_not(mp_lease_reclaim(&stand.lease));
    cr_expect(is_rung(&stand.lease.alarm.bell));
    cr_expect_eq(mp_lease_until(&stand.lease), MP_NEVER, "the drop rings");
    mp_lease_drop(&stand.lease, false);
    cr_expect(is_rung(&stand.reader));
    cr_expect(mp_lease_reclaim(&stand.lease));
    stand_done(&stand);
}

Test(lease, a_new_connection_starts_with_nothing_lent)
{
    struct stand stand;
    stand_init(&stand);
    sit(&stand);
    mp_lease_reset(&stand.lease);
    for (int i = 0; i < 100; i++)
        mp_lease_offer(&stand.lease);
    cr_expect_not(mp_lease_is_lent(&stand.lease), "who sleeps has not stood up yet");
    mp_lease_stand(&stand.lease);
    lend(&stand);
    mp_lease_reset(&stand.lease);
    cr_expect_not(mp_lease_is_lent(&stand.lease));
    stand_done(&stand);
}
