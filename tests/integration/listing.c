/* SPDX-License-Identifier: Apache-2.0 */
/* The four lists of a server: their pages, and for how long they are kept. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "subject.h"

static const char *const eras[] = {"legacy", "modern"};

typedef mcpump_err list_fn(mcpump_server *server, const mcpump_call_options *options,
                           char **ret_items, mcpump_failure **ret_failure);

static const struct kind {
    list_fn *list;
    const char *method, *member, *changed;
} kinds[] = {
    {mcpump_server_list_tools, "tools/list", "tools", "notifications/tools/list_changed"},
    {mcpump_server_list_resources, "resources/list", "resources",
     "notifications/resources/list_changed"},
    {mcpump_server_list_resource_templates, "resources/templates/list", "resourceTemplates",
     "notifications/resources/list_changed"},
    {mcpump_server_list_prompts, "prompts/list", "prompts", "notifications/prompts/list_changed"},
};

static void expect_list(mcpump_server *server, list_fn *list, const mcpump_call_options *options,
                        const char *wanted, const char *name)
{
    char *items = NULL;
    mcpump_failure *failure = NULL;
    mcpump_err err = list(server, options, &items, &failure);
    cr_assert_eq(err, MCPUMP_OK, "%s: %s", name, mcpump_failure_message(failure));
    cr_assert_null(failure, "%s", name);
    cr_assert_str_eq(items, wanted, "%s: %s", name, items);
    mcpump_text_free(items);
}

/* METHOD does what test/sequence does: %s in the results stands for the member. New. */
static char *sequence_of(const struct kind *kind, const char *results)
{
    char *rule = NULL;
    size_t size;
    FILE *out = open_memstream(&rule, &size);
    fprintf(out, "%s:sequence:{\"results\":[", kind->method);
    for (const char *hole; (hole = strstr(results, "%s")) != NULL; results = hole + 2)
        fprintf(out, "%.*s%s", (int)(hole - results), results, kind->member);
    fprintf(out, "%s]}", results);
    fclose(out);
    return rule;
}

static void list_of_kind(const struct kind *kind, const char *era, const char *results,
                         const char *wanted, int requests, const char *cursor)
{
    struct subject subject;
    char *rule = sequence_of(kind, results);
    char method[64];
    snprintf(method, sizeof(method), "\"%s\"", kind->method);
    subject_init(&subject, era, STRINGS("--on", rule));
    expect_list(subject.server, kind->list, NULL, wanted, kind->method);
    cr_expect_eq(subject_received(&subject, method), requests, "%s, %s", kind->method, results);
    if (cursor != NULL)
        cr_expect_eq(subject_received(&subject, cursor), 1, "%s", cursor);
    test_expect_no_violation(subject.server, kind->method);
    subject_done(&subject);
    free(rule);
}

static const struct {
    const char *results; /* %s: the member */
    const char *wanted;
    int requests;
    const char *cursor; /* that must have been given back so, once; NULL: none */
} lists[] = {
    {"{\"%s\":[]}", "[]", 1, NULL},
    {"{\"%s\":[ ],\"nextCursor\":\"\"}", "[]", 1, NULL},
    {"{\"%s\":[{\"name\":\"a\"}],\"nextCursor\":null}", "[{\"name\":\"a\"}]", 1, NULL},
    {"{\"%s\":[{\"z\":1.50, \"a\":[12345678901234567890,1e400,\"\\u0041\\/\"]}, 7]}",
     "[{\"z\":1.50, \"a\":[12345678901234567890,1e400,\"\\u0041\\/\"]}, 7]", 1, NULL},
    {"{\"nextCursor\":\"\\u0041\\\" /\",\"%s\":[1]},{\"%s\":[ ],\"nextCursor\":\"B\"},"
     "{\"%s\":[2,3]}",
     "[1,2,3]", 3, "\"cursor\":\"\\u0041\\\" /\""},
    {"{\"%s\":[1],\"nextCursor\":\"x\"}", "[1,1]", 2, NULL}, /* the same cursor for ever */
    {"{\"%s\":[1],\"nextCursor\":\"x\"},{\"%s\":[2],\"nextCursor\":\"y\"},"
     "{\"%s\":[3],\"nextCursor\":\"x\"}",
     "[1,2,3]", 3, "\"cursor\":\"y\""}, /* round in a circle */
};

