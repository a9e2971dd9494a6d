/* SPDX-License-Identifier: Apache-2.0 */
/* What a failed call tells: error, cause, phase, status, signal, whether it had left, and words. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "raw.h"

struct facts {
    mcpump_err err;
    mcpump_cause cause;
    int status, signal, sys_errno;
    mcpump_sent sent;
    const char *words[4]; /* parts of the message */
};

static void check_facts(const mcpump_failure *failure, const struct facts *wanted, const char *name)
{
    cr_assert_not_null(failure, "%s", name);
    const char *message = mcpump_failure_message(failure);
    cr_expect_eq(mcpump_failure_error(failure), wanted->err, "%s: %s", name, message);
    cr_expect_eq(mcpump_failure_cause(failure), wanted->cause, "%s: %s", name, message);
    cr_expect_eq(mcpump_failure_exit_status(failure), wanted->status, "%s: %s", name, message);
    cr_expect_eq(mcpump_failure_term_signal(failure), wanted->signal, "%s: %s", name, message);
    cr_expect_eq(mcpump_failure_errno(failure), wanted->sys_errno, "%s: %s", name, message);
    cr_expect_eq(mcpump_failure_sent(failure), wanted->sent, "%s: %s", name, message);
    cr_expect_geq(mcpump_failure_elapsed_ms(failure), 0, "%s", name);
    for (size_t i = 0; i < LENGTH(wanted->words) && wanted->words[i] != NULL; i++)
        test_expect_part(message, wanted->words[i], name);
    for (const char *at = message; *at != '\0'; at++)
        cr_expect(((unsigned char)*at >= 0x20 && *at != 0x7F), "%s: control character", name);
}

/* -- calls that a server ends */

static const struct ending_row {
    const char *name;
    const char *method, *params;
    int64_t timeout_ms;
    struct facts facts;
} endings[] = {
    {"exit with 0",
     "test/exit",
     "{}",
     0,
     {MCPUMP_ERR_CLOSED,
      MCPUMP_CAUSE_EXITED,
      0,
      0,
      0,
      MCPUMP_SENT,
      {"fake: request test/exit: ", "the server exited with status 0"}}},
    {"exit with 3",
     "test/exit",
     "{\"status\":3}",
     0,
     {MCPUMP_ERR_CLOSED,
      MCPUMP_CAUSE_EXITED,
      3,
      0,
      0,
      MCPUMP_SENT,
      {"fake: request test/exit: ", "the server exited with status 3"}}},
    {"exit with 255",
     "test/exit",
     "{\"status\":255}",
     0,
     {MCPUMP_ERR_CLOSED, MCPUMP_CAUSE_EXITED, 255, 0, 0, MCPUMP_SENT, {"with status 255"}}},
    {"SIGKILL",
     "test/kill",
     "{\"signal\":9}",
     0,
     {MCPUMP_ERR_CLOSED,
      MCPUMP_CAUSE_EXITED,
      -1,
      SIGKILL,
      0,
      MCPUMP_SENT,
      {"fake: request test/kill: ", "the server exited with signal 9", "Killed"}}},
    {"SIGTERM",
     "test/kill",
     "{\"signal\":15}",
     0,
     {MCPUMP_ERR_CLOSED, MCPUMP_CAUSE_EXITED, -1, SIGTERM, 0, MCPUMP_SENT, {"signal 15"}}},
    {"SIGABRT",
     "test/kill",
     "{\"signal\":6}",
     0,
     {MCPUMP_ERR_CLOSED, MCPUMP_CAUSE_EXITED, -1, SIGABRT, 0, MCPUMP_SENT, {"signal 6"}}},
    {"stdout closed",
     "test/close-stdout",
     "{\"reply\":false}",
     0,
     {MCPUMP_ERR_CLOSED,
      MCPUMP_CAUSE_STDOUT_CLOSED,
      -1,
      0,
      0,
      MCPUMP_SENT,
      {"fake: request test/close-stdout: ", "the server closed its standard output"}}},
    {"junk",
     "test/junk",
     "{\"lines\":11,\"reply\":false}",
     0,
     {MCPUMP_ERR_CLOSED,
      MCPUMP_CAUSE_JUNK_OUTPUT,
      -1,
      0,
      0,
      MCPUMP_SENT,
      {"fake: request test/junk: ", "too many lines that are not messages", "junk line"}}},
    {"too large",
     "test/no-newline",
     "{}",
     0,
     {MCPUMP_ERR_CLOSED,
      MCPUMP_CAUSE_MESSAGE_TOO_LARGE,
      -1,
      0,
      0,
      MCPUMP_SENT,
      {"fake: request test/no-newline: ", "too large", "max_message_bytes is 1000000"}}},
    {"timeout",
     "test/drop",
     "{}",
     100,
     {MCPUMP_ERR_TIMEOUT,
      MCPUMP_CAUSE_NONE,
      -1,
      0,
      0,
      MCPUMP_SENT,
      {"fake: request test/drop: ", "the time is over after "}}},
};

