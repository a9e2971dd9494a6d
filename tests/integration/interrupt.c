/* SPDX-License-Identifier: Apache-2.0 */
/* The interrupt latch as a host uses it, and what the server is told of calls that were given up.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "raw.h"

/* Calls that the server never answers, all of them read by it. */
static void start_calls(struct raw_call *calls, size_t count, mcpump_transport *transport)
{
    uint64_t before = raw_stats(transport).requests;
    for (size_t i = 0; i < count; i++) {
        calls[i] = (struct raw_call){.transport = transport, .method = "test/drop"};
        calls[i].options.timeout_ms = TEST_PATIENCE_MS;
        raw_call_start(&calls[i]);
    }
    raw_await_read(transport, before + count);
}

static void expect_interrupted(struct raw_call *calls, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        raw_call_join(&calls[i]);
        cr_assert_eq(calls[i].err, MCPUMP_ERR_INTERRUPTED, "%s, %zu: %s", name, i,
                     raw_call_words(&calls[i]));
        cr_expect_eq(mcpump_failure_sent(calls[i].failure), MCPUMP_SENT, "%s, %zu", name, i);
        cr_expect_eq(mcpump_failure_cause(calls[i].failure), MCPUMP_CAUSE_NONE, "%s, %zu", name, i);
        raw_call_done(&calls[i]);
    }
}

/* -- set and cleared */

TIDY_TEST(interrupt_clear_call_succeeds)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    for (int i = 0; i < 3; i++) {
        mcpump_transport_interrupt(transport);
        mcpump_transport_clear_interrupt(transport);
        raw_expect(transport, "after clear", "test/echo", "{\"a\":1}", "{\"a\":1}");
    }
    mcpump_transport_free(transport);
}

TIDY_TEST(calls_are_aborted_until_it_is_cleared)
{
    static const char note[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/a\"}";
    mcpump_transport *transport = test_open(NO_STRINGS);
    mcpump_transport_interrupt(transport);
    for (int i = 0; i < 3; i++) {
        mcpump_failure *failure =
            raw_fails(transport, "set", "test/echo", NULL, MCPUMP_ERR_INTERRUPTED);
        cr_expect_eq(mcpump_failure_sent(failure), MCPUMP_NOT_SENT);
        mcpump_failure_free(failure);
        cr_expect_eq(mcpump_transport_notify(transport, note, strlen(note), NULL),
                     MCPUMP_ERR_INTERRUPTED);
        cr_expect(mcpump_transport_is_interrupted(transport));
        cr_expect(mcpump_transport_request_cancelled(transport));
        cr_expect(mcpump_transport_is_connected(transport));
    }
    mcpump_transport_clear_interrupt(transport);
    cr_expect_not(mcpump_transport_is_interrupted(transport));
    cr_expect_not(mcpump_transport_request_cancelled(transport));
    raw_expect(transport, "cleared", "test/echo", "{\"a\":1}", "{\"a\":1}");
    struct raw_received received;
    raw_receive(transport, &received);
    cr_expect_str_eq(received.methods, "test/echo", "what was aborted has left");
    raw_received_done(&received);
    mcpump_transport_free(transport);
}

TIDY_TEST(an_open_clears_it_and_a_close_does_not)
{
    mcpump_transport *transport = test_transport_new(NO_STRINGS);
    mcpump_transport_interrupt(transport);
    mcpump_failure *failure =
        raw_fails(transport, "not open", "test/echo", NULL, MCPUMP_ERR_INTERRUPTED);
    mcpump_failure_free(failure);
    cr_assert_eq(mcpump_transport_open(transport, NULL), MCPUMP_OK);
    cr_expect_not(mcpump_transport_is_interrupted(transport));
    raw_expect(transport, "opened", "test/echo", "{\"a\":1}", "{\"a\":1}");
    mcpump_transport_interrupt(transport);
    mcpump_transport_close(transport);
    cr_expect(mcpump_transport_is_interrupted(transport));
    mcpump_transport_free(transport);
}

TIDY_TEST(a_set_latch_starts_no_server)
{
    mcpump_server_options options = test_options(NO_STRINGS);
    mcpump_server *server = test_server_new(&options);
    mcpump_server_interrupt(server);
    mcpump_failure *failure = test_call_fails(server, "test/echo", NULL, MCPUMP_ERR_INTERRUPTED);
    mcpump_failure_free(failure);
    cr_expect_eq(test_stats(server).opens, 0);
    cr_expect(mcpump_server_is_interrupted(server));
    mcpump_server_clear_interrupt(server);
    json_object_put(test_result(server, "test/echo", NULL));
    mcpump_server_free(server);
}

/* -- calls in flight */

TIDY_TEST(interrupt_and_clear_back_to_back_abort_all_in_flight)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    pid_t pid = mcpump_transport_pid(transport);
    struct raw_call calls[8];
    for (int round = 0; round < 20; round++) {
        start_calls(calls, LENGTH(calls), transport);
        mcpump_transport_interrupt(transport);
        mcpump_transport_clear_interrupt(transport);
        raw_expect(transport, "at once", "test/echo", "{\"a\":1}", "{\"a\":1}");
        expect_interrupted(calls, LENGTH(calls), "back to back");
    }
    cr_expect_eq(mcpump_transport_pid(transport), pid);
    mcpump_transport_free(transport);
}

