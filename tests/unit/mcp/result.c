/* SPDX-License-Identifier: Apache-2.0 */
/* What hosts read out of replies, and trees of them. */
#include "mcpump/result.h"

#include <criterion/criterion.h>
#include <json-c/json.h>
#include <stdlib.h>

#include "mcpump/json.h"
#include "replies.h"

#define ERROR(members) "\"error\":{" members "}"

Test(result, members_are_spans_of_the_reply)
{
    static const struct {
        const char *member, *key, *wanted; /* NULL: none */
    } rows[] = {
        {"\"result\":{\"content\":[],\"structuredContent\":{ \"n\":12345678901234567890 }}",
         "structuredContent", "{ \"n\":12345678901234567890 }"},
        {"\"result\":{\"structuredContent\":null}", "structuredContent", "null"},
        {"\"result\":{\"structuredContent\":0.1000}", "structuredContent", "0.1000"},
        {"\"result\":{\"content\":[{\"structuredContent\":1}]}", "structuredContent", NULL},
        {"\"result\":[1]", "structuredContent", NULL},
        {"\"result\":null", "", NULL},
        {ERROR("\"code\":1,\"message\":\"m\""), "message", "\"m\""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        mcpump_reply *reply = reply_of(rows[i].member);
        size_t size = 77;
        const char *span = mcpump_reply_member(reply, rows[i].key, &size);
        cr_expect_eq(span != NULL, rows[i].wanted != NULL, "%s", rows[i].member);
        cr_expect_eq(size, rows[i].wanted != NULL ? strlen(rows[i].wanted) : 77, "%s",
                     rows[i].member);
        if (span != NULL && rows[i].wanted != NULL)
            cr_expect_eq(memcmp(span, rows[i].wanted, size), 0, "%s", rows[i].member);
        mcpump_reply_free(reply);
    }
}

Test(result, is_tool_error)
{
    static const struct {
        const char *member;
        bool is_tool_error;
    } rows[] = {
        {"\"result\":{\"content\":[],\"isError\":true}", true},
        {"\"result\":{\"content\":[],\"isError\":false}", false},
        {"\"result\":{\"content\":[]}", false},
        {"\"result\":{\"isError\":\"true\"}", false},
        {"\"result\":{\"isError\":1}", false},
        {"\"result\":\"isError\"", false},
        {ERROR("\"isError\":true"), false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        mcpump_reply *reply = reply_of(rows[i].member);
        cr_expect_eq(mcpump_reply_is_tool_error(reply), rows[i].is_tool_error, "%s",
                     rows[i].member);
        mcpump_reply_free(reply);
    }
}

#define TEXT(text) "{\"type\":\"text\",\"text\":" text "}"

Test(result, content_text)
{
    static const struct {
        const char *member, *text;
    } rows[] = {
        {"\"result\":{\"content\":[" TEXT("\"one\"") "]}", "one"},
        {"\"result\":{\"content\":[ " TEXT("\"one\\n\"") " , " TEXT("\"\"") "," TEXT(
             "\"\\u00e9\\ud83d\\ude00\"") "]}",
         "one\n\n\n\xC3\xA9\xF0\x9F\x98\x80"},
        {"\"result\":{\"content\":[{\"type\":\"image\",\"data\":\"\",\"text\":\"no\"}," TEXT(
             "\"yes\"") ",7,{\"type\":\"text\"},{\"type\":\"text\",\"text\":7}]}",
         "yes"},
        {"\"result\":{\"content\":[" TEXT("\"a\\u0000b\\u0000\"") "]}", "a\xEF\xBF\xBD"
                                                                        "b\xEF\xBF\xBD"},
        {"\"result\":{\"content\":[" TEXT("\"\\ud800x\"") "]}", "\xEF\xBF\xBDx"},
        {"\"result\":{\"content\":[]}", ""},
        {"\"result\":{\"content\":{\"type\":\"text\",\"text\":\"no\"}}", ""},
        {"\"result\":{}", ""},
        {"\"result\":7", ""},
        {ERROR("\"content\":[" TEXT("\"no\"") "]"), ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        mcpump_reply *reply = reply_of(rows[i].member);
        char *text = NULL;
        cr_expect_eq(mcpump_reply_content_text(reply, &text), MCPUMP_OK);
        cr_expect_str_eq(text, rows[i].text, "%s: %s", rows[i].member, text);
        free(text);
        mcpump_reply_free(reply);
    }
}

Test(result, errors_are_data)
{
    static const struct {
        const char *member;
        bool has_code;
        int64_t code;
        const char *message, *data;
    } rows[] = {
        {ERROR("\"code\":-32602,\"message\":\"no \\\"x\\\"\",\"data\":[1.0, 2]"), true, -32602,
         "no \"x\"", "[1.0, 2]"},
        {ERROR("\"code\":-32000.0,\"message\":\"\""), true, -32000, "", NULL},
        {ERROR("\"code\":1e3"), true, 1000, "", NULL},
        {ERROR("\"code\":1e400,\"data\":null"), true, INT64_MAX, "", "null"},
        {ERROR("\"code\":-99999999999999999999"), true, INT64_MIN, "", NULL},
        {ERROR("\"code\":\"-32602\",\"message\":7"), false, 0, "", NULL},
        {ERROR(""), false, 0, "", NULL},
        {"\"result\":{\"code\":1,\"message\":\"m\",\"data\":1}", false, 0, "", NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        mcpump_reply *reply = reply_of(rows[i].member);
        int64_t code = 0;
        char *message = NULL;
        size_t size = 0;
        cr_expect_eq(mcpump_reply_error_code(reply, &code), rows[i].has_code, "%s", rows[i].member);
        cr_expect_eq(code, rows[i].code, "%s: %lld", rows[i].member, (long long)code);
        cr_expect_eq(mcpump_reply_error_message(reply, &message), MCPUMP_OK);
        cr_expect_str_eq(message, rows[i].message, "%s", rows[i].member);
        const char *data = mcpump_reply_error_data(reply, &size);
        cr_expect_eq(data != NULL, rows[i].data != NULL, "%s", rows[i].member);
        if (data != NULL && rows[i].data != NULL)
            cr_expect(size == strlen(rows[i].data) && memcmp(data, rows[i].data, size) == 0, "%s",
                      rows[i].member);
        free(message);
        mcpump_reply_free(reply);
    }
}

/* -- trees */

Test(result, trees)
{
    static const struct {
        const char *member, *wanted; /* as json-c writes it; NULL: null */
    } rows[] = {
        {"\"result\":{\"b\":[1,2.50,\"\\u00e9\"],\"a\":null}",
         "{\"b\":[1,2.50,\"\xC3\xA9\"],\"a\":null}"},
        {"\"result\":9223372036854775807", "9223372036854775807"},
        {"\"result\":18446744073709551615", "18446744073709551615"},
        {"\"result\":true", "true"},
        {"\"result\":null", NULL},
        {"\"result\":\"\"", "\"\""},
        {ERROR("\"code\":1"), "{\"code\":1}"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        mcpump_reply *reply = reply_of(rows[i].member);
        struct json_object *tree = NULL;
        cr_assert_eq(mcpump_reply_json(reply, &tree), MCPUMP_OK, "%s", rows[i].member);
        cr_expect_eq(tree != NULL, rows[i].wanted != NULL, "%s", rows[i].member);
        if (tree != NULL && rows[i].wanted != NULL)
            cr_expect_str_eq(json_object_to_json_string_ext(tree, JSON_C_TO_STRING_PLAIN),
                             rows[i].wanted, "%s", rows[i].member);
        json_object_put(tree);
        mcpump_reply_free(reply);
    }
}

/* As deep as a message may be, and no deeper. */
Test(result, trees_as_deep_as_replies)
{
    char result[300] = "\"result\":";
    const size_t most = 127;
    memset(result + strlen(result), '[', most);
    memset(result + strlen(result), ']', most);
    mcpump_reply *reply = reply_of(result);
    struct json_object *tree = NULL;
    cr_assert_eq(mcpump_reply_json(reply, &tree), MCPUMP_OK);
    json_object_put(tree);
    mcpump_reply_free(reply);
    cr_assert_eq(mcpump_reply_json(NULL, &tree), MCPUMP_ERR_INVALID_ARGUMENT);
}

Test(result, trees_of_texts)
{
    static const char *const bad[] = {"", " ", "[", "[1] 2", "nul", "{\"a\":}", "'a'", "01"};
    struct json_object *tree = NULL;
    cr_assert_eq(mcpump_text_json(" [1, {\"a\":2}] ", &tree), MCPUMP_OK);
    cr_expect_eq(json_object_array_length(tree), 2);
    json_object_put(tree);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        cr_expect_eq(mcpump_text_json(bad[i], &tree), MCPUMP_ERR_INVALID_ARGUMENT, "%s", bad[i]);
}
