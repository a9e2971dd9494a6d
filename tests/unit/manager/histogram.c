/* SPDX-License-Identifier: Apache-2.0 */
#include "manager/histogram.h"

#include <criterion/criterion.h>

Test(histogram, empty)
{
    struct mp_histogram histogram = {0};
    cr_assert_eq(mp_histogram_percentile(&histogram, 50), -1);
}

/* What one value is told as: never less, at most an eighth more. */
Test(histogram, within_an_eighth)
{
    for (int64_t us = 0; us < 4000000000; us = us * 9 / 8 + 1) {
        struct mp_histogram histogram = {0};
        mp_histogram_add(&histogram, us);
        int64_t told = mp_histogram_percentile(&histogram, 50);
        cr_assert_geq(told, us);
        cr_assert_leq(told, us + us / 8, "%lld is told as %lld", (long long)us, (long long)told);
    }
}

Test(histogram, percentiles)
{
    struct mp_histogram histogram = {0};
    for (int i = 0; i < 98; i++)
        mp_histogram_add(&histogram, 5);
    mp_histogram_add(&histogram, 6);
    mp_histogram_add(&histogram, 7);
    cr_assert_eq(mp_histogram_percentile(&histogram, 50), 5);
    cr_assert_eq(mp_histogram_percentile(&histogram, 98), 5);
    cr_assert_eq(mp_histogram_percentile(&histogram, 99), 6);
    cr_assert_eq(mp_histogram_percentile(&histogram, 100), 7);
}

Test(histogram, extremes_stay_within)
{
    struct mp_histogram histogram = {0};
    mp_histogram_add(&histogram, -1);
    mp_histogram_add(&histogram, INT64_MAX);
    cr_assert_eq(mp_histogram_percentile(&histogram, 50), 0);
    cr_assert_gt(mp_histogram_percentile(&histogram, 100), (int64_t)3600 * 1000000);
}