/* It does not end when it is to be stopped: a failure must not yet know how it did. */
static mcpump_transport *open_stubborn(void)
{
    mcpump_transport_options options = raw_options(STRINGS("--ignore-eof"));
    options.max_message_bytes = 1000000;
    options.stdin_grace_ms = TEST_PATIENCE_MS;
    return raw_open(&options);
}

static void free_stubborn(mcpump_transport *transport)
{
    pid_t pid = mcpump_transport_pid(transport);
    if (pid > 0)
        kill(pid, SIGKILL);
    mcpump_transport_free(transport);
}

TIDY_TEST(what_a_call_tells_when_the_server_ends_it)
{
    for (size_t i = 0; i < LENGTH(endings); i++) {
        const struct ending_row *row = &endings[i];
        mcpump_transport *transport = open_stubborn();
        struct raw_call call = {
            .transport = transport, .method = row->method, .params = row->params};
        call.options.timeout_ms = row->timeout_ms;
        raw_call_make(&call);
        cr_expect_eq(call.err, row->facts.err, "%s: %s", row->name, raw_call_words(&call));
        cr_expect_eq(mcpump_failure_phase(call.failure), MCPUMP_PHASE_REQUEST, "%s", row->name);
        cr_expect_eq(mcpump_failure_stage(call.failure), MCPUMP_STAGE_NONE, "%s", row->name);
        check_facts(call.failure, &row->facts, row->name);
        raw_call_done(&call);
        free_stubborn(transport);
    }
}

/* The calls of others that wait, and those that come later. */
TIDY_TEST(all_calls_tell_the_first_cause)
{
    for (size_t i = 0; i < LENGTH(endings); i++) {
        const struct ending_row *row = &endings[i];
        struct facts facts = row->facts;
        if (facts.err != MCPUMP_ERR_CLOSED)
            continue;
        mcpump_transport *transport = open_stubborn();
        struct raw_call other = {.transport = transport, .method = "test/drop"};
        raw_call_start(&other);
        raw_await_read(transport, 1);
        mcpump_failure_free(
            raw_fails(transport, row->name, row->method, row->params, MCPUMP_ERR_CLOSED));
        raw_call_join(&other);
        facts.words[0] = "fake: request test/drop: ";
        check_facts(other.failure, &facts, row->name);
        raw_call_done(&other);

        mcpump_failure *later =
            raw_fails(transport, row->name, "test/echo", NULL, MCPUMP_ERR_CLOSED);
        cr_expect_eq(mcpump_failure_cause(later), facts.cause, "%s", row->name);
        cr_expect_eq(mcpump_failure_sent(later), MCPUMP_NOT_SENT, "%s", row->name);
        test_expect_part(mcpump_failure_message(later), "fake: request test/echo: ", row->name);
        mcpump_failure_free(later);
        free_stubborn(transport);
    }
}

TIDY_TEST(the_last_words_stand_in_the_failure)
{
    mcpump_transport *transport =
        test_open(STRINGS("--stderr-text", "loading\\nno space left\\e[0m\\n"));
    mcpump_failure *failure =
        raw_fails(transport, "exit", "test/exit", "{\"status\":4}", MCPUMP_ERR_CLOSED);
    cr_expect_str_eq(mcpump_failure_stderr(failure), "loading\nno space left\\x1b[0m\n");
    struct facts facts = {MCPUMP_ERR_CLOSED,
                          MCPUMP_CAUSE_EXITED,
                          4,
                          0,
                          0,
                          MCPUMP_SENT,
                          {"status 4", "no space left\\x1b[0m"}};
    check_facts(failure, &facts, "exit");
    mcpump_failure_free(failure);

    mcpump_transport_close(transport);
    cr_assert_eq(mcpump_transport_open(transport, NULL), MCPUMP_OK);
    failure = raw_times_out(transport, "timeout", "test/drop", NULL, 100);
    test_expect_part(mcpump_failure_stderr(failure), "no space left", "timeout");
    mcpump_failure_free(failure);
    mcpump_transport_free(transport);
}