Test(listing, lists_are_gathered_from_pages)
{
    for (size_t i = 0; i < LENGTH(lists); i++) {
        for (size_t kind = 0; kind < LENGTH(kinds); kind++)
            list_of_kind(&kinds[kind], eras[(i + kind) % 2], lists[i].results, lists[i].wanted,
                         lists[i].requests, lists[i].cursor);
    }
}

Test(listing, a_list_that_is_none)
{
    static const char *const bad[] = {"{}", "{\"x\":[]}", "{\"tools\":{}}", "[]", "null"};
    for (size_t i = 0; i < LENGTH(bad); i++) {
        struct subject subject;
        char rule[64], *items = NULL;
        snprintf(rule, sizeof(rule), "tools/list:echo:%s", bad[i]);
        subject_init(&subject, eras[i % 2], STRINGS("--on", rule));
        mcpump_failure *failure = NULL;
        cr_assert_eq(mcpump_server_list_tools(subject.server, NULL, &items, &failure),
                     MCPUMP_ERR_INVALID_REPLY);
        test_expect_part(mcpump_failure_message(failure), "no array \"tools\"", bad[i]);
        size_t size;
        const char *value = mcpump_reply_value(mcpump_failure_reply(failure), &size);
        cr_expect(size == strlen(bad[i]) && memcmp(value, bad[i], size) == 0, "%s", bad[i]);
        cr_expect_null(items);
        mcpump_failure_free(failure);
        subject_done(&subject);
    }
}

/* A server that gives new pages for ever is stopped by what it may grow. */
Test(listing, a_list_without_end)
{
    enum { PAGES = 10 };
    char results[PAGES * 1400] = "";
    struct test_resources before = test_resources();
    for (int i = 0; i < PAGES; i++) {
        char page[1400];
        snprintf(page, sizeof(page), "%s{\"tools\":[\"%01024d\"],\"nextCursor\":\"%d\"}",
                 i > 0 ? "," : "", i, i);
        strcat(results, page);
    }
    char *rule = NULL, *items = NULL;
    cr_assert_gt(asprintf(&rule, "tools/list:sequence:{\"results\":[%s]}", results), 0);
    mcpump_server_options options = test_options(STRINGS("--on", rule));
    options.transport.max_message_bytes = 1200;
    mcpump_server *server = test_server_new(&options);
    mcpump_failure *failure = NULL;
    cr_assert_eq(mcpump_server_list_tools(server, NULL, &items, &failure),
                 MCPUMP_ERR_INVALID_REPLY);
    test_expect_part(mcpump_failure_message(failure), "longer than eight messages", "");
    mcpump_failure_free(failure);
    mcpump_server_free(server);
    free(rule);
    EXPECT_NOTHING_LEFT(before, "");
}

/* -- what a server allows to keep */

#define KEPT(ttl, item)                                                                            \
    "{\"resultType\":\"complete\",\"ttlMs\":" ttl ",\"cacheScope\":\"private\",\"%s\":[" item "]}"

