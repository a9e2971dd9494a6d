/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in, answers out: which era a request is of, and the methods that are not tools. */
#include "demo.h"

#include "mcpump/version.h"

#define TEXT_OF(number) #number
#define DOTTED(a, b, c) TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)
#define SERVER_INFO                                                                                \
    "{\"name\":\"mcpump-demo-server\",\"version\":\"" DOTTED(                                      \
        MCPUMP_VERSION_MAJOR, MCPUMP_VERSION_MINOR, MCPUMP_VERSION_PATCH) "\"}"
#define CAPABILITIES   "\"capabilities\":{\"tools\":{}}"
#define INSTRUCTIONS   "\"instructions\":\"Tools for trying out and measuring MCP clients.\""
#define MODERN_VERSION "2026-07-28"
#define META_VERSION   "io.modelcontextprotocol/protocolVersion"
#define META_CLIENT    "io.modelcontextprotocol/clientCapabilities"

/* The newest comes first: it is offered when the client wants one that is not here. */
static const char *const legacy_versions[] = {"2025-11-25", "2025-06-18", "2025-03-26",
                                              "2024-11-05"};
#define LEGACY_COUNT (sizeof(legacy_versions) / sizeof(legacy_versions[0]))

void demo_result_begin(struct out *out, struct json_span id, bool modern)
{
    out_text(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    out_span(out, id);
    out_text(out, ",\"result\":{");
    if (modern)
        out_text(out, "\"resultType\":\"complete\",\"_meta\":{"
                      "\"io.modelcontextprotocol/serverInfo\":" SERVER_INFO "},");
}

void demo_result_end(struct out *out)
{
    out_text(out, "}}\n");
}

void demo_error(struct out *out, struct json_span id, enum demo_error code, const char *message,
                const char *data)
{
    out_text(out, "{\"jsonrpc\":\"2.0\",");
    if (id.bytes != NULL) {
        out_text(out, "\"id\":");
        out_span(out, id);
        out_text(out, ",");
    }
    out_f(out, "\"error\":{\"code\":%d,\"message\":", (int)code);
    out_string(out, message, strlen(message));
    if (data != NULL)
        out_f(out, ",\"data\":%s", data);
    out_text(out, "}}\n");
}

static void add_versions(struct demo_server *server, struct out *out)
{
    const char *comma = "";
    out_text(out, "[");
    if (server->eras & DEMO_MODERN) {
        out_text(out, "\"" MODERN_VERSION "\"");
        comma = ",";
    }
    for (size_t i = 0; i < LEGACY_COUNT && (server->eras & DEMO_LEGACY); i++) {
        out_f(out, "%s\"%s\"", comma, legacy_versions[i]);
        comma = ",";
    }
    out_text(out, "]");
}

static void refuse_version(struct demo_server *server, struct json_span id,
                           struct json_span requested)
{
    struct out data = {NULL, 0, 0};
    out_text(&data, "{\"requested\":");
    if (json_type(requested) == JSON_STRING)
        out_span(&data, requested);
    else
        out_text(&data, "\"\"");
    out_text(&data, ",\"supported\":");
    add_versions(server, &data);
    out_bytes(&data, "}", sizeof("}"));
    demo_error(&server->out, id, DEMO_UNSUPPORTED_VERSION, "Unsupported protocol version",
               data.bytes);
    out_done(&data);
}

static void discover(struct demo_server *server, const struct demo_request *request)
{
    struct out *out = &server->out;
    demo_result_begin(out, request->id, true);
    out_text(out, "\"ttlMs\":3600000,\"cacheScope\":\"public\",\"supportedVersions\":");
    add_versions(server, out);
    out_text(out, "," CAPABILITIES "," INSTRUCTIONS);
    demo_result_end(out);
}

static void initialize(struct demo_server *server, const struct demo_request *request)
{
    struct json_span wanted = json_member(request->params, "protocolVersion");
    if (json_type(wanted) != JSON_STRING) {
        demo_error(&server->out, request->id, DEMO_INVALID_PARAMS,
                   "initialize needs params.protocolVersion, a string", NULL);
        return;
    }
    size_t chosen = 0;
    for (size_t i = 0; i < LEGACY_COUNT; i++) {
        if (json_is(wanted, legacy_versions[i]))
            chosen = i;
    }
    server->initialized = true;
    demo_result_begin(&server->out, request->id, false);
    out_f(&server->out, "\"protocolVersion\":\"%s\",%s,\"serverInfo\":%s,%s",
          legacy_versions[chosen], CAPABILITIES, SERVER_INFO, INSTRUCTIONS);
    demo_result_end(&server->out);
}

static void ping(struct demo_server *server, const struct demo_request *request)
{
    demo_result_begin(&server->out, request->id, false);
    demo_result_end(&server->out);
}

struct method {
    const char *name;
    unsigned eras;
    bool before_handshake; /* of the legacy era */
    void (*answer)(struct demo_server *server, const struct demo_request *request);
};

static const struct method methods[] = {
    {"tools/call", DEMO_LEGACY | DEMO_MODERN, false, demo_call_tool},
    {"tools/list", DEMO_LEGACY | DEMO_MODERN, false, demo_list_tools},
    {"ping", DEMO_LEGACY, true, ping},
    {"initialize", DEMO_LEGACY, true, initialize},
    {"server/discover", DEMO_MODERN, false, discover},
};

static const struct method *find_method(struct json_span name)
{
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (json_is(name, methods[i].name))
            return &methods[i];
    }
    return NULL;
}

