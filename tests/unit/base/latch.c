/* SPDX-License-Identifier: Apache-2.0 */
#include "base/latch.h"

#include <criterion/criterion.h>
#include <pthread.h>

Test(latch, set_and_clear)
{
    struct mp_latch latch = {0};
    cr_expect(!mp_latch_is_set(&latch));
    cr_expect_eq(mp_latch_count(&latch), 0);
    mp_latch_set(&latch);
    cr_expect(mp_latch_is_set(&latch));
    cr_expect_eq(mp_latch_count(&latch), 1);
    mp_latch_set(&latch);
    cr_expect(mp_latch_is_set(&latch));
    cr_expect_eq(mp_latch_count(&latch), 2, "each set counts");
    mp_latch_clear(&latch);
    mp_latch_clear(&latch);
    cr_expect(!mp_latch_is_set(&latch));
    cr_expect_eq(mp_latch_count(&latch), 2, "a clear does not");
}

Test(latch, hits)
{
    struct mp_latch latch = {0};
    uint64_t before = mp_latch_count(&latch);
    cr_expect(!mp_latch_hits(&latch, before));
    mp_latch_set(&latch);
    cr_expect(mp_latch_hits(&latch, before));
    cr_expect(mp_latch_hits(&latch, mp_latch_count(&latch)), "a call that starts while it is set");
    mp_latch_clear(&latch);
    cr_expect(mp_latch_hits(&latch, before), "set and cleared since");
    cr_expect(!mp_latch_hits(&latch, mp_latch_count(&latch)), "a call that starts afterwards");
    mp_latch_clear(&latch);
    cr_expect(!mp_latch_hits(&latch, mp_latch_count(&latch)));
}

enum { SETS = 20000, SETTERS = 4 };

static void *set_often(void *arg)
{
    struct mp_latch *latch = arg;
    for (int i = 0; i < SETS; i++) {
        mp_latch_set(latch);
        mp_latch_clear(latch);
    }
    return NULL;
}

Test(latch, no_set_is_lost)
{
    struct mp_latch latch = {0};
    pthread_t threads[SETTERS];
    for (int i = 0; i < SETTERS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, set_often, &latch), 0);
    for (int i = 0; i < SETTERS; i++)
        pthread_join(threads[i], NULL);
    cr_expect_eq(mp_latch_count(&latch), SETS * SETTERS);
    cr_expect(!mp_latch_is_set(&latch));
}

Test(latch, is_lock_free)
{
    struct mp_latch latch = {0};
    cr_expect(atomic_is_lock_free(&latch.word), "or it is not async-signal-safe");
}
