/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/scan.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/text.h"
#include "span.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Each text is scanned as the first bytes of a heap block of its exact size, so that the sanitizer
 * sees a read past the end. */
typedef const char *scan_fn(const char *at, const char *end);

/* How many bytes were read, -1 when not valid. */
static long scanned(scan_fn *scan, struct mp_span text)
{
    char *copy = malloc(text.size > 0 ? text.size : 1);
    memcpy(copy, text.bytes, text.size);
    const char *behind = scan(copy, copy + text.size);
    long size = behind != NULL ? (long)(behind - copy) : -1;
    free(copy);
    return size;
}

static const char *scan_any_value(const char *at, const char *end)
{
    return mp_scan_value(at, end, MP_JSON_MAX_DEPTH);
}

struct row {
    const char *name;
    struct mp_span text;
    long size;
};

static void check(scan_fn *scan, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        long size = scanned(scan, rows[i].text);
        cr_expect(size == rows[i].size, "%s: %ld, not %ld", rows[i].name, size, rows[i].size);
    }
}

Test(scan, space)
{
    static const struct row rows[] = {
        {"none", SPAN("x"), 0},
        {"nothing at all", SPAN(""), 0},
        {"all four kinds", SPAN(" \t\r\nx "), 4},
        {"to the end", SPAN("  "), 2},
        {"vertical tab is none", SPAN(" \v"), 1},
        {"form feed is none", SPAN("\f"), 0},
        {"no-break space is none", SPAN("\xC2\xA0"), 0},
        {"NUL is none", SPAN("\0"), 0},
    };
    check(mp_scan_space, rows, COUNT(rows));
}

Test(scan, string)
{
    static const struct row rows[] = {
        {"empty", SPAN("\""), 1},
        {"nothing at all", SPAN(""), -1},
        {"no end", SPAN("abc"), -1},
        {"no end of a long one", SPAN("abcdefghijklmnopqrstuvwxyz"), -1},
        {"stops at its quote", SPAN("abc\"def\""), 4},
        {"long", SPAN("abcdefghijklmnopqrstuvwxyz\""), 27},
        {"DEL is allowed", SPAN("\x7F\""), 2},
        {"all short escapes", SPAN("\\\"\\\\\\/\\b\\f\\n\\r\\t\""), 17},
        {"unicode escape", SPAN("\\u00aF\""), 7},
        {"escaped NUL", SPAN("\\u0000\""), 7},
        {"lone surrogate is grammatical", SPAN("\\ud800\""), 7},
        {"unknown escape", SPAN("\\a\""), -1},
        {"upper-case escape", SPAN("\\N\""), -1},
        {"upper-case U", SPAN("\\U0041\""), -1},
        {"escape of a line break", SPAN("\\\n\""), -1},
        {"escape of NUL", SPAN("\\\0\""), -1},
        {"escape at the end", SPAN("abc\\"), -1},
        {"unicode escape too short", SPAN("\\u123\""), -1},
        {"unicode escape cut off", SPAN("\\u12"), -1},
        {"unicode escape no hex", SPAN("\\u12g4\""), -1},
        {"raw NUL", SPAN("a\0b\""), -1},
        {"raw LF", SPAN("a\nb\""), -1},
        {"raw tab", SPAN("a\tb\""), -1},
        {"raw 0x1F", SPAN("\x1F\""), -1},
        {"UTF-8 of two bytes", SPAN("\xC3\xA4\""), 3},
        {"UTF-8 of three bytes", SPAN("\xE2\x82\xAC\""), 4},
        {"UTF-8 of four bytes", SPAN("\xF0\x9F\x98\x80\""), 5},
        {"largest character", SPAN("\xF4\x8F\xBF\xBF\""), 5},
        {"U+2028", SPAN("\xE2\x80\xA8\""), 4},
        {"tail without head", SPAN("\x80\""), -1},
        {"overlong slash", SPAN("\xC0\xAF\""), -1},
        {"overlong of three bytes", SPAN("\xE0\x80\xAF\""), -1},
        {"surrogate", SPAN("\xED\xA0\x80\""), -1},
        {"above U+10FFFF", SPAN("\xF4\x90\x80\x80\""), -1},
        {"0xFF", SPAN("\xFF\""), -1},
        {"cut by the quote", SPAN("\xE2\x82\""), -1},
        {"cut by the end", SPAN("\xE2\x82"), -1},
    };
    check(mp_scan_string, rows, COUNT(rows));
}