/* Sets request->modern, and answers a request whose metadata are not in order: false. */
static bool check_metadata(struct demo_server *server, struct demo_request *request)
{
    static const char *const keys[] = {META_VERSION, META_CLIENT};
    struct json_span values[2];
    json_pick(request->meta, keys, 2, values);
    request->modern = (server->eras & DEMO_MODERN) && values[0].bytes != NULL;
    if (!request->modern)
        return true;
    if (!json_is(values[0], MODERN_VERSION)) {
        refuse_version(server, request->id, values[0]);
        return false;
    }
    if (json_type(values[1]) != JSON_OBJECT) {
        demo_error(&server->out, request->id, DEMO_INVALID_PARAMS,
                   "params._meta lacks " META_CLIENT, NULL);
        return false;
    }
    return true;
}

/* Why a request without modern metadata is not answered as one of the legacy era. */
static void refuse_era(struct demo_server *server, const struct demo_request *request)
{
    if (server->eras & DEMO_LEGACY)
        demo_error(&server->out, request->id, DEMO_INVALID_PARAMS, "initialize was not called",
                   NULL);
    else if (json_is(request->method, "initialize"))
        refuse_version(server, request->id, json_member(request->params, "protocolVersion"));
    else
        demo_error(&server->out, request->id, DEMO_INVALID_PARAMS,
                   "params._meta lacks " META_VERSION, NULL);
}

static void answer_request(struct demo_server *server, struct demo_request *request)
{
    if (!check_metadata(server, request))
        return;
    enum demo_era era = request->modern ? DEMO_MODERN : DEMO_LEGACY;
    const struct method *method = find_method(request->method);
    bool known = method != NULL && (server->eras & method->eras);
    bool early = !request->modern && !server->initialized && known && !method->before_handshake;
    if (early || !(server->eras & era))
        refuse_era(server, request);
    else if (method == NULL || !(method->eras & era))
        demo_error(&server->out, request->id, DEMO_METHOD_NOT_FOUND, "Method not found", NULL);
    else
        method->answer(server, request);
}

static void take_notification(struct demo_server *server, struct json_span method,
                              struct json_span params)
{
    if (json_is(method, "notifications/cancelled"))
        demo_slow_cancel(server, json_member(params, "requestId"));
}

static void handle_message(struct demo_server *server, struct json_span text)
{
    static const char *const keys[] = {"id", "method", "params", "jsonrpc", "result", "error"};
    static const struct json_span nobody = {NULL, 0};
    struct json_span at[6];
    if (!json_pick(text, keys, 6, at)) {
        bool valid = json_valid(text);
        demo_error(&server->out, nobody, valid ? DEMO_INVALID_REQUEST : DEMO_PARSE_ERROR,
                   valid ? "Not a JSON-RPC message" : "Not valid JSON", NULL);
        return;
    }
    struct demo_request request = {.id = at[0], .method = at[1], .params = at[2]};
    bool is_reply = request.method.bytes == NULL && (at[4].bytes != NULL || at[5].bytes != NULL);
    if (is_reply)
        return;
    enum json_type id = json_type(request.id);
    if (!json_is(at[3], "2.0") || json_type(request.method) != JSON_STRING ||
        (id != JSON_ABSENT && id != JSON_STRING && id != JSON_NUMBER)) {
        demo_error(&server->out, nobody, DEMO_INVALID_REQUEST, "Not a JSON-RPC message", NULL);
        return;
    }
    if (id == JSON_ABSENT) {
        take_notification(server, request.method, request.params);
        return;
    }
    request.meta = json_member(request.params, "_meta");
    answer_request(server, &request);
}

void demo_handle_line(struct demo_server *server, struct json_span line)
{
    while (line.size > 0 && strchr(" \t\r", line.bytes[0]) != NULL && line.bytes[0] != '\0') {
        line.bytes++;
        line.size--;
    }
    if (line.size == 0)
        return;
    if (line.bytes[0] != '[' || !json_valid(line)) {
        handle_message(server, line);
        return;
    }
    /* 2025-03-26 had batches: each message of one is answered on its own. */
    const char *at = NULL;
    struct json_span element;
    while (json_next(line, &at, &element))
        handle_message(server, element);
}
