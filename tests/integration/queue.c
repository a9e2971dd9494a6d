/* SPDX-License-Identifier: Apache-2.0 */
/* The write queue of a server that does not read: its policies, and how it empties again. */
#include "raw.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIB   ((size_t)1024)
#define QUEUE (256 * KIB)
/* Three fit into the queue, whatever the pipe takes of the first, 64 KiB at most; four do not. */
#define LARGE (82 * KIB)

static char *large_params(size_t size)
{
    char *params = NULL, *text = malloc(size + 1);
    memset(text, 'x', size);
    text[size] = '\0';
    cr_assert_gt(asprintf(&params, "{\"text\":\"%s\"}", text), 0);
    free(text);
    return params;
}

static mcpump_transport *open_with(mcpump_queue_policy policy, const char *const *switches)
{
    mcpump_transport_options options = raw_options(switches);
    options.queue_policy = policy;
    options.write_queue_bytes = QUEUE;
    options.stdin_grace_ms = options.term_grace_ms = MCPUMP_ZERO;
    return raw_open(&options);
}

/* Waits for what no event tells: `reached` of the transport's statistics. */
static void await(const mcpump_transport *transport, bool (*reached)(const mcpump_stats *stats),
                  const char *what)
{
    int64_t until = test_now_ms() + TEST_PATIENCE_MS;
    mcpump_stats stats = raw_stats(transport);
    while (!reached(&stats)) {
        cr_assert_lt(test_now_ms(), until, "%s", what);
        sched_yield();
        stats = raw_stats(transport);
    }
}

static bool is_stalled(const mcpump_stats *stats)
{
    return stats->stalled_ms > 0;
}

static bool is_empty(const mcpump_stats *stats)
{
    return stats->queued_bytes == 0 && stats->stalled_ms == 0;
}

/* Requests that wait, each from its own thread, in this order. */
struct backlog {
    struct raw_call calls[3];
    size_t count;
    char *params;
};

/* Of a server that has stopped reading: the pipe takes a part of the first, the queue the rest. */
static void fill(struct backlog *backlog, mcpump_transport *transport, size_t count)
{
    uint64_t before = raw_stats(transport).requests;
    *backlog = (struct backlog){.count = count, .params = large_params(LARGE)};
    for (size_t i = 0; i < count; i++) {
        struct raw_call *call = &backlog->calls[i];
        *call = (struct raw_call){
            .transport = transport, .method = "test/echo", .params = backlog->params};
        call->options.timeout_ms = MCPUMP_FOREVER;
        raw_call_start(call);
        raw_await_requests(transport, before + i + 1);
    }
    await(transport, is_stalled, "it does not stall");
}

static void join_all(struct backlog *backlog, mcpump_err wanted)
{
    for (size_t i = 0; i < backlog->count; i++) {
        struct raw_call *call = &backlog->calls[i];
        raw_call_join(call);
        cr_expect_eq(call->err, wanted, "request %zu: %.200s", i, raw_call_words(call));
        cr_expect(wanted != MCPUMP_OK || raw_call_got(call, backlog->params), "request %zu", i);
        if (wanted == MCPUMP_ERR_CLOSED)
            cr_expect_eq(mcpump_failure_cause(call->failure), MCPUMP_CAUSE_WRITE_QUEUE_FULL,
                         "request %zu: %.200s", i, raw_call_words(call));
        raw_call_done(call);
    }
    free(backlog->params);
}

static void go_on_reading(const mcpump_transport *transport)
{
    cr_assert_eq(kill(mcpump_transport_pid(transport), SIGCONT), 0);
}

/* -- the policies */

TIDY_TEST(close_ends_the_connection)
{
    mcpump_transport *transport = open_with(MCPUMP_QUEUE_CLOSE, NO_STRINGS);
    struct backlog backlog;
    raw_expect(transport, "ready", "test/echo", "{}", "{}");
    raw_stop_server(transport);
    fill(&backlog, transport, 3);
    mcpump_failure *failure =
        raw_fails(transport, "full", "test/echo", backlog.params, MCPUMP_ERR_QUEUE_FULL);
    cr_expect_eq(mcpump_failure_sent(failure), MCPUMP_NOT_SENT);
    mcpump_failure_free(failure);
    join_all(&backlog, MCPUMP_ERR_CLOSED);
    failure = raw_fails(transport, "later", "test/echo", NULL, MCPUMP_ERR_CLOSED);
    cr_expect_eq(mcpump_failure_cause(failure), MCPUMP_CAUSE_WRITE_QUEUE_FULL);
    test_expect_part(mcpump_failure_message(failure), "does not read", "later");
    mcpump_failure_free(failure);
    cr_expect_not(mcpump_transport_is_connected(transport));
    mcpump_transport_free(transport);
}

