/* SPDX-License-Identifier: Apache-2.0 */
/* Closing without waiting, and the shutdown of all transports of the process. */
#include "raw.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#define SECOND_MS  1000
#define LONG_MS    600000 /* longer than any test: a grace that must not be waited for */
#define IGNORE_ALL STRINGS("--ignore-eof", "--ignore-term")

static mcpump_transport *open_with_graces(const char *const *switches, int64_t grace_ms)
{
    mcpump_transport_options options = raw_options(switches);
    options.stdin_grace_ms = options.term_grace_ms = grace_ms;
    mcpump_transport *transport = raw_open(&options);
    raw_expect(transport, "it runs", "test/echo", "{}", "{}"); /* its signals are ignored by now */
    return transport;
}

/* Nothing tells when the library has reaped a child. */
static void await_no_children(const char *name)
{
    int64_t until = test_now_ms() + TEST_PATIENCE_MS;
    while (test_has_children() && test_now_ms() < until)
        sched_yield();
    cr_expect_not(test_has_children(), "%s: it was not reaped", name);
}

/* -- close_begin */

static const struct begin_row {
    const char *name;
    const char *switches[3];
    int64_t least_ms; /* that the graces take */
} begins[] = {
    {"honours EOF", {NULL}, 0},
    {"ignores EOF", {"--ignore-eof", NULL}, 200},
    {"ignores EOF and SIGTERM", {"--ignore-eof", "--ignore-term", NULL}, 400},
};

/* Nobody waits in the library: the process is gone after the graces all the same. */
TIDY_TEST(what_was_begun_goes_on_by_itself)
{
    for (size_t i = 0; i < LENGTH(begins); i++) {
        const struct begin_row *row = &begins[i];
        mcpump_transport *transport = open_with_graces(row->switches, 200);
        pid_t pid = mcpump_transport_pid(transport);
        int64_t started = test_now_ms();
        mcpump_transport_close_begin(transport);
        cr_expect_not(mcpump_transport_is_connected(transport), "%s", row->name);
        cr_assert(test_await_end(pid), "%s: it lives on", row->name);
        cr_expect_geq(test_now_ms() - started, row->least_ms, "%s: too early", row->name);
        await_no_children(row->name);
        mcpump_transport_free(transport);
    }
}

TIDY_TEST(beginning_returns_at_once_and_fails_calls_in_flight)
{
    mcpump_transport *transport = open_with_graces(IGNORE_ALL, LONG_MS);
    pid_t pid = mcpump_transport_pid(transport);
    struct raw_call call = {.transport = transport, .method = "test/drop"};
    raw_call_start(&call);
    raw_await_read(transport, 2);
    mcpump_transport_close_begin(transport);
    raw_call_join(&call);
    cr_expect(test_is_alive(pid), "that it returns does not mean that it is gone");
    cr_assert_eq(call.err, MCPUMP_ERR_CLOSED, "%s", raw_call_words(&call));
    cr_expect_eq(mcpump_failure_cause(call.failure), MCPUMP_CAUSE_CLOSED_BY_HOST);
    raw_call_done(&call);
    mcpump_failure_free(raw_fails(transport, "later", "test/echo", NULL, MCPUMP_ERR_CLOSED));
    cr_expect_eq(mcpump_transport_open(transport, NULL), MCPUMP_ERR_ALREADY_OPEN);
    mcpump_transport_close_begin(transport);
    mcpump_transport_free(transport);
    cr_expect_not(test_is_alive(pid));
}

TIDY_TEST(begun_twice_it_escalates)
{
    mcpump_transport *transport = open_with_graces(IGNORE_ALL, LONG_MS);
    pid_t pid = mcpump_transport_pid(transport);
    mcpump_transport_close_begin(transport);
    cr_expect(test_is_alive(pid));
    mcpump_transport_close_begin(transport);
    cr_assert(test_await_end(pid));
    mcpump_transport_free(transport);
}

static void close_it(mcpump_transport *transport)
{
    mcpump_transport_close(transport);
}

static void free_it(mcpump_transport *transport)
{
    mcpump_transport_free(transport);
}

