/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/answer.h"

#include <criterion/criterion.h>
#include <string.h>

#include "replies.h"

#define ERROR(code, data) "\"error\":{\"code\":" code ",\"message\":\"m\"" data "}"
#define SUPPORTED(list)   ",\"data\":{\"supported\":" list "}"

static const struct row {
    const char *what, *member;
    enum mp_discovery discovery;
    const char *version;
} rows[] = {
    {"modern", "\"result\":{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{}}",
     MP_DISCOVERY_MODERN, "2026-07-28"},
    {"modern among others",
     "\"result\":{\"supportedVersions\":[\"2099-01-01\",\"2025-11-25\",\"2026-07-28\"],\"x\":[]}",
     MP_DISCOVERY_MODERN, "2026-07-28"},
    {"only legacy", "\"result\":{\"supportedVersions\":[\"2025-06-18\"]}", MP_DISCOVERY_LEGACY,
     NULL},
    {"only unknown", "\"result\":{\"supportedVersions\":[\"2099-01-01\"]}", MP_DISCOVERY_HOPELESS,
     NULL},
    {"none", "\"result\":{\"supportedVersions\":[]}", MP_DISCOVERY_HOPELESS, NULL},
    {"no strings", "\"result\":{\"supportedVersions\":[1,null,{}]}", MP_DISCOVERY_HOPELESS, NULL},
    {"no list", "\"result\":{\"supportedVersions\":\"2026-07-28\"}", MP_DISCOVERY_LEGACY, NULL},
    {"empty result", "\"result\":{}", MP_DISCOVERY_LEGACY, NULL},
    {"null result", "\"result\":null", MP_DISCOVERY_LEGACY, NULL},
    {"not found", ERROR("-32601", ""), MP_DISCOVERY_LEGACY, NULL},
    {"parse error", ERROR("-32700", ""), MP_DISCOVERY_LEGACY, NULL},
    {"server error", ERROR("-32000", SUPPORTED("[\"2026-07-28\"]")), MP_DISCOVERY_LEGACY, NULL},
    {"no code", "\"error\":{\"message\":\"m\"}", MP_DISCOVERY_LEGACY, NULL},
    {"code as text", ERROR("\"-32022\"", ""), MP_DISCOVERY_LEGACY, NULL},
    {"refused", ERROR("-32022", SUPPORTED("[\"2026-07-28\"]")), MP_DISCOVERY_REFUSED, "2026-07-28"},
    {"refused, only legacy", ERROR("-32022", SUPPORTED("[\"2025-11-25\"]")), MP_DISCOVERY_HOPELESS,
     NULL},
    {"refused without a list", ERROR("-32022", ""), MP_DISCOVERY_HOPELESS, NULL},
    {"refused, list is none", ERROR("-32022", SUPPORTED("7")), MP_DISCOVERY_HOPELESS, NULL},
    {"draft", ERROR("-32004", SUPPORTED("[\"2026-07-28\"]")), MP_DISCOVERY_REFUSED, "2026-07-28"},
    {"draft code without a list", ERROR("-32004", ""), MP_DISCOVERY_LEGACY, NULL},
    {"draft code, no strings", ERROR("-32004", SUPPORTED("[1]")), MP_DISCOVERY_LEGACY, NULL},
};

Test(answer, of_discover)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct mp_revision *revision = NULL;
        mcpump_reply *reply = reply_of(rows[i].member);
        enum mp_discovery discovery = mp_answer_discovery(reply, "", &revision);
        cr_assert_eq(discovery, rows[i].discovery, "%s", rows[i].what);
        const char *version = revision != NULL ? revision->version : "none";
        cr_assert_str_eq(version, rows[i].version != NULL ? rows[i].version : "none", "%s",
                         rows[i].what);
        mcpump_reply_free(reply);
    }
}

Test(answer, the_version_just_refused_is_no_offer)
{
    const struct mp_revision *revision = NULL;
    mcpump_reply *reply = reply_of(ERROR("-32022", SUPPORTED("[\"2026-07-28\"]")));
    cr_assert_eq(mp_answer_discovery(reply, "2026-07-28", &revision), MP_DISCOVERY_HOPELESS);
    cr_assert_null(revision);
    mcpump_reply_free(reply);
}

Test(answer, of_initialize)
{
    static const struct {
        const char *member, *version, *words;
    } table[] = {
        {"\"result\":{\"protocolVersion\":\"2025-03-26\",\"x\":1}", "2025-03-26", ""},
        {"\"result\":{\"protocolVersion\":\"2099-01-01\"}", NULL, "\"2099-01-01\""},
        {"\"result\":{\"protocolVersion\":\"2026-07-28\"}", NULL, "\"2026-07-28\""},
        {"\"result\":{\"protocolVersion\":7}", NULL, "no protocolVersion"},
        {"\"result\":{}", NULL, "no protocolVersion"},
        {"\"result\":[]", NULL, "no protocolVersion"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        char words[128] = "";
        mcpump_reply *reply = reply_of(table[i].member);
        const struct mp_revision *found = mp_answer_initialize(reply, words, sizeof(words));
        cr_assert_eq(found != NULL, table[i].version != NULL, "%s", table[i].member);
        if (found != NULL)
            cr_assert_str_eq(found->version, table[i].version);
        cr_assert_not_null(strstr(words, table[i].words), "%s: %s", table[i].member, words);
        mcpump_reply_free(reply);
    }
}

Test(answer, an_error_in_words)
{
    static const struct {
        const char *member, *words;
    } table[] = {
        {ERROR("-32603", ""), "error -32603: m"},
        {"\"error\":{\"message\":\"why\"}", "an error without code: why"},
        {"\"error\":{}", "an error without code: "},
        {"\"error\":{\"code\":1,\"message\":{}}", "error 1: "},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        char words[128];
        mcpump_reply *reply = reply_of(table[i].member);
        mp_answer_error(reply, words, sizeof(words));
        cr_assert_str_eq(words, table[i].words);
        mcpump_reply_free(reply);
    }
}

Test(answer, what_a_server_says_of_itself)
{
    static const struct {
        const char *hello, *info;
    } table[] = {
        {"{\"serverInfo\":{\"name\":\"a\"}}", "{\"name\":\"a\"}"},
        {"{\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{ \"n\":1e400 }}}", "{ \"n\":1e400 }"},
        {"{\"_meta\":{\"serverInfo\":{}}}", NULL},
        {"{\"_meta\":7}", NULL},
        {"[]", NULL},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        struct mp_span info = {NULL, 0};
        cr_assert_eq(mp_answer_info(table[i].hello, &info), table[i].info != NULL, "%s",
                     table[i].hello);
        if (table[i].info != NULL)
            cr_assert(info.size == strlen(table[i].info) &&
                          memcmp(info.bytes, table[i].info, info.size) == 0,
                      "%s", table[i].hello);
    }
}
