/* SPDX-License-Identifier: Apache-2.0 */
/* Calls in flight without a thread of their own: submitted, waited for, polled, cancelled. */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mcpump/run.h"
#include "raw.h"

#define MANY 256
#define SOME 100 /* what the helper counts cancellations of */

static mcpump_call *submit_with(mcpump_transport *transport, const char *method, int number,
                                const mcpump_call_options *options)
{
    char request[160];
    mcpump_call *call = NULL;
    mcpump_failure *failure = NULL;
    int size = snprintf(request, sizeof(request),
                        "{\"jsonrpc\":\"2.0\",\"id\":\"mine\",\"method\":\"test/%s\","
                        "\"params\":{\"number\":%d,\"n\":%d,\"ms\":%d}}",
                        method, number, MANY, number);
    mcpump_err err =
        mcpump_transport_submit(transport, request, (size_t)size, options, &call, &failure);
    memset(request, 'x', sizeof(request)); /* it was borrowed */
    cr_assert_eq(err, MCPUMP_OK, "%s", mcpump_failure_message(failure));
    return call;
}

static mcpump_call *submit(mcpump_transport *transport, const char *method, int number)
{
    return submit_with(transport, method, number, NULL);
}

static void expect_reply(mcpump_call *call, int number)
{
    char wanted[64];
    mcpump_reply *reply = NULL;
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_call_wait(call, &reply, &failure);
    cr_assert_eq(err, MCPUMP_OK, "%d: %s", number, mcpump_failure_message(failure));
    snprintf(wanted, sizeof(wanted), "\"number\":%d,", number);
    test_expect_part(mcpump_reply_text(reply, NULL), wanted, "its own reply");
    test_expect_part(mcpump_reply_text(reply, NULL), "\"id\":\"mine\"", "the caller's id");
    mcpump_reply_free(reply);
}

/* Must fail so; the failure is the caller's. */
static mcpump_failure *wait_fails(mcpump_call *call, mcpump_err wanted)
{
    mcpump_reply *reply = NULL;
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_call_wait(call, &reply, &failure);
    cr_expect_eq(err, wanted, "%s: %s", mcpump_err_name(err), mcpump_failure_message(failure));
    cr_expect_null(reply);
    cr_expect_eq(mcpump_failure_error(failure), wanted);
    return failure;
}

static void expect_failure(mcpump_call *call, mcpump_err wanted)
{
    mcpump_failure_free(wait_fails(call, wanted));
}

static size_t wait_any(mcpump_call *const *calls, size_t count)
{
    size_t index = SIZE_MAX;
    cr_assert_eq(mcpump_wait_any(calls, count, TEST_PATIENCE_MS, &index), MCPUMP_OK);
    cr_assert_lt(index, count);
    cr_assert(mcpump_call_poll(calls[index]));
    return index;
}

/* -- replies */

TIDY_TEST(in_the_order_of_submission)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    mcpump_call *calls[MANY];
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < MANY; i++)
            calls[i] = submit(transport, "reverse", i);
        for (int i = 0; i < MANY; i++) {
            expect_reply(calls[i], i);
            mcpump_call_free(calls[i]);
        }
        cr_expect_eq(raw_stats(transport).in_flight, 0);
    }
    mcpump_transport_free(transport);
}

TIDY_TEST(whichever_is_first)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    mcpump_call *calls[MANY];
    for (int i = 0; i < MANY; i++)
        calls[i] = submit(transport, "reverse", i);
    for (int left = MANY; left > 0; left--) {
        size_t i = wait_any(calls, MANY);
        cr_assert_eq(wait_any(calls, MANY), i, "found again until it is waited for");
        expect_reply(calls[i], (int)i);
        mcpump_call_free(calls[i]);
        calls[i] = NULL;
    }
    mcpump_transport_free(transport);
}

TIDY_TEST(each_outcome_is_given_once)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    mcpump_reply *reply = NULL;
    mcpump_call *call = submit(transport, "echo", 1);
    expect_reply(call, 1);
    cr_expect_eq(mcpump_call_wait(call, &reply, NULL), MCPUMP_ERR_INVALID_ARGUMENT);
    cr_expect(mcpump_call_poll(call), "that does not block");
    mcpump_call_cancel(call);
    cr_expect_eq(mcpump_call_wait(call, &reply, NULL), MCPUMP_ERR_INVALID_ARGUMENT);
    mcpump_call_free(call);
    cr_expect_eq(raw_stats(transport).cancelled_on_wire, 0);
    mcpump_transport_free(transport);
}

