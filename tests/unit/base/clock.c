/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <criterion/criterion.h>
#include <limits.h>

#define MS ((int64_t)1000000)

Test(clock, is_monotonic)
{
    int64_t before = mp_now_ns();
    cr_expect_gt(before, 0);
    for (int i = 0; i < 1000; i++) {
        int64_t now = mp_now_ns();
        cr_assert_geq(now, before);
        before = now;
    }
}

Test(clock, deadline_after)
{
    int64_t before = mp_now_ns();
    mp_deadline deadline = mp_deadline_after_ms(1000);
    cr_expect_geq(deadline, before + 1000 * MS);
    cr_expect_leq(deadline, mp_now_ns() + 1000 * MS);
}

Test(clock, deadline_that_never_comes)
{
    static const int64_t far[] = {-1, INT64_MIN, INT64_MAX, INT64_MAX / MS, INT64_MAX / MS + 1};
    for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++)
        cr_expect_eq(mp_deadline_after_ms(far[i]), MP_NEVER, "%lld ms", (long long)far[i]);
    cr_expect(!mp_deadline_passed(MP_NEVER));
    cr_expect_eq(mp_deadline_poll_ms(MP_NEVER), -1);
}

Test(clock, deadline_passed)
{
    cr_expect(mp_deadline_passed(mp_deadline_after_ms(0)));
    cr_expect(mp_deadline_passed(mp_now_ns() - 1));
    cr_expect(mp_deadline_passed(0));
    cr_expect(mp_deadline_passed(INT64_MIN));
    cr_expect(!mp_deadline_passed(mp_deadline_after_ms(3600 * 1000)));
}

Test(clock, earlier)
{
    cr_expect_eq(mp_deadline_earlier(1, 2), 1);
    cr_expect_eq(mp_deadline_earlier(2, 1), 1);
    cr_expect_eq(mp_deadline_earlier(MP_NEVER, 5), 5);
    cr_expect_eq(mp_deadline_earlier(MP_NEVER, MP_NEVER), MP_NEVER);
}

Test(clock, poll_timeout)
{
    cr_expect_eq(mp_deadline_poll_ms(0), 0);
    cr_expect_eq(mp_deadline_poll_ms(mp_now_ns()), 0);
    cr_expect_eq(mp_deadline_poll_ms(MP_NEVER - 1), INT_MAX, "clamped");
    int hour = mp_deadline_poll_ms(mp_deadline_after_ms(3600 * 1000));
    cr_expect(hour > 3500 * 1000 && hour <= 3600 * 1000, "%d", hour);
}

/* A poll of the rounded time never ends before the deadline. */
Test(clock, poll_timeout_is_rounded_up)
{
    for (int i = 0; i < 1000; i++) {
        mp_deadline deadline = mp_now_ns() + 50 * MS + i * 1009;
        int ms = mp_deadline_poll_ms(deadline);
        int64_t after = mp_now_ns();
        cr_assert_geq(after + ms * MS, deadline);
    }
}

Test(clock, timespec)
{
    struct timespec ts = mp_deadline_timespec(12345 * MS + 678);
    cr_expect_eq(ts.tv_sec, 12);
    cr_expect_eq(ts.tv_nsec, 345 * MS + 678);
    ts = mp_deadline_timespec(MP_NEVER - 1);
    cr_expect(ts.tv_nsec >= 0 && ts.tv_nsec < 1000 * MS);
}
