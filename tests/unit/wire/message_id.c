/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/message_id.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>

#include "span.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

Test(message_id, text)
{
    static const struct {
        uint64_t id;
        const char *text;
    } rows[] = {
        {0, "0"},   {1, "1"},     {9, "9"},
        {10, "10"}, {907, "907"}, {MP_MESSAGE_ID_MAX, "9007199254740991"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[MP_MESSAGE_ID_SIZE];
        size_t size = mp_message_id_text(rows[i].id, text);
        cr_expect_str_eq(text, rows[i].text);
        cr_expect_eq(size, strlen(rows[i].text), "%s", rows[i].text);
    }
}

/* 0: not ours. */
static uint64_t parsed(struct mp_span text)
{
    uint64_t id = 12345;
    if (mp_message_id_parse(text, &id))
        return id;
    cr_expect_eq(id, 12345, "touched on failure: %.*s", (int)text.size, text.bytes);
    return 0;
}

static const struct {
    struct mp_span text;
    uint64_t id;
} parse_rows[] = {
    {SPAN("1"), 1},
    {SPAN("42"), 42},
    {SPAN("1000"), 1000},
    {SPAN("9007199254740991"), MP_MESSAGE_ID_MAX},
    {SPAN("9007199254740992"), 0},
    {SPAN("9007199254740993"), 0},
    {SPAN("18446744073709551617"), 0}, /* 2^64 + 1 */
    {SPAN("99999999999999999999999999"), 0},
    {SPAN("0"), 0},
    {SPAN("-0"), 0},
    {SPAN("-7"), 0},
    {SPAN("-7.0"), 0},
    {SPAN("0.0e5"), 0},
    {SPAN("7.0"), 7},
    {SPAN("7.000"), 7},
    {SPAN("70e-1"), 7},
    {SPAN("70E-1"), 7},
    {SPAN("0.7e1"), 7},
    {SPAN("0.7e+1"), 7},
    {SPAN("0.0070e3"), 7},
    {SPAN("7e0"), 7},
    {SPAN("7e-0"), 7},
    {SPAN("7e00000000000000000000000000"), 7},
    {SPAN("7e3"), 7000},
    {SPAN("1.50e2"), 150},
    {SPAN("123.456e3"), 123456},
    {SPAN("9007199254740991.0"), MP_MESSAGE_ID_MAX},
    {SPAN("9007199254740.991e3"), MP_MESSAGE_ID_MAX},
    {SPAN("90071992547409910e-1"), MP_MESSAGE_ID_MAX},
    {SPAN("9007199254740992.0"), 0},
    {SPAN("1e15"), 1000000000000000},
    {SPAN("1e16"), 0},
    {SPAN("7.5"), 0},
    {SPAN("7.0000000000000000000000000001"), 0},
    {SPAN("75e-1"), 0},
    {SPAN("7e-1"), 0},
    {SPAN("7e999999999"), 0},
    {SPAN("7e-999999999"), 0},
    {SPAN("7e9223372036854775807"), 0},
    {SPAN("7e-9223372036854775808"), 0},
    {SPAN("7e99999999999999999999999999999999"), 0},
    {SPAN("7e-99999999999999999999999999999999"), 0},
    {SPAN("7e18446744073709551616"), 0}, /* an exponent that wraps around would be 0 */
    {SPAN("0e999999999"), 0},
    {SPAN("\"7\""), 7},
    {SPAN("\"9007199254740991\""), MP_MESSAGE_ID_MAX},
    {SPAN("\"9007199254740992\""), 0},
    {SPAN("\"0\""), 0},
    {SPAN("\"07\""), 0},
    {SPAN("\"+7\""), 0},
    {SPAN("\"-7\""), 0},
    {SPAN("\"7.0\""), 0},
    {SPAN("\"7e0\""), 0},
    {SPAN("\" 7\""), 0},
    {SPAN("\"7 \""), 0},
    {SPAN("\"\\u0037\""), 0},
    {SPAN("\"7\0\""), 0},
    {SPAN("\"\""), 0},
    {SPAN("\""), 0},
    {SPAN("\"7"), 0},
    {SPAN("\"abc\""), 0},
    {SPAN("07"), 0},
    {SPAN("7."), 0},
    {SPAN("7e"), 0},
    {SPAN("7 "), 0},
    {SPAN("0x7"), 0},
    {SPAN("null"), 0},
    {SPAN("true"), 0},
    {SPAN("{}"), 0},
    {SPAN(""), 0},
    {ABSENT, 0},
};

Test(message_id, parse)
{
    for (size_t i = 0; i < COUNT(parse_rows); i++) {
        uint64_t id = parsed(parse_rows[i].text);
        cr_expect(id == parse_rows[i].id, "%.*s: %" PRIu64 ", not %" PRIu64,
                  (int)parse_rows[i].text.size, parse_rows[i].text.bytes, id, parse_rows[i].id);
    }
}

Test(message_id, text_and_parse_agree)
{
    for (uint64_t id = 1; id <= MP_MESSAGE_ID_MAX; id = id * 3 - id / 7) {
        char text[MP_MESSAGE_ID_SIZE];
        size_t size = mp_message_id_text(id, text);
        cr_expect_eq(parsed((struct mp_span){text, size}), id, "%s", text);
    }
}

/* A number as long as a message may be is read exactly, and once. */
Test(message_id, a_million_digits, .timeout = 60)
{
    enum { ZEROS = 1000000 };
    struct {
        const char *head, *tail;
        uint64_t id;
    } rows[] = {
        {"7", "e-1000000", 7}, {"7", "e-999999", 70}, {"7", "e-1000001", 0},  {"7", "", 0},
        {"7.", "", 7},         {"7.", "1", 0},        {"0.", "7e1000001", 7}, {"0.", "7", 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *text = malloc(ZEROS + 32), *at = stpcpy(text, rows[i].head);
        memset(at, '0', ZEROS);
        strcpy(at + ZEROS, rows[i].tail);
        cr_expect_eq(parsed(span_of(text)), rows[i].id, "%s0...0%s", rows[i].head, rows[i].tail);
        free(text);
    }
}
