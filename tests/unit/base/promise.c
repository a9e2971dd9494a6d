/* SPDX-License-Identifier: Apache-2.0 */
/* Built twice: with the implementation that the library has, and with the POSIX one. */
#include "base/promise.h"

#include <criterion/criterion.h>
#include <sched.h>

#define MANY   300
#define ROUNDS 3000

static const struct mp_patience for_ever = {MP_NEVER, false};

static struct mp_patience until_now(void)
{
    return (struct mp_patience){mp_now_ns(), false};
}

static void keep(struct mp_promise *promise)
{
    struct mp_wakes wakes = {NULL, 0};
    mp_promise_keep(promise, &wakes);
    mp_wakes_send(&wakes);
}

static struct mp_promise *in_array(const void *context, size_t i)
{
    return ((struct mp_promise *const *)context)[i];
}

Test(promise, is_kept_and_renewed)
{
    struct mp_promise promise;
    mp_promise_init(&promise);
    cr_expect_not(mp_promise_is_kept(&promise));
    cr_expect_not(mp_promise_wait(&promise, until_now()));
    keep(&promise);
    cr_expect(mp_promise_is_kept(&promise));
    cr_expect(mp_promise_wait(&promise, for_ever));
    cr_expect(mp_promise_wait(&promise, until_now()), "kept counts, whatever the time");
    mp_promise_renew(&promise);
    cr_expect_not(mp_promise_is_kept(&promise));
    cr_expect_not(mp_promise_wait(&promise, until_now()));
    mp_promise_done(&promise);
}

Test(promise, a_wait_ends_at_its_deadline_and_not_before)
{
    struct mp_promise promise;
    mp_promise_init(&promise);
    mp_deadline deadline = mp_deadline_after_ms(30);
    cr_expect_not(mp_promise_wait(&promise, (struct mp_patience){deadline, false}));
    cr_expect(mp_deadline_passed(deadline));
    mp_promise_done(&promise);
}

/* Two threads in turn, each woken by the other, from its first sleep on. */
struct rally {
    struct mp_promise there, back;
};

static void *play(void *arg)
{
    struct rally *rally = arg;
    for (int i = 0; i < ROUNDS; i++) {
        mp_promise_wait(&rally->there, for_ever);
        mp_promise_renew(&rally->there);
        keep(&rally->back);
    }
    return NULL;
}

Test(promise, wakes_who_sleeps, .timeout = 60)
{
    struct rally rally;
    pthread_t other;
    mp_promise_init(&rally.there);
    mp_promise_init(&rally.back);
    pthread_create(&other, NULL, play, &rally);
    for (int i = 0; i < ROUNDS; i++) {
        keep(&rally.there);
        cr_assert(mp_promise_wait(&rally.back, for_ever));
        mp_promise_renew(&rally.back);
    }
    pthread_join(other, NULL);
    mp_promise_done(&rally.there);
    mp_promise_done(&rally.back);
}

/* -- several */

struct many {
    struct mp_promise promises[MANY];
    struct mp_promise *list[MANY];
};

static void many_init(struct many *many)
{
    for (size_t i = 0; i < MANY; i++) {
        mp_promise_init(&many->promises[i]);
        many->list[i] = &many->promises[i];
    }
}

static void many_done(struct many *many)
{
    for (size_t i = 0; i < MANY; i++)
        mp_promise_done(&many->promises[i]);
}

Test(promise, one_of_several)
{
    static struct many many;
    many_init(&many);
    const struct mp_promises promises = {MANY, in_array, many.list};
    cr_expect_not(mp_promise_wait_any(&promises, until_now()));
    many.list[3] = NULL;
    cr_expect_not(mp_promise_wait_any(&promises, until_now()));
    keep(&many.promises[MANY - 1]);
    cr_expect(mp_promise_wait_any(&promises, for_ever));
    const struct mp_promises none = {0, in_array, NULL};
    cr_expect_not(mp_promise_wait_any(&none, until_now()));
    many_done(&many);
}

/* What a wait has left behind would keep the second one from its sleep, or post a waiter that is
 * gone. */
Test(promise, a_wait_leaves_nothing_behind)
{
    static struct many many;
    many_init(&many);
    const struct mp_promises promises = {MANY, in_array, many.list};
    cr_expect_not(mp_promise_wait_any(&promises, until_now()));
    for (size_t i = 0; i < MANY; i++) {
        cr_expect_not(mp_promise_wait(&many.promises[i], until_now()));
        keep(&many.promises[i]);
    }
    many_done(&many);
}

static void *keep_all(void *arg)
{
    struct many *many = arg;
    for (size_t i = 0; i < MANY; i++)
        keep(&many->promises[i]);
    return NULL;
}

/* Kept while others are being watched and taken back: each post is waited for. */
Test(promise, kept_in_the_midst_of_waits, .timeout = 60)
{
    static struct many many;
    for (int round = 0; round < 100; round++) {
        many_init(&many);
        pthread_t keeper;
        pthread_create(&keeper, NULL, keep_all, &many);
        for (size_t left = MANY; left > 0;) {
            const struct mp_promises promises = {MANY, in_array, many.list};
            cr_assert(mp_promise_wait_any(&promises, for_ever));
            for (size_t i = 0; i < MANY; i++) {
                if (many.list[i] == NULL || !mp_promise_is_kept(many.list[i]))
                    continue;
                many.list[i] = NULL;
                left--;
            }
        }
        pthread_join(keeper, NULL);
        many_done(&many);
    }
}

static void *keep_first(void *arg)
{
    keep(arg);
    return NULL;
}

