/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes to messages: junk lines and their limit, line ends, characters, sizes, depth, batches. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "raw.h"

#define KIB 1024
#define MIB (1024 * KIB)

static mcpump_transport *open_intolerant(const char *const *switches)
{
    mcpump_transport_options options = raw_options(switches);
    options.max_junk_lines = MCPUMP_ZERO;
    return raw_open(&options);
}

/* The connection must have ended for this cause; the words stand in the failure. */
static void check_ended(mcpump_transport *transport, const char *name, const char *method,
                        const char *params, mcpump_cause cause, const char *words)
{
    mcpump_failure *failure = raw_fails(transport, name, method, params, MCPUMP_ERR_CLOSED);
    cr_expect_eq(mcpump_failure_cause(failure), cause, "%s: %s", name,
                 mcpump_cause_name(mcpump_failure_cause(failure)));
    test_expect_part(mcpump_failure_message(failure), words, name);
    test_expect_part(mcpump_failure_message(failure), mcpump_cause_text(cause), name);
    cr_expect_not(mcpump_transport_is_connected(transport), "%s", name);
    mcpump_failure_free(failure);
}

/* -- junk before the first message */

static const struct banner_row {
    const char *name;
    const char *text; /* for --banner */
    uint64_t lines;
    const char *preview; /* of the first, sanitized */
} banners[] = {
    {"plain text", "Server starting...\\n", 1, "Server starting..."},
    {"ANSI sequence", "\\e[32mready\\e[0m\\n", 1, "\\x1b[32mready\\x1b[0m"},
    {"starts with [", "[INFO] listening\\n", 1, "[INFO] listening"},
    {"half a JSON line", "{\"jsonrpc\":\"2.0\",\\n", 1, "{\"jsonrpc\":\"2.0\","},
    {"pretty JSON", "{\\n \"jsonrpc\": \"2.0\"\\n}\\n", 3, "the first: {"},
    {"a number", "42\\n", 1, "the first: 42"},
    {"a string", "\"text\"\\n", 1, "\"text\""},
    {"true", "true\\n", 1, "the first: true"},
    {"null", "null\\n", 1, "the first: null"},
    {"empty object", "{}\\n", 1, "the first: {}"},
    {"an object of another kind", "{\"level\":\"info\"}\\n", 1, "{\"level\":\"info\"}"},
    {"empty array", "[]\\n", 1, "the first: []"},
    {"LSP header", "Content-Length: 42\\r\\n\\r\\n", 1, "Content-Length: 42"},
    {"invalid UTF-8", "caf\\xE9\\n", 1, "caf\xEF\xBF\xBD"},
    {"NUL", "a\\0b\\n", 1, "a\\x00b"},
    {"ten lines", "1\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n9\\n10\\n", 10, "the first: 1"},
};

TIDY_TEST(a_banner_is_tolerated)
{
    for (size_t i = 0; i < LENGTH(banners); i++) {
        const struct banner_row *row = &banners[i];
        mcpump_transport *transport = test_open(STRINGS("--banner", row->text));
        raw_expect(transport, row->name, "test/echo", "{\"a\":1}", "{\"a\":1}");
        mcpump_stats stats = raw_stats(transport);
        cr_expect_eq(stats.junk_lines, row->lines, "%s: %llu junk lines", row->name,
                     (unsigned long long)stats.junk_lines);
        cr_expect_eq(stats.unknown_replies + stats.notifications_read, 0, "%s", row->name);
        mcpump_transport_free(transport);
    }
}

TIDY_TEST(a_banner_over_the_limit_is_quoted)
{
    for (size_t i = 0; i < LENGTH(banners); i++) {
        const struct banner_row *row = &banners[i];
        mcpump_transport *transport = open_intolerant(STRINGS("--banner", row->text));
        check_ended(transport, row->name, "test/drop", NULL, MCPUMP_CAUSE_JUNK_OUTPUT,
                    row->preview);
        mcpump_transport_free(transport);
    }
}

/* -- the limit */

TIDY_TEST(ten_junk_lines_in_a_row_are_tolerated)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    for (int i = 0; i < 5; i++)
        raw_expect(transport, "ten", "test/junk", "{\"lines\":10}", "{}");
    cr_expect_eq(raw_stats(transport).junk_lines, 50);
    mcpump_transport_free(transport);
}