/* -- calls that the host ends */

static void *close_transport(void *transport)
{
    mcpump_transport_close(transport);
    return NULL;
}

TIDY_TEST(closed_by_the_host)
{
    pthread_t closer;
    mcpump_transport *transport = open_stubborn();
    struct raw_call call = {.transport = transport, .method = "test/drop"};
    raw_call_start(&call);
    raw_await_read(transport, 1);
    cr_assert_eq(pthread_create(&closer, NULL, close_transport, transport), 0);
    raw_call_join(&call);
    struct facts facts = {MCPUMP_ERR_CLOSED,
                          MCPUMP_CAUSE_CLOSED_BY_HOST,
                          -1,
                          0,
                          0,
                          MCPUMP_SENT,
                          {"fake: request test/drop: ", "the connection ended"}};
    check_facts(call.failure, &facts, "close");
    raw_call_done(&call);
    kill(mcpump_transport_pid(transport), SIGKILL);
    pthread_join(closer, NULL);
    mcpump_transport_free(transport);
}

TIDY_TEST(interrupted)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    struct raw_call call = {.transport = transport, .method = "test/drop"};
    raw_call_start(&call);
    raw_await_read(transport, 1);
    mcpump_transport_interrupt(transport);
    raw_call_join(&call);
    struct facts facts = {MCPUMP_ERR_INTERRUPTED,
                          MCPUMP_CAUSE_NONE,
                          -1,
                          0,
                          0,
                          MCPUMP_SENT,
                          {"fake: request test/drop: ", "interrupted"}};
    check_facts(call.failure, &facts, "interrupt");
    raw_call_done(&call);
    mcpump_transport_free(transport);
}

TIDY_TEST(not_open)
{
    mcpump_transport *transport = test_transport_new(NO_STRINGS);
    struct facts facts = {MCPUMP_ERR_NOT_OPEN,
                          MCPUMP_CAUSE_NONE,
                          -1,
                          0,
                          0,
                          MCPUMP_NOT_SENT,
                          {"fake: request test/echo: ", "the connection is not open"}};
    for (int i = 0; i < 2; i++) {
        mcpump_failure *failure =
            raw_fails(transport, "not open", "test/echo", NULL, MCPUMP_ERR_NOT_OPEN);
        check_facts(failure, &facts, i == 0 ? "never opened" : "closed");
        mcpump_failure_free(failure);
        if (i == 0)
            cr_assert_eq(mcpump_transport_open(transport, NULL), MCPUMP_OK);
        mcpump_transport_close(transport);
    }
    mcpump_transport_free(transport);
}

/* -- messages that are refused */

TIDY_TEST(messages_that_are_no_requests)
{
    static const struct {
        const char *name, *text;
    } rows[] = {
        {"empty", ""},
        {"no JSON", "hello"},
        {"cut", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\""},
        {"two", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}{}"},
        {"a notification", "{\"jsonrpc\":\"2.0\",\"method\":\"a\"}"},
        {"a reply", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"},
        {"id null", "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"a\"}"},
        {"id an object", "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"a\"}"},
        {"id twice", "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"a\"}"},
        {"method a number", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":2}"},
        {"no version", "{\"id\":1,\"method\":\"a\"}"},
        {"a batch", "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}]"},
        {"raw line break in a string", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\nb\"}"},
        {"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\xFF\"}"},
    };
    mcpump_transport *transport = test_open(NO_STRINGS);
    struct facts facts = {MCPUMP_ERR_INVALID_REQUEST, MCPUMP_CAUSE_NONE, -1, 0, 0, MCPUMP_NOT_SENT,
                          {"fake: request"}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        mcpump_reply *reply = NULL;
        mcpump_failure *failure = NULL;
        mcpump_err err = mcpump_transport_send_request(
            transport, rows[i].text, strlen(rows[i].text), NULL, &reply, &failure);
        cr_assert_eq(err, MCPUMP_ERR_INVALID_REQUEST, "%s: %s", rows[i].name, mcpump_err_name(err));
        check_facts(failure, &facts, rows[i].name);
        mcpump_failure_free(failure);
    }
    struct raw_received received;
    raw_receive(transport, &received);
    cr_expect_eq(received.count, 0, "something has left");
    raw_received_done(&received);
    cr_expect_eq(raw_stats(transport).requests, 1, "refused ones are counted");
    mcpump_transport_free(transport);
}

TIDY_TEST(a_refused_notification_names_its_phase)
{
    static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}";
    mcpump_failure *failure = NULL;
    mcpump_transport *transport = test_open(NO_STRINGS);
    cr_assert_eq(mcpump_transport_notify(transport, request, strlen(request), &failure),
                 MCPUMP_ERR_INVALID_REQUEST);
    cr_expect_eq(mcpump_failure_phase(failure), MCPUMP_PHASE_NOTIFY);
    mcpump_failure_free(failure);
    cr_expect_eq(raw_stats(transport).notifications_sent, 0);
    mcpump_transport_free(transport);
}