TIDY_TEST(polled_until_it_is_over)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    mcpump_call *call = submit(transport, "sleep", 50), *never = submit(transport, "drop", 0);
    cr_expect_not(mcpump_call_poll(call), "it takes 50 ms");
    int64_t until = test_now_ms() + TEST_PATIENCE_MS;
    while (!mcpump_call_poll(call)) {
        cr_assert_lt(test_now_ms(), until);
        sched_yield();
    }
    cr_expect_not(mcpump_call_poll(never));
    expect_reply(call, 50);
    mcpump_call_free(call);
    mcpump_call_free(never);
    mcpump_transport_free(transport);
}

TIDY_TEST(over_two_transports)
{
    mcpump_transport *transports[] = {test_open(NO_STRINGS), test_open(NO_STRINGS)};
    for (int round = 0; round < 100; round++) {
        int silent = round % 2;
        mcpump_call *calls[] = {NULL, NULL, NULL, NULL};
        calls[1 + silent] = submit(transports[silent], "drop", 1);
        calls[2 - silent] = submit(transports[1 - silent], round % 3 ? "echo" : "sleep", 2);
        cr_expect_eq(wait_any(calls, 4), (size_t)(2 - silent));
        expect_reply(calls[2 - silent], 2);
        mcpump_call_free(calls[1]);
        mcpump_call_free(calls[2]);
    }
    mcpump_transport_free(transports[0]);
    mcpump_transport_free(transports[1]);
}

TIDY_TEST(beside_blocking_calls)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    mcpump_call *call = submit(transport, "late", 0);
    raw_expect(transport, "beside", "test/echo", "{\"a\":1}", "{\"a\":1}");
    mcpump_reply *reply = NULL;
    cr_assert_eq(mcpump_call_wait(call, &reply, NULL), MCPUMP_OK);
    test_expect_part(mcpump_reply_text(reply, NULL), "{\"late\":true}", "late");
    mcpump_reply_free(reply);
    mcpump_call_free(call);
    mcpump_transport_free(transport);
}

static const char *const eras[] = {"legacy", "modern"};

TIDY_TEST(through_a_server_that_is_not_connected)
{
    for (size_t e = 0; e < LENGTH(eras); e++) {
        mcpump_server_options options = test_options(STRINGS("--era", eras[e]));
        mcpump_server *server = test_server_new(&options);
        mcpump_call *calls[MANY];
        for (int i = 0; i < MANY; i++) {
            char params[32];
            snprintf(params, sizeof(params), "{\"number\":%d}", i);
            cr_assert_eq(mcpump_server_submit(server, "test/echo", params, NULL, &calls[i], NULL),
                         MCPUMP_OK);
        }
        for (int i = 0; i < MANY; i++) {
            char wanted[32];
            mcpump_reply *reply = NULL;
            cr_assert_eq(mcpump_call_wait(calls[i], &reply, NULL), MCPUMP_OK);
            snprintf(wanted, sizeof(wanted), "\"number\":%d", i);
            test_expect_part(mcpump_reply_text(reply, NULL), wanted, eras[e]);
            mcpump_reply_free(reply);
            mcpump_call_free(calls[i]);
        }
        cr_expect_eq(test_stats(server).opens, 1);
        test_expect_no_violation(server, eras[e]);
        mcpump_server_free(server);
    }
}

/* Once calls go one by one, submitted ones are gathered; nobody has to come back for them to leave.
 */
TIDY_TEST(what_is_submitted_leaves_though_nobody_waits)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    for (int round = 0; round < 10; round++) {
        mcpump_call *calls[20];
        for (int i = 0; i < 60; i++)
            raw_expect(transport, "warm", "test/echo", "{\"a\":1}", "{\"a\":1}");
        uint64_t replies = raw_stats(transport).replies;
        for (int i = 0; i < 20; i++)
            calls[i] = submit(transport, "echo", i);
        int64_t until = test_now_ms() + TEST_PATIENCE_MS;
        while (raw_stats(transport).replies < replies + 20) {
            cr_assert_lt(test_now_ms(), until, "%d were answered",
                         (int)(raw_stats(transport).replies - replies));
            sched_yield();
        }
        for (int i = 0; i < 20; i++) {
            expect_reply(calls[i], i);
            mcpump_call_free(calls[i]);
        }
    }
    mcpump_transport_free(transport);
}

