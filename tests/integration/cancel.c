/* SPDX-License-Identifier: Apache-2.0 */
/* Runs: cancelling one ends its calls, on all servers, and no others. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "raw.h"

/* How long a call may take to return; its own limit is TEST_PATIENCE_MS. */
#define SOON_MS (TEST_PATIENCE_MS / 2)

/* -- calls that belong to runs */

/* A call in a thread of its own, whose run is entered, given in the options, or both. */
struct run_call {
    struct raw_call raw;
    mcpump_run *entered; /* NULL: none */
    pthread_t thread;
};

static void *make_within(void *arg)
{
    struct run_call *call = arg;
    mcpump_run_scope scope;
    mcpump_run_enter(call->entered, &scope);
    raw_call_make(&call->raw);
    mcpump_run_leave(&scope);
    return NULL;
}

static void start(struct run_call *call, mcpump_transport *transport, const char *method,
                  mcpump_run *entered, mcpump_run *given)
{
    *call = (struct run_call){.entered = entered};
    call->raw = (struct raw_call){.transport = transport, .method = method};
    call->raw.options.timeout_ms = TEST_PATIENCE_MS;
    call->raw.options.run = given;
    cr_assert_eq(pthread_create(&call->thread, NULL, make_within, call), 0);
}

/* Some of a run's calls are made within it, some have it in their options. */
static void start_some(struct run_call *calls, size_t count, mcpump_transport *transport,
                       const char *method, mcpump_run *run)
{
    for (size_t i = 0; i < count; i++)
        start(&calls[i], transport, method, i % 2 ? run : NULL, i % 2 ? NULL : run);
}

static void join(struct run_call *call)
{
    cr_assert_eq(pthread_join(call->thread, NULL), 0);
}

static void expect_end(struct run_call *call, mcpump_err wanted, mcpump_sent sent, const char *name)
{
    join(call);
    cr_assert_eq(call->raw.err, wanted, "%s: %s", name, raw_call_words(&call->raw));
    cr_expect_eq(mcpump_failure_sent(call->raw.failure), sent, "%s", name);
    cr_expect_eq(mcpump_failure_cause(call->raw.failure), MCPUMP_CAUSE_NONE, "%s", name);
    cr_expect_lt(call->raw.took_ms, SOON_MS, "%s", name);
    raw_call_done(&call->raw);
}

static void expect_cancelled(struct run_call *calls, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        expect_end(&calls[i], MCPUMP_ERR_CANCELLED, MCPUMP_SENT, name);
}

static void expect_answer(struct run_call *call, const char *name)
{
    join(call);
    cr_assert(raw_call_got(&call->raw, "{}"), "%s: %s", name, raw_call_words(&call->raw));
    raw_call_done(&call->raw);
}

/* -- before, during, after */

TIDY_TEST(calls_in_flight_are_cancelled)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    pid_t pid = mcpump_transport_pid(transport);
    mcpump_run *run = mcpump_run_new(NULL);
    struct run_call calls[100];
    start_some(calls, LENGTH(calls), transport, "test/drop", run);
    raw_await_read(transport, LENGTH(calls));
    mcpump_run_cancel(run);
    expect_cancelled(calls, LENGTH(calls), "in flight");
    cr_expect_not(mcpump_transport_is_interrupted(transport), "a latch was touched");
    raw_expect(transport, "after it", "test/echo", "{\"a\":1}", "{\"a\":1}");
    cr_expect_eq(mcpump_transport_pid(transport), pid);
    cr_expect_eq(raw_stats(transport).in_flight, 0);
    cr_expect_eq(raw_stats(transport).cancelled_on_wire, LENGTH(calls));
    raw_expect_cancelled(transport, "in flight", "test/drop", LENGTH(calls));
    mcpump_run_free(run);
    mcpump_transport_free(transport);
}