TIDY_TEST(one_more_ends_the_connection)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    check_ended(transport, "eleven", "test/junk", "{\"lines\":11,\"text\":\"oh \\u001b[1mno\"}",
                MCPUMP_CAUSE_JUNK_OUTPUT, "oh \\x1b[1mno");
    cr_expect_eq(raw_stats(transport).junk_lines, 11);
    mcpump_transport_free(transport);
}

TIDY_TEST(the_limit_is_an_option)
{
    mcpump_transport_options options = raw_options(NO_STRINGS);
    options.max_junk_lines = 3;
    mcpump_transport *transport = raw_open(&options);
    raw_expect(transport, "three", "test/junk", "{\"lines\":3}", "{}");
    check_ended(transport, "four", "test/junk", "{\"lines\":4}", MCPUMP_CAUSE_JUNK_OUTPUT,
                "junk line");
    mcpump_transport_free(transport);
}

TIDY_TEST(a_long_junk_line_is_cut_in_the_failure)
{
    char params[4000];
    memset(params, 'x', sizeof(params));
    memcpy(params, "{\"text\":\"", 9);
    memcpy(params + sizeof(params) - 3, "\"}", 3);
    mcpump_transport *transport = open_intolerant(NO_STRINGS);
    mcpump_failure *failure = raw_fails(transport, "long", "test/junk", params, MCPUMP_ERR_CLOSED);
    cr_expect_lt(strlen(mcpump_failure_message(failure)), 400, "%s",
                 mcpump_failure_message(failure));
    test_expect_part(mcpump_failure_message(failure), "xxxx\xE2\x80\xA6", "long");
    mcpump_failure_free(failure);
    mcpump_transport_free(transport);
}

TIDY_TEST(blank_lines_are_nothing)
{
    mcpump_transport *transport = open_intolerant(NO_STRINGS);
    raw_expect(transport, "blank", "test/raw",
               "{\"text\":\"\\n\\n\\r\\n \\n\\t \\r\\n\\n\",\"reply\":true}", "{}");
    cr_expect_eq(raw_stats(transport).junk_lines, 0);
    mcpump_transport_free(transport);
}

TIDY_TEST(junk_is_never_answered)
{
    mcpump_transport *transport =
        test_open(STRINGS("--banner", "hello\\n{}\\n[1]\\n{\"id\":7}\\n"));
    raw_expect(transport, "junk", "test/junk",
               "{\"lines\":5,\"text\":\"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":9}\"}", "{}");
    json_object *report = raw_report(transport);
    cr_expect_eq(test_int_member(report, "requests"), 2);
    cr_expect_eq(test_int_member(report, "answers"), 0);
    cr_expect_eq(test_int_member(report, "notifications"), 0);
    json_object_put(report);
    mcpump_transport_free(transport);
}

TIDY_TEST(text_in_front_of_json_is_junk_with_a_preview_in_the_log)
{
    struct raw_lines log;
    raw_lines_init(&log);
    mcpump_transport_options options = raw_options(NO_STRINGS);
    options.log_fn = raw_lines_log;
    options.log_user = &log;
    options.log_level = MCPUMP_LOG_DEBUG;
    mcpump_transport *transport = raw_open(&options);
    raw_expect(transport, "glued", "test/raw",
               "{\"text\":\"Loading\\u0007... {\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":$ID,"
               "\\\"result\\\":{\\\"wrong\\\":1}}\\n\",\"reply\":true}",
               "{}");
    cr_expect_eq(raw_stats(transport).junk_lines, 1);
    cr_expect(raw_lines_hold(&log, "Loading\\x07... {\"jsonrpc\""), "%s", log.text);
    mcpump_transport_free(transport);
    raw_lines_done(&log);
}

/* -- line ends and characters */

