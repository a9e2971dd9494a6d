/* SPDX-License-Identifier: Apache-2.0 */
/* The tools: their descriptions, the list and its pages, the calls. */
#include "demo.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_ECHO_BYTES (64 * 1024 * 1024)
#define MAX_SLOW_MS    (3600 * 1000)
#define MAX_SLOW_STEPS 10000
#define DEFAULT_MS     1000
#define DEFAULT_STEPS  10

static void result_begin(struct demo_server *server, const struct demo_request *request)
{
    demo_result_begin(&server->out, request->id, request->modern);
}

static void refuse_params(struct demo_server *server, const struct demo_request *request,
                          const char *message)
{
    demo_error(&server->out, request->id, DEMO_INVALID_PARAMS, message, NULL);
}

#define TEXT_BEGIN "\"content\":[{\"type\":\"text\",\"text\":\""
#define TEXT_END   "\"}]"

static void call_echo(struct demo_server *server, const struct demo_request *request,
                      struct json_span arguments)
{
    static const char *const keys[] = {"message", "size"};
    struct json_span values[2];
    int64_t size = 0;
    json_pick(arguments, keys, 2, values);
    struct json_span message = values[0];
    bool filler = values[1].bytes != NULL;
    if (filler && !json_integer(values[1], 0, MAX_ECHO_BYTES, &size)) {
        refuse_params(server, request, "echo: size is an integer from 0 to 67108864");
        return;
    }
    if (!filler && json_type(message) != JSON_STRING) {
        refuse_params(server, request, "echo: message is a string and required");
        return;
    }
    struct out *out = &server->out;
    result_begin(server, request);
    out_text(out, TEXT_BEGIN);
    if (filler) {
        out_filler(out, (size_t)size);
    } else {
        /* The message goes back as it was spelled, escapes and all. */
        out_text(out, "Echo: ");
        out_bytes(out, message.bytes + 1, message.size - 2);
    }
    out_text(out, TEXT_END);
    demo_result_end(out);
}

/* The shortest of the usual spellings that reads back as the same number. */
static void number_text(double number, char *text, size_t size)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            return;
    }
}

static void call_add(struct demo_server *server, const struct demo_request *request,
                     struct json_span arguments)
{
    double a, b, sum;
    if (!json_number(json_member(arguments, "a"), &a) ||
        !json_number(json_member(arguments, "b"), &b)) {
        refuse_params(server, request, "add: a and b are numbers and required");
        return;
    }
    char text[32];
    sum = a + b;
    number_text(sum, text, sizeof(text));
    result_begin(server, request);
    if (sum - sum == 0)
        out_f(&server->out, TEXT_BEGIN "%s" TEXT_END ",\"structuredContent\":{\"sum\":%s}", text,
              text);
    else
        out_text(&server->out, TEXT_BEGIN "The sum is too large." TEXT_END ",\"isError\":true");
    demo_result_end(&server->out);
}

static void call_slow(struct demo_server *server, const struct demo_request *request,
                      struct json_span arguments)
{
    int64_t ms = DEFAULT_MS, steps = DEFAULT_STEPS;
    struct json_span ms_value = json_member(arguments, "ms");
    struct json_span steps_value = json_member(arguments, "steps");
    if (ms_value.bytes != NULL && !json_integer(ms_value, 0, MAX_SLOW_MS, &ms))
        refuse_params(server, request, "slow: ms is an integer from 0 to 3600000");
    else if (steps_value.bytes != NULL && !json_integer(steps_value, 1, MAX_SLOW_STEPS, &steps))
        refuse_params(server, request, "slow: steps is an integer from 1 to 10000");
    else
        demo_slow_start(server, request, ms, steps);
}

static void call_fail(struct demo_server *server, const struct demo_request *request,
                      struct json_span arguments)
{
    (void)arguments;
    result_begin(server, request);
    out_text(&server->out, TEXT_BEGIN "This tool always fails." TEXT_END ",\"isError\":true");
    demo_result_end(&server->out);
}

