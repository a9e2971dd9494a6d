/* SPDX-License-Identifier: Apache-2.0 */
/* Which reply belongs to which call: in any order, late, twice, with odd ids, from 100 threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "raw.h"

/* -- replies that come late */

#define GIVEN_UP 5

/* `method` collects GIVEN_UP + 1 requests, which replies to those that were given up first or last.
 */
struct give_up_row {
    const char *name;
    const char *method;
    bool by_interrupt;
};

static void give_up_calls(mcpump_transport *transport, const struct give_up_row *row)
{
    struct raw_call calls[GIVEN_UP];
    uint64_t before = raw_stats(transport).requests;
    for (size_t i = 0; i < GIVEN_UP; i++) {
        calls[i] = (struct raw_call){.transport = transport, .method = row->method};
        calls[i].params = "{\"n\":6,\"given\":\"up\"}";
        calls[i].options.timeout_ms = row->by_interrupt ? 0 : 300;
        raw_call_start(&calls[i]);
    }
    if (row->by_interrupt) {
        raw_await_read(transport, before + GIVEN_UP);
        mcpump_transport_interrupt(transport);
        mcpump_transport_clear_interrupt(transport);
    }
    mcpump_err wanted = row->by_interrupt ? MCPUMP_ERR_INTERRUPTED : MCPUMP_ERR_TIMEOUT;
    for (size_t i = 0; i < GIVEN_UP; i++) {
        raw_call_join(&calls[i]);
        cr_expect_eq(calls[i].err, wanted, "%s: %s", row->name, raw_call_words(&calls[i]));
        raw_call_done(&calls[i]);
    }
}

static void check_late_replies(const struct give_up_row *row)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    give_up_calls(transport, row);
    raw_expect(transport, row->name, row->method, "{\"n\":6,\"mine\":true}",
               "{\"n\":6,\"mine\":true}");
    for (int i = 0; i < 20; i++) {
        char params[32];
        snprintf(params, sizeof(params), "{\"later\":%d}", i);
        raw_expect(transport, row->name, "test/echo", params, params);
    }
    mcpump_stats stats = raw_stats(transport);
    cr_expect_eq(stats.late_replies, GIVEN_UP, "%s: %llu late replies", row->name,
                 (unsigned long long)stats.late_replies);
    cr_expect_eq(stats.duplicate_replies + stats.unknown_replies, 0, "%s", row->name);
    mcpump_transport_free(transport);
}

TIDY_TEST(late_replies_reach_nobody_else)
{
    static const struct give_up_row rows[] = {
        {"timeout, in order", "test/batch", false},
        {"timeout, reversed", "test/reverse", false},
        {"interrupt, in order", "test/batch", true},
        {"interrupt, reversed", "test/reverse", true},
    };
    for (size_t i = 0; i < LENGTH(rows); i++)
        check_late_replies(&rows[i]);
}

/* -- many at once */

/* 32 waiters, all with id 1, whose replies come in one piece. */
static void check_32_waiters(const char *method)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    struct raw_call calls[32];
    char params[32][40];
    for (size_t i = 0; i < LENGTH(calls); i++) {
        snprintf(params[i], sizeof(params[i]), "{\"n\":32,\"who\":%zu}", i);
        calls[i] = (struct raw_call){.transport = transport, .method = method, .params = params[i]};
        raw_call_start(&calls[i]);
    }
    for (size_t i = 0; i < LENGTH(calls); i++) {
        raw_call_join(&calls[i]);
        cr_expect(raw_call_got(&calls[i], params[i]), "%s: %s got %s", method, params[i],
                  raw_call_words(&calls[i]));
        raw_call_done(&calls[i]);
    }
    cr_expect_eq(raw_stats(transport).replies, LENGTH(calls));
    mcpump_transport_free(transport);
}

TIDY_TEST(replies_in_any_order_wake_their_own_waiter)
{
    check_32_waiters("test/reverse");
    check_32_waiters("test/batch");
}

#define STORM_THREADS 8
#define STORM_CALLS   25000

struct storm {
    mcpump_transport *transport;
    int who;
    int wrong;
    char first_wrong[200];
    pthread_t thread;
};

static void *run_storm(void *arg)
{
    struct storm *storm = arg;
    for (int i = 0; i < STORM_CALLS; i++) {
        char params[48];
        snprintf(params, sizeof(params), "{\"who\":%d,\"call\":%d}", storm->who, i);
        struct raw_call call = {
            .transport = storm->transport, .method = "test/echo", .params = params};
        raw_call_make(&call);
        if (!raw_call_got(&call, params) && storm->wrong++ == 0)
            snprintf(storm->first_wrong, sizeof(storm->first_wrong), "%s got %s", params,
                     raw_call_words(&call));
        raw_call_done(&call);
    }
    return NULL;
}