/* They wait for the graces, and do not cut them short. */
TIDY_TEST(close_and_free_wait_for_what_was_begun)
{
    static const struct {
        const char *name;
        void (*end)(mcpump_transport *transport);
    } rows[] = {{"close", close_it}, {"free", free_it}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        mcpump_transport *transport = open_with_graces(IGNORE_ALL, 200);
        pid_t pid = mcpump_transport_pid(transport);
        int64_t started = test_now_ms();
        mcpump_transport_close_begin(transport);
        rows[i].end(transport);
        cr_expect_geq(test_now_ms() - started, 400, "%s: it did not wait", rows[i].name);
        cr_expect_not(test_is_alive(pid), "%s", rows[i].name);
        cr_expect_not(test_has_children(), "%s", rows[i].name);
        if (rows[i].end != free_it)
            mcpump_transport_free(transport);
    }
}

TIDY_TEST(begun_without_a_connection_or_after_its_end)
{
    mcpump_transport *transport = test_transport_new(NO_STRINGS);
    mcpump_transport_close_begin(transport);
    cr_assert_eq(mcpump_transport_open(transport, NULL), MCPUMP_OK, "it does not prevent an open");
    raw_expect(transport, "opened", "test/echo", "{}", "{}");
    cr_assert_eq(kill(mcpump_transport_pid(transport), SIGKILL), 0);
    await_no_children("killed");
    mcpump_transport_close_begin(transport);
    mcpump_transport_close(transport);
    cr_assert_eq(mcpump_transport_open(transport, NULL), MCPUMP_OK);
    raw_expect(transport, "opened again", "test/echo", "{}", "{}");
    mcpump_transport_free(transport);
}

/* -- mcpump_shutdown */

static void open_all(mcpump_transport **transports, size_t count, const char *script)
{
    for (size_t i = 0; i < count; i++) {
        mcpump_transport_options options = raw_shell(SHELL(script, ""));
        options.stdin_grace_ms = options.term_grace_ms = LONG_MS;
        transports[i] = raw_open(&options);
    }
}

static void free_all(mcpump_transport **transports, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cr_expect_not(mcpump_transport_is_connected(transports[i]));
        mcpump_transport_free(transports[i]);
    }
}

/* Each needs a second, all of them do not need two. */
TIDY_TEST(all_end_together)
{
    mcpump_transport *transports[10];
    open_all(transports, LENGTH(transports), "cat >/dev/null; exec sleep 1");
    mcpump_transport_close_begin(transports[0]); /* one is on its way */
    int64_t started = test_now_ms();
    cr_expect_eq(mcpump_shutdown(MCPUMP_FOREVER), MCPUMP_OK);
    int64_t took = test_now_ms() - started;
    cr_expect_geq(took, SECOND_MS - 50); /* the first had begun a little earlier */
    cr_expect_lt(took, TEST_SCALED(2 * SECOND_MS) + (TEST_IS_SANITIZED ? 10 * SECOND_MS : 0));
    cr_expect_not(test_has_children(), "all are reaped");
    free_all(transports, LENGTH(transports));
}

TIDY_TEST(who_is_not_gone_in_time_is_killed)
{
    mcpump_transport *deaf = open_with_graces(IGNORE_ALL, LONG_MS);
    mcpump_transport *tame = open_with_graces(NO_STRINGS, LONG_MS);
    pid_t pid = mcpump_transport_pid(deaf);
    int64_t started = test_now_ms();
    cr_expect_eq(mcpump_shutdown(300), MCPUMP_ERR_TIMEOUT);
    cr_expect_geq(test_now_ms() - started, 300, "it did not wait for so long");
    cr_expect_not(test_is_alive(pid));
    cr_expect_not(test_has_children());
    mcpump_transport_free(deaf);
    mcpump_transport_free(tame);
}

/* 0 polls: what is not gone by now is killed. */
TIDY_TEST(without_time_all_are_killed_at_once)
{
    mcpump_transport *deaf = open_with_graces(IGNORE_ALL, LONG_MS);
    cr_expect_eq(mcpump_shutdown(0), MCPUMP_ERR_TIMEOUT);
    cr_expect_not(test_has_children());
    mcpump_transport_free(deaf);
}

TIDY_TEST(with_nothing_open_it_returns_at_once)
{
    cr_expect_eq(mcpump_shutdown(MCPUMP_FOREVER), MCPUMP_OK, "before the first transport");
    mcpump_transport *transport = test_transport_new(NO_STRINGS);
    cr_expect_eq(mcpump_shutdown(MCPUMP_FOREVER), MCPUMP_OK, "with one that was never open");
    cr_assert_eq(mcpump_transport_open(transport, NULL), MCPUMP_OK);
    mcpump_transport_close(transport);
    cr_expect_eq(mcpump_shutdown(MCPUMP_FOREVER), MCPUMP_OK, "with one that is closed");
    mcpump_transport_free(transport);
    cr_expect_eq(mcpump_shutdown(0), MCPUMP_OK, "with none");
}

