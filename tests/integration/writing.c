/* SPDX-License-Identifier: Apache-2.0 */
/* Servers that die, stop reading or answer while we write; what is queued, and what has left. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "raw.h"

#define KIB 1024
#define MIB (1024 * KIB)

/* An object with a text of so many bytes; to be freed. */
static char *large_params(size_t size, char filler)
{
    char *params = NULL;
    char *text = malloc(size + 1);
    memset(text, filler, size);
    text[size] = '\0';
    cr_assert_gt(asprintf(&params, "{\"text\":\"%s\"}", text), 0);
    free(text);
    return params;
}

/* A server that does not read, and must be killed to end. */
static mcpump_transport *open_deaf(size_t write_queue_bytes)
{
    mcpump_transport_options options = raw_options(STRINGS("--ignore-term"));
    options.write_queue_bytes = write_queue_bytes;
    options.stdin_grace_ms = 50;
    options.term_grace_ms = 50;
    mcpump_transport *transport = raw_open(&options);
    raw_expect(transport, "deaf", "test/stop-reading", NULL, "{}");
    return transport;
}

/* -- the server dies */

static volatile sig_atomic_t sigpipes;

static void count_sigpipe(int number)
{
    (void)number;
    sigpipes++;
}

/* A request that stands half in the pipe when its server is killed. */
static void kill_while_writing(const char *name)
{
    mcpump_transport *transport = open_deaf(0);
    char *params = large_params(4 * MIB, 'x');
    struct raw_call call = {.transport = transport, .method = "test/echo", .params = params};
    raw_call_start(&call);
    raw_await_requests(transport, 2);
    cr_assert_eq(kill(mcpump_transport_pid(transport), SIGKILL), 0);
    raw_call_join(&call);
    cr_assert_eq(call.err, MCPUMP_ERR_CLOSED, "%s: %s", name, raw_call_words(&call));
    cr_expect_eq(mcpump_failure_cause(call.failure), MCPUMP_CAUSE_EXITED, "%s", name);
    cr_expect_eq(mcpump_failure_term_signal(call.failure), SIGKILL, "%s", name);
    cr_expect_eq(mcpump_failure_sent(call.failure), MCPUMP_SENT_UNKNOWN, "%s", name);
    raw_call_done(&call);
    mcpump_transport_free(transport);
    free(params);
}

/* With SIG_DFL a signal that reached us would end this test. */
TIDY_TEST(a_dying_server_leaves_the_hosts_sigpipe_alone)
{
    static const struct {
        const char *name;
        void (*handler)(int number);
    } rows[] = {
        {"SIG_DFL", SIG_DFL},
        {"SIG_IGN", SIG_IGN},
        {"a handler", count_sigpipe},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct sigaction given = {.sa_handler = rows[i].handler, .sa_flags = SA_NODEFER}, after;
        sigset_t mask_before, mask_after;
        sigaction(SIGPIPE, &given, NULL);
        pthread_sigmask(SIG_SETMASK, NULL, &mask_before);
        kill_while_writing(rows[i].name);
        raw_write_to_closed_stdin(rows[i].name);
        pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
        sigaction(SIGPIPE, NULL, &after);
        cr_expect(after.sa_handler == rows[i].handler, "%s: another handler", rows[i].name);
        cr_expect_eq(after.sa_flags & SA_NODEFER, SA_NODEFER, "%s: other flags", rows[i].name);
        cr_expect_eq(sigismember(&mask_after, SIGPIPE), sigismember(&mask_before, SIGPIPE), "%s",
                     rows[i].name);
        cr_expect_eq(sigpipes, 0, "%s: %d signals", rows[i].name, (int)sigpipes);
    }
    signal(SIGPIPE, SIG_DFL);
}

/* -- the server stops reading */