struct tool {
    const char *name;
    const char *definition; /* what follows the name in its description */
    void (*call)(struct demo_server *server, const struct demo_request *request,
                 struct json_span arguments);
};

static const struct tool tools[] = {
    {"echo",
     "\"description\":\"Returns the message, or a text of a given size.\","
     "\"inputSchema\":{\"type\":\"object\",\"properties\":{"
     "\"message\":{\"type\":\"string\",\"description\":\"What to return\"},"
     "\"size\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":67108864,"
     "\"description\":\"Return a text of this many bytes instead\"}},"
     "\"required\":[\"message\"]}",
     call_echo},
    {"add",
     "\"description\":\"Adds two numbers.\","
     "\"inputSchema\":{\"type\":\"object\",\"properties\":{"
     "\"a\":{\"type\":\"number\"},\"b\":{\"type\":\"number\"}},\"required\":[\"a\",\"b\"]},"
     "\"outputSchema\":{\"type\":\"object\",\"properties\":{\"sum\":{\"type\":\"number\"}},"
     "\"required\":[\"sum\"]}",
     call_add},
    {"slow",
     "\"description\":\"Takes its time and reports progress.\","
     "\"inputSchema\":{\"type\":\"object\",\"properties\":{"
     "\"ms\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":3600000,\"default\":1000,"
     "\"description\":\"How long it takes in all\"},"
     "\"steps\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":10000,\"default\":10,"
     "\"description\":\"How often progress is reported\"}}}",
     call_slow},
    {"fail", "\"description\":\"Always fails.\",\"inputSchema\":{\"type\":\"object\"}", call_fail},
};
#define TOOL_COUNT (sizeof(tools) / sizeof(tools[0]))

void demo_call_tool(struct demo_server *server, const struct demo_request *request)
{
    static const char *const keys[] = {"name", "arguments"};
    struct json_span values[2];
    json_pick(request->params, keys, 2, values);
    if (values[1].bytes != NULL && json_type(values[1]) != JSON_OBJECT) {
        refuse_params(server, request, "arguments is an object");
        return;
    }
    for (size_t i = 0; i < TOOL_COUNT; i++) {
        if (json_is(values[0], tools[i].name)) {
            tools[i].call(server, request, values[1]);
            return;
        }
    }
    refuse_params(server, request, "Unknown tool");
}

/* The cursor is the index of the page's first tool, as a string. */
static bool read_cursor(struct json_span cursor, size_t *ret_first)
{
    char text[32];
    if (cursor.bytes == NULL)
        return true;
    if (json_type(cursor) != JSON_STRING || cursor.size > sizeof(text))
        return false;
    struct json_span digits = {text, json_decode(cursor, text)};
    int64_t first;
    if (digits.size == 0 || !json_integer(digits, 1, TOOL_COUNT - 1, &first))
        return false;
    *ret_first = (size_t)first;
    return true;
}

void demo_list_tools(struct demo_server *server, const struct demo_request *request)
{
    size_t first = 0;
    if (!read_cursor(json_member(request->params, "cursor"), &first)) {
        refuse_params(server, request, "Invalid cursor");
        return;
    }
    size_t end = TOOL_COUNT;
    if (server->page_size > 0 && server->page_size < end - first)
        end = first + server->page_size;
    struct out *out = &server->out;
    result_begin(server, request);
    if (request->modern)
        out_text(out, "\"ttlMs\":3600000,\"cacheScope\":\"public\",");
    out_text(out, "\"tools\":[");
    for (size_t i = first; i < end; i++)
        out_f(out, "%s{\"name\":\"%s\",%s}", i > first ? "," : "", tools[i].name,
              tools[i].definition);
    out_text(out, "]");
    if (end < TOOL_COUNT)
        out_f(out, ",\"nextCursor\":\"%zu\"", end);
    demo_result_end(out);
}