/* -- the sentence */

/* What the host or the server gave is cleaned before it stands in a sentence. */
TIDY_TEST(a_message_holds_no_control_characters)
{
    static const struct {
        const char *name, *method, *wanted;
    } rows[] = {
        {"DEL",
         "a\x7F"
         "b",
         "a\\x7fb"},
        {"C1",
         "a\xC2\x9B"
         "b",
         "a\\xc2\\x9bb"},
        {"UTF-8", "m\xC3\xA9thode", "m\xC3\xA9thode"},
    };
    mcpump_transport_options options = raw_options(NO_STRINGS);
    options.display_name = "/[my]\033 server";
    mcpump_transport *transport = NULL;
    cr_assert_eq(mcpump_transport_new(&options, &transport, NULL), MCPUMP_OK);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        mcpump_failure *failure =
            raw_fails(transport, rows[i].name, rows[i].method, NULL, MCPUMP_ERR_NOT_OPEN);
        struct facts facts = {MCPUMP_ERR_NOT_OPEN,
                              MCPUMP_CAUSE_NONE,
                              -1,
                              0,
                              0,
                              MCPUMP_NOT_SENT,
                              {"my server: ", rows[i].wanted}};
        check_facts(failure, &facts, rows[i].name);
        mcpump_failure_free(failure);
    }
    mcpump_transport_free(transport);
}

TIDY_TEST(a_long_method_is_cut_in_the_sentence)
{
    static char method[100 * 1024];
    memset(method, 'm', sizeof(method) - 1);
    mcpump_transport *transport = test_transport_new(NO_STRINGS);
    mcpump_failure *failure = raw_fails(transport, "long", method, NULL, MCPUMP_ERR_NOT_OPEN);
    cr_expect_lt(strlen(mcpump_failure_message(failure)), 2000);
    mcpump_failure_free(failure);
    mcpump_transport_free(transport);
}

/* Nobody wants to know; and what is not wanted is not touched. */
TIDY_TEST(outputs_are_untouched_and_optional)
{
    static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"test/exit\"}";
    mcpump_reply *const marker = (mcpump_reply *)(uintptr_t)&request;
    mcpump_reply *reply = marker;
    mcpump_transport *transport = test_open(NO_STRINGS);
    cr_expect_eq(
        mcpump_transport_send_request(transport, request, strlen(request), NULL, &reply, NULL),
        MCPUMP_ERR_CLOSED);
    cr_expect_eq(reply, marker);
    mcpump_transport_free(transport);

    transport = test_open(NO_STRINGS);
    static const char echo[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"test/echo\"}";
    mcpump_failure *failure = (mcpump_failure *)(uintptr_t)&request;
    cr_expect_eq(
        mcpump_transport_send_request(transport, echo, strlen(echo), NULL, &reply, &failure),
        MCPUMP_OK);
    cr_expect_null(failure, "a success stores NULL");
    mcpump_reply_free(reply);
    mcpump_transport_free(transport);
    mcpump_failure_free(NULL);
    mcpump_reply_free(NULL);
}

/* -- an error reply is a success */

TIDY_TEST(an_error_of_the_server_is_a_reply)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    struct raw_call call = {.transport = transport,
                            .method = "test/error",
                            .params = "{\"code\":-32050,\"message\":\"no\",\"data\":[1]}"};
    raw_call_make(&call);
    cr_assert_eq(call.err, MCPUMP_OK, "%s", raw_call_words(&call));
    cr_expect(mcpump_reply_is_error(call.reply));
    size_t size;
    const char *value = mcpump_reply_value(call.reply, &size);
    static const char wanted[] = "{\"code\":-32050,\"message\":\"no\",\"data\":[1]}";
    cr_expect(size == strlen(wanted) && memcmp(value, wanted, size) == 0, "%.*s", (int)size, value);
    raw_call_done(&call);
    mcpump_transport_free(transport);
}