/* The plain twin: one character at a time. */
static const char *scan_string_slowly(const char *at, const char *end)
{
    while (at < end && *at != '"') {
        size_t size = mp_text_utf8_size(at, (size_t)(end - at));
        if (*at == '\\')
            size = end - at >= 2 && at[1] != '\0' && strchr("\"\\/bfnrt", at[1]) != NULL ? 2 : 0;
        if ((unsigned char)*at < 0x20 || size == 0)
            return NULL;
        at += size;
    }
    return at < end ? at + 1 : NULL;
}

Test(scan, string_finds_every_byte_at_every_place)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        for (size_t place = 0; place < 40; place++) {
            char text[48];
            memset(text, 'a', sizeof(text));
            text[place] = (char)byte;
            text[40] = '"';
            struct mp_span span = {text, sizeof(text)};
            long fast = scanned(mp_scan_string, span), slow = scanned(scan_string_slowly, span);
            cr_assert(fast == slow, "byte 0x%02x at %zu: %ld, not %ld", byte, place, fast, slow);
        }
    }
}

Test(scan, string_is_as_its_plain_twin)
{
    static const char bytes[] = "aa \x7F!#[]\x01\x1F\x20\"\\n\xC3\xA4\x80\xE2\x82\xAC\x00";
    uint32_t random = 1;
    for (int round = 0; round < 200000; round++) {
        char text[32];
        for (size_t i = 0; i < sizeof(text); i++) {
            random = random * 1664525 + 1013904223;
            /* Mostly plain, or no text would get far. */
            unsigned pick = random >> 24;
            text[i] = pick < 224 ? 'a' : bytes[(random >> 8) % (sizeof(bytes) - 1)];
        }
        struct mp_span span = {text, 1 + (random >> 8) % sizeof(text)};
        long fast = scanned(mp_scan_string, span), slow = scanned(scan_string_slowly, span);
        cr_assert(fast == slow, "round %d: %ld, not %ld", round, fast, slow);
    }
}

Test(scan, number)
{
    static const struct row rows[] = {
        {"zero", SPAN("0"), 1},
        {"minus zero", SPAN("-0"), 2},
        {"integer", SPAN("1234567890123456789012"), 22},
        {"all parts", SPAN("-12.50E+07,"), 10},
        {"small e", SPAN("0e-1]"), 4},
        {"huge exponent", SPAN("1e999999999"), 11},
        {"leading zero ends it", SPAN("01"), 1},
        {"hexadecimal ends it", SPAN("0x10"), 1},
        {"nothing", SPAN(""), -1},
        {"minus only", SPAN("-"), -1},
        {"plus", SPAN("+1"), -1},
        {"no integer part", SPAN(".5"), -1},
        {"no digit behind the point", SPAN("1."), -1},
        {"exponent behind the point", SPAN("1.e5"), -1},
        {"empty exponent", SPAN("1e"), -1},
        {"signed empty exponent", SPAN("1e+"), -1},
        {"NaN", SPAN("NaN"), -1},
        {"Infinity", SPAN("-Infinity"), -1},
    };
    check(mp_scan_number, rows, COUNT(rows));
}

