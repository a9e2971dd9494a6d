/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#define COUNT(array)   (sizeof(array) / sizeof((array)[0]))
#define BYTES(literal) literal, sizeof(literal) - 1
#define FFFD           "\xEF\xBF\xBD"
#define DOTS           "\xE2\x80\xA6"
#define EURO           "\xE2\x82\xAC"

Test(text, utf8_size)
{
    static const struct {
        const char *text;
        size_t size, char_size;
    } rows[] = {
        {BYTES(""), 0},
        {BYTES("ab"), 1},
        {BYTES("\0"), 1},
        {BYTES("\x7F"), 1},
        {BYTES("\x80"), 0},
        {BYTES("\xBF"), 0},
        {BYTES("\xC0\x80"), 0},
        {BYTES("\xC1\xBF"), 0},
        {BYTES("\xC2\x80"), 2},
        {BYTES("\xDF\xBF"), 2},
        {BYTES("\xC3"), 0},
        {BYTES("\xC3("), 0},
        {BYTES("\xC3\xC3"), 0},
        {BYTES("\xE0\x9F\xBF"), 0},
        {BYTES("\xE0\xA0\x80"), 3},
        {BYTES("\xE2\x82"), 0},
        {BYTES("\xE2\x82("), 0},
        {BYTES("\xED\x9F\xBF"), 3},
        {BYTES("\xED\xA0\x80"), 0},
        {BYTES("\xEE\x80\x80"), 3},
        {BYTES("\xEF\xBF\xBF"), 3},
        {BYTES("\xF0\x8F\xBF\xBF"), 0},
        {BYTES("\xF0\x90\x80\x80"), 4},
        {BYTES("\xF0\x90\x80"), 0},
        {BYTES("\xF4\x8F\xBF\xBF"), 4},
        {BYTES("\xF4\x90\x80\x80"), 0},
        {BYTES("\xF5\x80\x80\x80"), 0},
        {BYTES("\xFF"), 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t size = mp_text_utf8_size(rows[i].text, rows[i].size);
        cr_expect(size == rows[i].char_size, "row %zu: %zu, not %zu", i, size, rows[i].char_size);
    }
}

Test(text, clean)
{
    static const struct {
        const char *name, *text;
        size_t size, capacity;
        const char *clean;
    } rows[] = {
        {"nothing", BYTES(""), 8, ""},
        {"plain", BYTES("abc"), 8, "abc"},
        {"tab stays", BYTES("a\tb"), 8, "a\tb"},
        {"controls", BYTES("a\x1B[0m\r\n\x7F"), 64, "a\\x1b[0m\\x0d\\x0a\\x7f"},
        {"NUL", BYTES("a\0b"), 64, "a\\x00b"},
        {"C1 control",
         BYTES("a\xC2\x9B"
               "b"),
         64, "a\\xc2\\x9bb"},
        {"behind the C1 controls", BYTES("\xC2\xA0"), 64, "\xC2\xA0"},
        {"UTF-8", BYTES("\xC3\xA4" EURO "\xF0\x9F\x98\x80"), 64,
         "\xC3\xA4" EURO "\xF0\x9F\x98\x80"},
        {"invalid bytes",
         BYTES("a\xFF\xC3("
               "\xE2\x82"),
         64, "a" FFFD FFFD "(" FFFD FFFD},
        {"just fits", BYTES("1234567"), 8, "1234567"},
        {"one too many", BYTES("12345678"), 8, "1234" DOTS},
        {"long", BYTES("123456789012345678901234567890"), 12, "12345678" DOTS},
        {"cut at a character", BYTES("123" EURO EURO), 8, "123" DOTS},
        {"cut within an escape", BYTES("\n\n"), 8, "\\x0a" DOTS},
        {"escape does not fit", BYTES("123\n4567"), 8, "123" DOTS},
        {"wide escape does not fit",
         BYTES("\xC2\x9B"
               "12345"),
         8, DOTS},
        {"last character is the one too many", BYTES("12345" EURO), 8, "1234" DOTS},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char out[64];
        memset(out, 'X', sizeof(out));
        size_t size = mp_text_clean(rows[i].text, rows[i].size, out, rows[i].capacity);
        cr_expect_str_eq(out, rows[i].clean, "%s: %s", rows[i].name, out);
        cr_expect_eq(size, strlen(rows[i].clean), "%s", rows[i].name);
        for (size_t at = rows[i].capacity; at < sizeof(out); at++)
            cr_expect_eq(out[at], 'X', "%s: written beyond", rows[i].name);
    }
}

/* Whatever the bytes and the capacity: valid UTF-8, no control characters, within bounds. */
Test(text, clean_is_always_fit_to_be_shown)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        for (size_t capacity = 8; capacity < 40; capacity++) {
            char text[24], out[40];
            for (size_t i = 0; i < sizeof(text); i++)
                text[i] = (char)(i % 3 == 0 ? byte : i % 3 == 1 ? 0xC3 : 0xA4);
            size_t size = mp_text_clean(text, sizeof(text), out, capacity);
            cr_assert_lt(size, capacity);
            cr_assert_eq(out[size], '\0');
            for (size_t at = 0, step; at < size; at += step) {
                step = mp_text_utf8_size(out + at, size - at);
                cr_assert_gt(step, 0, "byte 0x%02x, capacity %zu: %s", byte, capacity, out);
                cr_assert((unsigned char)out[at] >= 0x20 || out[at] == '\t');
            }
        }
    }
}

Test(text, label)
{
    static const struct {
        const char *name;
        size_t capacity;
        const char *label;
    } rows[] = {
        {"files", 64, "files"},
        {"", 64, "server"},
        {"///", 64, "server"},
        {"[]", 64, "server"},
        {"\n\x1B\x7F", 64, "server"},
        {"   ", 64, "server"},
        {"/usr/bin/thing", 64, "usr/bin/thing"},
        {"\\\\host\\thing", 64, "host\\thing"},
        {" / a b / ", 64, "a b /"},
        {"[a] b]", 64, "a b"},
        {"[/a", 64, "a"},
        {"a\x1B[31mb\n", 64, "a31mb"},
        {"a\xC2\x9B"
         "b",
         64, "ab"},
        {EURO "\xC3\xA4", 64, EURO "\xC3\xA4"},
        {"a\xFF", 64, "a" FFFD},
        {"1234567", 8, "1234567"},
        {"12345678", 8, "1234567"},
        {"12345" EURO, 8, "12345"},
        {"123456 8", 8, "123456"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char out[64];
        size_t size = mp_text_label(rows[i].name, out, rows[i].capacity);
        cr_expect_str_eq(out, rows[i].label, "%s: %s", rows[i].name, out);
        cr_expect_eq(size, strlen(rows[i].label), "%s", rows[i].name);
    }
}

Test(text, of_an_errno)
{
    char scratch[MP_TEXT_ERRNO_SIZE];
    cr_expect_str_eq(mp_text_errno(ENOENT, scratch), strerror(ENOENT));
    cr_expect_gt(strlen(mp_text_errno(-12345, scratch)), 0, "a number that is none");
}
