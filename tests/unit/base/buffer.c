/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buffer.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

Test(buffer, appends_and_terminates)
{
    struct mp_buffer buffer = MP_BUFFER_INIT;
    cr_expect_null(buffer.bytes);
    mp_buffer_add(&buffer, "ab\0c", 4);
    cr_expect_eq(buffer.bytes[buffer.size], '\0');
    mp_buffer_add_text(&buffer, "de");
    mp_buffer_addf(&buffer, "-%d-%s", 42, "x");
    cr_expect_eq(buffer.size, 11);
    cr_expect_arr_eq(buffer.bytes, "ab\0cde-42-x", 12);
    cr_expect(!buffer.failed);
    mp_buffer_done(&buffer);
    cr_expect(buffer.bytes == NULL && buffer.size == 0 && buffer.capacity == 0);
}

Test(buffer, nothing_is_a_string_too)
{
    struct mp_buffer buffer = MP_BUFFER_INIT;
    mp_buffer_add(&buffer, NULL, 0);
    cr_expect_eq(buffer.size, 0);
    cr_expect_str_eq(buffer.bytes, "");
    mp_buffer_done(&buffer);
}

/* Sizes around each capacity, so that an off-by-one in the NUL's place shows under ASan. */
Test(buffer, grows_at_every_size)
{
    for (size_t size = 0; size < 600; size++) {
        struct mp_buffer buffer = MP_BUFFER_INIT, text = MP_BUFFER_INIT;
        for (size_t i = 0; i < size; i++)
            mp_buffer_add(&buffer, i % 2 != 0 ? "b" : "a", 1);
        mp_buffer_addf(&text, "%s", size > 0 ? buffer.bytes : "");
        cr_assert_eq(buffer.size, size);
        cr_assert_eq(text.size, size);
        cr_assert(size == 0 || strcmp(buffer.bytes, text.bytes) == 0);
        cr_assert(size == 0 || buffer.bytes[size - 1] == (size % 2 != 0 ? 'a' : 'b'));
        mp_buffer_done(&buffer);
        mp_buffer_done(&text);
    }
}

Test(buffer, reserve_makes_room_and_adds_nothing)
{
    struct mp_buffer buffer = MP_BUFFER_INIT;
    cr_assert(mp_buffer_reserve(&buffer, 1000));
    cr_expect_eq(buffer.size, 0);
    cr_expect_gt(buffer.capacity, 1000);
    const char *bytes = buffer.bytes;
    for (int i = 0; i < 1000; i++)
        mp_buffer_add(&buffer, "x", 1);
    cr_expect_eq(buffer.bytes, bytes, "no second allocation");
    mp_buffer_done(&buffer);
}

Test(buffer, failure_is_sticky_and_keeps_the_content)
{
    struct mp_buffer buffer = MP_BUFFER_INIT;
    mp_buffer_add_text(&buffer, "abc");
    cr_expect(!mp_buffer_reserve(&buffer, SIZE_MAX));
    cr_expect(buffer.failed);
    mp_buffer_add_text(&buffer, "d");
    mp_buffer_addf(&buffer, "%d", 1);
    cr_expect(!mp_buffer_reserve(&buffer, 1));
    cr_expect_str_eq(buffer.bytes, "abc");
    cr_expect_null(mp_buffer_take(&buffer));
    cr_expect(!buffer.failed && buffer.bytes == NULL, "empty and usable again");
    mp_buffer_add_text(&buffer, "e");
    cr_expect_str_eq(buffer.bytes, "e");
    mp_buffer_done(&buffer);
}

Test(buffer, sizes_do_not_wrap_around)
{
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 3, SIZE_MAX / 2};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct mp_buffer buffer = MP_BUFFER_INIT;
        mp_buffer_add_text(&buffer, "abc");
        cr_expect(!mp_buffer_reserve(&buffer, sizes[i]), "%zu", sizes[i]);
        mp_buffer_done(&buffer);
    }
}

Test(buffer, take_gives_the_bytes_away)
{
    struct mp_buffer buffer = MP_BUFFER_INIT;
    mp_buffer_add_text(&buffer, "abc");
    char *taken = mp_buffer_take(&buffer);
    cr_expect_str_eq(taken, "abc");
    cr_expect_null(buffer.bytes);
    free(taken);
    taken = mp_buffer_take(&buffer);
    cr_expect_str_eq(taken, "", "of an empty buffer");
    free(taken);
}