static void keep_list(const struct kind *kind)
{
    struct subject subject;
    char *rule =
        sequence_of(kind, KEPT("3600000", "1") "," KEPT("3600000", "2") "," KEPT("3600000", "3"));
    char changed[128];
    mcpump_call_options fresh = MCPUMP_CALL_OPTIONS_INIT;
    fresh.fresh = true;
    subject_init(&subject, "modern", STRINGS("--on", rule));
    expect_list(subject.server, kind->list, NULL, "[1]", "asked");
    expect_list(subject.server, kind->list, NULL, "[1]", "kept");
    expect_list(subject.server, kind->list, &fresh, "[2]", "asked all the same");
    expect_list(subject.server, kind->list, NULL, "[2]", "the newer one is kept");
    json_object_put(test_result(subject.server, "test/notify",
                                "{\"method\":\"notifications/message\",\"params\":{}}"));
    expect_list(subject.server, kind->list, NULL, "[2]", "another notification");
    snprintf(changed, sizeof(changed), "{\"method\":\"%s\",\"params\":{}}", kind->changed);
    json_object_put(test_result(subject.server, "test/notify", changed));
    expect_list(subject.server, kind->list, NULL, "[3]", "changed");
    cr_assert_eq(mcpump_server_restart(subject.server, NULL), MCPUMP_OK);
    expect_list(subject.server, kind->list, NULL, "[1]", "started anew");
    cr_assert_eq(kill(test_pid(subject.server), SIGKILL), 0);
    test_await_lines(subject.folder.log, "start ", 3);
    fresh.fresh = false;
    fresh.wait_for_ready = true;
    expect_list(subject.server, kind->list, &fresh, "[1]", "come back by itself");
    char method[64];
    snprintf(method, sizeof(method), "\"%s\"", kind->method);
    cr_expect_eq(subject_received(&subject, method), 5);
    subject_done(&subject);
    free(rule);
}

Test(listing, lists_are_kept_for_as_long_as_the_server_allows)
{
    for (size_t i = 0; i < LENGTH(kinds); i++)
        keep_list(&kinds[i]);
}

static const struct {
    const char *name, *era, *results;
} not_kept[] = {
    {"legacy", "legacy", KEPT("3600000", "1")}, {"zero", "modern", KEPT("0", "1")},
    {"negative", "modern", KEPT("-5", "1")},    {"a huge negative", "modern", KEPT("-1e300", "1")},
    {"a fraction", "modern", KEPT("0.9", "1")}, {"no number", "modern", KEPT("\"3600000\"", "1")},
    {"none", "modern", "{\"%s\":[1]}"},
};

Test(listing, lists_that_may_not_be_kept)
{
    for (size_t i = 0; i < LENGTH(not_kept); i++) {
        struct subject subject;
        char *rule = sequence_of(&kinds[0], not_kept[i].results);
        subject_init(&subject, not_kept[i].era, STRINGS("--on", rule));
        expect_list(subject.server, mcpump_server_list_tools, NULL, "[1]", not_kept[i].name);
        expect_list(subject.server, mcpump_server_list_tools, NULL, "[1]", not_kept[i].name);
        cr_expect_eq(subject_received(&subject, "\"tools/list\""), 2, "%s", not_kept[i].name);
        subject_done(&subject);
        free(rule);
    }
}

static const struct {
    const char *name, *ttl;
} kept_for_long[] = {
    {"a large number", "9223372036854775807"},
    {"a larger one", "99999999999999999999"},
    {"an exponent", "3.6e6"},
    {"infinity", "1e400"},
};

Test(listing, any_number_may_stand_for_the_time)
{
    for (size_t i = 0; i < LENGTH(kept_for_long); i++) {
        struct subject subject;
        char rule[256];
        snprintf(rule, sizeof(rule),
                 "tools/list:sequence:{\"results\":[{\"tools\":[1],\"ttlMs\":%s},{\"tools\":[2]}]}",
                 kept_for_long[i].ttl);
        subject_init(&subject, "modern", STRINGS("--on", rule));
        expect_list(subject.server, mcpump_server_list_tools, NULL, "[1]", kept_for_long[i].name);
        expect_list(subject.server, mcpump_server_list_tools, NULL, "[1]", kept_for_long[i].name);
        subject_done(&subject);
    }
}