TIDY_TEST(no_instant_reply_is_lost)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    struct storm storms[STORM_THREADS];
    for (int i = 0; i < STORM_THREADS; i++) {
        storms[i] = (struct storm){.transport = transport, .who = i};
        cr_assert_eq(pthread_create(&storms[i].thread, NULL, run_storm, &storms[i]), 0);
    }
    for (int i = 0; i < STORM_THREADS; i++) {
        pthread_join(storms[i].thread, NULL);
        cr_expect_eq(storms[i].wrong, 0, "%d wrong; %s", storms[i].wrong, storms[i].first_wrong);
    }
    mcpump_stats stats = raw_stats(transport);
    cr_expect_eq(stats.requests, STORM_THREADS * STORM_CALLS);
    cr_expect_eq(stats.replies, STORM_THREADS * STORM_CALLS);
    cr_expect_eq(stats.in_flight, 0);
    mcpump_transport_free(transport);
}

TIDY_TEST(a_fast_call_does_not_wait_for_a_slow_one)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    struct raw_call slow = {
        .transport = transport, .method = "test/sleep", .params = "{\"ms\":1500}"};
    raw_call_start(&slow);
    raw_await_read(transport, 1);
    raw_expect(transport, "fast", "test/echo", "{\"fast\":true}", "{\"fast\":true}");
    cr_expect_eq(raw_stats(transport).in_flight, 1, "the fast call came after the slow one");
    raw_call_join(&slow);
    cr_expect(raw_call_got(&slow, "{\"ms\":1500}"), "%s", raw_call_words(&slow));
    raw_call_done(&slow);
    mcpump_transport_free(transport);
}

/* One after the other they would take longer than each may. */
TIDY_TEST(five_slow_calls_at_once_take_as_long_as_one)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    struct raw_call calls[5];
    for (size_t i = 0; i < LENGTH(calls); i++) {
        calls[i] = (struct raw_call){
            .transport = transport, .method = "test/sleep", .params = "{\"ms\":900}"};
        calls[i].options.timeout_ms = 3000;
        raw_call_start(&calls[i]);
    }
    for (size_t i = 0; i < LENGTH(calls); i++) {
        raw_call_join(&calls[i]);
        cr_expect_eq(calls[i].err, MCPUMP_OK, "%s", raw_call_words(&calls[i]));
        raw_call_done(&calls[i]);
    }
    mcpump_transport_free(transport);
}

/* -- odd replies */

TIDY_TEST(odd_replies_are_counted_and_dropped)
{
    static const struct {
        const char *name, *method;
        uint64_t unknown, duplicate, server_requests;
    } rows[] = {
        {"ids never used", "test/unknown-id", 4, 0, 0},
        {"a second reply", "test/dup", 0, 1, 0},
        {"an error with id null", "test/error-null-id", 1, 0, 0},
        {"an error without id", "test/error-no-id", 1, 0, 0},
        {"a request of the server with our id", "test/own-request-same-id", 0, 0, 1},
        {"the id as a string", "test/id-as-string", 0, 0, 0},
        {"the id as a double", "test/id-as-double", 0, 0, 0},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        mcpump_transport *transport = test_open(NO_STRINGS);
        raw_expect(transport, rows[i].name, rows[i].method, "{\"right\":1}", "{\"right\":1}");
        raw_expect(transport, rows[i].name, "test/echo", "{\"next\":1}", "{\"next\":1}");
        mcpump_stats stats = raw_stats(transport);
        cr_expect_eq(stats.replies, 2, "%s", rows[i].name);
        cr_expect_eq(stats.unknown_replies, rows[i].unknown, "%s", rows[i].name);
        cr_expect_eq(stats.duplicate_replies, rows[i].duplicate, "%s", rows[i].name);
        cr_expect_eq(stats.server_requests, rows[i].server_requests, "%s", rows[i].name);
        cr_expect_eq(stats.late_replies + stats.junk_lines, 0, "%s", rows[i].name);
        cr_expect(mcpump_transport_is_connected(transport), "%s", rows[i].name);
        mcpump_transport_free(transport);
    }
}

TIDY_TEST(a_server_request_with_our_id_is_answered)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    raw_expect(transport, "ping", "test/own-request-same-id", "{}", "{}");
    json_object *report = raw_report(transport);
    cr_expect_eq(test_int_member(report, "answers"), 1);
    json_object_put(report);
    mcpump_transport_free(transport);
}

TIDY_TEST(an_error_to_nobody_is_logged)
{
    struct raw_lines log;
    raw_lines_init(&log);
    mcpump_transport_options options = raw_options(NO_STRINGS);
    options.log_fn = raw_lines_log;
    options.log_user = &log;
    options.log_level = MCPUMP_LOG_DEBUG;
    mcpump_transport *transport = raw_open(&options);
    raw_expect(transport, "null", "test/error-null-id", "{}", "{}");
    cr_expect(raw_lines_hold(&log, "dropped a stray reply"), "%s", log.text);
    mcpump_transport_free(transport);
    raw_lines_done(&log);
}

