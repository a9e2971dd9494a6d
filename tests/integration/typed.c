/* SPDX-License-Identifier: Apache-2.0 */
/* The typed calls, in both eras: what they write, what they give back, what they refuse. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "subject.h"

static const char *const eras[] = {"legacy", "modern"};

/* -- calls that give a reply */

/* With this as arguments, or in their place. */
#define EXACT                                                                                      \
    "{\"z\":1e400,\"a\":12345678901234567890,\"\\u0041\":\"\\u0041\\/\\ud83d\\ude00\","            \
    "\"d\":0.1000,\"e\":[ -0.0 ,{} ],\"b\":-1E-400}"

static mcpump_err call_tool(mcpump_server *server, const mcpump_call_options *options,
                            mcpump_reply **ret_reply, mcpump_failure **ret_failure)
{
    return mcpump_server_call_tool(server, "t", EXACT, options, ret_reply, ret_failure);
}

static mcpump_err call_without_arguments(mcpump_server *server, const mcpump_call_options *options,
                                         mcpump_reply **ret_reply, mcpump_failure **ret_failure)
{
    return mcpump_server_call_tool(server, "t\"", NULL, options, ret_reply, ret_failure);
}

static mcpump_err read_resource(mcpump_server *server, const mcpump_call_options *options,
                                mcpump_reply **ret_reply, mcpump_failure **ret_failure)
{
    return mcpump_server_read_resource(server, "file:///a%20b", options, ret_reply, ret_failure);
}

static mcpump_err get_prompt(mcpump_server *server, const mcpump_call_options *options,
                             mcpump_reply **ret_reply, mcpump_failure **ret_failure)
{
    return mcpump_server_get_prompt(server, "p", "{\"b\":\"1\"}", options, ret_reply, ret_failure);
}

static mcpump_err complete(mcpump_server *server, const mcpump_call_options *options,
                           mcpump_reply **ret_reply, mcpump_failure **ret_failure)
{
    mcpump_completion completion = MCPUMP_COMPLETION_INIT;
    completion.prompt = "p";
    completion.argument = "a";
    completion.value = "v";
    completion.context = "{\"b\":\"1\"}";
    return mcpump_server_complete(server, &completion, options, ret_reply, ret_failure);
}

typedef mcpump_err call_fn(mcpump_server *server, const mcpump_call_options *options,
                           mcpump_reply **ret_reply, mcpump_failure **ret_failure);

static const struct call {
    const char *method;
    call_fn *make;
    const char *params; /* without metadata */
} calls[] = {
    {"tools/call", call_tool, "\"name\":\"t\",\"arguments\":" EXACT "}"},
    {"tools/call", call_without_arguments, "\"name\":\"t\\\"\",\"arguments\":{}}"},
    {"resources/read", read_resource, "\"uri\":\"file:///a%20b\"}"},
    {"prompts/get", get_prompt, "\"name\":\"p\",\"arguments\":{\"b\":\"1\"}}"},
    {"completion/complete", complete,
     "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"p\"},\"argument\":{\"name\":\"a\",\"value\":"
     "\"v\"},\"context\":{\"arguments\":{\"b\":\"1\"}}}"},
};

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), end_size = strlen(end);
    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