TIDY_TEST(reject_fails_that_call_and_no_other)
{
    static const char note[] = "{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":";
    mcpump_transport *transport = open_with(MCPUMP_QUEUE_REJECT, NO_STRINGS);
    pid_t pid = mcpump_transport_pid(transport);
    struct backlog backlog;
    char *notification = NULL;
    raw_expect(transport, "ready", "test/echo", "{}", "{}");
    raw_stop_server(transport);
    fill(&backlog, transport, 3);
    uint64_t queued = raw_stats(transport).queued_bytes;
    for (int i = 0; i < 3; i++) {
        mcpump_failure *failure =
            raw_fails(transport, "full", "test/echo", backlog.params, MCPUMP_ERR_QUEUE_FULL);
        cr_expect_eq(mcpump_failure_sent(failure), MCPUMP_NOT_SENT);
        cr_expect_eq(mcpump_failure_cause(failure), MCPUMP_CAUSE_NONE);
        mcpump_failure_free(failure);
    }
    int size = asprintf(&notification, "%s%s}", note, backlog.params);
    cr_expect_eq(mcpump_transport_notify(transport, notification, (size_t)size, NULL),
                 MCPUMP_ERR_QUEUE_FULL);
    free(notification);
    cr_expect_eq(raw_stats(transport).queued_bytes, queued, "what was refused is not queued");
    cr_expect(mcpump_transport_is_connected(transport));
    go_on_reading(transport);
    join_all(&backlog, MCPUMP_OK);
    raw_expect(transport, "once it reads again", "test/echo", "{\"a\":1}", "{\"a\":1}");
    cr_expect_eq(mcpump_transport_pid(transport), pid);
    mcpump_transport_free(transport);
}

/* It is its sender's fault, not the server's: under either policy. */
TIDY_TEST(one_larger_than_the_whole_queue_fails_alone)
{
    static const mcpump_queue_policy policies[] = {MCPUMP_QUEUE_CLOSE, MCPUMP_QUEUE_REJECT};
    char *params = large_params(QUEUE);
    for (size_t i = 0; i < LENGTH(policies); i++) {
        mcpump_transport *transport = open_with(policies[i], NO_STRINGS);
        mcpump_failure *failure =
            raw_fails(transport, "too large", "test/echo", params, MCPUMP_ERR_QUEUE_FULL);
        cr_expect_eq(mcpump_failure_sent(failure), MCPUMP_NOT_SENT, "policy %zu", i);
        mcpump_failure_free(failure);
        raw_expect(transport, "the next", "test/echo", "{\"a\":1}", "{\"a\":1}");
        cr_expect_eq(raw_stats(transport).queued_bytes, 0);
        mcpump_transport_free(transport);
    }
    free(params);
}

/* -- the state */

TIDY_TEST(the_stall_shows_and_ends)
{
    mcpump_transport *transport = open_with(MCPUMP_QUEUE_REJECT, NO_STRINGS);
    struct backlog backlog;
    raw_expect(transport, "ready", "test/echo", "{}", "{}");
    cr_expect_eq(raw_stats(transport).stalled_ms, 0);
    raw_stop_server(transport);
    cr_expect_eq(raw_stats(transport).stalled_ms, 0, "nothing waits yet");
    int64_t started = test_now_ms();
    fill(&backlog, transport, 2);
    uint64_t first = raw_stats(transport).stalled_ms;
    while (raw_stats(transport).stalled_ms < first + 20)
        cr_assert_lt(test_now_ms(), started + TEST_PATIENCE_MS, "it does not grow");
    cr_expect_leq(raw_stats(transport).stalled_ms, (uint64_t)(test_now_ms() - started) + 1);
    go_on_reading(transport);
    join_all(&backlog, MCPUMP_OK);
    await(transport, is_empty, "it does not end");
    mcpump_transport_free(transport);
}

/* One that the pipe has a part of has to stay, the others go. */
TIDY_TEST(who_gives_up_takes_its_request_along)
{
    mcpump_transport *transport = open_with(MCPUMP_QUEUE_REJECT, NO_STRINGS);
    struct backlog backlog;
    raw_expect(transport, "ready", "test/echo", "{}", "{}");
    raw_stop_server(transport);
    fill(&backlog, transport, 1);
    uint64_t queued = raw_stats(transport).queued_bytes;
    for (int i = 0; i < 20; i++) {
        mcpump_failure *failure =
            raw_times_out(transport, "behind it", "test/echo", backlog.params, 1);
        cr_expect_eq(mcpump_failure_sent(failure), MCPUMP_NOT_SENT);
        mcpump_failure_free(failure);
        cr_assert_eq(raw_stats(transport).queued_bytes, queued, "after %d", i);
    }
    cr_expect_eq(raw_stats(transport).cancelled_on_wire, 0);
    go_on_reading(transport);
    join_all(&backlog, MCPUMP_OK);
    struct raw_received received;
    raw_receive(transport, &received);
    cr_expect_eq(received.count, 2, "%zu", received.count); /* ready, and the first */
    raw_received_done(&received);
    mcpump_transport_free(transport);
}