/* Nearly our id. The reply that follows is the right one. */
TIDY_TEST(nothing_but_the_id_itself_matches)
{
    static const char *const ids[] = {
        "-$ID",          "$ID.5",        "$ID$ID",       "$IDe1",        "0.$ID",
        "\\\" $ID\\\"",  "\\\"$ID \\\"", "\\\"+$ID\\\"", "\\\"0$ID\\\"", "\\\"$ID.0\\\"",
        "\\\"0x$ID\\\"", "\\\"-$ID\\\"", "\\\"\\\"",     "[$ID]",        "{\\\"id\\\":$ID}",
        "true",          "null",
    };
    mcpump_transport *transport = test_open(NO_STRINGS);
    for (size_t i = 0; i < LENGTH(ids); i++) {
        char params[256];
        snprintf(params, sizeof(params),
                 "{\"text\":\"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":%s,\\\"result\\\":"
                 "{\\\"wrong\\\":1}}\\n\",\"reply\":true}",
                 ids[i]);
        raw_expect(transport, ids[i], "test/raw", params, "{}");
    }
    mcpump_stats stats = raw_stats(transport);
    cr_expect_eq(stats.replies, LENGTH(ids));
    cr_expect_eq(stats.unknown_replies + stats.junk_lines + stats.duplicate_replies, LENGTH(ids));
    mcpump_transport_free(transport);
}

/* -- the callers' own ids */

static void check_caller_id(mcpump_transport *transport, const char *id, const char *name)
{
    char *wanted = NULL;
    cr_assert_gt(asprintf(&wanted, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"a\":1}}", id), 0);
    struct raw_call call = {
        .transport = transport, .method = "test/echo", .params = "{\"a\":1}", .id = id};
    raw_call_make(&call);
    cr_assert_eq(call.err, MCPUMP_OK, "%s: %s", name, raw_call_words(&call));
    size_t size;
    const char *text = mcpump_reply_text(call.reply, &size);
    cr_expect_str_eq(text, wanted, "%s", name);
    cr_expect_eq(size, strlen(wanted), "%s", name);
    raw_call_done(&call);
    free(wanted);
}

TIDY_TEST(callers_get_their_ids_back_as_spelled)
{
    static const char *const ids[] = {
        "0",
        "-1",
        "9007199254740993",
        "123456789012345678901234567890",
        "-0",
        "1.0",
        "1.50E+3",
        "1e400",
        "\"\"",
        "\"1\"",
        "\"a\\\"b\\\\c\\/d\"",
        "\"\\u0041\\ud83d\\ude00\\n\"",
        "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"",
        "\"\xE2\x80\xA8\"",
        "\"},\\\"id\\\":7\"",
    };
    mcpump_transport *transport = test_open(NO_STRINGS);
    for (size_t i = 0; i < LENGTH(ids); i++)
        check_caller_id(transport, ids[i], ids[i]);

    static char large[100 * 1024 + 1];
    memset(large, 'x', sizeof(large) - 1);
    large[0] = large[sizeof(large) - 2] = '"';
    check_caller_id(transport, large, "a string of 100 KiB");
    mcpump_transport_free(transport);
}

/* -- 100 threads on a server that is just starting */

static void check_hundred_threads(const char *era, int64_t initializes)
{
    mcpump_server_options options =
        test_options(STRINGS("--era", era, "--delay-start", "300", "--lifetime", "100"));
    mcpump_server *server = test_server_new(&options);
    struct test_call calls[100];
    char params[100][24];
    for (size_t i = 0; i < LENGTH(calls); i++) {
        snprintf(params[i], sizeof(params[i]), "{\"who\":%zu}", i);
        test_call_start(&calls[i], server, "test/echo", params[i]);
    }
    for (size_t i = 0; i < LENGTH(calls); i++) {
        test_call_join(&calls[i]);
        cr_assert_eq(calls[i].err, MCPUMP_OK, "%s: %s", era, mcpump_err_name(calls[i].err));
        json_object *reply = json_tokener_parse(mcpump_reply_text(calls[i].reply, NULL));
        json_object *result = json_object_object_get(reply, "result");
        cr_expect_eq(test_int_member(result, "who"), (int64_t)i, "%s", era);
        json_object_put(reply);
        test_call_done(&calls[i]);
    }
    cr_expect_eq(test_stats(server).opens, 1, "%s", era);
    json_object *report = test_result(server, "test/report", NULL);
    cr_expect_eq(test_int_member(report, "initialize"), initializes, "%s", era);
    cr_expect_eq(test_int_member(report, "initialized"), initializes, "%s", era);
    cr_expect_eq(test_int_member(report, "discover"), 1, "%s", era);
    json_object_put(report);
    test_expect_no_violation(server, era);
    mcpump_server_free(server);
}

TIDY_TEST(hundred_threads_start_one_server)
{
    check_hundred_threads("legacy", 1);
    check_hundred_threads("modern", 0);
}