/* The params, sent back as the result, are byte for byte what was given. */
static void expect_params(const struct call *call, const char *era)
{
    struct subject subject;
    char rule[64];
    mcpump_reply *reply = NULL;
    mcpump_failure *failure = NULL;
    snprintf(rule, sizeof(rule), "%s:echo", call->method);
    subject_init(&subject, era, STRINGS("--on", rule));
    cr_assert_eq(call->make(subject.server, NULL, &reply, &failure), MCPUMP_OK, "%s: %s",
                 call->method, mcpump_failure_message(failure));
    char *value = subject_value(reply);
    cr_expect(ends_with(value, call->params), "%s: %s", call->method, value);
    if (strcmp(era, "legacy") == 0)
        cr_expect_eq(strlen(value), strlen(call->params) + 1, "nothing else: %s", value);
    else
        test_expect_part(value, "{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":", era);
    test_expect_no_violation(subject.server, call->method);
    free(value);
    mcpump_reply_free(reply);
    subject_done(&subject);
}

Test(typed, arguments_arrive_byte_for_byte)
{
    for (size_t i = 0; i < LENGTH(calls); i++) {
        expect_params(&calls[i], "legacy");
        expect_params(&calls[i], "modern");
    }
}

/* Exactly these bytes come back as the result. */
static void expect_value(const struct call *call, const char *era, const char *result)
{
    struct subject subject;
    char rule[512];
    mcpump_reply *reply = NULL;
    snprintf(rule, sizeof(rule), "%s:echo:%s", call->method, result);
    subject_init(&subject, era, STRINGS("--on", rule));
    cr_assert_eq(call->make(subject.server, NULL, &reply, NULL), MCPUMP_OK, "%s: %s", call->method,
                 result);
    char *value = subject_value(reply);
    cr_expect_str_eq(value, result, "%s", call->method);
    cr_expect_not(mcpump_reply_is_error(reply));
    free(value);
    mcpump_reply_free(reply);
    subject_done(&subject);
}

Test(typed, results_come_back_byte_for_byte)
{
    for (size_t i = 0; i < LENGTH(calls); i++) {
        expect_value(&calls[i], "legacy", EXACT);
        expect_value(&calls[i], "modern", EXACT);
        expect_value(&calls[i], "modern", "{\"resultType\":\"complete\",\"x\":1.0}");
        /* Of the legacy era, it says nothing. */
        expect_value(&calls[i], "legacy", "{\"resultType\":\"input_required\"}");
    }
}

/* -- results that are not complete */

static const struct {
    const char *result, *words;
} incomplete[] = {
    {"{\"resultType\":\"input_required\",\"inputRequests\":{},\"requestState\":\"\\u0041\"}",
     "asks for input"},
    {"{\"resultType\":\"task\",\"task\":{\"taskId\":\"1\"}}",
     "of a type that is not known here: \"task\""},
    {"{\"resultType\":7,\"n\":1e400}", "not known here: 7"},
};

static void expect_incomplete(const struct call *call, const char *result, const char *words)
{
    struct subject subject;
    char rule[256];
    mcpump_reply *reply = NULL;
    mcpump_failure *failure = NULL;
    snprintf(rule, sizeof(rule), "%s:echo:%s", call->method, result);
    subject_init(&subject, "modern", STRINGS("--on", rule));
    cr_assert_eq(call->make(subject.server, NULL, &reply, &failure), MCPUMP_ERR_INVALID_REPLY, "%s",
                 result);
    cr_expect_null(reply, "an output is untouched on failure");
    test_expect_part(mcpump_failure_message(failure), words, result);
    test_expect_part(mcpump_failure_message(failure), call->method, result);
    char *value = subject_value(mcpump_failure_reply(failure));
    cr_expect_str_eq(value, result);
    free(value);
    mcpump_failure_free(failure);
    cr_expect_eq(call->make(subject.server, NULL, &reply, NULL), MCPUMP_ERR_INVALID_REPLY);
    test_expect_result(subject.server, call->method, "{}", result); /* raw: as it is */
    subject_done(&subject);
}

Test(typed, results_that_are_not_complete_are_carried_by_the_failure)
{
    for (size_t i = 0; i < LENGTH(incomplete); i++) {
        for (size_t call = 0; call < LENGTH(calls); call++)
            expect_incomplete(&calls[call], incomplete[i].result, incomplete[i].words);
    }
}

/* -- a server's error is data */

Test(typed, an_error_of_the_server_is_a_reply)
{
    for (size_t i = 0; i < LENGTH(calls); i++) {
        struct subject subject;
        char rule[160];
        mcpump_reply *reply = NULL;
        snprintf(rule, sizeof(rule), "%s:" REFUSED, calls[i].method);
        subject_init(&subject, eras[i % 2], STRINGS("--on", rule));
        cr_assert_eq(calls[i].make(subject.server, NULL, &reply, NULL), MCPUMP_OK);
        subject_expect_refused(reply);
        mcpump_reply_free(reply);
        subject_done(&subject);
    }
}

/* -- what is not a call at all */

Test(typed, arguments_that_are_none)
{
    static const char *const bad[] = {"", "[]", "{", "null", "{},\"x\":{}", "{}} "};
    struct subject subject;
    subject_init(&subject, "modern", NO_STRINGS);
    mcpump_server *server = subject.server;
    for (size_t i = 0; i < LENGTH(bad); i++) {
        mcpump_reply *reply = NULL;
        mcpump_failure *failure = NULL;
        mcpump_completion completion = MCPUMP_COMPLETION_INIT;
        cr_expect_eq(mcpump_server_call_tool(server, "t", bad[i], NULL, &reply, &failure),
                     MCPUMP_ERR_INVALID_REQUEST, "%s", bad[i]);
        test_expect_part(mcpump_failure_message(failure), "arguments are not a JSON object",
                         bad[i]);
        mcpump_failure_free(failure);
        cr_expect_eq(mcpump_server_get_prompt(server, "p", bad[i], NULL, &reply, NULL),
                     MCPUMP_ERR_INVALID_REQUEST, "%s", bad[i]);
        completion.prompt = completion.argument = "p";
        completion.context = bad[i];
        cr_expect_eq(mcpump_server_complete(server, &completion, NULL, &reply, NULL),
                     MCPUMP_ERR_INVALID_REQUEST, "%s", bad[i]);
        cr_expect_null(reply);
    }
    cr_expect_eq(subject_received(&subject, "\"tools/call\""), 0);
    subject_done(&subject);
}

Test(typed, outputs_and_objects_are_required)
{
    mcpump_reply *reply = NULL;
    mcpump_failure *failure = NULL;
    char *text = NULL;
    mcpump_completion completion = {.size = 1};
    mcpump_server_options options = test_options(NO_STRINGS);
    mcpump_server *server = test_server_new(&options);
    const mcpump_err invalid = MCPUMP_ERR_INVALID_ARGUMENT;
    cr_expect_eq(mcpump_server_call_tool(NULL, "t", NULL, NULL, &reply, NULL), invalid);
    cr_expect_eq(mcpump_server_call_tool(server, NULL, NULL, NULL, &reply, NULL), invalid);
    cr_expect_eq(mcpump_server_call_tool(server, "t", NULL, NULL, NULL, NULL), invalid);
    cr_expect_eq(mcpump_server_read_resource(server, NULL, NULL, &reply, NULL), invalid);
    cr_expect_eq(mcpump_server_get_prompt(server, NULL, NULL, NULL, &reply, NULL), invalid);
    cr_expect_eq(mcpump_server_complete(server, NULL, NULL, &reply, NULL), invalid);
    cr_expect_eq(mcpump_server_complete(server, &completion, NULL, &reply, &failure), invalid);
    mcpump_failure_free(failure);
    cr_expect_eq(mcpump_server_list_prompts(server, NULL, NULL, NULL), invalid);
    cr_expect_eq(mcpump_server_list_prompts(NULL, NULL, &text, NULL), invalid);
    cr_expect_eq(mcpump_server_info(NULL, &text), invalid);
    cr_expect_eq(mcpump_server_info(server, NULL), invalid);
    cr_expect_eq(mcpump_server_set_log_level(NULL, "info", NULL, NULL), invalid);
    cr_expect_eq(mcpump_server_set_log_level(server, "loud", NULL, &failure), invalid);
    test_expect_part(mcpump_failure_message(failure), "no such log level", "");
    mcpump_failure_free(failure);
    cr_expect_eq(mcpump_server_get_state(server), MCPUMP_SERVER_IDLE, "nothing was started");
    mcpump_server_free(server);
}

/* -- the trace of a call */

static void expect_trace(const char *era, const char *params, const char *wanted)
{
    struct subject subject;
    mcpump_call_options options = MCPUMP_CALL_OPTIONS_INIT;
    options.traceparent = TRACEPARENT;
    options.tracestate = "a=1";
    options.baggage = "k=\"\xC3\xA9\"";
    mcpump_reply *reply = NULL;
    mcpump_call *call = NULL;
    subject_init(&subject, era, NO_STRINGS);
    cr_assert_eq(mcpump_server_request(subject.server, "test/echo", params, &options, &reply, NULL),
                 MCPUMP_OK);
    char *value = subject_value(reply);
    test_expect_part(value, wanted, era);
    free(value);
    mcpump_reply_free(reply);
    cr_assert_eq(mcpump_server_submit(subject.server, "test/echo", params, &options, &call, NULL),
                 MCPUMP_OK);
    cr_assert_eq(mcpump_call_wait(call, &reply, NULL), MCPUMP_OK);
    value = subject_value(reply);
    test_expect_part(value, wanted, "submitted");
    free(value);
    mcpump_reply_free(reply);
    mcpump_call_free(call);
    test_expect_no_violation(subject.server, era);
    subject_done(&subject);
}

#define TRACE                                                                                      \
    "\"traceparent\":\"" TRACEPARENT "\",\"tracestate\":\"a=1\",\"baggage\":\"k="                  \
    "\\\"\xC3\xA9\\\"\""

Test(typed, the_trace_goes_into_the_metadata)
{
    expect_trace("legacy", NULL, "{\"_meta\":{" TRACE "}}");
    expect_trace("legacy", "{\"n\":1.0}", "{\"_meta\":{" TRACE "},\"n\":1.0}");
    expect_trace("modern", "{\"n\":1.0}", "," TRACE "},\"n\":1.0}");
    expect_trace("legacy", "{\"_meta\":{\"tracestate\":\"own\",\"baggage\":null}}",
                 "{\"_meta\":{\"traceparent\":\"" TRACEPARENT
                 "\",\"tracestate\":\"own\",\"baggage\":null}}");
}

Test(typed, a_trace_that_is_none)
{
    static const struct {
        const char *traceparent, *tracestate, *baggage, *words;
    } rows[] = {
        {"00-0-0-00", NULL, NULL, "traceparent: it is not of the form"},
        {TRACEPARENT, "a\n", NULL, "tracestate: it is not UTF-8"},
        {TRACEPARENT, NULL, "a\xFF", "baggage: it is not UTF-8"},
    };
    struct subject subject;
    subject_init(&subject, "modern", NO_STRINGS);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        mcpump_call_options options = MCPUMP_CALL_OPTIONS_INIT;
        mcpump_reply *reply = NULL;
        mcpump_failure *failure = NULL;
        options.traceparent = rows[i].traceparent;
        options.tracestate = rows[i].tracestate;
        options.baggage = rows[i].baggage;
        cr_expect_eq(
            mcpump_server_request(subject.server, "test/echo", NULL, &options, &reply, &failure),
            MCPUMP_ERR_INVALID_ARGUMENT);
        test_expect_part(mcpump_failure_message(failure), rows[i].words, "");
        mcpump_failure_free(failure);
    }
    cr_expect_eq(subject_received(&subject, "test/echo"), 0);
    subject_done(&subject);
}

