/* SPDX-License-Identifier: Apache-2.0 */
/* What one event tells, and how it is answered. */
#include "manager/event.h"

#include "queue.h"
#include "transport/failure.h"

/* -- what an event tells */

Test(event, a_notification_tells_all_of_it)
{
    static const char line[] =
        "{\"jsonrpc\":\"2.0\",\"method\":\"a\\u002fb\",\"params\":{\"x\":1,\"_meta\":{"
        "\"io.modelcontextprotocol/subscriptionId\":\"s \\\"1\"}}}";
    struct stage stage;
    size_t size;
    setup(&stage, 10, PLENTY);
    notify(&stage, 1, line);
    mcpump_event *event = take(&stage);
    cr_expect_eq(mcpump_event_get_kind(event), MCPUMP_EVENT_NOTIFICATION);
    cr_expect_str_eq(mcpump_event_server(event), "s1");
    cr_expect_eq(mcpump_event_generation(event), 7);
    cr_expect_eq(mcpump_event_dropped(event), 0);
    cr_expect_str_eq(mcpump_event_method(event), "a\\u002fb");
    cr_expect_str_eq(mcpump_event_text(event, &size), line);
    cr_expect_eq(size, sizeof(line) - 1);
    cr_expect_str_eq(mcpump_event_text(event, NULL), line);
    const char *params = mcpump_event_params(event, &size);
    cr_expect_eq(size, strlen(params) - 1, "up to the last brace");
    cr_expect_eq(strncmp(params, "{\"x\":1,", 7), 0);
    cr_expect_str_eq(mcpump_event_subscription(event), "\"s \\\"1\"");
    cr_expect_null(mcpump_event_failure(event));
    cr_expect_eq(mcpump_event_respond(event, "{}", 0, NULL), MCPUMP_ERR_INVALID_ARGUMENT);
    mcpump_event_free(event);
    teardown(&stage);
}

Test(event, what_is_not_there_is_empty)
{
    static const char *const lines[] = {
        "{\"jsonrpc\":\"2.0\",\"method\":\"n\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{\"_meta\":[1]}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{\"_meta\":{\"subscriptionId\":1}}}",
    };
    struct stage stage;
    size_t size = 99;
    setup(&stage, 10, PLENTY);
    for (size_t i = 0; i < LENGTH(lines); i++)
        notify(&stage, 0, lines[i]);
    say(&stage, 2, "[s2] words");
    mcpump_event *event = take(&stage);
    cr_expect_null(mcpump_event_params(event, &size));
    cr_expect_eq(size, 0);
    mcpump_event_free(event);
    for (size_t i = 1; i < LENGTH(lines); i++) {
        event = take(&stage);
        cr_expect_str_eq(mcpump_event_subscription(event), "");
        mcpump_event_free(event);
    }
    event = take(&stage);
    cr_expect_eq(mcpump_event_get_kind(event), MCPUMP_EVENT_STDERR);
    cr_expect_str_eq(mcpump_event_server(event), "s2");
    cr_expect_str_eq(mcpump_event_text(event, NULL), "[s2] words");
    cr_expect_str_eq(mcpump_event_method(event), "");
    cr_expect_null(mcpump_event_params(event, NULL));
    mcpump_event_free(event);
    state(&stage, 0, IDLE, CONNECTING);
    event = take(&stage);
    cr_expect_str_eq(mcpump_event_text(event, &size), "");
    cr_expect_eq(size, 0);
    mcpump_event_free(event);
    mcpump_event_free(NULL);
    teardown(&stage);
}

Test(event, a_state_has_a_failure_of_its_own)
{
    struct stage stage;
    setup(&stage, 10, PLENTY);
    struct mp_failure_facts facts = {.name = "s0", .err = MCPUMP_ERR_CLOSED};
    mcpump_failure *failure = mp_failure_new(&facts, strdup("its words\n"));
    struct mp_event_source source = source_of(&stage, 0);
    mp_events_post_state(stage.events, &source, BACKING_OFF, READY, failure);
    mcpump_failure_free(failure);
    mcpump_event *event = take(&stage);
    cr_assert_not_null(mcpump_event_failure(event));
    cr_expect_eq(mcpump_failure_error(mcpump_event_failure(event)), MCPUMP_ERR_CLOSED);
    cr_expect_str_eq(mcpump_failure_stderr(mcpump_event_failure(event)), "its words\n");
    mcpump_event_free(event);
    teardown(&stage);
}

/* It is told by what it holds: the manager and the queue may be gone. */
Test(event, an_event_outlives_the_queue)
{
    struct stage stage;
    setup(&stage, 10, PLENTY);
    notify_number(&stage, 5);
    mcpump_event *event = take(&stage);
    teardown(&stage);
    cr_expect_str_eq(mcpump_event_server(event), "s0");
    mcpump_event_free(event);
}

/* -- requests */

Test(event, a_request_holds_its_server_until_it_is_freed)
{
    struct stage stage;
    setup(&stage, 10, PLENTY);
    give_transports(&stage);
    cr_assert_not_null(request(&stage, 1, REQUEST));
    cr_expect_eq(stage.servers[1]->refs, 1000001);
    mcpump_event *event = take(&stage);
    cr_expect_eq(mcpump_event_get_kind(event), MCPUMP_EVENT_REQUEST);
    cr_expect_str_eq(mcpump_event_method(event), "roots/list");
    cr_expect_eq(stage.servers[1]->refs, 1000001);
    cr_expect_eq(mcpump_event_respond(event, "{}", 0, NULL), MCPUMP_ERR_NOT_OPEN);
    mcpump_event_free(event);
    cr_expect_eq(stage.servers[1]->refs, 1000000);
    take_transports(&stage);
    teardown(&stage);
}

Test(event, an_answer_must_be_one_json_value)
{
    static const struct {
        const char *result;
        mcpump_err err;
    } rows[] = {
        {"{}", MCPUMP_ERR_NOT_OPEN}, /* valid, but nobody is there */
        {" [1,\n2] ", MCPUMP_ERR_NOT_OPEN},
        {"null", MCPUMP_ERR_NOT_OPEN},
        {"", MCPUMP_ERR_INVALID_REQUEST},
        {" ", MCPUMP_ERR_INVALID_REQUEST},
        {"{", MCPUMP_ERR_INVALID_REQUEST},
        {"{}{}", MCPUMP_ERR_INVALID_REQUEST},
        {"{},\"x\":1", MCPUMP_ERR_INVALID_REQUEST},
        {"\"a\nb\"", MCPUMP_ERR_INVALID_REQUEST},
        {"\"\xff\"", MCPUMP_ERR_INVALID_REQUEST},
        {"nul", MCPUMP_ERR_INVALID_REQUEST},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct stage stage;
        setup(&stage, 10, PLENTY);
        give_transports(&stage);
        request(&stage, 0, REQUEST);
        mcpump_event *event = take(&stage);
        cr_expect_eq(mcpump_event_respond(event, NULL, 1, NULL), MCPUMP_ERR_INVALID_ARGUMENT);
        mcpump_err err = mcpump_event_respond(event, rows[i].result, 0, NULL);
        cr_expect_eq(err, rows[i].err, "%s: %s", rows[i].result, mcpump_err_name(err));
        mcpump_event_free(event);
        take_transports(&stage);
        teardown(&stage);
    }
}