/* What the server writes, around its usual reply. */
static const struct raw_row {
    const char *name;
    const char *params; /* of test/raw; it replies {} then */
    const char *wanted;
    uint64_t junk;
} raws[] = {
#define REPLY(result) "{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":$ID,\\\"result\\\":" result "}"
    {"CR LF", "{\"text\":\"" REPLY("1") "\\r\\n\"}", "1", 0},
    {"spaces around", "{\"text\":\" \\t" REPLY("1") " \\t\\r\\n\"}", "1", 0},
    {"two in one piece", "{\"text\":\"" REPLY("1") "\\n" REPLY("2") "\\n\"}", "1", 0},
    {"one invalid byte spoils its line only", "{\"hex\":\"7B2261223A22FF227D0A\",\"reply\":true}",
     "{}", 1},
    {"overlong character", "{\"hex\":\"22C080220A\",\"reply\":true}", "{}", 1},
    {"surrogate", "{\"hex\":\"22EDA080220A\",\"reply\":true}", "{}", 1},
    {"NUL does not cut the line",
     "{\"text\":\"" REPLY("{\\\"wrong\\\":1}") "\\u0000tail\\n\",\"reply\":true}", "{}", 1},
    {"what follows a NUL is no line",
     "{\"text\":\"head\\u0000" REPLY("{\\\"wrong\\\":1}") "\\n\",\"reply\":true}", "{}", 1},
    {"NUL within a string", "{\"text\":\"" REPLY("\\\"a\\u0000b\\\"") "\\n\",\"reply\":true}", "{}",
     1},
    {"U+2028 ends no line", "{\"text\":\"" REPLY("\\\"a\xE2\x80\xA8z\\\"") "\\n\"}",
     "\"a\xE2\x80\xA8z\"", 0},
    {"U+2029 ends no line", "{\"text\":\"" REPLY("\\\"a\xE2\x80\xA9z\\\"") "\\n\"}",
     "\"a\xE2\x80\xA9z\"", 0},
    {"U+0085 ends no line", "{\"text\":\"" REPLY("\\\"a\xC2\x85z\\\"") "\\n\"}", "\"a\xC2\x85z\"",
     0},
    {"VT ends no line", "{\"text\":\"x\\u000b" REPLY("{\\\"wrong\\\":1}") "\\n\",\"reply\":true}",
     "{}", 1},
    {"FF ends no line", "{\"text\":\"x\\f" REPLY("{\\\"wrong\\\":1}") "\\n\",\"reply\":true}", "{}",
     1},
    {"CR alone ends no line", "{\"text\":\"x\\r" REPLY("{\\\"wrong\\\":1}") "\\n\",\"reply\":true}",
     "{}", 1},
    {"byte order mark in the middle", "{\"text\":\"\xEF\xBB\xBF" REPLY("1") "\\n\",\"reply\":true}",
     "{}", 1},
    {"result and error",
     "{\"text\":\"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":$ID,\\\"result\\\":1,"
     "\\\"error\\\":{}}\\n\",\"reply\":true}",
     "{}", 1},
    {"batch of one", "{\"text\":\"[" REPLY("1") "]\\n\"}", "1", 0},
    {"batch with junk within",
     "{\"text\":\"[7,{},[" REPLY("{\\\"wrong\\\":1}") "]," REPLY("1") "]\\n\"}", "1", 3},
#undef REPLY
};

static void check_raw(mcpump_transport *transport, const struct raw_row *row)
{
    uint64_t before = raw_stats(transport).junk_lines;
    raw_expect(transport, row->name, "test/raw", row->params, row->wanted);
    raw_expect(transport, row->name, "test/echo", "{\"next\":1}", "{\"next\":1}");
    uint64_t junk = raw_stats(transport).junk_lines - before;
    cr_expect_eq(junk, row->junk, "%s: %llu junk lines", row->name, (unsigned long long)junk);
}

TIDY_TEST(lines_and_characters)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    for (size_t i = 0; i < LENGTH(raws); i++)
        check_raw(transport, &raws[i]);
    mcpump_transport_free(transport);
}

/* The same, each byte a write of its own. */
TIDY_TEST(lines_and_characters_one_byte_at_a_time)
{
    mcpump_transport *transport = test_open(STRINGS("--split"));
    for (size_t i = 0; i < LENGTH(raws); i++)
        check_raw(transport, &raws[i]);
    mcpump_transport_free(transport);
}

#define CHARACTERS "{\"text\":\"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \\u00e9\"}"