Test(promise, the_same_one_twice, .timeout = 60)
{
    struct mp_promise promise, other;
    mp_promise_init(&promise);
    mp_promise_init(&other);
    struct mp_promise *const list[] = {&promise, NULL, &other, &promise, &promise};
    const struct mp_promises promises = {5, in_array, list};
    for (int round = 0; round < 300; round++) {
        pthread_t keeper;
        cr_expect_not(mp_promise_wait_any(&promises, until_now()));
        pthread_create(&keeper, NULL, keep_first, &promise);
        cr_assert(mp_promise_wait_any(&promises, for_ever));
        cr_assert(mp_promise_is_kept(&promise));
        pthread_join(keeper, NULL);
        mp_promise_renew(&promise);
    }
    mp_promise_done(&promise);
    mp_promise_done(&other);
}

/* -- cancellation */

struct sleeper {
    struct mp_promise promise;
    struct mp_patience patience;
    atomic_bool sleeps, has_returned;
};

static void *sleep_on(void *arg)
{
    struct sleeper *sleeper = arg;
    atomic_store(&sleeper->sleeps, true);
    mp_promise_wait(&sleeper->promise, sleeper->patience);
    atomic_store(&sleeper->has_returned, true);
    return NULL;
}

static void *cancelled(struct sleeper *sleeper, bool is_kept)
{
    pthread_t thread;
    void *result;
    mp_promise_init(&sleeper->promise);
    atomic_init(&sleeper->sleeps, false);
    atomic_init(&sleeper->has_returned, false);
    pthread_create(&thread, NULL, sleep_on, sleeper);
    while (!atomic_load(&sleeper->sleeps))
        sched_yield();
    pthread_cancel(thread);
    if (is_kept)
        keep(&sleeper->promise);
    pthread_join(thread, &result);
    keep(&sleeper->promise); /* touches no waiter of the thread that has ended */
    mp_promise_done(&sleeper->promise);
    return result;
}

Test(promise, a_thread_is_cancelled_in_its_wait, .timeout = 60)
{
#ifdef __SANITIZE_ADDRESS__
    /* While the cancelled thread unwinds, the sanitizer reads its own frame and reports that
     * (stack-buffer-underflow in sigaltstack, called by itself). */
    cr_skip_test("AddressSanitizer trips over itself when a thread is cancelled");
#endif
    for (int round = 0; round < 300; round++) {
        struct sleeper sleeper = {.patience = {MP_NEVER, true}};
        cr_assert_eq(cancelled(&sleeper, false), PTHREAD_CANCELED);
        cr_assert_not(atomic_load(&sleeper.has_returned));
    }
}

Test(promise, a_wait_that_is_no_point_of_cancellation_is_none, .timeout = 60)
{
    for (int round = 0; round < 300; round++) {
        struct sleeper sleeper = {.patience = {MP_NEVER, false}};
        cancelled(&sleeper, true);
        cr_assert(atomic_load(&sleeper.has_returned));
    }
}

/* -- many who sleep in one dormitory, more than there are beds, and are woken all at once */

#define SLEEPERS 40

struct lodger {
    struct mp_promise promise;
    struct mp_dorm *dorm;
    uint32_t bed;
    atomic_int *awake;
    pthread_t thread;
};

static void *lodge(void *arg)
{
    struct lodger *lodger = arg;
    const struct mp_promises promises = mp_promises_of(&lodger->promise);
    const struct mp_besides besides = {.dorm = lodger->dorm, .bed = lodger->bed};
    for (int round = 0; round < 200; round++) {
        struct mp_vigil vigil;
        if (mp_vigil_begin(&vigil, &promises, &besides))
            mp_vigil_wait(&vigil, (struct mp_patience){MP_NEVER, true});
        mp_vigil_end(&vigil);
        mp_promise_renew(&lodger->promise);
        atomic_fetch_add(lodger->awake, 1);
    }
    return NULL;
}

Test(promise, a_dormitory_is_woken_all_at_once, .timeout = 60)
{
    static struct lodger lodgers[SLEEPERS];
    struct mp_dorm dorm = {0};
    atomic_int awake = 0;
    for (int i = 0; i < SLEEPERS; i++) {
        lodgers[i] = (struct lodger){.dorm = &dorm, .bed = UINT32_C(1) << i % 32, .awake = &awake};
        mp_promise_init(&lodgers[i].promise);
        pthread_create(&lodgers[i].thread, NULL, lodge, &lodgers[i]);
    }
    for (int round = 0; round < 200; round++) {
        struct mp_wakes wakes = {NULL, 0};
        for (int i = 0; i < SLEEPERS; i++)
            mp_promise_keep(&lodgers[i].promise, &wakes);
        mp_wakes_send(&wakes);
        while (atomic_load(&awake) < SLEEPERS * (round + 1))
            sched_yield();
    }
    for (int i = 0; i < SLEEPERS; i++) {
        pthread_join(lodgers[i].thread, NULL);
        mp_promise_done(&lodgers[i].promise);
    }
}

Test(promise, two_dormitories)
{
    struct mp_dorm dorms[2] = {{0}, {0}};
    struct lodger lodgers[4];
    atomic_int awake = 0;
    for (int i = 0; i < 4; i++) {
        lodgers[i] = (struct lodger){.dorm = &dorms[i % 2], .bed = 1, .awake = &awake};
        mp_promise_init(&lodgers[i].promise);
        pthread_create(&lodgers[i].thread, NULL, lodge, &lodgers[i]);
    }
    for (int round = 0; round < 200; round++) {
        struct mp_wakes wakes = {NULL, 0};
        for (int i = 0; i < 4; i++)
            mp_promise_keep(&lodgers[i].promise, &wakes);
        mp_wakes_send(&wakes);
        while (atomic_load(&awake) < 4 * (round + 1))
            sched_yield();
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(lodgers[i].thread, NULL);
        mp_promise_done(&lodgers[i].promise);
    }
}
