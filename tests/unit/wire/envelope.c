/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/envelope.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "span.h"
#include "wire/scan.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define V            "\"jsonrpc\":\"2.0\""
#define MCP          "io.modelcontextprotocol/"

static struct mp_envelope scan(struct mp_span line)
{
    struct mp_envelope envelope;
    memset(&envelope, 0xA5, sizeof(envelope));
    mp_envelope_scan(line, &envelope);
    cr_expect_eq(envelope.kind == MP_KIND_JUNK, envelope.why != NULL, "junk alone says why");
    return envelope;
}

static const struct {
    const char *name;
    enum mp_kind kind;
    struct mp_span line;
} kind_rows[] = {
    {"request", MP_KIND_REQUEST, SPAN("{" V ",\"id\":1,\"method\":\"a\"}")},
    {"request, string id", MP_KIND_REQUEST, SPAN("{" V ",\"id\":\"x\",\"method\":\"a\"}")},
    {"request, empty id", MP_KIND_REQUEST, SPAN("{" V ",\"id\":\"\",\"method\":\"a\"}")},
    {"request, id zero", MP_KIND_REQUEST, SPAN("{" V ",\"id\":0,\"method\":\"a\"}")},
    {"request, negative id", MP_KIND_REQUEST, SPAN("{" V ",\"id\":-1.5e3,\"method\":\"a\"}")},
    {"request, params object", MP_KIND_REQUEST,
     SPAN("{" V ",\"id\":1,\"method\":\"a\",\"params\":{}}")},
    {"request, params array", MP_KIND_REQUEST,
     SPAN("{" V ",\"id\":1,\"method\":\"a\",\"params\":[1]}")},
    {"any order", MP_KIND_REQUEST,
     SPAN("{\"params\":{},\"method\":\"a\",\"id\":1,\"x\":[{}]," V "}")},
    {"space everywhere", MP_KIND_REQUEST,
     SPAN(" \t{ \"jsonrpc\" : \"2.0\" ,\n \"id\" : 1 ,\r\n \"method\" : \"a\" } \n")},
    {"notification", MP_KIND_NOTIFICATION, SPAN("{" V ",\"method\":\"a\"}")},
    {"notification, other members", MP_KIND_NOTIFICATION,
     SPAN("{" V ",\"method\":\"a\",\"Id\":1,\"ID\":2,\"i\":3,\"idx\":4,\"\":5}")},
    {"result", MP_KIND_RESULT, SPAN("{" V ",\"id\":1,\"result\":{}}")},
    {"result null", MP_KIND_RESULT, SPAN("{" V ",\"id\":1,\"result\":null}")},
    {"result that is a string", MP_KIND_RESULT, SPAN("{" V ",\"id\":\"1\",\"result\":\"\"}")},
    {"result with params", MP_KIND_RESULT, SPAN("{" V ",\"id\":1,\"result\":1,\"params\":1}")},
    {"error", MP_KIND_ERROR, SPAN("{" V ",\"id\":1,\"error\":{\"code\":1,\"message\":\"\"}}")},
    {"error without code", MP_KIND_ERROR, SPAN("{" V ",\"id\":1,\"error\":{}}")},
    {"error, id null", MP_KIND_ERROR, SPAN("{" V ",\"id\":null,\"error\":{}}")},
    {"error, no id", MP_KIND_ERROR, SPAN("{" V ",\"error\":{}}")},
    {"batch", MP_KIND_BATCH, SPAN("[{" V ",\"id\":1,\"method\":\"a\"}]")},
    {"batch of anything", MP_KIND_BATCH, SPAN(" [1, {}] ")},

    {"keys with escapes", MP_KIND_REQUEST,
     SPAN("{\"\\u006asonrpc\":\"2.0\",\"\\u0069d\":1,\"metho\\u0064\":\"a\"}")},
    {"version with escapes", MP_KIND_NOTIFICATION,
     SPAN("{\"jsonrpc\":\"\\u0032.0\",\"method\":\"a\"}")},
    {"key with a short escape is another", MP_KIND_NOTIFICATION,
     SPAN("{" V ",\"method\":\"a\",\"i\\/d\":[],\"i\\nd\":[],\"i\\u0164\":[]}")},
    {"key with NUL is another", MP_KIND_NOTIFICATION,
     SPAN("{" V ",\"method\":\"a\",\"id\\u0000\":[]}")},

    {"nothing", MP_KIND_JUNK, SPAN("")},
    {"spaces", MP_KIND_JUNK, SPAN("  ")},
    {"banner", MP_KIND_JUNK, SPAN("Server listening on port 3000")},
    {"log line", MP_KIND_JUNK, SPAN("[info] started")},
    {"LSP header", MP_KIND_JUNK, SPAN("Content-Length: 42")},
    {"ANSI sequence", MP_KIND_JUNK, SPAN("\x1B[32m{" V ",\"method\":\"a\"}")},
    {"byte order mark", MP_KIND_JUNK, SPAN("\xEF\xBB\xBF{" V ",\"method\":\"a\"}")},
    {"number", MP_KIND_JUNK, SPAN("42")},
    {"string", MP_KIND_JUNK, SPAN("\"2.0\"")},
    {"null", MP_KIND_JUNK, SPAN("null")},
    {"empty object", MP_KIND_JUNK, SPAN("{}")},
    {"empty batch", MP_KIND_JUNK, SPAN("[ ]")},
    {"batch, not JSON", MP_KIND_JUNK, SPAN("[{]")},
    {"batch, something behind", MP_KIND_JUNK, SPAN("[1] 2")},
    {"half a message", MP_KIND_JUNK, SPAN("{" V ",\"method\":\"a\"")},
    {"half a key", MP_KIND_JUNK, SPAN("{" V ",\"meth")},
    {"two messages", MP_KIND_JUNK, SPAN("{" V ",\"method\":\"a\"}{" V ",\"method\":\"a\"}")},
    {"text behind", MP_KIND_JUNK, SPAN("{" V ",\"method\":\"a\"} ok")},
    {"text in front", MP_KIND_JUNK, SPAN("ok {" V ",\"method\":\"a\"}")},
    {"NUL behind", MP_KIND_JUNK, SPAN("{" V ",\"method\":\"a\"}\0")},
    {"NUL within", MP_KIND_JUNK, SPAN("{" V ",\0\"method\":\"a\"}")},
    {"bad UTF-8", MP_KIND_JUNK, SPAN("{" V ",\"method\":\"a\xFF\"}")},
    {"bad UTF-8 in an unknown member", MP_KIND_JUNK,
     SPAN("{" V ",\"method\":\"a\",\"x\":\"\xC3\"}")},
    {"bad UTF-8 in a key", MP_KIND_JUNK, SPAN("{" V ",\"method\":\"a\",\"\xC3\":1}")},
    {"trailing comma", MP_KIND_JUNK, SPAN("{" V ",\"method\":\"a\",}")},
    {"leading comma", MP_KIND_JUNK, SPAN("{," V ",\"method\":\"a\"}")},
    {"no comma", MP_KIND_JUNK, SPAN("{" V " \"method\":\"a\"}")},
    {"trailing comma in params", MP_KIND_JUNK,
     SPAN("{" V ",\"method\":\"a\",\"params\":{\"b\":1,}}")},
    {"params not closed", MP_KIND_JUNK, SPAN("{" V ",\"method\":\"a\",\"params\":{\"b\":1}")},
    {"_meta closed wrongly", MP_KIND_JUNK,
     SPAN("{" V ",\"method\":\"a\",\"params\":{\"_meta\":{\"b\":1]}}")},
    {"one brace too many", MP_KIND_JUNK, SPAN("{" V ",\"method\":\"a\",\"params\":{}}}")},

    {"no jsonrpc", MP_KIND_JUNK, SPAN("{\"id\":1,\"method\":\"a\"}")},
    {"jsonrpc 1.0", MP_KIND_JUNK, SPAN("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"a\"}")},
    {"jsonrpc 2.00", MP_KIND_JUNK, SPAN("{\"jsonrpc\":\"2.00\",\"method\":\"a\"}")},
    {"jsonrpc empty", MP_KIND_JUNK, SPAN("{\"jsonrpc\":\"\",\"method\":\"a\"}")},
    {"jsonrpc a number", MP_KIND_JUNK, SPAN("{\"jsonrpc\":2.0,\"id\":1,\"method\":\"a\"}")},
    {"method a number", MP_KIND_JUNK, SPAN("{" V ",\"id\":1,\"method\":7}")},
    {"method null", MP_KIND_JUNK, SPAN("{" V ",\"id\":1,\"method\":null,\"result\":{}}")},
    {"method empty", MP_KIND_JUNK, SPAN("{" V ",\"id\":1,\"method\":\"\"}")},
    {"id null", MP_KIND_NOTIFICATION, SPAN("{" V ",\"id\":null,\"method\":\"a\"}")},
    {"id object", MP_KIND_JUNK, SPAN("{" V ",\"id\":{},\"method\":\"a\"}")},
    {"id array", MP_KIND_JUNK, SPAN("{" V ",\"id\":[1],\"result\":1}")},
    {"id true", MP_KIND_JUNK, SPAN("{" V ",\"id\":true,\"error\":{}}")},
    {"params null", MP_KIND_NOTIFICATION, SPAN("{" V ",\"method\":\"a\",\"params\":null}")},
    {"params string", MP_KIND_JUNK, SPAN("{" V ",\"method\":\"a\",\"params\":\"{}\"}")},
    {"params number", MP_KIND_JUNK, SPAN("{" V ",\"method\":\"a\",\"params\":1}")},
    {"result and error", MP_KIND_JUNK, SPAN("{" V ",\"id\":1,\"result\":{},\"error\":{}}")},
    {"result null and error", MP_KIND_ERROR, SPAN("{" V ",\"id\":1,\"result\":null,\"error\":{}}")},
    {"result null and error null", MP_KIND_RESULT,
     SPAN("{" V ",\"id\":1,\"error\":null,\"result\":null}")},
    {"result and error null", MP_KIND_RESULT,
     SPAN("{" V ",\"id\":1,\"result\":{},\"error\":null}")},
    {"method and result", MP_KIND_JUNK, SPAN("{" V ",\"id\":1,\"method\":\"a\",\"result\":{}}")},
    {"method and error", MP_KIND_JUNK, SPAN("{" V ",\"id\":1,\"error\":{},\"method\":\"a\"}")},
    {"neither", MP_KIND_JUNK, SPAN("{" V ",\"id\":1}")},
    {"result without id", MP_KIND_JUNK, SPAN("{" V ",\"result\":{}}")},
    {"result, id null", MP_KIND_JUNK, SPAN("{" V ",\"id\":null,\"result\":{}}")},
    {"error string", MP_KIND_JUNK, SPAN("{" V ",\"id\":1,\"error\":\"no\"}")},
    {"error null", MP_KIND_JUNK, SPAN("{" V ",\"id\":1,\"error\":null}")},

    {"jsonrpc twice", MP_KIND_JUNK, SPAN("{" V "," V ",\"method\":\"a\"}")},
    {"id twice", MP_KIND_JUNK, SPAN("{" V ",\"id\":1,\"id\":1,\"result\":1}")},
    {"id twice, once with escapes", MP_KIND_JUNK,
     SPAN("{" V ",\"id\":1,\"i\\u0064\":1,\"result\":1}")},
    {"method twice", MP_KIND_JUNK, SPAN("{" V ",\"method\":\"a\",\"method\":\"b\"}")},
    {"params twice", MP_KIND_JUNK, SPAN("{" V ",\"method\":\"a\",\"params\":{},\"params\":{}}")},
    {"result twice", MP_KIND_JUNK, SPAN("{" V ",\"id\":1,\"result\":1,\"result\":2}")},
    {"_meta twice", MP_KIND_JUNK,
     SPAN("{" V ",\"method\":\"a\",\"params\":{\"_meta\":{},\"_meta\":{}}}")},
    {"token twice", MP_KIND_JUNK,
     SPAN("{" V ",\"method\":\"a\",\"params\":{\"progressToken\":1,\"progressToken\":1}}")},
    {"token in _meta twice", MP_KIND_JUNK,
     SPAN("{" V ",\"method\":\"a\",\"params\":{\"_meta\":"
          "{\"progressToken\":1,\"progressToken\":1}}}")},
    {"clientInfo twice", MP_KIND_JUNK,
     SPAN("{" V ",\"method\":\"a\",\"params\":{\"_meta\":"
          "{\"" MCP "clientInfo\":{},\"" MCP "clientInfo\":{}}}}")},
    {"unknown members may stand twice", MP_KIND_NOTIFICATION,
     SPAN("{" V ",\"method\":\"a\",\"x\":1,\"x\":1,\"params\":{\"y\":1,\"y\":1}}")},
    {"names count at their place only", MP_KIND_REQUEST,
     SPAN("{" V ",\"id\":1,\"method\":\"a\",\"_meta\":1,\"_meta\":2,\"params\":{\"id\":1,"
          "\"id\":2,\"method\":[],\"_meta\":{\"_meta\":{},\"_meta\":{},\"params\":{}}}}")},
};