/* -- what is refused */

TIDY_TEST(arguments)
{
    static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"test/drop\"}";
    mcpump_transport *transport = test_open(NO_STRINGS);
    mcpump_call *call = NULL;
    mcpump_reply *reply;
    mcpump_failure *failure = NULL;
    size_t index = 77;
    mcpump_err wanted = MCPUMP_ERR_INVALID_ARGUMENT;
    cr_expect_eq(mcpump_transport_submit(NULL, request, 10, NULL, &call, NULL), wanted);
    cr_expect_eq(mcpump_transport_submit(transport, NULL, 10, NULL, &call, NULL), wanted);
    cr_expect_eq(mcpump_transport_submit(transport, request, 10, NULL, NULL, NULL), wanted);
    cr_expect_eq(mcpump_transport_submit(transport, request, 10, NULL, &call, &failure),
                 MCPUMP_ERR_INVALID_REQUEST);
    cr_expect_not_null(failure);
    mcpump_failure_free(failure);
    cr_expect_eq(mcpump_call_wait(NULL, &reply, NULL), wanted);
    cr_expect_eq(mcpump_wait_any(NULL, 3, 0, &index), wanted);
    cr_expect_eq(mcpump_wait_any(&call, 1, 0, &index), wanted, "there is none");
    cr_expect_eq(mcpump_wait_any(&call, 0, 0, &index), wanted);
    call = submit(transport, "drop", 1);
    cr_expect_eq(mcpump_call_wait(call, NULL, NULL), wanted);
    cr_expect_eq(mcpump_wait_any(&call, 1, 0, NULL), wanted);
    cr_expect_eq(mcpump_wait_any(&call, 1, 0, &index), MCPUMP_ERR_TIMEOUT);
    cr_expect_eq(index, 77, "untouched");
    mcpump_call_cancel(NULL);
    mcpump_call_free(NULL);
    mcpump_call_free(call);
    mcpump_transport_free(transport);
}

TIDY_TEST(where_nothing_is_open)
{
    mcpump_transport *transport = test_transport_new(NO_STRINGS);
    static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"test/echo\"}";
    mcpump_call *call = NULL;
    mcpump_failure *failure = NULL;
    cr_expect_eq(
        mcpump_transport_submit(transport, request, strlen(request), NULL, &call, &failure),
        MCPUMP_ERR_NOT_OPEN);
    cr_expect_null(call);
    cr_expect_eq(mcpump_failure_error(failure), MCPUMP_ERR_NOT_OPEN);
    mcpump_failure_free(failure);
    mcpump_transport_free(transport);
}

/* -- ends */

TIDY_TEST(deadlines)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    mcpump_call_options options = MCPUMP_CALL_OPTIONS_INIT;
    options.timeout_ms = 40;
    int64_t started = test_now_ms();
    mcpump_call *calls[] = {submit(transport, "drop", 0),
                            submit_with(transport, "drop", 1, &options),
                            submit_with(transport, "drop", 2, &options)};
    size_t index;
    cr_expect_eq(mcpump_wait_any(calls, 3, 1, &index), MCPUMP_ERR_TIMEOUT);
    cr_expect_eq(wait_any(calls, 3), 1, "its own deadline ends it");
    cr_expect_geq(test_now_ms() - started, 40);
    expect_failure(calls[1], MCPUMP_ERR_TIMEOUT);
    expect_failure(calls[2], MCPUMP_ERR_TIMEOUT);
    cr_expect_not(mcpump_call_poll(calls[0]));
    raw_await_read(transport, 3);
    cr_expect_eq(raw_stats(transport).cancelled_on_wire, 2);
    cr_expect_eq(raw_stats(transport).in_flight, 1);
    for (size_t i = 0; i < 3; i++)
        mcpump_call_free(calls[i]);
    cr_expect_eq(raw_stats(transport).in_flight, 0);
    mcpump_transport_free(transport);
}