static mcpump_transport *interrupted_by_signal;

static void interrupt_in_handler(int number)
{
    (void)number;
    mcpump_transport_interrupt(interrupted_by_signal);
}

TIDY_TEST(a_signal_handler_wakes_64_waiters)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    struct raw_call calls[64];
    interrupted_by_signal = transport;
    signal(SIGUSR1, interrupt_in_handler);
    start_calls(calls, LENGTH(calls), transport);
    errno = ENOTEMPTY;
    raise(SIGUSR1);
    cr_expect_eq(errno, ENOTEMPTY, "errno was not kept");
    expect_interrupted(calls, LENGTH(calls), "signal");
    cr_expect(mcpump_transport_is_interrupted(transport));
    mcpump_transport_clear_interrupt(transport);
    raw_expect(transport, "after it", "test/echo", "{\"a\":1}", "{\"a\":1}");
    mcpump_stats stats = raw_stats(transport);
    cr_expect_eq(stats.in_flight, 0);
    cr_expect_eq(stats.cancelled_on_wire, LENGTH(calls));
    raw_expect_cancelled(transport, "signal", "test/drop", LENGTH(calls));
    mcpump_transport_free(transport);
}

TIDY_TEST(another_transport_is_left_alone)
{
    mcpump_transport *one = test_open(NO_STRINGS), *other = test_open(NO_STRINGS);
    struct raw_call calls[4];
    struct raw_call slow = {.transport = other, .method = "test/sleep", .params = "{\"ms\":300}"};
    start_calls(calls, LENGTH(calls), one);
    raw_call_start(&slow);
    raw_await_read(other, 1);
    mcpump_transport_interrupt(one);
    expect_interrupted(calls, LENGTH(calls), "one");
    raw_expect(other, "other", "test/echo", "{\"a\":1}", "{\"a\":1}");
    raw_call_join(&slow);
    cr_expect(raw_call_got(&slow, "{\"ms\":300}"), "%s", raw_call_words(&slow));
    raw_call_done(&slow);
    mcpump_transport_free(one);
    mcpump_transport_free(other);
}

