/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/tail.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

Test(tail, nothing_is_null)
{
    struct mp_tail tail;
    mp_tail_init(&tail);
    cr_assert_null(mp_tail_copy(&tail));
    mp_tail_done(&tail);
}

Test(tail, keeps_the_last_lines)
{
    struct mp_tail tail;
    mp_tail_init(&tail);
    for (int i = 0; i < 200; i++) {
        char line[16];
        mp_tail_add(&tail, line, (size_t)snprintf(line, sizeof(line), "line %d", i));
    }
    char *text = mp_tail_copy(&tail);
    cr_assert_eq(count_lines(text), MP_TAIL_LINES);
    cr_assert(strncmp(text, "line 136\n", 9) == 0, "%s", text);
    cr_assert_str_eq(strrchr(text, 'l'), "line 199\n");
    free(text);
    mp_tail_done(&tail);
}

Test(tail, is_bounded_in_bytes)
{
    struct mp_tail tail;
    mp_tail_init(&tail);
    char *line = malloc(MP_TAIL_BYTES * 2);
    memset(line, 'x', MP_TAIL_BYTES * 2);
    for (size_t size = 1; size <= MP_TAIL_BYTES * 2; size = size * 3 + 1)
        mp_tail_add(&tail, line, size);
    mp_tail_add(&tail, line, MP_TAIL_BYTES * 2);
    mp_tail_add(&tail, "last", 4);
    char *text = mp_tail_copy(&tail);
    cr_assert_leq(strlen(text), MP_TAIL_BYTES);
    cr_assert_str_eq(text, "last\n");
    free(text);
    free(line);
    mp_tail_done(&tail);
}

Test(tail, forgets_when_cleared)
{
    struct mp_tail tail;
    mp_tail_init(&tail);
    mp_tail_add(&tail, "old", 3);
    mp_tail_clear(&tail);
    cr_assert_null(mp_tail_copy(&tail));
    mp_tail_add(&tail, "new", 3);
    char *text = mp_tail_copy(&tail);
    cr_assert_str_eq(text, "new\n");
    free(text);
    mp_tail_done(&tail);
}