Test(listing, the_page_that_is_stale_first_counts)
{
    struct subject subject;
    subject_init(&subject, "modern",
                 STRINGS("--on", "tools/list:sequence:{\"results\":["
                                 "{\"tools\":[1],\"ttlMs\":3600000,\"nextCursor\":\"a\"},"
                                 "{\"tools\":[2],\"ttlMs\":0},{\"tools\":[3]}]}"));
    expect_list(subject.server, mcpump_server_list_tools, NULL, "[1,2]", "two pages");
    expect_list(subject.server, mcpump_server_list_tools, NULL, "[3]", "the second is stale");
    subject_done(&subject);
}

/* Asked until it is not the kept one any more; before that, at most a millisecond passes. */
Test(listing, a_kept_list_becomes_stale)
{
    struct subject subject;
    int64_t until = test_now_ms() + TEST_PATIENCE_MS;
    char *items = NULL;
    subject_init(&subject, "modern",
                 STRINGS("--on", "tools/list:sequence:{\"results\":[{\"tools\":[1],\"ttlMs\":1},"
                                 "{\"tools\":[2],\"ttlMs\":1}]}"));
    do {
        mcpump_text_free(items);
        cr_assert_eq(mcpump_server_list_tools(subject.server, NULL, &items, NULL), MCPUMP_OK);
    } while (strcmp(items, "[1]") == 0 && test_now_ms() < until);
    cr_expect_str_eq(items, "[2]");
    mcpump_text_free(items);
    subject_done(&subject);
}

/* What is kept is answered in no time, which says nothing about the server. */
Test(listing, a_kept_list_is_no_round_trip)
{
    struct subject subject;
    subject_init(&subject, "modern",
                 STRINGS("--on", "tools/list:echo:{\"tools\":[],\"ttlMs\":3600000}"));
    mcpump_server_status status = {.size = sizeof(status)};
    expect_list(subject.server, mcpump_server_list_tools, NULL, "[]", "");
    mcpump_server_get_status(subject.server, &status);
    int64_t p50_us = status.p50_us;
    for (int i = 0; i < 100; i++)
        expect_list(subject.server, mcpump_server_list_tools, NULL, "[]", "");
    mcpump_server_get_status(subject.server, &status);
    cr_expect_eq(status.p50_us, p50_us);
    cr_expect_eq(status.calls, 101);
    subject_done(&subject);
}

/* -- beside the pages */

Test(listing, an_error_where_no_reply_is_given_is_carried_by_the_failure)
{
    for (size_t i = 0; i < LENGTH(kinds); i++) {
        struct subject subject;
        char rule[160], *items = NULL;
        mcpump_failure *failure = NULL;
        snprintf(rule, sizeof(rule), "%s:" REFUSED, kinds[i].method);
        subject_init(&subject, eras[i % 2], STRINGS("--on", rule));
        cr_assert_eq(kinds[i].list(subject.server, NULL, &items, &failure),
                     MCPUMP_ERR_SERVER_ERROR);
        test_expect_part(mcpump_failure_message(failure), "error -32602: no A", "");
        subject_expect_refused(mcpump_failure_reply(failure));
        cr_expect_null(items);
        mcpump_failure_free(failure);
        subject_done(&subject);
    }
}

Test(listing, each_request_of_a_call_has_the_trace)
{
    struct subject subject;
    mcpump_call_options options = MCPUMP_CALL_OPTIONS_INIT;
    options.traceparent = TRACEPARENT;
    subject_init(&subject, "legacy",
                 STRINGS("--on", "tools/list:sequence:{\"results\":[{\"tools\":[1],"
                                 "\"nextCursor\":\"a\"},{\"tools\":[2]}]}"));
    expect_list(subject.server, mcpump_server_list_tools, &options, "[1,2]", "");
    cr_expect_eq(subject_received(&subject, TRACEPARENT), 2);
    subject_done(&subject);
}