TIDY_TEST(a_cancelled_run_sends_nothing)
{
    static const char note[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/a\"}";
    mcpump_transport *transport = test_open(NO_STRINGS);
    mcpump_run *run = mcpump_run_new(NULL);
    mcpump_run_scope scope;
    struct run_call calls[4];
    mcpump_run_cancel(run);
    start_some(calls, LENGTH(calls), transport, "test/echo", run);
    for (size_t i = 0; i < LENGTH(calls); i++)
        expect_end(&calls[i], MCPUMP_ERR_CANCELLED, MCPUMP_NOT_SENT, "before");
    mcpump_run_enter(run, &scope);
    cr_expect_eq(mcpump_transport_notify(transport, note, strlen(note), NULL),
                 MCPUMP_ERR_CANCELLED);
    mcpump_run_leave(&scope);
    cr_expect_eq(mcpump_transport_notify(transport, note, strlen(note), NULL), MCPUMP_OK);
    struct raw_received received;
    raw_receive(transport, &received);
    cr_expect_str_eq(received.methods, "notifications/a");
    raw_received_done(&received);
    cr_expect_eq(raw_stats(transport).cancelled_on_wire, 0);
    mcpump_run_free(run);
    mcpump_transport_free(transport);
}

/* Each of them is done with when it comes: nothing is cancelled on the wire. */
TIDY_TEST(a_cancellation_after_the_calls_changes_nothing)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    for (int i = 0; i < 20; i++) {
        mcpump_run *run = mcpump_run_new(NULL);
        struct run_call calls[2];
        start_some(calls, LENGTH(calls), transport, "test/echo", run);
        for (size_t k = 0; k < LENGTH(calls); k++)
            expect_answer(&calls[k], "before");
        mcpump_run_cancel(run);
        raw_expect(transport, "after it", "test/echo", "{\"a\":1}", "{\"a\":1}");
        mcpump_run_free(run);
    }
    cr_expect_eq(raw_stats(transport).cancelled_on_wire, 0);
    mcpump_transport_free(transport);
}

/* -- which run governs a call */

enum { NONE = -1 };

struct governed_row {
    const char *name;
    int outer, inner, given; /* runs entered, one within the other; in the options */
    int cancel;
    bool is_hit;
};

/* One call is in flight at the cancellation, one comes after it. What is not hit times out. */
static void check_governed(mcpump_transport *transport, const struct governed_row *row,
                           mcpump_run *const *runs)
{
    mcpump_run_scope outer, inner;
    struct run_call call;
    struct raw_call later = {.transport = transport, .method = "test/drop"};
    uint64_t before = raw_stats(transport).requests;
    later.options.run = row->given != NONE ? runs[row->given] : NULL;
    later.options.timeout_ms = 20;
    mcpump_run_enter(row->outer != NONE ? runs[row->outer] : NULL, &outer);
    mcpump_run_enter(row->inner != NONE ? runs[row->inner] : mcpump_run_current(), &inner);
    start(&call, transport, "test/drop", mcpump_run_current(), later.options.run);
    raw_await_read(transport, before + 1);
    mcpump_run_cancel(runs[row->cancel]);
    raw_call_make(&later);
    mcpump_run_leave(&inner);
    mcpump_run_leave(&outer);
    cr_expect_eq(later.err, row->is_hit ? MCPUMP_ERR_CANCELLED : MCPUMP_ERR_TIMEOUT, "%s: %s",
                 row->name, raw_call_words(&later));
    raw_call_done(&later);
    if (row->is_hit) {
        expect_cancelled(&call, 1, row->name);
        return;
    }
    cr_expect_eq(raw_stats(transport).in_flight, 1, "%s", row->name);
    mcpump_transport_interrupt(transport);
    mcpump_transport_clear_interrupt(transport);
    expect_end(&call, MCPUMP_ERR_INTERRUPTED, MCPUMP_SENT, row->name);
}

/* Runs 0 and 1 stand alone, 2 is below 0. */
TIDY_TEST(the_run_of_a_call)
{
    static const struct governed_row rows[] = {
        {"no run", NONE, NONE, NONE, 0, false},
        {"entered", 0, NONE, NONE, 0, true},
        {"another than the entered one", 0, NONE, NONE, 1, false},
        {"the inner one", 0, 1, NONE, 1, true},
        {"the outer one", 0, 1, NONE, 0, false},
        {"given", NONE, NONE, 0, 0, true},
        {"given wins over entered", 0, NONE, 1, 1, true},
        {"entered loses to given", 0, NONE, 1, 0, false},
        {"the parent of the entered one", 2, NONE, NONE, 0, true},
        {"the parent of the given one", NONE, NONE, 2, 0, true},
        {"the child of the entered one", 0, NONE, NONE, 2, false},
        {"the parent of the inner one", 1, 2, NONE, 0, true},
    };
    mcpump_transport *transport = test_open(NO_STRINGS);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        mcpump_run *runs[3] = {mcpump_run_new(NULL), mcpump_run_new(NULL)};
        runs[2] = mcpump_run_new(runs[0]);
        check_governed(transport, &rows[i], runs);
        for (size_t k = 0; k < LENGTH(runs); k++)
            mcpump_run_free(runs[k]);
    }
    mcpump_transport_free(transport);
}

