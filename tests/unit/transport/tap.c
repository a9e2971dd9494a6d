/* SPDX-License-Identifier: Apache-2.0 */
/* How secrets are found in a line, however JSON spells them. */
#include "transport/tap.h"

#include <criterion/criterion.h>
#include <string.h>

#define MOST_SECRETS 3

static void ignore(void *user, mcpump_direction direction, const char *line, size_t size)
{
    (void)user;
    (void)direction;
    (void)line;
    (void)size;
}

struct row {
    const char *secrets[MOST_SECRETS];
    const char *line, *wanted; /* NULL: as it is */
};

static void check(const struct row *row)
{
    mcpump_secret_variable variables[MOST_SECRETS + 1] = {{NULL, NULL}};
    mcpump_secret *secrets[MOST_SECRETS] = {NULL};
    for (size_t i = 0; i < MOST_SECRETS && row->secrets[i] != NULL; i++) {
        secrets[i] = mcpump_secret_new(row->secrets[i]);
        variables[i] = (mcpump_secret_variable){"TOKEN", secrets[i]};
    }
    struct mp_tap tap;
    struct mp_buffer out = MP_BUFFER_INIT;
    mp_tap_init(&tap, ignore, NULL, variables);
    struct mp_span line = {row->line, strlen(row->line)};
    struct mp_span masked = mp_tap_mask(&tap, line, &out);
    const char *wanted = row->wanted != NULL ? row->wanted : row->line;
    cr_expect(masked.size == strlen(wanted) && memcmp(masked.bytes, wanted, masked.size) == 0,
              "%s: %.*s", row->line, (int)masked.size, masked.bytes);
    mp_buffer_done(&out);
    mp_tap_done(&tap);
    for (size_t i = 0; i < MOST_SECRETS; i++)
        mcpump_secret_free(secrets[i]);
}

Test(tap, mask)
{
    static const struct row rows[] = {
        {{NULL}, "{\"a\":\"sesame\"}", NULL},
        {{"sesame"}, "", NULL},
        {{"sesame"}, "sesam", NULL},
        {{"sesame"}, "sesame", "***"},
        {{"sesame"}, "{\"a\":\"sesamesesame\",\"sesame\":1}", "{\"a\":\"******\",\"***\":1}"},
        {{"sesame"}, "sesasesame", "sesa***"},
        /* too short, and just long enough */
        {{"abc", ""}, "abcabc", NULL},
        {{"abcd"}, "abcabcd", "abc***"},
        /* one within the other, in any order; the longest */
        {{"abcd", "abcdef", "cdef"}, "abcdefg abcde cdef", "***g ***e ***"},
        {{"abcdef", "abcd"}, "abcdefg abcde", "***g ***e"},
        /* escapes that have to be, and escapes that need not be */
        {{"a\"b\\c\n"}, "\"xa\\\"b\\\\c\\ny\"", "\"x***y\""},
        {{"a\"b\\c\n"}, "\"\\u0061\\u0022b\\u005C\\u0063\\u000a\"", "\"***\""},
        {{"a/b\b\f\r\tc"}, "\"a\\/b\\b\\f\\r\\tc\"", "\"***\""},
        {{"sesame"}, "\"s\\u0065s\\u0061me\"", "\"***\""},
        {{"sesame"}, "\"\\u0073esam\\u0065\"", "\"***\""},
        /* two bytes, three, four; as they are and as units of UTF-16 */
        {{"p\xC3\xA9ss"}, "\"p\xC3\xA9ss p\\u00e9ss p\\u00E9ss\"", "\"*** *** ***\""},
        {{"\xE2\x82\xAC\xE2\x82\xAC"}, "\"\\u20ac\xE2\x82\xAC\"", "\"***\""},
        {{"\xF0\x9F\x98\x80"}, "\"\\ud83d\\ude00 \xF0\x9F\x98\x80\"", "\"*** ***\""},
        /* as its bytes, where it looks like an escape */
        {{"a\\nb"}, "a\\nb", "***"},
        {{"a\\nb"}, "\"a\\\\nb\"", "\"***\""},
        {{"a\\u0041b"}, "\"a\\\\u0041b\" a\\u0041b", "\"***\" ***"},
        {{"\xFF\xFE\xFD\xFC"}, "x\xFF\xFE\xFD\xFC", "x***"},
        /* ends in the middle of an escape */
        {{"sesame"}, "sesam\\", NULL},
        {{"sesame"}, "sesam\\u", NULL},
        {{"sesame"}, "sesam\\u006", NULL},
        {{"sesame"}, "sesam\\u00g5", NULL},
        {{"\xF0\x9F\x98\x80"}, "\\ud83d\\ude0", NULL},
        {{"\xF0\x9F\x98\x80"}, "\\ud83d\\u0041", NULL},
        {{"sesame"}, "\\", NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        check(&rows[i]);
}

Test(tap, bytes_that_are_nul)
{
    static const char line[] = "a\\\0\\u0000sesame";
    mcpump_secret *secret = mcpump_secret_new("sesame");
    const mcpump_secret_variable variables[] = {{"TOKEN", secret}, {NULL, NULL}};
    struct mp_tap tap;
    struct mp_buffer out = MP_BUFFER_INIT;
    mp_tap_init(&tap, ignore, NULL, variables);
    struct mp_span masked = mp_tap_mask(&tap, (struct mp_span){line, sizeof(line) - 1}, &out);
    cr_expect(masked.size == sizeof(line) - 1 - 3);
    cr_expect_eq(memcmp(masked.bytes, "a\\\0\\u0000***", masked.size), 0);
    mp_buffer_done(&out);
    mp_tap_done(&tap);
    mcpump_secret_free(secret);
}
