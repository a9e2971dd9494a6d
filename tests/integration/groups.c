/* SPDX-License-Identifier: Apache-2.0 */
/* One latch over many transports: a group, and all that there are. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "raw.h"

/* -- a group */

TIDY_TEST(members_are_interrupted_and_nobody_else)
{
    mcpump_group *group = mcpump_group_new();
    mcpump_transport *transports[12]; /* more than a chunk of the board; the last is no member */
    struct raw_call calls[LENGTH(transports)];
    for (size_t i = 0; i < LENGTH(transports); i++) {
        transports[i] = test_open(NO_STRINGS);
        if (i < LENGTH(transports) - 1)
            cr_assert_eq(mcpump_group_add(group, transports[i]), MCPUMP_OK);
        calls[i] = (struct raw_call){.transport = transports[i], .method = "test/reverse"};
        raw_call_start(&calls[i]);
        raw_await_read(transports[i], 1);
    }
    cr_expect_not(mcpump_group_is_interrupted(group));
    mcpump_group_interrupt(group);
    cr_expect(mcpump_group_is_interrupted(group));
    for (size_t i = 0; i < LENGTH(transports) - 1; i++) {
        raw_call_join(&calls[i]);
        cr_expect_eq(calls[i].err, MCPUMP_ERR_INTERRUPTED, "%zu: %s", i, raw_call_words(&calls[i]));
        raw_call_done(&calls[i]);
        cr_expect(mcpump_transport_is_interrupted(transports[i]), "%zu", i);
        mcpump_failure_free(
            raw_fails(transports[i], "set", "test/echo", NULL, MCPUMP_ERR_INTERRUPTED));
    }
    mcpump_group_clear_interrupt(group);
    cr_expect_not(mcpump_group_is_interrupted(group));
    for (size_t i = 0; i < LENGTH(transports) - 1; i++)
        raw_expect(transports[i], "cleared", "test/echo", "{\"a\":1}", "{\"a\":1}");

    struct raw_call *other = &calls[LENGTH(transports) - 1];
    raw_expect(other->transport, "no member", "test/reverse", "{}", "{}");
    raw_call_join(other);
    cr_expect(raw_call_got(other, "{}"), "%s", raw_call_words(other));
    raw_call_done(other);
    mcpump_group_free(group);
    for (size_t i = 0; i < LENGTH(transports); i++)
        mcpump_transport_free(transports[i]);
}

TIDY_TEST(membership)
{
    static const struct {
        const char *name;
        /* a: add, r: remove, i: interrupt, c: clear, of the group; t: clear, of the transport */
        const char *steps;
        bool wanted;
    } rows[] = {
        {"added before", "ai", true},
        {"added while it is set", "ia", true},
        {"added after the clear", "ica", false},
        {"cleared", "aic", false},
        {"removed before", "ari", false},
        {"removed while it is set: stays so", "air", true},
        {"removed, then the group is cleared", "airc", true},
        {"cleared by itself", "ait", false},
        {"set again", "aiti", true},
        {"added twice, removed once", "aari", true},
        {"added twice, removed twice", "aarri", false},
        {"back again", "arai", true},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        mcpump_group *group = mcpump_group_new();
        mcpump_transport *transport = test_transport_new(NO_STRINGS);
        int joined = 0;
        for (const char *step = rows[i].steps; *step != '\0'; step++) {
            joined += (*step == 'a') - (*step == 'r');
            if (*step == 'a')
                cr_assert_eq(mcpump_group_add(group, transport), MCPUMP_OK, "%s", rows[i].name);
            else if (*step == 'r')
                mcpump_group_remove(group, transport);
            else if (*step == 'i')
                mcpump_group_interrupt(group);
            else if (*step == 'c')
                mcpump_group_clear_interrupt(group);
            else
                mcpump_transport_clear_interrupt(transport);
        }
        cr_expect_eq(mcpump_transport_is_interrupted(transport), rows[i].wanted, "%s",
                     rows[i].name);
        for (; joined > 0; joined--)
            mcpump_group_remove(group, transport);
        mcpump_transport_free(transport);
        mcpump_group_free(group);
    }
}

TIDY_TEST(wrong_arguments)
{
    mcpump_group *group = mcpump_group_new();
    mcpump_transport *transport = test_transport_new(NO_STRINGS);
    cr_expect_eq(mcpump_group_add(NULL, transport), MCPUMP_ERR_INVALID_ARGUMENT);
    cr_expect_eq(mcpump_group_add(group, NULL), MCPUMP_ERR_INVALID_ARGUMENT);
    mcpump_transport_free(transport);
    mcpump_group_free(group);
    mcpump_group_free(NULL);
}

/* -- all that there are */

static void interrupt_all_in_handler(int number)
{
    (void)number;
    mcpump_interrupt_all();
}