TIDY_TEST(request_cancelled_tells_of_both)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    mcpump_run *run = mcpump_run_new(NULL);
    mcpump_run_scope scope;
    cr_expect_not(mcpump_transport_request_cancelled(transport));
    mcpump_run_cancel(run);
    cr_expect_not(mcpump_transport_request_cancelled(transport), "of a run of nobody here");
    mcpump_run_enter(run, &scope);
    cr_expect(mcpump_transport_request_cancelled(transport), "run");
    cr_expect_not(mcpump_transport_is_interrupted(transport));
    mcpump_run_leave(&scope);
    cr_expect_not(mcpump_transport_request_cancelled(transport), "left");
    mcpump_transport_interrupt(transport);
    cr_expect(mcpump_transport_request_cancelled(transport), "latch");
    mcpump_transport_clear_interrupt(transport);
    mcpump_run_free(run);
    mcpump_transport_free(transport);
}

TIDY_TEST(a_latch_that_is_set_too_goes_first)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    mcpump_run *run = mcpump_run_new(NULL);
    struct run_call call;
    mcpump_run_cancel(run);
    mcpump_transport_interrupt(transport);
    start(&call, transport, "test/echo", run, NULL);
    expect_end(&call, MCPUMP_ERR_INTERRUPTED, MCPUMP_NOT_SENT, "both");
    mcpump_transport_clear_interrupt(transport);
    mcpump_run_free(run);
    mcpump_transport_free(transport);
}

/* -- from a signal handler */

static mcpump_run *cancelled_by_signal;

static void cancel_in_handler(int number)
{
    (void)number;
    mcpump_run_cancel(cancelled_by_signal);
}

TIDY_TEST(a_signal_handler_cancels_one_run_on_four_servers)
{
    mcpump_transport *transports[4];
    struct run_call calls[4][8];
    mcpump_run *run = mcpump_run_new(NULL);
    cancelled_by_signal = run;
    signal(SIGUSR1, cancel_in_handler);
    for (size_t i = 0; i < LENGTH(transports); i++) {
        transports[i] = test_open(NO_STRINGS);
        start_some(calls[i], LENGTH(calls[i]), transports[i], "test/drop", run);
        raw_await_read(transports[i], LENGTH(calls[i]));
    }
    errno = ENOTEMPTY;
    raise(SIGUSR1);
    cr_expect_eq(errno, ENOTEMPTY, "errno was not kept");
    for (size_t i = 0; i < LENGTH(transports); i++) {
        expect_cancelled(calls[i], LENGTH(calls[i]), "four servers");
        raw_expect(transports[i], "after it", "test/echo", "{\"a\":1}", "{\"a\":1}");
        raw_expect_cancelled(transports[i], "four servers", "test/drop", LENGTH(calls[i]));
        mcpump_transport_free(transports[i]);
    }
    mcpump_run_free(run);
}

/* -- two runs at once */

/* The calls of B are held by the server until the second of a pair comes; they are in flight when A
 * is cancelled. */