TIDY_TEST(a_hundred_cancelled_calls_leave_the_server_as_it_is)
{
    mcpump_server *server = test_connect(STRINGS("--era", "legacy"));
    pid_t pid = test_pid(server);
    struct test_call calls[100];
    uint64_t before = test_stats(server).requests;
    for (size_t i = 0; i < LENGTH(calls); i++)
        test_call_start(&calls[i], server, "test/sleep", "{\"ms\":60000}");
    raw_await_requests(mcpump_server_transport(server), before + LENGTH(calls));
    mcpump_server_interrupt(server);
    for (size_t i = 0; i < LENGTH(calls); i++) {
        test_call_join(&calls[i]);
        cr_expect_eq(calls[i].err, MCPUMP_ERR_INTERRUPTED, "%s", mcpump_err_name(calls[i].err));
        cr_expect_lt(calls[i].took_ms, 30000);
        test_call_done(&calls[i]);
    }
    mcpump_server_clear_interrupt(server);
    test_expect_result(server, "test/echo", "{\"a\":1}", "{\"a\":1}");
    cr_expect_eq(test_pid(server), pid);
    cr_expect_eq(test_stats(server).opens, 1);
    test_expect_no_violation(server, "100 cancelled");
    mcpump_server_free(server);
}

/* -- interrupts that race with replies */

struct racer {
    mcpump_transport *transport;
    int who, wrong, aborted;
    char first_wrong[200];
    atomic_bool *stop;
    pthread_t thread;
};

static void *race(void *arg)
{
    struct racer *racer = arg;
    for (int i = 0; i < 2000; i++) {
        char params[48];
        snprintf(params, sizeof(params), "{\"who\":%d,\"call\":%d}", racer->who, i);
        struct raw_call call = {
            .transport = racer->transport, .method = "test/echo", .params = params};
        raw_call_make(&call);
        bool aborted = call.err == MCPUMP_ERR_INTERRUPTED;
        racer->aborted += aborted;
        if (!aborted && !raw_call_got(&call, params) && racer->wrong++ == 0)
            snprintf(racer->first_wrong, sizeof(racer->first_wrong), "%s got %s", params,
                     raw_call_words(&call));
        raw_call_done(&call);
    }
    return NULL;
}

static void *interrupt_all_the_time(void *arg)
{
    struct racer *racer = arg;
    while (!atomic_load(racer->stop)) {
        mcpump_transport_interrupt(racer->transport);
        mcpump_transport_clear_interrupt(racer->transport);
        sched_yield();
    }
    return NULL;
}

TIDY_TEST(interrupts_in_a_storm_mix_up_no_replies)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    struct racer racers[8];
    atomic_bool stop = false;
    struct racer interrupter = {.transport = transport, .stop = &stop};
    cr_assert_eq(pthread_create(&interrupter.thread, NULL, interrupt_all_the_time, &interrupter),
                 0);
    for (size_t i = 0; i < LENGTH(racers); i++) {
        racers[i] = (struct racer){.transport = transport, .who = (int)i};
        cr_assert_eq(pthread_create(&racers[i].thread, NULL, race, &racers[i]), 0);
    }
    int aborted = 0;
    for (size_t i = 0; i < LENGTH(racers); i++) {
        pthread_join(racers[i].thread, NULL);
        cr_expect_eq(racers[i].wrong, 0, "%d wrong; %s", racers[i].wrong, racers[i].first_wrong);
        aborted += racers[i].aborted;
    }
    atomic_store(&stop, true);
    pthread_join(interrupter.thread, NULL);
    cr_expect_gt(aborted, 0, "nothing was interrupted: this test tests nothing");
    raw_expect(transport, "after it", "test/echo", "{\"a\":1}", "{\"a\":1}");
    mcpump_stats stats = raw_stats(transport);
    cr_expect_eq(stats.in_flight, 0);
    cr_expect_eq(stats.unknown_replies, 0);
    cr_expect_eq(stats.junk_lines, 0);
    mcpump_transport_free(transport);
}

/* -- what the server is told */

TIDY_TEST(each_abandoned_request_is_cancelled_once_by_its_id)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    struct raw_call calls[10];
    start_calls(calls, LENGTH(calls), transport);
    mcpump_transport_interrupt(transport);
    expect_interrupted(calls, LENGTH(calls), "interrupt");
    mcpump_transport_clear_interrupt(transport);
    for (int i = 0; i < 5; i++)
        mcpump_failure_free(raw_times_out(transport, "timeout", "test/drop", NULL, 20));
    for (int i = 0; i < 5; i++)
        raw_expect(transport, "answered", "test/echo", "{}", "{}");
    raw_expect_cancelled(transport, "15 of 21", "test/drop", 15);
    cr_expect_eq(raw_stats(transport).cancelled_on_wire, 15);
    mcpump_transport_free(transport);
}