TIDY_TEST(a_sigint_handler_ends_64_calls_on_16_connections)
{
    enum { TRANSPORTS = 16, EACH = 4 };
    mcpump_transport *transports[TRANSPORTS];
    struct raw_call calls[TRANSPORTS][EACH];
    signal(SIGINT, interrupt_all_in_handler);
    for (int i = 0; i < TRANSPORTS; i++)
        transports[i] = test_open(NO_STRINGS);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < TRANSPORTS; i++) {
            uint64_t before = raw_stats(transports[i]).requests;
            for (int k = 0; k < EACH; k++) {
                calls[i][k] = (struct raw_call){.transport = transports[i], .method = "test/drop"};
                calls[i][k].options.timeout_ms = TEST_PATIENCE_MS;
                raw_call_start(&calls[i][k]);
            }
            raw_await_read(transports[i], before + EACH);
        }
        int64_t started = test_now_ms();
        errno = ENOTEMPTY;
        kill(getpid(), SIGINT);
        cr_expect_eq(errno, ENOTEMPTY, "errno was not kept");
        for (int i = 0; i < TRANSPORTS; i++) {
            for (int k = 0; k < EACH; k++) {
                raw_call_join(&calls[i][k]);
                cr_expect_eq(calls[i][k].err, MCPUMP_ERR_INTERRUPTED, "%d, %d: %s", i, k,
                             raw_call_words(&calls[i][k]));
                raw_call_done(&calls[i][k]);
            }
            cr_expect(mcpump_transport_is_interrupted(transports[i]), "%d", i);
        }
        int64_t took_ms = test_now_ms() - started;
        cr_expect_lt(took_ms, TEST_IS_SANITIZED ? 10000 : 1000, "%lld ms", (long long)took_ms);
        mcpump_clear_interrupt_all();
    }
    for (int i = 0; i < TRANSPORTS; i++) {
        raw_expect(transports[i], "cleared", "test/echo", "{\"a\":1}", "{\"a\":1}");
        cr_expect_eq(raw_stats(transports[i]).in_flight, 0);
        raw_expect_cancelled(transports[i], "all", "test/drop", 5 * EACH);
        mcpump_transport_free(transports[i]);
    }
}

TIDY_TEST(all_without_any_is_nothing)
{
    mcpump_interrupt_all();
    mcpump_clear_interrupt_all();
    mcpump_transport *transport = test_open(NO_STRINGS);
    cr_expect_not(mcpump_transport_is_interrupted(transport), "it was not there at the time");
    mcpump_interrupt_all();
    cr_expect(mcpump_transport_is_interrupted(transport));
    mcpump_transport_free(transport);
    mcpump_interrupt_all();
}

/* Joined by transports and left by them while a handler visits them all. */
static void *make_and_free(void *arg)
{
    (void)arg;
    for (int i = 0; i < TEST_SCALED(500); i++) {
        mcpump_transport *transport = test_transport_new(NO_STRINGS);
        if (i % 4 == 0)
            raise(SIGINT);
        mcpump_transport_free(transport);
    }
    return NULL;
}

TIDY_TEST(transports_come_and_go_under_a_handler)
{
    pthread_t threads[4];
    signal(SIGINT, interrupt_all_in_handler);
    for (size_t i = 0; i < LENGTH(threads); i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, make_and_free, NULL), 0);
    for (size_t i = 0; i < LENGTH(threads); i++)
        pthread_join(threads[i], NULL);
}

/* -- a forked child: its interrupts are none of the parent's business */

TIDY_TEST(a_forked_child_interrupts_its_own)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    mcpump_group *group = mcpump_group_new();
    cr_assert_eq(mcpump_group_add(group, transport), MCPUMP_OK);
    struct raw_call call = {.transport = transport, .method = "test/reverse"};
    raw_call_start(&call);
    raw_await_read(transport, 1);
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        mcpump_interrupt_all();
        mcpump_group_interrupt(group);
        mcpump_transport *own = NULL;
        mcpump_transport_options options = raw_options(NO_STRINGS);
        bool fits = mcpump_transport_new(&options, &own, NULL) == MCPUMP_OK &&
                    !mcpump_transport_is_interrupted(own);
        mcpump_interrupt_all();
        fits = fits && mcpump_transport_is_interrupted(own);
        mcpump_transport_free(own);
        _exit(fits ? 0 : 1);
    }
    int status = -1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
    cr_expect_not(mcpump_transport_is_interrupted(transport));
    raw_expect(transport, "parent", "test/reverse", "{}", "{}");
    raw_call_join(&call);
    cr_expect(raw_call_got(&call, "{}"), "%s", raw_call_words(&call));
    raw_call_done(&call);
    mcpump_group_remove(group, transport);
    mcpump_group_free(group);
    mcpump_transport_free(transport);
}