static void cancel_one_of_two(mcpump_transport **transports, size_t count)
{
    enum { OF_A = 3 };
    struct run_call of_a[4][OF_A], of_b[4];
    mcpump_run *a = mcpump_run_new(NULL), *b = mcpump_run_new(NULL);
    for (size_t i = 0; i < count; i++) {
        uint64_t before = raw_stats(transports[i]).requests;
        start_some(of_a[i], OF_A, transports[i], "test/drop", a);
        start(&of_b[i], transports[i], "test/reverse", i % 2 ? NULL : b, i % 2 ? b : NULL);
        raw_await_read(transports[i], before + OF_A + 1);
    }
    mcpump_run_cancel(a);
    for (size_t i = 0; i < count; i++) {
        expect_cancelled(of_a[i], OF_A, "A");
        cr_assert_eq(raw_stats(transports[i]).in_flight, 1, "B's call is gone");
    }
    for (size_t i = 0; i < count; i++) {
        raw_expect(transports[i], "B's second", "test/reverse", "{}", "{}");
        expect_answer(&of_b[i], "B");
    }
    mcpump_run_free(a);
    mcpump_run_free(b);
}

TIDY_TEST(one_of_two_runs_is_cancelled_a_thousand_times)
{
    static const struct {
        const char *name;
        size_t servers;
        int rounds;
    } rows[] = {{"one server", 1, TEST_SCALED(1000)}, {"four servers", 4, TEST_SCALED(1000)}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        mcpump_transport *transports[4];
        for (size_t k = 0; k < rows[i].servers; k++)
            transports[k] = test_open(NO_STRINGS);
        for (int round = 0; round < rows[i].rounds; round++)
            cancel_one_of_two(transports, rows[i].servers);
        for (size_t k = 0; k < rows[i].servers; k++) {
            json_object *report = raw_report(transports[k]);
            cr_expect_eq(test_int_member(report, "cancelled_count"), 3 * rows[i].rounds, "%s",
                         rows[i].name);
            json_object_put(report);
            cr_expect_eq(raw_stats(transports[k]).opens, 1, "%s", rows[i].name);
            cr_expect_eq(raw_stats(transports[k]).late_replies, 0, "%s", rows[i].name);
            mcpump_transport_free(transports[k]);
        }
    }
}

/* -- what the server is told */

/* The late reply of what was cancelled comes in front of the reply to the next call. */
TIDY_TEST(late_replies_of_a_cancelled_run_reach_nobody)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    for (int i = 0; i < 50; i++) {
        mcpump_run *run = mcpump_run_new(NULL);
        struct run_call call;
        uint64_t before = raw_stats(transport).requests;
        start(&call, transport, "test/batch", run, NULL);
        raw_await_read(transport, before + 1);
        mcpump_run_cancel(run);
        expect_end(&call, MCPUMP_ERR_CANCELLED, MCPUMP_SENT, "late");
        raw_expect(transport, "mine", "test/batch", "{\"mine\":1}", "{\"mine\":1}");
        mcpump_run_free(run);
    }
    raw_expect(transport, "last", "test/echo", "{}", "{}");
    mcpump_stats stats = raw_stats(transport);
    cr_expect_eq(stats.late_replies, 50, "%llu", (unsigned long long)stats.late_replies);
    cr_expect_eq(stats.duplicate_replies + stats.unknown_replies, 0);
    mcpump_transport_free(transport);
}

TIDY_TEST(the_reason_of_a_cancelled_run)
{
    static const struct {
        const char *name, *given, *wanted;
    } rows[] = {
        {"neutral", NULL, "The client gave up on this request"},
        {"the caller's", "the user closed the tab", "the user closed the tab"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        mcpump_transport *transport = test_open(NO_STRINGS);
        mcpump_run *run = mcpump_run_new(NULL);
        struct raw_call call = {.transport = transport, .method = "test/drop"};
        call.options.run = run;
        call.options.cancel_reason = rows[i].given;
        raw_call_start(&call);
        raw_await_read(transport, 1);
        mcpump_run_cancel(run);
        raw_call_join(&call);
        cr_assert_eq(call.err, MCPUMP_ERR_CANCELLED, "%s: %s", rows[i].name, raw_call_words(&call));
        raw_call_done(&call);
        struct raw_received received;
        raw_receive(transport, &received);
        cr_assert_str_eq(received.methods, "test/drop test/echo notifications/cancelled", "%s",
                         rows[i].name);
        cr_expect_eq(received.ids[2], received.ids[0], "%s", rows[i].name);
        json_object *message = json_object_array_get_idx(received.messages, 2);
        cr_expect_str_eq(test_member(json_object_object_get(message, "params"), "reason"),
                         rows[i].wanted, "%s", rows[i].name);
        raw_received_done(&received);
        mcpump_run_free(run);
        mcpump_transport_free(transport);
    }
}

static void stop_server(const mcpump_transport *transport)
{
    siginfo_t info;
    pid_t pid = mcpump_transport_pid(transport);
    cr_assert_eq(kill(pid, SIGSTOP), 0);
    cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WSTOPPED), 0);
}