TIDY_TEST(the_reason_is_neutral_or_the_callers)
{
    static const struct {
        const char *name, *given, *wanted;
    } rows[] = {
        {"none", NULL, "The client gave up on this request"},
        {"plain", "enough", "enough"},
        {"odd", "say \"stop\"\n\xE2\x82\xAC", "say \"stop\"\n\xE2\x82\xAC"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        mcpump_transport *transport = test_open(NO_STRINGS);
        struct raw_call call = {.transport = transport, .method = "test/drop"};
        call.options.timeout_ms = 20;
        call.options.cancel_reason = rows[i].given;
        raw_call_make(&call);
        cr_assert_eq(call.err, MCPUMP_ERR_TIMEOUT, "%s: %s", rows[i].name, raw_call_words(&call));
        raw_call_done(&call);
        struct raw_received received;
        raw_receive(transport, &received);
        cr_assert_str_eq(received.methods, "test/drop notifications/cancelled", "%s", rows[i].name);
        json_object *message = json_object_array_get_idx(received.messages, 1);
        cr_expect_str_eq(test_member(json_object_object_get(message, "params"), "reason"),
                         rows[i].wanted, "%s", rows[i].name);
        raw_received_done(&received);
        mcpump_transport_free(transport);
    }
}

/* What has half left goes on, and is cancelled behind it, ahead of bulk; what has not is never
 * seen. */
TIDY_TEST(unsent_requests_never_leave)
{
    static char large[300 * 1024];
    snprintf(large, sizeof(large), "{\"text\":\"%0*d\"}", 250 * 1024, 0);
    mcpump_transport *transport = test_open(NO_STRINGS);
    struct raw_call interrupted = {.transport = transport, .method = "test/unsent"};
    struct raw_call last = {.transport = transport, .method = "test/echo"};
    raw_stop_server(transport);

    mcpump_failure *failure = raw_times_out(transport, "half", "test/drop", large, 50);
    cr_expect_eq(mcpump_failure_sent(failure), MCPUMP_SENT_UNKNOWN);
    mcpump_failure_free(failure);
    failure = raw_times_out(transport, "behind it", "test/unsent", NULL, 50);
    cr_expect_eq(mcpump_failure_sent(failure), MCPUMP_NOT_SENT);
    mcpump_failure_free(failure);
    raw_call_start(&interrupted);
    raw_await_requests(transport, 3);
    mcpump_transport_interrupt(transport);
    raw_call_join(&interrupted);
    mcpump_transport_clear_interrupt(transport);
    cr_assert_eq(interrupted.err, MCPUMP_ERR_INTERRUPTED, "%s", raw_call_words(&interrupted));
    cr_expect_eq(mcpump_failure_sent(interrupted.failure), MCPUMP_NOT_SENT);
    raw_call_done(&interrupted);

    raw_call_start(&last);
    raw_await_requests(transport, 4);
    kill(mcpump_transport_pid(transport), SIGCONT);
    raw_call_join(&last);
    cr_expect(raw_call_got(&last, "{}"), "%s", raw_call_words(&last));
    raw_call_done(&last);
    struct raw_received received;
    raw_receive(transport, &received);
    cr_expect_str_eq(received.methods, "? notifications/cancelled test/echo");
    cr_expect_eq(received.ids[0], received.ids[1], "cancelled %lld instead of %lld",
                 (long long)received.ids[1], (long long)received.ids[0]);
    raw_received_done(&received);
    cr_expect_eq(raw_stats(transport).cancelled_on_wire, 1);
    cr_expect_eq(raw_stats(transport).queued_bytes, 0);
    mcpump_transport_free(transport);
}

/* -- while connecting */

/* Which message the server says nothing to. */
static const struct connecting_row {
    const char *name;
    const char *switches[4];
    const char *awaits; /* in its log */
} connectings[] = {
    {"initialize", {"--era", "legacy", "--init", "silent"}, "recv {\"jsonrpc\":\"2.0\",\"id\":2"},
    {"probe", {"--probe", "silent"}, "recv {\"jsonrpc\":\"2.0\",\"id\":1"},
};

static mcpump_server *silent_server(const struct connecting_row *row,
                                    const struct test_folder *folder)
{
    const char *const switches[] = {
        "--log",          folder->log, row->switches[0], row->switches[1], row->switches[2],
        row->switches[3], NULL};
    mcpump_server_options options = test_options(switches);
    return test_server_new(&options);
}

static void expect_nothing_cancelled(const struct test_folder *folder, const char *name)
{
    cr_expect_eq(test_count_lines(folder->log, "recv {\"jsonrpc\":\"2.0\",\"method\":"), 0, "%s",
                 name);
}

TIDY_TEST(an_interrupted_connect_cancels_nothing_on_the_wire)
{
    for (size_t i = 0; i < LENGTH(connectings); i++) {
        const struct connecting_row *row = &connectings[i];
        struct test_folder folder;
        test_folder_init(&folder);
        mcpump_server *server = silent_server(row, &folder);
        struct test_call calls[8];
        for (size_t k = 0; k < LENGTH(calls); k++)
            test_call_start(&calls[k], server, "test/echo", NULL);
        test_await_lines(folder.log, row->awaits, 1);
        pid_t pid = test_pid(server);
        mcpump_server_interrupt(server);
        for (size_t k = 0; k < LENGTH(calls); k++) {
            test_call_join(&calls[k]);
            cr_expect_eq(calls[k].err, MCPUMP_ERR_INTERRUPTED, "%s: %s", row->name,
                         mcpump_err_name(calls[k].err));
            test_call_done(&calls[k]);
        }
        cr_expect(test_await_end(pid), "%s", row->name);
        expect_nothing_cancelled(&folder, row->name);
        cr_expect_eq(test_count_lines(folder.log, "start "), 1, "%s", row->name);
        mcpump_server_free(server);
        test_folder_done(&folder);
    }
}

TIDY_TEST(a_connect_that_times_out_cancels_nothing_on_the_wire)
{
    struct test_folder folder;
    test_folder_init(&folder);
    mcpump_server_options options = test_options(STRINGS("--log", folder.log, "--init", "silent"));
    options.era = MCPUMP_ERA_LEGACY;
    options.connect_timeout_ms = 500;
    mcpump_server *server = test_server_new(&options);
    mcpump_failure *failure = test_connect_fails(server, MCPUMP_ERR_TIMEOUT);
    cr_expect_eq(mcpump_failure_phase(failure), MCPUMP_PHASE_HANDSHAKE);
    mcpump_failure_free(failure);
    expect_nothing_cancelled(&folder, "timeout");
    mcpump_server_free(server);
    test_folder_done(&folder);
}

TIDY_TEST(after_an_interrupted_connect_the_next_one_starts_again)
{
    struct test_folder folder;
    test_folder_init(&folder);
    mcpump_server_options options =
        test_options(STRINGS("--log", folder.log, "--era", "legacy", "--init", "late:700"));
    mcpump_server *server = test_server_new(&options);
    struct test_call call;
    test_call_start(&call, server, "test/echo", "{\"a\":1}");
    test_await_lines(folder.log, connectings[0].awaits, 1);
    mcpump_server_interrupt(server);
    test_call_join(&call);
    cr_expect_eq(call.err, MCPUMP_ERR_INTERRUPTED, "%s", mcpump_err_name(call.err));
    test_call_done(&call);
    mcpump_server_clear_interrupt(server);
    test_expect_result(server, "test/echo", "{\"a\":1}", "{\"a\":1}");
    cr_expect_eq(test_stats(server).opens, 2);
    test_expect_no_violation(server, "started again");
    mcpump_server_free(server);
    test_folder_done(&folder);
}