TIDY_TEST(cancelled_before_the_wait)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    mcpump_call_options options = MCPUMP_CALL_OPTIONS_INIT;
    char reason[] = "enough";
    options.cancel_reason = reason;
    mcpump_call *call = submit_with(transport, "drop", 0, &options);
    memset(reason, 'x', sizeof(reason)); /* it was borrowed */
    raw_await_read(transport, 1);
    mcpump_call_cancel(call);
    cr_expect(mcpump_call_poll(call));
    cr_expect_eq(raw_stats(transport).cancelled_on_wire, 1, "told at once, not at the wait");
    mcpump_call_cancel(call);
    mcpump_failure *failure = wait_fails(call, MCPUMP_ERR_CANCELLED);
    cr_expect_eq(mcpump_failure_sent(failure), MCPUMP_SENT);
    test_expect_part(mcpump_failure_message(failure), "test/drop", "the method was copied");
    mcpump_failure_free(failure);
    mcpump_call_free(call);
    struct raw_received received;
    raw_receive(transport, &received);
    test_expect_part(json_object_to_json_string(received.messages), "enough",
                     "the reason was copied");
    raw_received_done(&received);
    cr_expect_eq(raw_stats(transport).cancelled_on_wire, 1);
    mcpump_transport_free(transport);
}

static void *cancel(void *call)
{
    mcpump_call_cancel(call);
    return NULL;
}

TIDY_TEST(cancelled_by_another_thread_while_it_is_waited_for)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    for (int round = 0; round < TEST_SCALED(300); round++) {
        mcpump_call_options options = MCPUMP_CALL_OPTIONS_INIT;
        options.timeout_ms = round % 3 == 1 ? 1 : TEST_PATIENCE_MS;
        mcpump_call *call =
            submit_with(transport, round % 3 == 2 ? "echo" : "drop", round, &options);
        pthread_t thread;
        cr_assert_eq(pthread_create(&thread, NULL, cancel, call), 0);
        mcpump_reply *reply = NULL;
        mcpump_err err = mcpump_call_wait(call, &reply, NULL);
        cr_expect(err == MCPUMP_ERR_CANCELLED || (round % 3 == 1 && err == MCPUMP_ERR_TIMEOUT) ||
                      (round % 3 == 2 && err == MCPUMP_OK),
                  "%s", mcpump_err_name(err));
        cr_expect_eq(err == MCPUMP_OK, reply != NULL);
        mcpump_reply_free(reply);
        pthread_join(thread, NULL);
        mcpump_call_free(call);
    }
    raw_expect(transport, "after it", "test/echo", "{\"a\":1}", "{\"a\":1}");
    cr_expect_eq(raw_stats(transport).in_flight, 0);
    mcpump_transport_free(transport);
}

TIDY_TEST(interrupted)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    mcpump_call *calls[SOME];
    for (int i = 0; i < SOME; i++)
        calls[i] = submit(transport, "drop", i);
    mcpump_transport_interrupt(transport);
    mcpump_transport_clear_interrupt(transport);
    mcpump_call *later = submit(transport, "echo", 7);
    wait_any(calls, SOME);
    for (int i = 0; i < SOME; i++) {
        expect_failure(calls[i], MCPUMP_ERR_INTERRUPTED);
        mcpump_call_free(calls[i]);
    }
    expect_reply(later, 7);
    mcpump_call_free(later);
    raw_expect_cancelled(transport, "interrupted", "test/drop", SOME);
    mcpump_transport_free(transport);
}

TIDY_TEST(their_run_is_cancelled)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    mcpump_run *run = mcpump_run_new(NULL);
    mcpump_run_scope scope;
    mcpump_run_enter(run, &scope);
    mcpump_call *calls[] = {submit(transport, "drop", 0), submit(transport, "drop", 1)};
    mcpump_run_leave(&scope);
    mcpump_call *other = submit(transport, "drop", 2);
    mcpump_run_cancel(run);
    wait_any(calls, 2);
    for (size_t i = 0; i < LENGTH(calls); i++) {
        expect_failure(calls[i], MCPUMP_ERR_CANCELLED);
        mcpump_call_free(calls[i]);
    }
    mcpump_run_free(run);
    cr_expect_not(mcpump_call_poll(other));
    mcpump_call_free(other);
    mcpump_transport_free(transport);
}

TIDY_TEST(the_connection_is_lost)
{
    for (int round = 0; round < 20; round++) {
        mcpump_transport *transport = test_open(NO_STRINGS);
        mcpump_call *calls[4];
        for (int i = 0; i < 4; i++)
            calls[i] = submit(transport, "drop", i);
        if (round % 2 == 0)
            kill(mcpump_transport_pid(transport), SIGKILL);
        else
            mcpump_transport_close_begin(transport);
        wait_any(calls, 4);
        for (int i = 0; i < 4; i++) {
            mcpump_failure *failure = wait_fails(calls[i], MCPUMP_ERR_CLOSED);
            cr_expect_eq(mcpump_failure_cause(failure),
                         round % 2 == 0 ? MCPUMP_CAUSE_EXITED : MCPUMP_CAUSE_CLOSED_BY_HOST);
            mcpump_failure_free(failure);
            mcpump_call_free(calls[i]);
        }
        mcpump_transport_free(transport);
    }
}