/* The pipe is full: what was half written goes on and is cancelled behind, the rest never leaves.
 * No caller waits for the pipe. */
TIDY_TEST(what_was_not_sent_is_not_cancelled)
{
    static char large[300 * 1024];
    snprintf(large, sizeof(large), "{\"text\":\"%0*d\"}", 250 * 1024, 0);
    mcpump_transport *transport = test_open(NO_STRINGS);
    mcpump_run *run = mcpump_run_new(NULL);
    struct run_call half, unsent[8];
    stop_server(transport);
    half = (struct run_call){.entered = run};
    half.raw = (struct raw_call){.transport = transport, .method = "test/drop", .params = large};
    cr_assert_eq(pthread_create(&half.thread, NULL, make_within, &half), 0);
    raw_await_requests(transport, 1);
    start_some(unsent, LENGTH(unsent), transport, "test/unsent", run);
    raw_await_requests(transport, 1 + LENGTH(unsent));
    mcpump_run_cancel(run);
    expect_end(&half, MCPUMP_ERR_CANCELLED, MCPUMP_SENT_UNKNOWN, "half");
    for (size_t i = 0; i < LENGTH(unsent); i++)
        expect_end(&unsent[i], MCPUMP_ERR_CANCELLED, MCPUMP_NOT_SENT, "unsent");
    kill(mcpump_transport_pid(transport), SIGCONT);
    struct raw_received received;
    raw_receive(transport, &received);
    cr_expect_str_eq(received.methods, "? notifications/cancelled");
    cr_expect_eq(received.ids[0], received.ids[1]);
    raw_received_done(&received);
    cr_expect_eq(raw_stats(transport).cancelled_on_wire, 1);
    cr_expect_eq(raw_stats(transport).queued_bytes, 0);
    mcpump_run_free(run);
    mcpump_transport_free(transport);
}

/* -- cancellations that race with replies */

struct racer {
    mcpump_transport *transport;
    mcpump_run *parent;
    int wrong;
    pthread_t thread;
};

/* Children come and go while their parent is cancelled. */
static void *race_under_a_parent(void *arg)
{
    struct racer *racer = arg;
    while (!mcpump_run_cancelled(racer->parent)) {
        mcpump_run *child = mcpump_run_new(racer->parent);
        struct raw_call call = {.transport = racer->transport, .method = "test/echo"};
        call.options.run = child;
        raw_call_make(&call);
        racer->wrong += call.err != MCPUMP_ERR_CANCELLED && !raw_call_got(&call, "{}");
        raw_call_done(&call);
        mcpump_run_free(child);
    }
    return NULL;
}

TIDY_TEST(a_cancelled_parent_ends_what_races)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    for (int round = 0; round < TEST_SCALED(100); round++) {
        mcpump_run *parent = mcpump_run_new(NULL);
        struct racer racers[4];
        uint64_t before = raw_stats(transport).requests;
        for (size_t i = 0; i < LENGTH(racers); i++) {
            racers[i] = (struct racer){.transport = transport, .parent = parent};
            cr_assert_eq(pthread_create(&racers[i].thread, NULL, race_under_a_parent, &racers[i]),
                         0);
        }
        raw_await_requests(transport, before + 20 + (uint64_t)round % 7);
        mcpump_run_cancel(parent);
        for (size_t i = 0; i < LENGTH(racers); i++) {
            pthread_join(racers[i].thread, NULL);
            cr_expect_eq(racers[i].wrong, 0, "%d wrong", racers[i].wrong);
        }
        mcpump_run_free(parent);
    }
    raw_expect(transport, "after it", "test/echo", "{\"a\":1}", "{\"a\":1}");
    cr_expect_eq(raw_stats(transport).in_flight, 0);
    cr_expect_eq(raw_stats(transport).unknown_replies, 0);
    mcpump_transport_free(transport);
}
