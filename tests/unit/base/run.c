/* SPDX-License-Identifier: Apache-2.0 */
#include "base/run.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "mcpump/run.h"

static bool rings(struct mp_bell *bell)
{
    struct pollfd poll_fd = {bell->fd, POLLIN, 0};
    bool ringing = poll(&poll_fd, 1, 0) == 1;
    mp_bell_hear(bell);
    return ringing;
}

/* -- cancelled or not */

Test(run, is_cancelled_for_good)
{
    mcpump_run *run = mcpump_run_new(NULL);
    cr_assert_not_null(run);
    cr_expect_not(mcpump_run_cancelled(run));
    cr_expect_not(mp_run_is_cancelled(NULL), "no run is never cancelled");
    mcpump_run_cancel(run);
    mcpump_run_cancel(run);
    cr_expect(mcpump_run_cancelled(run));
    mcpump_run_free(run);
    mcpump_run_free(NULL);
}

/* grandparent 0, parent 1, child 2, sibling 3 of 2, stranger 4 */
Test(run, a_cancellation_goes_down)
{
    static const struct {
        const char *name;
        int cancel;
        bool wanted[5];
    } rows[] = {
        {"grandparent", 0, {true, true, true, true, false}},
        {"parent", 1, {false, true, true, true, false}},
        {"child", 2, {false, false, true, false, false}},
        {"sibling", 3, {false, false, false, true, false}},
        {"stranger", 4, {false, false, false, false, true}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        mcpump_run *runs[5] = {mcpump_run_new(NULL)};
        struct mp_bell bells[5];
        runs[1] = mcpump_run_new(runs[0]);
        runs[2] = mcpump_run_new(runs[1]);
        runs[3] = mcpump_run_new(runs[1]);
        runs[4] = mcpump_run_new(NULL);
        for (int k = 0; k < 5; k++) {
            cr_assert_eq(mp_bell_init(&bells[k]), 0);
            cr_assert(mp_run_join(runs[k], &bells[k]));
        }
        mcpump_run_cancel(runs[rows[i].cancel]);
        for (int k = 0; k < 5; k++) {
            cr_expect_eq(mcpump_run_cancelled(runs[k]), rows[i].wanted[k], "%s, %d", rows[i].name,
                         k);
            cr_expect_eq(rings(&bells[k]), rows[i].wanted[k], "%s, bell %d", rows[i].name, k);
            mp_run_leave(runs[k], &bells[k]);
            mp_bell_done(&bells[k]);
        }
        for (int k = 0; k < 5; k++)
            mcpump_run_free(runs[k]);
    }
}

Test(run, under_one_that_was_cancelled)
{
    mcpump_run *parent = mcpump_run_new(NULL);
    mcpump_run_cancel(parent);
    mcpump_run *child = mcpump_run_new(parent);
    cr_expect(mcpump_run_cancelled(child));
    mcpump_run_free(child);
    mcpump_run_free(parent);
}

/* What is above is kept as long as something is below; a sanitizer tells whether it was. */
Test(run, parents_may_be_freed_first)
{
    enum { DEPTH = 50 };
    mcpump_run *runs[DEPTH] = {mcpump_run_new(NULL)};
    for (int i = 1; i < DEPTH; i++)
        runs[i] = mcpump_run_new(runs[i - 1]);
    mcpump_run *beside = mcpump_run_new(runs[DEPTH / 2]);
    mcpump_run_cancel(runs[DEPTH / 2]);
    for (int i = 0; i < DEPTH - 1; i++)
        mcpump_run_free(runs[i]);
    cr_expect(mcpump_run_cancelled(runs[DEPTH - 1]));
    cr_expect(mcpump_run_cancelled(beside));
    mcpump_run_free(runs[DEPTH - 1]);
    cr_expect(mcpump_run_cancelled(beside));
    mcpump_run_free(beside);
}

/* -- bells */

Test(run, rings_as_long_as_a_join_is_left)
{
    mcpump_run *run = mcpump_run_new(NULL);
    struct mp_bell bell, other;
    cr_assert_eq(mp_bell_init(&bell), 0);
    cr_assert_eq(mp_bell_init(&other), 0);
    cr_assert(mp_run_join(run, &bell));
    cr_assert(mp_run_join(run, &bell));
    cr_assert(mp_run_join(run, &other));
    mcpump_run_cancel(run);
    cr_expect(rings(&bell));
    cr_expect(rings(&other));
    mp_run_leave(run, &other);
    mp_run_leave(run, &bell);
    mcpump_run_cancel(run);
    cr_expect(rings(&bell), "each cancellation rings");
    cr_expect_not(rings(&other));
    mp_run_leave(run, &bell);
    mcpump_run_cancel(run);
    cr_expect_not(rings(&bell));
    cr_expect(mp_run_join(NULL, &bell), "no run: nothing to join");
    mp_run_leave(NULL, &bell);
    mp_bell_done(&bell);
    mp_bell_done(&other);
    mcpump_run_free(run);
}

/* -- of a thread */

Test(run, scopes_nest)
{
    mcpump_run *outer = mcpump_run_new(NULL), *inner = mcpump_run_new(outer);
    mcpump_run_scope first, second, third;
    cr_expect_null(mcpump_run_current());
    mcpump_run_enter(outer, &first);
    cr_expect_eq(mcpump_run_current(), outer);
    mcpump_run_enter(inner, &second);
    cr_expect_eq(mcpump_run_current(), inner);
    mcpump_run_enter(NULL, &third);
    cr_expect_null(mcpump_run_current(), "to no run");
    mcpump_run_leave(&third);
    cr_expect_eq(mcpump_run_current(), inner);
    mcpump_run_leave(&second);
    cr_expect_eq(mcpump_run_current(), outer);
    mcpump_run_leave(&first);
    cr_expect_null(mcpump_run_current());
    mcpump_run_free(inner);
    mcpump_run_free(outer);
}

static void *ask_current(void *arg)
{
    (void)arg;
    return mcpump_run_current();
}

Test(run, is_the_threads_own)
{
    mcpump_run *run = mcpump_run_new(NULL);
    mcpump_run_scope scope;
    pthread_t thread;
    void *theirs = run;
    mcpump_run_enter(run, &scope);
    cr_assert_eq(pthread_create(&thread, NULL, ask_current, NULL), 0);
    pthread_join(thread, &theirs);
    cr_expect_null(theirs);
    mcpump_run_leave(&scope);
    mcpump_run_free(run);
}

/* -- cancelled by a handler while others join and leave */

enum { JOINERS = 4, ROUNDS = 10000 };

static mcpump_run *_Atomic target;

static void cancel_in_handler(int number)
{
    (void)number;
    mcpump_run_cancel(atomic_load(&target));
}

/* A bell that is closed as soon as it has left: a late ring would go to nobody, or to whoever has
 * its number then. */
static void *join_and_leave(void *arg)
{
    mcpump_run *child = arg;
    for (int i = 0; i < ROUNDS; i++) {
        struct mp_bell bell;
        cr_assert_eq(mp_bell_init(&bell), 0);
        cr_assert(mp_run_join(child, &bell));
        if (i % 16 == 0) {
            errno = ENOTEMPTY;
            raise(SIGUSR1);
            cr_expect_eq(errno, ENOTEMPTY);
            cr_expect(rings(&bell), "round %d", i);
        }
        mp_run_leave(child, &bell);
        cr_assert_geq(bell.fd, 0);
        mp_bell_done(&bell);
    }
    return NULL;
}

Test(run, is_cancelled_by_a_handler_while_others_come_and_go, .timeout = 60)
{
    pthread_t threads[JOINERS];
    mcpump_run *parent = mcpump_run_new(NULL), *child = mcpump_run_new(parent);
    atomic_store(&target, parent);
    signal(SIGUSR1, cancel_in_handler);
    for (int i = 0; i < JOINERS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, join_and_leave, child), 0);
    for (int i = 0; i < JOINERS; i++)
        pthread_join(threads[i], NULL);
    cr_expect(mcpump_run_cancelled(child));
    mcpump_run_free(parent);
    mcpump_run_free(child);
}