TIDY_TEST(whole_servers_with_odd_line_ends)
{
    static const struct {
        const char *name;
        const char *switches[4];
    } rows[] = {
        {"CR LF", {"--crlf"}},
        {"byte order mark", {"--bom"}},
        {"byte order mark, one byte at a time", {"--bom", "--split"}},
        {"byte order mark before a blank line", {"--bom", "--banner", "\\n"}},
        {"one byte at a time", {"--split"}},
        {"CR LF, one byte at a time", {"--split", "--crlf"}},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        mcpump_transport *transport = open_intolerant(rows[i].switches);
        for (int k = 0; k < 3; k++)
            raw_expect(transport, rows[i].name, "test/echo", CHARACTERS, CHARACTERS);
        raw_expect(transport, rows[i].name, "test/split", CHARACTERS, CHARACTERS);
        cr_expect_eq(raw_stats(transport).junk_lines, 0, "%s", rows[i].name);
        mcpump_transport_free(transport);
    }
}

/* -- the last line */

TIDY_TEST(a_whole_last_line_without_newline_is_delivered)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    raw_expect(transport, "whole", "test/no-newline-then-exit", NULL, "{}");
    mcpump_transport_free(transport);
}

TIDY_TEST(a_torn_last_line_is_dropped)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    check_ended(transport, "torn", "test/torn", "{\"status\":5}", MCPUMP_CAUSE_EXITED,
                "with status 5");
    mcpump_transport_free(transport);
}

/* -- sizes */

/* Whether it is {"text":"..."} with the server's filler, which repeats after 64 bytes. */
static bool is_filler(const char *value, size_t size, size_t text_size)
{
    static const char start[] = "{\"text\":\"", end[] = "\"}";
    if (size != text_size + strlen(start) + strlen(end) || memcmp(value, start, 9) != 0 ||
        memcmp(value + size - 2, end, 2) != 0)
        return false;
    const char *text = value + strlen(start);
    for (size_t i = 64; i < text_size; i++) {
        if (text[i] != text[i - 64])
            return false;
    }
    return true;
}

static void check_size(mcpump_transport *transport, const char *name, size_t text_size)
{
    char params[32];
    size_t size;
    snprintf(params, sizeof(params), "{\"size\":%zu}", text_size);
    struct raw_call call = {.transport = transport, .method = "test/big", .params = params};
    raw_call_make(&call);
    cr_assert_eq(call.err, MCPUMP_OK, "%s, %zu: %s", name, text_size, raw_call_words(&call));
    const char *value = mcpump_reply_value(call.reply, &size);
    cr_expect(is_filler(value, size, text_size), "%s, %zu: %zu bytes, %.80s", name, text_size, size,
              value);
    raw_call_done(&call);
}

TIDY_TEST(large_replies_come_whole)
{
    static const size_t sizes[] = {4095,    4096,    64 * KIB - 1,  64 * KIB, 64 * KIB + 1,
                                   1 * MIB, 4 * MIB, 8 * MIB - KIB, 7};
    mcpump_transport *transport = test_open(NO_STRINGS);
    for (size_t i = 0; i < LENGTH(sizes); i++)
        check_size(transport, "at once", sizes[i]);
    mcpump_transport_free(transport);

    transport = test_open(STRINGS("--split"));
    check_size(transport, "one byte at a time", 64 * KIB);
    mcpump_transport_free(transport);
}

TIDY_TEST(the_limit_of_a_message_is_exact)
{
    mcpump_transport_options options = raw_options(NO_STRINGS);
    options.max_message_bytes = 100000;
    mcpump_transport *transport = raw_open(&options);
    struct raw_call call = {
        .transport = transport, .method = "test/big", .params = "{\"line\":100000}"};
    raw_call_make(&call);
    cr_expect_eq(call.err, MCPUMP_OK, "%s", raw_call_words(&call));
    raw_call_done(&call);
    check_ended(transport, "one more", "test/big", "{\"line\":100001}",
                MCPUMP_CAUSE_MESSAGE_TOO_LARGE, "max_message_bytes is 100000");
    mcpump_transport_free(transport);
}

/* The reply in front of the endless line is delivered; of the line no more is read than the limit
 * and what one read takes. */
