/* SPDX-License-Identifier: Apache-2.0 */
#include "config/json.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "config/relax.h"

#define COUNT(array)   (sizeof(array) / sizeof((array)[0]))
#define BYTES(literal) literal, sizeof(literal) - 1

/* In memory of just its size, so that a sanitizer sees what reads on. */
static char *copy(const char *text, size_t size)
{
    char *bytes = malloc(size > 0 ? size : 1);
    cr_assert_not_null(bytes);
    memcpy(bytes, text, size);
    return bytes;
}

static const struct {
    const char *text;
    size_t size, at;
    const char *why; /* NULL: valid */
} checks[] = {
    {BYTES("{}"), 0, NULL},
    {BYTES("[]"), 0, NULL},
    {BYTES(" {\"a\": [1, {\"b\": null}, true, false, -1.5e3, \"\\u00e4\\n\"]} \n"), 0, NULL},
    {BYTES("\"x\""), 0, NULL},
    {BYTES("\xEF\xBB\xBF{}"), 0, NULL},
    {BYTES("{\"a\": 1, // one\n /* two\n */ \"b\": [1, 2, ], }"), 0, NULL},
    {BYTES("// only\n{} // and"), 0, NULL},
    {BYTES("{\"a//b\": \"/* c */\", \"d\": \"\\\"//\"}"), 0, NULL},
    {BYTES(""), 0, "the text ends too early"},
    {BYTES(" \n"), 2, "the text ends too early"},
    {BYTES("{"), 1, "the text ends too early"},
    {BYTES("{\"a\""), 4, "the text ends too early"},
    {BYTES("{\"a\":"), 5, "the text ends too early"},
    {BYTES("{\"a\":1"), 6, "the text ends too early"},
    {BYTES("[1"), 2, "the text ends too early"},
    {BYTES("[1,"), 3, "the text ends too early"},
    {BYTES("{a:1}"), 1, "a key in double quotes is expected here"},
    {BYTES("{,}"), 1, "a key in double quotes is expected here"},
    {BYTES("{\"a\":1,,}"), 7, "a key in double quotes is expected here"},
    {BYTES("{'a':1}"), 1, "a key in double quotes is expected here"},
    {BYTES("{\"a\" 1}"), 5, "a colon is expected here"},
    {BYTES("{\"a\":,}"), 5, "a value is expected here"},
    {BYTES("{\"a\":}"), 5, "a value is expected here"},
    {BYTES("[,]"), 1, "a value is expected here"},
    {BYTES("[1,,]"), 3, "a value is expected here"},
    {BYTES("[nul]"), 1, "a value is expected here"},
    {BYTES("[01]"), 2, "a comma or ] is expected here"},
    {BYTES("[1 2]"), 3, "a comma or ] is expected here"},
    {BYTES("[1}"), 2, "a comma or ] is expected here"},
    {BYTES("{\"a\":1 \"b\":2}"), 7, "a comma or } is expected here"},
    {BYTES("{\"a\":1]"), 6, "a comma or } is expected here"},
    {BYTES("{} {}"), 3, "the text goes on behind its end"},
    {BYTES("{}\0"), 2, "the text goes on behind its end"},
    {BYTES("[1 / 2]"), 3, "a comma or ] is expected here"},
    {BYTES("[1] /"), 4, "the text goes on behind its end"},
    {BYTES("[1, /* 2]"), 4, "a comment has no end"},
    {BYTES("[1, /*/ 2]"), 4, "a comment has no end"},
    {BYTES("[\"a]"), 1, "a string is not closed on its line"},
    {BYTES("[\"a\n\"]"), 1, "a string is not closed on its line"},
    {BYTES("[\"a\\"), 1, "a string is not closed on its line"},
    {BYTES("[\"a\tb\"]"), 3, "a string holds a control character"},
    {BYTES("[\"C:\\Users\"]"), 5,
     "a string holds an escape that JSON does not know; a backslash is written twice"},
    {BYTES("[\"\\u12\"]"), 1, "a string holds a \\u without its four hexadecimal digits"},
    {BYTES("{\"a\\q\":1}"), 4,
     "a string holds an escape that JSON does not know; a backslash is written twice"},
    {BYTES("[\"\xFF\"]"), 2, "the text is not UTF-8"},
    {BYTES("{} // \xC3"), 6, "the text is not UTF-8"},
    {BYTES("\xFF\xFE{"), 0, "the text is not UTF-8"},
};

Test(json, check)
{
    for (size_t i = 0; i < COUNT(checks); i++) {
        struct mp_json_fault fault = {NULL, NULL};
        char *text = copy(checks[i].text, checks[i].size);
        bool ok = mp_json_check(text, checks[i].size, &fault);
        cr_expect_eq(ok, checks[i].why == NULL, "row %zu, %s: %s", i, checks[i].text, fault.why);
        if (!ok && checks[i].why != NULL) {
            cr_expect_str_eq(fault.why, checks[i].why, "row %zu, %s: %s", i, checks[i].text,
                             fault.why);
            cr_expect_eq((size_t)(fault.at - text), checks[i].at, "row %zu, %s: at %zu", i,
                         checks[i].text, (size_t)(fault.at - text));
        }
        free(text);
    }
}