TIDY_TEST(the_timeout_holds_though_bytes_are_queued)
{
    mcpump_transport *transport = open_deaf(0);
    char *params = large_params(300 * KIB, 'x');
    struct {
        const char *name, *params;
        mcpump_sent sent;
    } rows[] = {
        {"half in the pipe", params, MCPUMP_SENT_UNKNOWN},
        {"large and behind it", params, MCPUMP_NOT_SENT},
        {"small and behind it", "{}", MCPUMP_NOT_SENT},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        int64_t started = test_now_ms();
        mcpump_failure *failure =
            raw_times_out(transport, rows[i].name, "test/echo", rows[i].params, 100);
        cr_expect_lt(test_now_ms() - started, 10000, "%s: too late", rows[i].name);
        cr_expect_eq(mcpump_failure_sent(failure), rows[i].sent, "%s: %d", rows[i].name,
                     (int)mcpump_failure_sent(failure));
        cr_expect_eq(mcpump_failure_cause(failure), MCPUMP_CAUSE_NONE, "%s", rows[i].name);
        mcpump_failure_free(failure);
    }
    cr_expect(mcpump_transport_is_connected(transport));
    cr_expect_lt(raw_stats(transport).queued_bytes, 300 * KIB, "what was given up is queued");
    mcpump_transport_free(transport);
    free(params);
}

TIDY_TEST(close_is_bounded_and_no_other_server_is_touched)
{
    mcpump_transport *deaf = open_deaf(0);
    mcpump_transport *other = test_open(NO_STRINGS);
    char *params = large_params(1 * MIB, 'x');
    struct raw_call calls[4];
    for (size_t i = 0; i < LENGTH(calls); i++) {
        calls[i] = (struct raw_call){.transport = deaf, .method = "test/echo", .params = params};
        raw_call_start(&calls[i]);
    }
    raw_await_requests(deaf, 1 + LENGTH(calls));
    raw_expect(other, "while the other is stuck", "test/echo", params, params);
    int64_t started = test_now_ms();
    mcpump_transport_close(deaf);
    cr_expect_lt(test_now_ms() - started, 10000);
    for (size_t i = 0; i < LENGTH(calls); i++) {
        raw_call_join(&calls[i]);
        cr_expect_eq(calls[i].err, MCPUMP_ERR_CLOSED, "%s", raw_call_words(&calls[i]));
        raw_call_done(&calls[i]);
    }
    raw_expect(other, "once it is closed", "test/echo", params, params);
    mcpump_transport_free(other);
    mcpump_transport_free(deaf);
    free(params);
}

TIDY_TEST(a_full_queue_ends_the_connection)
{
    mcpump_transport *transport = open_deaf(1 * MIB);
    char *params = large_params(400 * KIB, 'x');
    struct raw_call calls[4];
    for (size_t i = 0; i < LENGTH(calls); i++) {
        calls[i] =
            (struct raw_call){.transport = transport, .method = "test/echo", .params = params};
        raw_call_start(&calls[i]);
    }
    int full = 0;
    for (size_t i = 0; i < LENGTH(calls); i++) {
        raw_call_join(&calls[i]);
        full += calls[i].err == MCPUMP_ERR_QUEUE_FULL;
        cr_expect(calls[i].err == MCPUMP_ERR_CLOSED || calls[i].err == MCPUMP_ERR_QUEUE_FULL, "%s",
                  raw_call_words(&calls[i]));
        if (calls[i].err == MCPUMP_ERR_CLOSED)
            cr_expect_eq(mcpump_failure_cause(calls[i].failure), MCPUMP_CAUSE_WRITE_QUEUE_FULL,
                         "%s", raw_call_words(&calls[i]));
        raw_call_done(&calls[i]);
    }
    cr_expect_geq(full, 1);
    mcpump_transport_free(transport);
    free(params);
}

TIDY_TEST(a_request_larger_than_the_queue_fails_alone)
{
    mcpump_transport_options options = raw_options(NO_STRINGS);
    options.write_queue_bytes = 64 * KIB;
    mcpump_transport *transport = raw_open(&options);
    char *params = large_params(100 * KIB, 'x');
    mcpump_failure *failure =
        raw_fails(transport, "too large", "test/echo", params, MCPUMP_ERR_QUEUE_FULL);
    cr_expect_eq(mcpump_failure_sent(failure), MCPUMP_NOT_SENT);
    mcpump_failure_free(failure);
    raw_expect(transport, "the next", "test/echo", "{\"a\":1}", "{\"a\":1}");
    mcpump_transport_free(transport);
    free(params);
}

/* -- large requests */