Test(scan, key)
{
    static const struct {
        const char *name;
        struct mp_span text;
        long value; /* where it starts, -1 when not valid */
        size_t size;
    } rows[] = {
        {"tight", SPAN("\"ab\":1"), 5, 2},
        {"spaced", SPAN("\"ab\" \n: \t1"), 9, 2},
        {"empty", SPAN("\"\":1"), 3, 0},
        {"escapes", SPAN("\"\\u0041\\\"\":1"), 11, 8},
        {"nothing", SPAN(""), -1, 0},
        {"no quote", SPAN("ab:1"), -1, 0},
        {"single quotes", SPAN("'a':1"), -1, 0},
        {"no end", SPAN("\"ab:1"), -1, 0},
        {"no colon", SPAN("\"ab\" 1"), -1, 0},
        {"cut off", SPAN("\"ab\" "), -1, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t size = 0;
        const char *start = rows[i].text.bytes;
        const char *value = mp_scan_key(start, start + rows[i].text.size, &size);
        long at = value != NULL ? (long)(value - start) : -1;
        cr_expect(at == rows[i].value && size == rows[i].size, "%s: value at %ld, size %zu",
                  rows[i].name, at, size);
    }
}

Test(scan, value)
{
    static const struct row rows[] = {
        {"true", SPAN("true"), 4},
        {"false", SPAN("false,"), 5},
        {"null", SPAN("null]"), 4},
        {"word cut off", SPAN("tru"), -1},
        {"wrong word", SPAN("True"), -1},
        {"undefined", SPAN("undefined"), -1},
        {"nothing", SPAN(""), -1},
        {"space in front is not its own", SPAN(" 1"), -1},
        {"string", SPAN("\"a\"b"), 3},
        {"number", SPAN("-1.5e3 "), 6},
        {"empty object", SPAN("{}"), 2},
        {"empty object with space", SPAN("{ \n}"), 4},
        {"empty array", SPAN("[]x"), 2},
        {"empty array with space", SPAN("[ ]"), 3},
        {"nested empties", SPAN("[{},[],{\"a\":[]}]"), 16},
        {"members", SPAN("{\"a\":1,\"b\":[true,null],\"c\":{\"d\":\"e\"}}"), 37},
        {"space everywhere", SPAN("{ \"a\" : [ 1 , 2 ] , \"b\" : { } } "), 31},
        {"stops behind its end", SPAN("[1]]"), 3},
        {"same key twice is grammatical", SPAN("{\"a\":1,\"a\":2}"), 13},
        {"object cut off", SPAN("{"), -1},
        {"object cut off behind space", SPAN("{ "), -1},
        {"object cut off behind the key", SPAN("{\"a\""), -1},
        {"object cut off behind the colon", SPAN("{\"a\":"), -1},
        {"object cut off behind the value", SPAN("{\"a\":1"), -1},
        {"object cut off behind the comma", SPAN("{\"a\":1,"), -1},
        {"array cut off", SPAN("["), -1},
        {"array cut off behind the value", SPAN("[1 "), -1},
        {"trailing comma in an object", SPAN("{\"a\":1,}"), -1},
        {"trailing comma in an array", SPAN("[1,]"), -1},
        {"leading comma in an object", SPAN("{,\"a\":1}"), -1},
        {"leading comma in an array", SPAN("[,1]"), -1},
        {"comma only", SPAN("[,]"), -1},
        {"two commas", SPAN("[1,,2]"), -1},
        {"no comma", SPAN("[1 2]"), -1},
        {"colon in an array", SPAN("[\"a\":1]"), -1},
        {"no colon", SPAN("{\"a\" 1}"), -1},
        {"no value", SPAN("{\"a\":}"), -1},
        {"key that is a number", SPAN("{1:2}"), -1},
        {"key without quotes", SPAN("{a:1}"), -1},
        {"array closed as object", SPAN("[1}"), -1},
        {"object closed as array", SPAN("{\"a\":1]"), -1},
        {"empty object closed as array", SPAN("{]"), -1},
        {"empty array closed as object", SPAN("[}"), -1},
        {"inner one closed wrongly", SPAN("[{\"a\":[1}]"), -1},
        {"comment", SPAN("[1/**/]"), -1},
        {"leading zero", SPAN("[01]"), -1},
        {"NaN", SPAN("[NaN]"), -1},
        {"bad UTF-8 deep within", SPAN("{\"a\":[\"\xC3\"]}"), -1},
        {"NUL between tokens", SPAN("[1,\0 2]"), -1},
        {"byte order mark", SPAN("\xEF\xBB\xBF[]"), -1},
    };
    check(scan_any_value, rows, COUNT(rows));
}

/* `depth` levels, objects and arrays by turns. */
static char *nested(unsigned depth)
{
    char *text = malloc(depth * 6 + 1), *at = text;
    for (unsigned level = 0; level < depth; level++)
        at = stpcpy(at, level % 2 == 0 ? "[" : "{\"k\":");
    if (depth > 0 && depth % 2 == 0)
        at = stpcpy(at, "0");
    for (unsigned level = depth; level > 0; level--)
        at = stpcpy(at, level % 2 == 1 ? "]" : "}");
    return text;
}

static bool is_value(const char *text, unsigned max_depth)
{
    const char *end = text + strlen(text);
    return mp_scan_value(text, end, max_depth) == end;
}

Test(scan, depth_is_limited_exactly)
{
    static const unsigned limits[] = {1, 2, 63, 64, 65, 127, 128};
    for (size_t i = 0; i < COUNT(limits); i++) {
        char *fits = nested(limits[i]), *too_deep = nested(limits[i] + 1);
        cr_expect(is_value(fits, limits[i]), "%u levels of %u", limits[i], limits[i]);
        cr_expect(!is_value(too_deep, limits[i]), "%u levels of %u", limits[i] + 1, limits[i]);
        free(fits);
        free(too_deep);
    }
    cr_expect(is_value("1", 0), "a scalar needs no level");
    cr_expect(!is_value("[]", 0), "an empty array is a level");
}

Test(scan, depth_counts_what_is_open_only)
{
    cr_expect(is_value("[[1],[2],{\"a\":[]},[[]]]", 3));
    cr_expect(!is_value("[[1],[2],{\"a\":[[]]}]", 3));
}

Test(scan, a_million_brackets_are_refused)
{
    static char text[1000000];
    memset(text, '[', sizeof(text));
    cr_expect_null(mp_scan_value(text, text + sizeof(text), MP_JSON_MAX_DEPTH));
}