/* It closes what is open, and nothing else. */
TIDY_TEST(transports_can_be_opened_afterwards)
{
    mcpump_transport *old = test_open(NO_STRINGS);
    struct raw_call call = {.transport = old, .method = "test/drop"};
    raw_call_start(&call);
    raw_await_read(old, 1);
    cr_expect_eq(mcpump_shutdown(MCPUMP_FOREVER), MCPUMP_OK);
    raw_call_join(&call);
    cr_expect_eq(call.err, MCPUMP_ERR_CLOSED, "%s", raw_call_words(&call));
    cr_expect_eq(mcpump_failure_cause(call.failure), MCPUMP_CAUSE_CLOSED_BY_HOST);
    raw_call_done(&call);
    cr_assert_eq(mcpump_transport_open(old, NULL), MCPUMP_OK, "the same one");
    raw_expect(old, "the same one", "test/echo", "{}", "{}");
    mcpump_transport *new = test_open(NO_STRINGS);
    raw_expect(new, "a new one", "test/echo", "{}", "{}");
    cr_expect_eq(mcpump_shutdown(MCPUMP_FOREVER), MCPUMP_OK, "a second time");
    mcpump_transport_free(old);
    mcpump_transport_free(new);
}

static void *shut_down(void *arg)
{
    mcpump_err *err = arg;
    *err = mcpump_shutdown(MCPUMP_FOREVER);
    return NULL;
}

/* What is opened while it waits is no concern of it, or it might wait for ever. */
TIDY_TEST(one_that_is_opened_meanwhile_is_left_alone)
{
    pthread_t thread;
    mcpump_err err = MCPUMP_ERR_SYSTEM;
    mcpump_transport *deaf = open_with_graces(IGNORE_ALL, LONG_MS);
    mcpump_transport *late = test_transport_new(NO_STRINGS);
    cr_assert_eq(pthread_create(&thread, NULL, shut_down, &err), 0);
    while (mcpump_transport_is_connected(deaf))
        sched_yield(); /* until the shutdown has begun: no event tells */
    cr_assert_eq(mcpump_transport_open(late, NULL), MCPUMP_OK);
    mcpump_transport_close_begin(deaf); /* a second close */
    pthread_join(thread, NULL);
    cr_expect_eq(err, MCPUMP_OK);
    raw_expect(late, "late", "test/echo", "{}", "{}");
    mcpump_transport_free(deaf);
    mcpump_transport_free(late);
}

/* -- from many threads, while others open and close */

#define LIVES 40

static void *live_and_close(void *arg)
{
    mcpump_transport *transport = arg;
    for (int i = 0; i < TEST_SCALED(LIVES); i++) {
        mcpump_err err = mcpump_transport_open(transport, NULL);
        cr_assert(err == MCPUMP_OK || err == MCPUMP_ERR_ALREADY_OPEN, "%s", mcpump_err_name(err));
        if (i % 2 == 0)
            mcpump_transport_close(transport);
        else
            mcpump_transport_close_begin(transport);
    }
    mcpump_transport_close(transport);
    return NULL;
}

static void *shut_down_often(void *arg)
{
    (void)arg;
    for (int i = 0; i < TEST_SCALED(LIVES); i++)
        mcpump_shutdown(i % 2 == 0 ? 0 : MCPUMP_FOREVER);
    return NULL;
}

TIDY_TEST(shutdowns_race_with_openings)
{
    mcpump_transport *transports[4];
    pthread_t threads[LENGTH(transports)], shutters[2];
    for (size_t i = 0; i < LENGTH(transports); i++) {
        transports[i] = test_transport_new(NO_STRINGS);
        cr_assert_eq(pthread_create(&threads[i], NULL, live_and_close, transports[i]), 0);
    }
    for (size_t i = 0; i < LENGTH(shutters); i++)
        cr_assert_eq(pthread_create(&shutters[i], NULL, shut_down_often, NULL), 0);
    for (size_t i = 0; i < LENGTH(shutters); i++)
        pthread_join(shutters[i], NULL);
    for (size_t i = 0; i < LENGTH(transports); i++) {
        pthread_join(threads[i], NULL);
        mcpump_transport_free(transports[i]);
    }
}
