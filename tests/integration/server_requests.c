/* SPDX-License-Identifier: Apache-2.0 */
/* What the server sends by itself: its requests are answered, its notifications counted. */
#include "support.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The result of a call that the server may use to ask something, as text; free it with
 * mcpump_reply_free. */
static const char *call(mcpump_server *server, const char *method, const char *params,
                        mcpump_reply **ret_reply)
{
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_server_request(server, method, params, NULL, ret_reply, &failure);
    cr_assert_eq(err, MCPUMP_OK, "%s: %s", method,
                 failure != NULL ? mcpump_failure_message(failure) : mcpump_err_name(err));
    return mcpump_reply_text(*ret_reply, NULL);
}

static const struct question {
    const char *name;
    const char *params; /* of test/ask */
    const char *answer; /* a part of what it comes back with */
} questions[] = {
    {"roots", "{\"id\":7}", "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32601,"},
    {"sampling", "{\"id\":7,\"method\":\"sampling/createMessage\",\"params\":{\"messages\":[]}}",
     "\"id\":7,\"error\":{\"code\":-32601,"},
    {"elicitation", "{\"id\":7,\"method\":\"elicitation/create\",\"params\":{\"message\":\"?\"}}",
     "\"id\":7,\"error\":{\"code\":-32601,"},
    {"unknown", "{\"id\":7,\"method\":\"x/y\"}", "\"id\":7,\"error\":{\"code\":-32601,"},
    {"ping with params", "{\"id\":7,\"method\":\"ping\",\"params\":{\"a\":[{}]}}",
     "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}"},
    {"ping in escapes", "{\"id\":7,\"method\":\"\\u0070ing\"}", "\"id\":7,\"result\":{}}"},

    {"id 0", "{\"method\":\"ping\",\"id\":0}", "\"id\":0,\"result\""},
    {"id negative", "{\"method\":\"ping\",\"id\":-12}", "\"id\":-12,\"result\""},
    {"id large", "{\"method\":\"ping\",\"id\":123456789012345678901234567890}",
     "\"id\":123456789012345678901234567890,\"result\""},
    {"id fraction", "{\"method\":\"ping\",\"id\":1.50}", "\"id\":1.50,\"result\""},
    {"id exponent", "{\"method\":\"ping\",\"id\":1E+02}", "\"id\":1E+02,\"result\""},
    {"id string", "{\"method\":\"ping\",\"id\":\"a b\"}", "\"id\":\"a b\",\"result\""},
    {"id empty", "{\"method\":\"ping\",\"id\":\"\"}", "\"id\":\"\",\"result\""},
    {"id escapes", "{\"method\":\"ping\",\"id\":\"\\u0041\\/\\n\\\"\\ud83d\\ude00\"}",
     "\"id\":\"\\u0041\\/\\n\\\"\\ud83d\\ude00\",\"result\""},
    {"id UTF-8", "{\"method\":\"ping\",\"id\":\"\xc3\xa9\xf0\x9f\x98\x80\"}",
     "\"id\":\"\xc3\xa9\xf0\x9f\x98\x80\",\"result\""},
    {"id like ours", "{\"method\":\"ping\",\"id\":1}", "\"id\":1,\"result\""},
};

Test(server_requests, are_answered_during_a_call_with_their_id_as_it_was)
{
    mcpump_server *server = test_connect(STRINGS("--era", "legacy"));
    for (size_t i = 0; i < LENGTH(questions); i++) {
        mcpump_reply *reply = NULL;
        const char *text = call(server, "test/ask", questions[i].params, &reply);
        test_expect_part(text, questions[i].answer, questions[i].name);
        mcpump_reply_free(reply);
    }
    cr_expect_eq(test_stats(server).server_requests, LENGTH(questions));
    test_expect_no_violation(server, "");
    mcpump_server_free(server);
}

/* The server ends itself when a ping is still open as the next is due. */
Test(server_requests, pings_during_a_call_are_answered_at_once)
{
    mcpump_server *server = test_connect(STRINGS("--era", "legacy"));
    const char *params = "{\"interval_ms\":200,\"count\":5}";
    test_expect_result(server, "test/ping-every", params, params);
    cr_expect_eq(test_stats(server).server_requests, 5);
    test_expect_no_violation(server, "");
    mcpump_server_free(server);
}