TIDY_TEST(frames_of_32_threads_stay_whole)
{
    mcpump_server *server = test_connect(STRINGS("--era", "legacy"));
    struct test_call calls[32];
    char *params[32];
    static const char fillers[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345";
    for (int round = 0; round < 4; round++) {
        for (size_t i = 0; i < LENGTH(calls); i++) {
            params[i] = large_params(100 * 1000 + i, fillers[i]);
            test_call_start(&calls[i], server, "test/echo", params[i]);
        }
        for (size_t i = 0; i < LENGTH(calls); i++) {
            size_t size = 0;
            test_call_join(&calls[i]);
            cr_assert_eq(calls[i].err, MCPUMP_OK, "%zu: %s", i, mcpump_err_name(calls[i].err));
            const char *value = mcpump_reply_value(calls[i].reply, &size);
            cr_expect(size == strlen(params[i]) && memcmp(value, params[i], size) == 0, "%zu: %zu",
                      i, size);
            test_call_done(&calls[i]);
            free(params[i]);
        }
    }
    test_expect_no_violation(server, "32 threads");
    mcpump_server_free(server);
}

/* It would stop reading if we did not read while we write. */
TIDY_TEST(a_server_that_answers_each_byte_is_no_deadlock)
{
    mcpump_transport *transport = test_open(STRINGS("--echo-per-byte"));
    char *params = large_params(4 * MIB, 'x');
    raw_expect(transport, "megabytes", "test/echo", params, params);
    cr_expect_gt(raw_stats(transport).bytes_read, 8 * MIB);
    mcpump_transport_free(transport);
    free(params);
}

TIDY_TEST(line_breaks_between_tokens_are_not_written)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    static const char request[] = "{\n \"jsonrpc\" : \"2.0\",\r\n \"id\" : 1,\n"
                                  " \"method\":\"test/echo\",\n\"params\":{\n\"a\\n\":\t1 }\n}\n";
    mcpump_reply *reply = NULL;
    size_t size = 0;
    cr_assert_eq(
        mcpump_transport_send_request(transport, request, sizeof(request) - 1, NULL, &reply, NULL),
        MCPUMP_OK);
    json_object *text = json_tokener_parse(mcpump_reply_text(reply, &size));
    cr_expect_str_eq(test_member(text, "result"), "{\"a\\n\":1}");
    json_object_put(text);
    mcpump_reply_free(reply);
    mcpump_transport_free(transport);
}

/* -- a write that fails while stdout stays open */

/* The server closes its stdin; on SIGUSR1 it answers what it had read, and says so on stderr. */
static const char closes_stdin_then_answers[] =
    "trap 'go=1' USR1\n"
    "read -r line; id=${line#*\\\"id\\\":}; id=${id%%[,\\}]*}\n"
    "exec <&-\n"
    "echo junk\n"
    "while [ -z \"$go\" ]; do :; done\n"
    "echo \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":$id,\\\"result\\\":\\\"said\\\"}\"\n"
    "echo said >&2\n"
    "exec sleep 100\n";

TIDY_TEST(what_was_said_before_a_failed_write_is_read)
{
    struct raw_gate gate = RAW_GATE_INIT;
    struct raw_lines errors;
    raw_lines_init(&errors);
    mcpump_transport_options options = raw_shell(SHELL(closes_stdin_then_answers, ""));
    options.log_fn = raw_gate_log; /* the answer is in the pipe, unread, when our write fails */
    options.log_user = &gate;
    options.log_level = MCPUMP_LOG_DEBUG;
    options.stderr_sink = MCPUMP_STDERR_CALLBACK;
    options.stderr_fn = raw_lines_stderr;
    options.stderr_user = &errors;
    mcpump_transport *transport = raw_open(&options);

    struct raw_call first = {.transport = transport, .method = "a"};
    struct raw_call second = {.transport = transport, .method = "b"};
    raw_call_start(&first);
    raw_gate_await(&gate);
    cr_assert_eq(kill(mcpump_transport_pid(transport), SIGUSR1), 0);
    raw_lines_await(&errors, "said", "the answer");
    raw_call_start(&second);
    raw_await_requests(transport, 2);
    raw_gate_open(&gate);
    raw_call_join(&first);
    raw_call_join(&second);

    cr_expect(raw_call_got(&first, "\"said\""), "%s", raw_call_words(&first));
    cr_assert_eq(second.err, MCPUMP_ERR_CLOSED, "%s", raw_call_words(&second));
    cr_expect_eq(mcpump_failure_cause(second.failure), MCPUMP_CAUSE_WRITE_FAILED, "%s",
                 raw_call_words(&second));
    cr_expect_eq(mcpump_failure_errno(second.failure), EPIPE);
    raw_call_done(&first);
    raw_call_done(&second);
    mcpump_transport_free(transport);
    raw_lines_done(&errors);
}