/* -- control messages */

/* Written before the server stopped; given up while it reads nothing. */
TIDY_TEST(cancellations_overtake_a_full_queue)
{
    mcpump_transport *transport = open_with(MCPUMP_QUEUE_REJECT, NO_STRINGS);
    struct raw_call early = {.transport = transport, .method = "test/drop"};
    struct backlog backlog;
    early.options.timeout_ms = MCPUMP_FOREVER;
    early.options.run = mcpump_run_new(NULL);
    raw_call_start(&early);
    raw_await_read(transport, 1);
    raw_stop_server(transport);
    fill(&backlog, transport, 3);
    mcpump_failure_free(
        raw_fails(transport, "full", "test/echo", backlog.params, MCPUMP_ERR_QUEUE_FULL));
    uint64_t queued = raw_stats(transport).queued_bytes;
    mcpump_run_cancel(early.options.run);
    raw_call_join(&early);
    cr_expect_eq(early.err, MCPUMP_ERR_CANCELLED, "%s", raw_call_words(&early));
    cr_expect_gt(raw_stats(transport).queued_bytes, queued, "the cancellation waits");
    cr_expect_eq(raw_stats(transport).cancelled_on_wire, 1);
    go_on_reading(transport);
    join_all(&backlog, MCPUMP_OK);
    struct raw_received received;
    raw_receive(transport, &received);
    /* "?" is one of the large ones, the first of which was half in the pipe. */
    cr_expect_str_eq(received.methods, "test/drop test/echo ? notifications/cancelled ? ?");
    cr_expect_eq(received.ids[3], received.ids[0]);
    raw_received_done(&received);
    raw_call_done(&early);
    mcpump_run_free(early.options.run);
    mcpump_transport_free(transport);
}

static mcpump_transport *open_with_gate(struct raw_gate *gate)
{
    mcpump_transport_options options = raw_options(NO_STRINGS);
    options.queue_policy = MCPUMP_QUEUE_REJECT;
    options.write_queue_bytes = QUEUE;
    options.stdin_grace_ms = options.term_grace_ms = MCPUMP_ZERO;
    options.log_fn = raw_gate_log;
    options.log_user = gate;
    options.log_level = MCPUMP_LOG_DEBUG;
    return raw_open(&options);
}

#define PING "{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":\\\"p\\\",\\\"method\\\":\\\"ping\\\"}\\n"

/* In one write: junk, three pings, and the reply to the call. */
TIDY_TEST(answers_to_pings_overtake_a_full_queue)
{
    struct raw_gate gate = RAW_GATE_INIT;
    mcpump_transport *transport = open_with_gate(&gate);
    struct raw_call asking = {.transport = transport,
                              .method = "test/raw",
                              .params = "{\"text\":\"junk\\n" PING PING PING "\",\"reply\":true}"};
    struct backlog backlog;
    raw_call_start(&asking);
    raw_gate_await(&gate);
    raw_stop_server(transport);
    fill(&backlog, transport, 3);
    uint64_t queued = raw_stats(transport).queued_bytes;
    raw_gate_open(&gate);
    raw_call_join(&asking); /* its reply came behind the pings: they were answered */
    cr_expect(raw_call_got(&asking, "{}"), "%s", raw_call_words(&asking));
    raw_call_done(&asking);
    cr_expect_eq(raw_stats(transport).server_requests, 3);
    cr_expect_gt(raw_stats(transport).queued_bytes, queued, "the answers wait");
    cr_expect(mcpump_transport_is_connected(transport));
    go_on_reading(transport);
    join_all(&backlog, MCPUMP_OK);
    struct raw_received received;
    raw_receive(transport, &received);
    size_t large = 0, at = 0, answers = 0;
    for (const char *word = received.methods; at < received.count; at++) {
        json_object *message = json_object_array_get_idx(received.messages, at), *result;
        large += *word == '?' && json_object_is_type(message, json_type_string);
        answers += json_object_is_type(message, json_type_object) &&
                   json_object_object_get_ex(message, "result", &result) && large == 1;
        word = strchr(word, ' ') != NULL ? strchr(word, ' ') + 1 : word;
    }
    cr_expect_eq(answers, 3, "behind the one that was begun, ahead of the others: %s",
                 received.methods);
    raw_received_done(&received);
    mcpump_transport_free(transport);
}