TIDY_TEST(an_endless_line_is_bounded)
{
    mcpump_transport_options options = raw_options(NO_STRINGS);
    options.stdin_grace_ms = MCPUMP_ZERO;
    options.max_message_bytes = 2 * MIB;
    mcpump_transport *transport = raw_open(&options);
    struct raw_call other = {.transport = transport, .method = "test/drop"};
    raw_call_start(&other);
    raw_await_read(transport, 1);
    raw_expect(transport, "in front", "test/no-newline", "{\"reply\":true}", "{}");
    raw_call_join(&other);
    cr_expect_eq(other.err, MCPUMP_ERR_CLOSED, "%s", raw_call_words(&other));
    cr_expect_eq(mcpump_failure_cause(other.failure), MCPUMP_CAUSE_MESSAGE_TOO_LARGE, "%s",
                 raw_call_words(&other));
    raw_call_done(&other);
    cr_expect_lt(raw_stats(transport).bytes_read, 5 * MIB);
    mcpump_transport_free(transport);
}

/* -- depth and batches */

TIDY_TEST(deep_nesting_is_junk)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    struct raw_call call = {
        .transport = transport, .method = "test/deep", .params = "{\"depth\":120}"};
    raw_call_make(&call);
    cr_expect_eq(call.err, MCPUMP_OK, "120 levels: %s", raw_call_words(&call));
    raw_call_done(&call);
    raw_expect(transport, "a million", "test/deep", "{\"depth\":1000000,\"reply\":true}", "{}");
    cr_expect_eq(raw_stats(transport).junk_lines, 1);
    mcpump_transport_free(transport);
}

TIDY_TEST(each_element_of_a_batch_is_read)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    raw_expect(transport, "batch", "test/raw",
               "{\"text\":\"[{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"method\\\":\\\"notifications/a\\\"},"
               "{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":\\\"s\\\",\\\"method\\\":\\\"ping\\\"},"
               "{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":123456,\\\"result\\\":{}},"
               "{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":$ID,\\\"result\\\":{\\\"a\\\":1}},"
               "{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"method\\\":\\\"notifications/b\\\"}]\\n\"}",
               "{\"a\":1}");
    mcpump_stats stats = raw_stats(transport);
    cr_expect_eq(stats.notifications_read, 2);
    cr_expect_eq(stats.server_requests, 1);
    cr_expect_eq(stats.unknown_replies, 1);
    cr_expect_eq(stats.replies, 1);
    cr_expect_eq(stats.junk_lines, 0);
    json_object *received = NULL;
    struct raw_call call = {.transport = transport, .method = "test/received"};
    raw_call_make(&call);
    received = json_tokener_parse(mcpump_reply_text(call.reply, NULL));
    test_expect_part(json_object_to_json_string_ext(received, JSON_C_TO_STRING_PLAIN),
                     "\"id\":\"s\",\"result\":{}", "the ping's answer");
    json_object_put(received);
    raw_call_done(&call);
    mcpump_transport_free(transport);
}

/* Pipes of this process that hold so many bytes. */
static int count_pipes(int size)
{
    int count = 0;
    DIR *fds = opendir("/proc/self/fd");
    for (struct dirent *each; (each = readdir(fds)) != NULL;)
        count += each->d_name[0] != '.' && fcntl(atoi(each->d_name), F_GETPIPE_SZ) == size;
    closedir(fds);
    return count;
}

TIDY_TEST(a_pipe_that_holds_back_its_server_becomes_larger)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    int before = count_pipes(256 * 1024);
    for (int i = 0; i < 20; i++)
        raw_expect(transport, "small", "test/echo", "{\"a\":1}", "{\"a\":1}");
    cr_expect_eq(count_pipes(256 * 1024), before, "not for small replies");
    for (int i = 0; i < 20; i++) {
        struct raw_call call = {.transport = transport, .method = "test/big"};
        raw_call_make(&call);
        cr_expect_eq(call.err, MCPUMP_OK, "%s", raw_call_words(&call));
        raw_call_done(&call);
    }
    cr_expect_eq(count_pipes(256 * 1024), before + 1);
    mcpump_transport_free(transport);
}