TIDY_TEST(an_outcome_outlives_its_connection)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    mcpump_call *calls[] = {submit(transport, "echo", 1), submit(transport, "drop", 2)};
    raw_await_read(transport, 2);
    mcpump_transport_close(transport);
    cr_assert_eq(mcpump_transport_open(transport, NULL), MCPUMP_OK);
    expect_reply(calls[0], 1);
    expect_failure(calls[1], MCPUMP_ERR_CLOSED);
    mcpump_call_free(calls[0]);
    mcpump_call_free(calls[1]);
    raw_expect(transport, "the next one", "test/echo", "{\"a\":1}", "{\"a\":1}");
    mcpump_transport_free(transport);
}

TIDY_TEST(freed_without_a_wait)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    for (int i = 0; i < MANY; i++)
        mcpump_call_free(submit(transport, i % 2 ? "drop" : "echo", i));
    raw_expect(transport, "after it", "test/echo", "{\"a\":1}", "{\"a\":1}");
    cr_expect_eq(raw_stats(transport).in_flight, 0);
    mcpump_call *call = submit(transport, "drop", 0);
    raw_await_read(transport, 1);
    mcpump_call_free(call);
    json_object *report = raw_report(transport);
    cr_expect_geq(test_int_member(report, "cancelled_count"), 1);
    json_object_put(report);
    mcpump_transport_free(transport);
}

/* -- threads that are cancelled; forked hosts */

struct waiting {
    mcpump_call *calls[2];
    bool for_any;
    atomic_bool is_there;
};

static void *wait_for_it(void *arg)
{
    struct waiting *waiting = arg;
    mcpump_reply *reply = NULL;
    size_t index;
    atomic_store(&waiting->is_there, true);
    if (waiting->for_any)
        mcpump_wait_any(waiting->calls, 2, MCPUMP_FOREVER, &index);
    else
        mcpump_call_wait(waiting->calls[0], &reply, NULL);
    return NULL;
}

TIDY_TEST(threads_that_are_cancelled)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    for (int round = 0; round < TEST_SCALED(200); round++) {
        struct waiting waiting = {.for_any = round % 2};
        pthread_t thread;
        void *result;
        waiting.calls[0] = submit(transport, "drop", 0);
        waiting.calls[1] = submit(transport, "drop", 1);
        pthread_create(&thread, NULL, wait_for_it, &waiting);
        while (!atomic_load(&waiting.is_there))
            sched_yield();
        pthread_cancel(thread);
        pthread_join(thread, &result);
        cr_assert_eq(result, PTHREAD_CANCELED);
        cr_expect_eq(mcpump_call_poll(waiting.calls[0]), !waiting.for_any,
                     "one that was waited for is given up, one of several is not");
        mcpump_call_free(waiting.calls[0]);
        mcpump_call_free(waiting.calls[1]);
    }
    cr_expect_eq(raw_stats(transport).in_flight, 0);
    raw_expect(transport, "after it", "test/echo", "{\"a\":1}", "{\"a\":1}");
    mcpump_transport_free(transport);
}

static int use_in_child(mcpump_transport *transport, mcpump_call *call)
{
    static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"test/echo\"}";
    mcpump_call *other = NULL;
    mcpump_reply *reply = NULL;
    size_t index = 1;
    if (mcpump_transport_submit(transport, request, strlen(request), NULL, &other, NULL) !=
        MCPUMP_ERR_FORKED)
        return 1;
    if (!mcpump_call_poll(call) || mcpump_wait_any(&call, 1, MCPUMP_FOREVER, &index) != MCPUMP_OK)
        return 2;
    if (mcpump_call_wait(call, &reply, NULL) != MCPUMP_ERR_FORKED)
        return 3;
    mcpump_call_cancel(call);
    mcpump_call_free(call);
    return 0;
}

TIDY_TEST(forked)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    mcpump_call *call = submit(transport, "sleep", 100);
    pid_t child = fork();
    if (child == 0)
        _exit(use_in_child(transport, call));
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", status);
    expect_reply(call, 100);
    mcpump_call_free(call);
    mcpump_transport_free(transport);
}