/* Also while all callers are busy with large requests and a server that reads nothing else. */
Test(server_requests, pings_are_answered_beside_many_calls)
{
    mcpump_server *server = test_connect(STRINGS("--era", "legacy"));
    struct test_call pinged, others[16];
    static char large[100 * 1024];
    int size = snprintf(large, sizeof(large), "{\"text\":\"");
    memset(large + size, 'x', sizeof(large) - (size_t)size - 3);
    strcpy(large + sizeof(large) - 3, "\"}");
    test_call_start(&pinged, server, "test/ping-every", "{\"interval_ms\":300,\"count\":3}");
    for (size_t i = 0; i < LENGTH(others); i++)
        test_call_start(&others[i], server, "test/echo", large);
    for (size_t i = 0; i < LENGTH(others); i++) {
        test_call_join(&others[i]);
        cr_expect_eq(others[i].err, MCPUMP_OK, "call %zu", i);
        test_call_done(&others[i]);
    }
    test_call_join(&pinged);
    cr_expect_eq(pinged.err, MCPUMP_OK);
    test_call_done(&pinged);
    test_expect_no_violation(server, "");
    mcpump_server_free(server);
}

/* A modern client writes no answers, whatever the server asks. */
Test(server_requests, of_a_modern_server_are_ignored)
{
    mcpump_server *server = test_connect(STRINGS("--era", "modern"));
    for (int i = 0; i < 3; i++)
        json_object_put(test_result(server, "test/own-request-same-id", NULL));
    json_object *report = test_result(server, "test/report", NULL);
    cr_expect_eq(test_int_member(report, "answers"), 0);
    cr_expect_eq(test_int_member(report, "violation_count"), 0, "%s",
                 test_member(report, "violations"));
    cr_expect_eq(test_stats(server).server_requests, 3);
    json_object_put(report);
    mcpump_server_free(server);
}

/* What was learned about one process does not hold for the next. */
Test(server_requests, are_answered_again_after_a_modern_process)
{
    struct test_folder folder;
    char link[128];
    test_folder_init(&folder);
    snprintf(link, sizeof(link), "%s/server", folder.path);
    mcpump_server_options options = test_options(NO_STRINGS);
    options.transport.command = "sh";
    options.transport.args = STRINGS(
        "-c", "if test -e \"$1\"; then exec \"$0\" --era legacy; fi; exec \"$0\" --era modern",
        test_fake_server(), link);
    mcpump_server *server = test_server_new(&options);
    test_connect_ok(server);
    cr_assert_eq(mcpump_server_era(server), MCPUMP_ERA_MODERN);
    mcpump_server_close(server);
    cr_assert_eq(symlink("/", link), 0);
    test_connect_ok(server);
    cr_assert_eq(mcpump_server_era(server), MCPUMP_ERA_LEGACY);
    mcpump_reply *reply = NULL;
    test_expect_part(call(server, "test/ping-me", "{\"id\":3}", &reply), "\"id\":3,\"result\":{}",
                     "ping");
    mcpump_reply_free(reply);
    mcpump_server_free(server);
    test_folder_done(&folder);
}

/* -- notifications */

Test(server_requests, unknown_notifications_are_ignored)
{
    static const char *const notifications[] = {
        "{\"method\":\"notifications/fake\"}",
        "{\"method\":\"notifications/progress\",\"params\":{\"progressToken\":99,\"progress\":1}}",
        "{\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}",
        "{\"method\":\"notifications/tools/list_changed\"}",
        "{\"method\":\"ping\"}",
    };
    mcpump_server *server = test_connect(STRINGS("--era", "legacy"));
    for (size_t i = 0; i < LENGTH(notifications); i++)
        json_object_put(test_result(server, "test/notify", notifications[i]));
    cr_expect_eq(test_stats(server).notifications_read, LENGTH(notifications));
    cr_expect_eq(test_stats(server).junk_lines, 0);
    test_expect_no_violation(server, "");
    mcpump_server_free(server);
}

#define FLOOD       100000
#define MOST_GROWTH (16 * 1024) /* KiB; 100,000 kept notifications would take more than that */

Test(server_requests, a_flood_of_notifications_around_a_reply)
{
    mcpump_server *server = test_connect(STRINGS("--era", "legacy"));
    long before = test_rss_kib();
    int64_t started = test_now_ms();
    json_object_put(
        test_result(server, "test/flood", "{\"notifications\":100000,\"after\":100000}"));
    cr_expect_lt(test_now_ms() - started, TEST_PATIENCE_MS / 2);
    /* Its reply comes behind the rest of the flood. */
    json_object_put(test_result(server, "test/echo", NULL));
    cr_expect_eq(test_stats(server).notifications_read, 2 * FLOOD);
    cr_expect_lt(test_rss_kib() - before, MOST_GROWTH);
    mcpump_server_free(server);
}
