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
    cr_assert(mp_client_init(&client, "n\"", "1"));
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct mp_message message;
        cr_assert_null(mp_message_init(&message, "m", rows[i].params, false), "%s", rows[i].what);
        cr_assert_null(mp_message_add_metadata(&message, &client, "2026-07-28"), "%s",
                       rows[i].what);
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
    cr_assert(mp_client_init(&client, NULL, NULL));
    cr_assert_null(mp_message_init(&message, "m", "{\"_meta\":7}", false));
    cr_assert_not_null(mp_message_add_metadata(&message, &client, "v"));
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
