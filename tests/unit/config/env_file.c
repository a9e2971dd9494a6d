/* SPDX-License-Identifier: Apache-2.0 */
#include "config/env_file.h"

#include <criterion/criterion.h>
#include <string.h>

#define COUNT(array)   (sizeof(array) / sizeof((array)[0]))
#define BYTES(literal) literal, sizeof(literal) - 1

Test(env_file, one_line)
{
    static const struct {
        const char *text;
        size_t size;
        const char *name, *value; /* NULL: wrong */
    } rows[] = {
        {BYTES("A=b"), "A", "b"},
        {BYTES("A=b\n"), "A", "b"},
        {BYTES("A=b\r\n"), "A", "b"},
        {BYTES(" A = b c \t\n"), "A", "b c"},
        {BYTES("A="), "A", ""},
        {BYTES("A=b=c"), "A", "b=c"},
        {BYTES("A=b # c"), "A", "b # c"},
        {BYTES("export A=b"), "A", "b"},
        {BYTES("export\tA=b"), "A", "b"},
        {BYTES("exported=b"), "exported", "b"},
        {BYTES("A=\" b \""), "A", " b "},
        {BYTES("A=' b\\n\"'"), "A", " b\\n\""},
        {BYTES("A=\"a\\nb\\tc\\\"d\\\\e\\f\\\""), "A", "a\nb\tc\"d\\e\\f\\"},
        {BYTES("A=\""), "A", "\""},
        {BYTES("A=\"\""), "A", ""},
        {BYTES("A=\"b'"), "A", "\"b'"},
        {BYTES("a.b-c_1=d"), "a.b-c_1", "d"},
        {BYTES("A=\xFF"), "A", "\xFF"},
        {BYTES("\n\n # x\n\t\nA=b"), "A", "b"},
        {BYTES("A"), NULL, NULL},
        {BYTES("=b"), NULL, NULL},
        {BYTES("A B=c"), NULL, NULL},
        {BYTES("export =c"), NULL, NULL},
        {BYTES("A=b\0c"), NULL, NULL},
        {BYTES("\0A=b"), NULL, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[64], *name = NULL, *value = NULL;
        memcpy(text, rows[i].text, rows[i].size);
        struct mp_env_file file = {text, text + rows[i].size, 0};
        enum mp_env_file_result result = mp_env_file_next(&file, &name, &value);
        cr_expect_eq(result, rows[i].name != NULL ? MP_ENV_FILE_VARIABLE : MP_ENV_FILE_WRONG,
                     "row %zu, %s: %d", i, rows[i].text, (int)result);
        if (result != MP_ENV_FILE_VARIABLE)
            continue;
        cr_expect_str_eq(name, rows[i].name, "row %zu: %s", i, name);
        cr_expect_str_eq(value, rows[i].value, "row %zu: %s", i, value);
        cr_expect_eq(mp_env_file_next(&file, &name, &value), MP_ENV_FILE_END, "row %zu", i);
    }
}

Test(env_file, lines_are_counted)
{
    char text[] = "# x\n\nA=1\nB=2\n\nwrong\nC=3", *name, *value;
    struct mp_env_file file = {text, text + strlen(text), 0};
    static const struct {
        enum mp_env_file_result result;
        size_t line;
    } steps[] = {{MP_ENV_FILE_VARIABLE, 3},
                 {MP_ENV_FILE_VARIABLE, 4},
                 {MP_ENV_FILE_WRONG, 6},
                 {MP_ENV_FILE_VARIABLE, 7},
                 {MP_ENV_FILE_END, 7}};
    for (size_t i = 0; i < COUNT(steps); i++) {
        cr_expect_eq(mp_env_file_next(&file, &name, &value), steps[i].result, "step %zu", i);
        cr_expect_eq(file.line, steps[i].line, "step %zu: line %zu", i, file.line);
    }
}

Test(env_file, nothing)
{
    char text[1] = "", *name, *value;
    struct mp_env_file file = {text, text, 0};
    cr_expect_eq(mp_env_file_next(&file, &name, &value), MP_ENV_FILE_END);
}