Test(envelope, kinds)
{
    for (size_t i = 0; i < COUNT(kind_rows); i++) {
        struct mp_envelope envelope = scan(kind_rows[i].line);
        cr_expect(envelope.kind == kind_rows[i].kind, "%s: kind %d (%s), not %d", kind_rows[i].name,
                  (int)envelope.kind, envelope.why ? envelope.why : "-", (int)kind_rows[i].kind);
    }
}

Test(envelope, junk_says_why)
{
    static const struct {
        const char *line, *why;
    } rows[] = {
        {"Hello", "not a JSON object"},
        {"{\"a\"", "not valid JSON, or nested more than 128 levels deep"},
        {"{} {}", "something follows the JSON object"},
        {"[1] 2", "something follows the JSON array"},
        {"[]", "an empty batch"},
        {"{}", "jsonrpc is not \"2.0\""},
        {"{" V ",\"id\":{}}", "the id is neither a string nor a number"},
        {"{" V ",\"id\":1}", "neither a method nor a result nor an error"},
        {"{" V ",\"id\":1,\"method\":1}", "the method is not a string"},
        {"{" V ",\"id\":1,\"method\":\"\"}", "the method is empty"},
        {"{" V ",\"method\":\"a\",\"params\":1}", "the params are neither an object nor an array"},
        {"{" V ",\"id\":1,\"method\":\"a\",\"error\":1}",
         "a method and a result or error in one message"},
        {"{" V ",\"id\":1,\"result\":1,\"error\":{}}", "both a result and an error"},
        {"{" V ",\"id\":1,\"error\":1}", "the error is not an object"},
        {"{" V ",\"result\":1}", "a result without an id"},
        {"{" V ",\"id\":1,\"id\":1}", "a member stands twice"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mp_envelope envelope = scan(span_of(rows[i].line));
        cr_expect_eq(envelope.kind, MP_KIND_JUNK, "%s", rows[i].line);
        cr_expect_str_eq(envelope.why, rows[i].why, "%s", rows[i].line);
        cr_expect(envelope.id.bytes == NULL && envelope.method.bytes == NULL &&
                      envelope.params.bytes == NULL && envelope.value.bytes == NULL,
                  "%s: junk has no parts", rows[i].line);
    }
}

Test(envelope, spans)
{
    static const struct {
        const char *line, *id, *method, *params, *value, *meta, *token;
    } rows[] = {
        {"{" V ",\"id\":7,\"method\":\"tools/call\"}", "7", "tools/call", NULL, NULL, NULL, NULL},
        {"{" V ",\"id\" : \"a\\u0022\" , \"method\" : \"x\\/y\" , \"params\" : { } }",
         "\"a\\u0022\"", "x\\/y", "{ }", NULL, NULL, NULL},
        {"{" V ",\"id\":-1.50e+2,\"result\": {\"id\":9} }", "-1.50e+2", NULL, NULL, "{\"id\":9}",
         NULL, NULL},
        {"{" V ",\"error\":{\"code\":1},\"id\":null}", NULL, NULL, NULL, "{\"code\":1}", NULL,
         NULL},
        {"{" V ",\"id\":1,\"method\":\"a\",\"params\":[{\"_meta\":{}}]}", "1", "a",
         "[{\"_meta\":{}}]", NULL, NULL, NULL},
        {"{" V ",\"id\":1,\"method\":\"a\",\"params\":{\"b\":[],\"_meta\":{\"c\":1} , \"d\":2}}",
         "1", "a", "{\"b\":[],\"_meta\":{\"c\":1} , \"d\":2}", NULL, "{\"c\":1}", NULL},
        {"{" V ",\"id\":1,\"method\":\"a\",\"params\":{\"_meta\":[1]}}", "1", "a",
         "{\"_meta\":[1]}", NULL, "[1]", NULL},
        {"{" V ",\"id\":1,\"method\":\"a\",\"params\":{\"_meta\":{\"progressToken\":\"t\"},"
         "\"progressToken\":2}}",
         "1", "a", "{\"_meta\":{\"progressToken\":\"t\"},\"progressToken\":2}", NULL,
         "{\"progressToken\":\"t\"}", "\"t\""},
        {"{" V ",\"method\":\"a\",\"params\":{\"_meta\":{\"progressToken\":1},"
         "\"progress\\u0054oken\" : 2e0 }}",
         NULL, "a", "{\"_meta\":{\"progressToken\":1},\"progress\\u0054oken\" : 2e0 }", NULL,
         "{\"progressToken\":1}", "2e0"},
        {"{" V ",\"id\":1,\"method\":\"a\",\"params\":{\"progressToken\":3}}", "1", "a",
         "{\"progressToken\":3}", NULL, NULL, NULL},
        {"{" V ",\"method\":\"a\",\"params\":{\"progressToken\":null}}", NULL, "a",
         "{\"progressToken\":null}", NULL, NULL, NULL},
        {"{" V ",\"method\":\"a\",\"params\":{\"b\":{\"progressToken\":3}}}", NULL, "a",
         "{\"b\":{\"progressToken\":3}}", NULL, NULL, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mp_envelope envelope = scan(span_of(rows[i].line));
        cr_expect(span_is(envelope.id, rows[i].id), "id of %s", rows[i].line);
        cr_expect(span_is(envelope.method, rows[i].method), "method of %s", rows[i].line);
        cr_expect(span_is(envelope.params, rows[i].params), "params of %s", rows[i].line);
        cr_expect(span_is(envelope.value, rows[i].value), "value of %s", rows[i].line);
        cr_expect(span_is(envelope.meta, rows[i].meta), "_meta of %s", rows[i].line);
        cr_expect(span_is(envelope.progress_token, rows[i].token), "token of %s", rows[i].line);
    }
}

Test(envelope, meta_keys)
{
    static const struct {
        const char *meta;
        unsigned keys;
    } rows[] = {
        {"{}", 0},
        {"[]", 0},
        {"{\"" MCP "protocolVersion\":\"x\"}", MP_META_PROTOCOL_VERSION},
        {"{\"" MCP "clientInfo\":{\"" MCP "clientCapabilities\":1}}", MP_META_CLIENT_INFO},
        {"{\"a\":1,\"io.modelcontextprotocol\\/clientCapabilities\":{}}",
         MP_META_CLIENT_CAPABILITIES},
        {"{\"" MCP "clientCapabilities\":1,\"" MCP "protocolVersion\":1,\"" MCP "clientInfo\":1}",
         MP_META_PROTOCOL_VERSION | MP_META_CLIENT_INFO | MP_META_CLIENT_CAPABILITIES},
        {"{\"" MCP "logLevel\":\"x\",\"protocolVersion\":1}", MP_META_LOG_LEVEL},
        {"{\"tr\\u0061ceparent\":\"x\",\"baggage\":1,\"Tracestate\":1}",
         MP_META_TRACEPARENT | MP_META_BAGGAGE},
        {"{\"tracestate\":{\"traceparent\":1},\"logLevel\":1}", MP_META_TRACESTATE},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char line[400];
        snprintf(line, sizeof(line), "{" V ",\"id\":1,\"method\":\"a\",\"params\":{\"_meta\":%s}}",
                 rows[i].meta);
        cr_expect_eq(scan(span_of(line)).meta_keys, rows[i].keys, "%s", rows[i].meta);
    }
}

/* A message with an array of `depth` levels at one place of it. */
static enum mp_kind kind_with_array(const char *head, size_t depth, const char *tail)
{
    char *line = malloc(strlen(head) + 2 * depth + strlen(tail) + 1), *at = stpcpy(line, head);
    memset(at, '[', depth);
    memset(at + depth, ']', depth);
    strcpy(at + 2 * depth, tail);
    enum mp_kind kind = scan(span_of(line)).kind;
    free(line);
    return kind;
}

Test(envelope, depth_is_counted_from_the_message)
{
    static const struct {
        const char *head, *tail;
        size_t around; /* levels */
    } rows[] = {
        {"{" V ",\"method\":\"a\",\"x\":", "}", 1},
        {"{" V ",\"method\":\"a\",\"params\":", "}", 1},
        {"{" V ",\"method\":\"a\",\"params\":{\"x\":", "}}", 2},
        {"{" V ",\"method\":\"a\",\"params\":{\"_meta\":{\"x\":", "}}}", 3},
        {"{" V ",\"method\":\"a\",\"params\":{\"x\":{\"y\":", "}}}", 3},
        {"[", "]", 1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t most = MP_JSON_MAX_DEPTH - rows[i].around;
        cr_expect_neq(kind_with_array(rows[i].head, most, rows[i].tail), MP_KIND_JUNK, "%s",
                      rows[i].head);
        cr_expect_eq(kind_with_array(rows[i].head, most + 1, rows[i].tail), MP_KIND_JUNK, "%s",
                     rows[i].head);
    }
    cr_expect_eq(kind_with_array("{" V ",\"method\":\"a\",\"x\":", 1000000, "}"), MP_KIND_JUNK);
}

/* Each proper prefix is junk, and read from a block of its size. */
Test(envelope, every_prefix_is_junk)
{
    static const char line[] =
        "{" V ",\"id\":\"\xE2\x82\xAC\\u20ac\",\"method\":\"a\",\"params\":{\"_meta\":"
        "{\"progressToken\":-1.5e+3,\"b\":[true,false,null,{}]},\"c\":\"d\\n\"}}";
    for (size_t size = 0; size < sizeof(line) - 1; size++) {
        char *copy = malloc(size + (size == 0));
        memcpy(copy, line, size);
        cr_expect_eq(scan((struct mp_span){copy, size}).kind, MP_KIND_JUNK, "%zu bytes", size);
        free(copy);
    }
    cr_expect_eq(scan(span_of(line)).kind, MP_KIND_REQUEST);
}

Test(envelope, batch_elements)
{
    static const struct {
        const char *line, *elements;
    } rows[] = {
        {"[1]", "1|"},
        {" [ 1 , \"a,b\" , {\"c\":[1,2]} ,[[]], null ] ", "1|\"a,b\"|{\"c\":[1,2]}|[[]]|null|"},
        {"[{" V ",\"method\":\"a\"},{}]", "{" V ",\"method\":\"a\"}|{}|"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mp_span line = span_of(rows[i].line), element;
        cr_assert_eq(scan(line).kind, MP_KIND_BATCH, "%s", rows[i].line);
        char elements[200] = "";
        for (const char *at = NULL; mp_batch_next(line, &at, &element);) {
            strncat(elements, element.bytes, element.size);
            strcat(elements, "|");
        }
        cr_expect_str_eq(elements, rows[i].elements);
    }
}

Test(envelope, batch_step_is_safe_on_other_lines)
{
    static const char *const lines[] = {"", "{}", "[]", "[", "[x", "1", " "};
    for (size_t i = 0; i < COUNT(lines); i++) {
        struct mp_span element;
        const char *at = NULL;
        cr_expect(!mp_batch_next(span_of(lines[i]), &at, &element), "%s", lines[i]);
    }
}

Test(envelope, is_method)
{
    static const struct {
        const char *raw, *method;
        bool is;
    } rows[] = {
        {"ping", "ping", true},          {"p\\u0069ng", "ping", true},
        {"pin", "ping", false},          {"pings", "ping", false},
        {"Ping", "ping", false},         {"tools\\/call", "tools/call", true},
        {"ping\\u0000", "ping", false},  {"p\\ud800ng", "ping", false},
        {"p\\u0169ng", "ping", false},   {"\\u0070\\u0069\\u006E\\u0067", "ping", true},
        {"\\\"\\\\\\t", "\"\\\t", true}, {"ping\\n", "ping", false},
        {"\\u00e4", "\xC3\xA4", false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char line[200];
        snprintf(line, sizeof(line), "{" V ",\"method\":\"%s\"}", rows[i].raw);
        struct mp_envelope envelope = scan(span_of(line));
        cr_assert_eq(envelope.kind, MP_KIND_NOTIFICATION, "%s", line);
        cr_expect_eq(mp_envelope_is_method(&envelope, rows[i].method), rows[i].is, "%s",
                     rows[i].raw);
    }
    struct mp_envelope reply = scan(span_of("{" V ",\"id\":1,\"result\":{}}"));
    cr_expect(!mp_envelope_is_method(&reply, "ping"));
    cr_expect(!mp_envelope_is_method(&reply, ""));
}