/* -- trees */

Test(typed, trees_for_arguments)
{
    struct subject subject;
    subject_init(&subject, "legacy",
                 STRINGS("--on", "tools/call:echo", "--on", "prompts/get:echo"));
    mcpump_server *server = subject.server;
    json_object *tree = json_tokener_parse("{\"b\":[1,2.50,\"a/\\u00e9\\n\"],\"a\":null}");
    mcpump_reply *reply = NULL;
    static const char text[] = "{\"b\":[1,2.50,\"a/\xC3\xA9\\n\"],\"a\":null}";

    cr_assert_eq(mcpump_server_call_tool_json(server, "t", tree, NULL, &reply, NULL), MCPUMP_OK);
    char *value = subject_value(reply);
    test_expect_part(value, text, "call_tool");
    free(value);
    mcpump_reply_free(reply);
    cr_assert_eq(mcpump_server_get_prompt_json(server, "p", tree, NULL, &reply, NULL), MCPUMP_OK);
    value = subject_value(reply);
    test_expect_part(value, text, "get_prompt");
    free(value);
    mcpump_reply_free(reply);
    cr_assert_eq(mcpump_server_request_json(server, "test/echo", tree, NULL, &reply, NULL),
                 MCPUMP_OK);
    json_object *back = NULL;
    cr_assert_eq(mcpump_reply_json(reply, &back), MCPUMP_OK);
    cr_expect(json_object_equal(tree, back));
    json_object_put(back);
    mcpump_reply_free(reply);
    cr_assert_eq(mcpump_server_call_tool_json(server, "t", NULL, NULL, &reply, NULL), MCPUMP_OK);
    value = subject_value(reply);
    cr_expect_str_eq(value, "{\"name\":\"t\",\"arguments\":{}}");
    free(value);
    mcpump_reply_free(reply);
    json_object_put(tree);
    subject_done(&subject);
}

Test(typed, trees_that_are_no_arguments)
{
    struct subject subject;
    subject_init(&subject, "modern", NO_STRINGS);
    json_object *list = json_object_new_array(), *odd = json_object_new_object();
    mcpump_reply *reply = NULL;
    json_object_object_add(odd, "n", json_object_new_double(1.0 / 0.0));
    cr_expect_eq(mcpump_server_call_tool_json(subject.server, "t", list, NULL, &reply, NULL),
                 MCPUMP_ERR_INVALID_REQUEST);
    cr_expect_eq(mcpump_server_call_tool_json(subject.server, "t", odd, NULL, &reply, NULL),
                 MCPUMP_ERR_INVALID_REQUEST, "infinity is no JSON");
    json_object_put(list);
    json_object_put(odd);
    subject_done(&subject);
}