/* What is taken out leaves everything else where it was. */
Test(json, relax)
{
    static const struct {
        const char *text, *relaxed;
    } rows[] = {
        {"[1, 2 , /* x */ ] // y\n", "[1, 2           ]     \n"},
        {"/* a\r\n b */ {}", "     \n      {}"},
        {"{\"a\": [1,],}", "{\"a\": [1 ] }"},
        {"[\"/*\", \"//\", \",]\"]", "[\"/*\", \"//\", \",]\"]"},
        {"[\"\\\\\", ]", "[\"\\\\\"  ]"},
        {"[\"\\\"\", ]", "[\"\\\"\"  ]"},
        {"[,]", "[,]"},
        {"[1,,]", "[1,,]"},
        {"{\"a\":,}", "{\"a\":,}"},
        {"[1,//\n]", "[1   \n]"},
        {"[[],]", "[[] ]"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[64];
        size_t size = strlen(rows[i].text);
        memcpy(text, rows[i].text, size + 1);
        cr_expect_null(mp_relax(text, size));
        cr_expect_str_eq(text, rows[i].relaxed, "%s: %s", rows[i].text, text);
    }
}

static bool check_depth(size_t depth)
{
    struct mp_json_fault fault = {NULL, NULL};
    char text[600];
    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    bool ok = mp_json_check(text, 2 * depth, &fault);
    if (!ok) {
        cr_expect_str_eq(fault.why, "nested more than 128 levels deep");
        cr_expect_eq(fault.at, text + 128);
    }
    return ok;
}

Test(json, depth)
{
    cr_expect(check_depth(128));
    cr_expect_not(check_depth(129));
    cr_expect_not(check_depth(300));
}

Test(json, walk)
{
    static const char text[] = " { \"a\" : [ 1 , \"x\" ], \"b\":{},\"c\":[] } ";
    struct mp_span root = mp_json_root(text, sizeof(text) - 1), key, value;
    struct mp_json_walk walk, within;
    cr_assert_eq(mp_json_type(root), '{');
    mp_json_enter(&walk, root);
    cr_assert(mp_json_next(&walk, &key, &value));
    cr_expect(mp_json_is(key, "a"));
    cr_expect_not(mp_json_is(key, "b"));
    cr_expect_not(mp_json_is(key, "ab"));
    mp_json_enter(&within, value);
    cr_assert(mp_json_next(&within, &key, &value));
    cr_expect_null(key.bytes);
    cr_expect(value.size == 1 && mp_json_type(value) == '0');
    cr_assert(mp_json_next(&within, &key, &value));
    cr_expect(mp_json_is(value, "x"));
    cr_expect_not(mp_json_next(&within, &key, &value));
    cr_expect_not(mp_json_next(&within, &key, &value));
    for (size_t i = 0; i < 2; i++) {
        cr_assert(mp_json_next(&walk, &key, &value));
        mp_json_enter(&within, value);
        cr_expect_not(mp_json_next(&within, &key, &value));
    }
    cr_expect_not(mp_json_next(&walk, &key, &value));
    cr_expect_not(mp_json_next(&walk, &key, &value));
}

Test(json, text)
{
    static const struct {
        const char *string, *text, *why;
    } rows[] = {
        {"\"\"", "", NULL},
        {"\"abc\"", "abc", NULL},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", NULL},
        {"\"\\u0041\\u00e4\\u20AC\"", "A\xC3\xA4\xE2\x82\xAC", NULL},
        {"\"\\ud83d\\uDE00\"", "\xF0\x9F\x98\x80", NULL},
        {"\"\\udbff\\udfff\"", "\xF4\x8F\xBF\xBF", NULL},
        {"\"\\ud7ff\\ue000\"", "\xED\x9F\xBF\xEE\x80\x80", NULL},
        {"\"\xC3\xA4\"", "\xC3\xA4", NULL},
        {"\"a\\u0000b\"", "a", "holds a NUL character"},
        {"\"a\\ud83d\"", "a", "holds half a pair of surrogates"},
        {"\"\\ud83dx\"", "", "holds half a pair of surrogates"},
        {"\"\\ud83d\\n01234\"", "", "holds half a pair of surrogates"},
        {"\"\\ud83d\\ud83d\"", "", "holds half a pair of surrogates"},
        {"\"\\ude00\"", "", "holds half a pair of surrogates"},
        {"\"0123456789abcde\"", "0123456789abcde", NULL},
        {"\"0123456789abcdef\"", "0123456789abcde", "is too long"},
        {"\"0123456789abcd\xC3\xA4\"", "0123456789abcd\xC3\xA4", "is too long"},
        {"\"0123456789abcd\\u00e4\"", "0123456789abcd", "is too long"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char out[16];
        struct mp_span string = {rows[i].string, strlen(rows[i].string)};
        const char *why = mp_json_text(string, out, sizeof(out));
        cr_expect_eq(why == NULL, rows[i].why == NULL, "row %zu: %s", i, why);
        if (why != NULL && rows[i].why != NULL)
            cr_expect_str_eq(why, rows[i].why, "row %zu", i);
        if (i != 16) /* cut within a character */
            cr_expect_str_eq(out, rows[i].text, "row %zu: %s", i, out);
    }
}

Test(json, number)
{
    static const struct {
        const char *text;
        bool ok;
        int64_t value;
    } rows[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"0.0", true, 0},
        {"0e99999999999", true, 0},
        {"1", true, 1},
        {"-1", true, -1},
        {"1500", true, 1500},
        {"1.5e3", true, 1500},
        {"15000e-1", true, 1500},
        {"1.0", true, 1},
        {"9007199254740991", true, MP_JSON_MOST},
        {"-9007199254740991", true, -MP_JSON_MOST},
        {"9007199254740992", false, 0},
        {"-9007199254740992", false, 0},
        {"1.5", false, 0},
        {"-0.5", false, 0},
        {"1e30", false, 0},
        {"1e-3", false, 0},
        {"1e999999999999999999999", false, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t value = 0;
        struct mp_span number = {rows[i].text, strlen(rows[i].text)};
        cr_expect_eq(mp_json_number(number, &value), rows[i].ok, "%s", rows[i].text);
        cr_expect_eq(value, rows[i].value, "%s: %lld", rows[i].text, (long long)value);
    }
}
