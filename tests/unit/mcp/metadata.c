/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/metadata.h"

#include <criterion/criterion.h>
#include <string.h>

#define VERSION "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\""
#define INFO    "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"n\\\"\",\"version\":\"1\"}"
#define CAPS    "\"io.modelcontextprotocol/clientCapabilities\":{}"
#define ALL     VERSION "," INFO "," CAPS
#define START   "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"m\","

static const struct row {
    const char *what, *params, *text;
} rows[] = {
    {"no params", NULL, START "\"params\":{\"_meta\":{" ALL "}}}"},
    {"empty", "{}", START "\"params\":{\"_meta\":{" ALL "}}}"},
    {"members", "{\"a\":1}", START "\"params\":{\"_meta\":{" ALL "},\"a\":1}}"},
    {"the caller's _meta", "{\"_meta\":{\"x\":2}}",
     START "\"params\":{\"_meta\":{" ALL ",\"x\":2}}}"},
    {"the caller's version", "{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"v\"}}",
     START "\"params\":{\"_meta\":{" INFO "," CAPS
           ",\"io.modelcontextprotocol/protocolVersion\":\"v\"}}}"},
    {"all the caller's", "{\"_meta\":{" ALL "}}", START "\"params\":{\"_meta\":{" ALL "}}}"},
    {"numbers and escapes stay", "{\"n\":1.50e+300,\"s\":\"\\u00e9\"}",
     START "\"params\":{\"_meta\":{" ALL "},\"n\":1.50e+300,\"s\":\"\\u00e9\"}}"},
};

Test(metadata, is_added_beside_the_callers)
{
    struct mp_client client;
    const struct mp_metadata metadata = {.client = &client, .version = "2026-07-28"};
    cr_assert(mp_client_init(&client, "n\"", "1"));
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct mp_message message;
        cr_assert_null(mp_message_init(&message, "m", rows[i].params, false), "%s", rows[i].what);
        cr_assert_null(mp_message_add_metadata(&message, &metadata), "%s", rows[i].what);
        cr_assert_str_eq(message.text.bytes, rows[i].text, "%s: %s", rows[i].what,
                         message.text.bytes);
        cr_assert_eq(message.envelope.kind, MP_KIND_REQUEST, "%s", rows[i].what);
        mp_message_done(&message);
    }
    mp_client_done(&client);
}

Test(metadata, params_must_be_one_object)
{
    static const char *const bad[] = {
        "",    "1",        "[]",          "\"x\"",      "null",  "{",
        "{}}", "{\"a\":}", "{},\"id\":7", "{},\"x\":1", "{} {}",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct mp_message message;
        cr_assert_not_null(mp_message_init(&message, "m", bad[i], false), "%s", bad[i]);
        mp_message_done(&message);
        cr_assert_not_null(mp_message_init(&message, "m", bad[i], true), "%s", bad[i]);
        mp_message_done(&message);
    }
}

Test(metadata, space_around_params_is_fine)
{
    struct mp_message message;
    cr_assert_null(mp_message_init(&message, "m", " \n{ \"a\" : 1 }\t", false));
    mp_message_done(&message);
}

Test(metadata, meta_must_be_an_object)
{
    struct mp_client client;
    struct mp_message message;
    const struct mp_metadata metadata = {.client = &client, .version = "v"};
    cr_assert(mp_client_init(&client, NULL, NULL));
    cr_assert_null(mp_message_init(&message, "m", "{\"_meta\":7}", false));
    cr_assert_not_null(mp_message_add_metadata(&message, &metadata));
    mp_message_done(&message);
    mp_client_done(&client);
}

Test(metadata, a_notification_has_no_id)
{
    struct mp_message message;
    cr_assert_null(mp_message_init(&message, "notifications/x", NULL, true));
    cr_assert_str_eq(message.text.bytes, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}");
    mp_message_done(&message);
}

/* -- the log level and the trace of a call */

#define TRACEPARENT "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
#define TRACE                                                                                      \
    "\"traceparent\":\"" TRACEPARENT "\",\"tracestate\":\"a=1\",\"baggage\":\"k=\\\"v\\\"\""
#define LEVEL "\"io.modelcontextprotocol/logLevel\":\"debug\""

static const struct row more[] = {
    {"all", NULL, START "\"params\":{\"_meta\":{" ALL "," LEVEL "," TRACE "}}}"},
    {"the caller's level", "{\"_meta\":{\"io.modelcontextprotocol/logLevel\":7}}",
     START "\"params\":{\"_meta\":{" ALL "," TRACE ",\"io.modelcontextprotocol/logLevel\":7}}}"},
    {"the caller's trace", "{\"_meta\":{\"tracestate\":null,\"b\\u0061ggage\":1}}",
     START "\"params\":{\"_meta\":{" ALL "," LEVEL ",\"traceparent\":\"" TRACEPARENT
           "\",\"tracestate\":null,\"b\\u0061ggage\":1}}}"},
};

Test(metadata, level_and_trace_are_added_beside_the_callers)
{
    struct mp_client client;
    const struct mp_metadata metadata = {.client = &client,
                                         .version = "2026-07-28",
                                         .log_level = "debug",
                                         .trace = {TRACEPARENT, "a=1", "k=\"v\""}};
    cr_assert(mp_client_init(&client, "n\"", "1"));
    for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++) {
        struct mp_message message;
        cr_assert_null(mp_message_init(&message, "m", more[i].params, false));
        cr_assert_null(mp_message_add_metadata(&message, &metadata), "%s", more[i].what);
        cr_assert_str_eq(message.text.bytes, more[i].text, "%s: %s", more[i].what,
                         message.text.bytes);
        mp_message_done(&message);
    }
    mp_client_done(&client);
}

Test(metadata, a_legacy_request_gets_the_trace_alone)
{
    const struct mp_metadata metadata = {.log_level = "debug",
                                         .trace = {TRACEPARENT, "a=1", "k=\"v\""}};
    const struct mp_metadata nothing = {.log_level = NULL};
    struct mp_message message;
    cr_assert_null(mp_message_init(&message, "m", "{\"a\":1}", false));
    cr_assert_null(mp_message_add_metadata(&message, &nothing));
    cr_assert_str_eq(message.text.bytes, START "\"params\":{\"a\":1}}");
    cr_assert_null(mp_message_add_metadata(&message, &metadata));
    cr_assert_str_eq(message.text.bytes, START "\"params\":{\"_meta\":{" TRACE "},\"a\":1}}");
    mp_message_done(&message);
}

/* What the transport needs of it points into the new text. */
Test(metadata, the_envelope_moves_along)
{
    struct mp_client client;
    const struct mp_metadata metadata = {.client = &client, .version = "2026-07-28"};
    struct mp_message message;
    cr_assert(mp_client_init(&client, NULL, NULL));
    cr_assert_null(mp_message_init(&message, "a/\\method", "{}", false));
    cr_assert_null(mp_message_add_metadata(&message, &metadata));
    struct mp_envelope again;
    mp_envelope_scan(mp_message_span(&message), &again);
    cr_assert_eq(message.envelope.kind, MP_KIND_REQUEST);
    cr_assert_eq(message.envelope.id.bytes, again.id.bytes);
    cr_assert_eq(message.envelope.id.size, again.id.size);
    cr_assert_eq(message.envelope.method.bytes, again.method.bytes);
    cr_assert_eq(message.envelope.method.size, again.method.size);
    mp_message_done(&message);
    mp_client_done(&client);
}
