/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/framer.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "span.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define READ_BYTES   65536

/* Reads `bytes` into the framer as one read(2) would. */
static void feed(struct mp_framer *framer, struct mp_span bytes)
{
    size_t room_size = 0;
    char *room = mp_framer_room(framer, bytes.size + 1, &room_size);
    cr_assert_not_null(room);
    cr_assert_gt(room_size, bytes.size);
    memcpy(room, bytes.bytes, bytes.size);
    mp_framer_filled(framer, bytes.size);
}

/* Appends each line that is there, with a `|` behind it. */
static enum mp_framer_result drain(struct mp_framer *framer, struct mp_buffer *lines)
{
    struct mp_span line;
    enum mp_framer_result result;
    while ((result = mp_framer_next(framer, &line)) == MP_FRAMER_LINE) {
        mp_buffer_add(lines, line.bytes, line.size);
        mp_buffer_add_text(lines, "|");
    }
    return result;
}

/* All lines of a stream that comes in chunks, and `!` when one is too large. */
static void split(struct mp_span stream, size_t max_line, size_t chunk, struct mp_buffer *lines)
{
    struct mp_framer framer;
    mp_framer_init(&framer, max_line);
    enum mp_framer_result result = MP_FRAMER_MORE;
    for (size_t at = 0; at < stream.size && result == MP_FRAMER_MORE; at += chunk) {
        size_t left = stream.size - at;
        feed(&framer, (struct mp_span){stream.bytes + at, left < chunk ? left : chunk});
        result = drain(&framer, lines);
    }
    struct mp_span line;
    if (result == MP_FRAMER_MORE)
        result = mp_framer_last(&framer, &line);
    if (result == MP_FRAMER_LINE) {
        mp_buffer_add(lines, line.bytes, line.size);
        mp_buffer_add_text(lines, "|");
        cr_expect_eq(mp_framer_last(&framer, &line), MP_FRAMER_MORE, "a last line comes once");
    }
    if (result == MP_FRAMER_TOO_LARGE) {
        mp_buffer_add_text(lines, "!");
        cr_expect_eq(mp_framer_next(&framer, &line), MP_FRAMER_TOO_LARGE, "it is sticky");
        cr_expect_eq(mp_framer_last(&framer, &line), MP_FRAMER_TOO_LARGE, "it is sticky");
    }
    mp_framer_done(&framer);
}

static const struct {
    const char *name;
    size_t max_line;
    struct mp_span stream, lines;
} split_rows[] = {
    {"nothing", 9, SPAN(""), SPAN("")},
    {"one line", 9, SPAN("abc\n"), SPAN("abc|")},
    {"lines", 9, SPAN("abc\nde\nf\n"), SPAN("abc|de|f|")},
    {"last without LF", 9, SPAN("abc\nde"), SPAN("abc|de|")},
    {"last without LF, with CR", 9, SPAN("abc\r\nde\r"), SPAN("abc|de|")},
    {"CRLF", 9, SPAN("abc\r\nde\r\n"), SPAN("abc|de|")},
    {"one CR only is stripped", 9, SPAN("abc\r\r\n"), SPAN("abc\r|")},
    {"CR ends nothing", 9, SPAN("a\rb\n"), SPAN("a\rb|")},
    {"CR in front stays", 9, SPAN("\rab\n"), SPAN("\rab|")},
    {"blank lines", 9, SPAN("\n\r\n \t \nabc\n\n  \r\n\nde\n"), SPAN("abc|de|")},
    {"nothing but blank lines", 9, SPAN("\n\n \n"), SPAN("")},
    {"blank last line", 9, SPAN("abc\n \t"), SPAN("abc|")},
    {"spaces around stay", 9, SPAN(" a b \n"), SPAN(" a b |")},
    {"other separators end nothing", 20,
     SPAN("a\vb\fc\x1E\xC2\x85"
          "d\xE2\x80\xA8"
          "e\xE2\x80\xA9"
          "f\n"),
     SPAN("a\vb\fc\x1E\xC2\x85"
          "d\xE2\x80\xA8"
          "e\xE2\x80\xA9"
          "f|")},
    {"NUL", 9, SPAN("a\0b\n\0\ncd\n"), SPAN("a\0b|\0|cd|")},
    {"invalid UTF-8 passes", 9, SPAN("\xFF\xC3\nab\n"), SPAN("\xFF\xC3|ab|")},
    {"byte order mark", 9,
     SPAN("\xEF\xBB\xBF"
          "ab\ncd\n"),
     SPAN("ab|cd|")},
    {"byte order mark and blank line", 9, SPAN("\xEF\xBB\xBF\nab\n"), SPAN("ab|")},
    {"byte order mark alone", 9, SPAN("\xEF\xBB\xBF"), SPAN("")},
    {"two of them", 9,
     SPAN("\xEF\xBB\xBF\xEF\xBB\xBF"
          "a\n"),
     SPAN("\xEF\xBB\xBF"
          "a|")},
    {"on the second line", 9,
     SPAN("a\n\xEF\xBB\xBF"
          "b\n"),
     SPAN("a|\xEF\xBB\xBF"
          "b|")},
    {"behind a blank line", 9,
     SPAN("\n\xEF\xBB\xBF"
          "b\n"),
     SPAN("\xEF\xBB\xBF"
          "b|")},
    {"behind a space", 9, SPAN(" \xEF\xBB\xBF\n"), SPAN(" \xEF\xBB\xBF|")},
    {"half a mark", 9,
     SPAN("\xEF\xBB"
          "ab\n"),
     SPAN("\xEF\xBB"
          "ab|")},
    {"half a mark, then LF", 9, SPAN("\xEF\nab\n"), SPAN("\xEF|ab|")},
    {"half a mark at the end", 9, SPAN("\xEF\xBB"), SPAN("\xEF\xBB|")},
    {"half a mark, too large", 1, SPAN("\xEF\xBB"), SPAN("!")},
    {"mark does not count", 3,
     SPAN("\xEF\xBB\xBF"
          "abc\r\n"),
     SPAN("abc|")},
    {"mark does not count, too large", 3,
     SPAN("\xEF\xBB\xBF"
          "abcd\n"),
     SPAN("!")},
    {"just fits", 3, SPAN("abc\nabc\n"), SPAN("abc|abc|")},
    {"just fits with CR", 3, SPAN("abc\r\nabc\r\n"), SPAN("abc|abc|")},
    {"just fits at the end", 3, SPAN("abc"), SPAN("abc|")},
    {"just fits with CR at the end", 3, SPAN("abc\r"), SPAN("abc|")},
    {"one more", 3, SPAN("abcd\n"), SPAN("!")},
    {"one more with CR", 3, SPAN("abcd\r\n"), SPAN("!")},
    {"one more at the end", 3, SPAN("abcd"), SPAN("!")},
    {"one more is a second CR", 3, SPAN("abc\r\r\n"), SPAN("!")},
    {"CR was no end", 3, SPAN("abc\rd\n"), SPAN("!")},
    {"earlier lines come first", 3, SPAN("ab\n\ncd\nefgh\nij\n"), SPAN("ab|cd|!")},
    {"earlier lines, no LF", 3, SPAN("ab\ncd\nefghijklmnopqrstuvwxyz"), SPAN("ab|cd|!")},
    {"too many spaces", 3, SPAN("    \na\n"), SPAN("!")},
    {"no limit to speak of", SIZE_MAX, SPAN("abc\n"), SPAN("abc|")},
};

Test(framer, splits_alike_however_the_bytes_come)
{
    static const size_t chunks[] = {1, 2, 3, 4, 5, 7, 1000};
    for (size_t i = 0; i < COUNT(split_rows); i++) {
        for (size_t c = 0; c < COUNT(chunks); c++) {
            struct mp_buffer lines = MP_BUFFER_INIT;
            split(split_rows[i].stream, split_rows[i].max_line, chunks[c], &lines);
            cr_expect(lines.size == split_rows[i].lines.size &&
                          memcmp(lines.bytes ? lines.bytes : "", split_rows[i].lines.bytes,
                                 lines.size) == 0,
                      "%s, chunks of %zu: %s", split_rows[i].name, chunks[c],
                      lines.bytes ? lines.bytes : "nothing");
            mp_buffer_done(&lines);
        }
    }
}

Test(framer, every_cut_of_a_stream_gives_the_same)
{
    static const char stream[] =
        "\xEF\xBB\xBF{\"a\":\"\xE2\x82\xAC\"}\r\n\r\n[]\n\xF0\x9F\x98\x80\n";
    static const char lines[] = "{\"a\":\"\xE2\x82\xAC\"}|[]|\xF0\x9F\x98\x80|";
    for (size_t cut = 0; cut < sizeof(stream); cut++) {
        struct mp_framer framer;
        struct mp_buffer out = MP_BUFFER_INIT;
        mp_framer_init(&framer, 100);
        feed(&framer, (struct mp_span){stream, cut});
        drain(&framer, &out);
        feed(&framer, (struct mp_span){stream + cut, sizeof(stream) - 1 - cut});
        drain(&framer, &out);
        cr_expect_str_eq(out.bytes, lines, "cut at %zu", cut);
        mp_buffer_done(&out);
        mp_framer_done(&framer);
    }
}

Test(framer, a_line_stays_until_the_next_room)
{
    struct mp_framer framer;
    mp_framer_init(&framer, 100);
    feed(&framer, span_of("first\nsecond\nthi"));
    struct mp_span first, second, none;
    cr_assert_eq(mp_framer_next(&framer, &first), MP_FRAMER_LINE);
    cr_assert_eq(mp_framer_next(&framer, &second), MP_FRAMER_LINE);
    cr_assert_eq(mp_framer_next(&framer, &none), MP_FRAMER_MORE);
    cr_expect(span_is(first, "first") && span_is(second, "second"));
    mp_framer_done(&framer);
}

Test(framer, reset_forgets_the_bytes_and_keeps_the_memory)
{
    struct mp_framer framer;
    struct mp_buffer lines = MP_BUFFER_INIT;
    mp_framer_init(&framer, 5);
    feed(&framer, span_of("abc\ntoo large\nrest"));
    cr_assert_eq(drain(&framer, &lines), MP_FRAMER_TOO_LARGE);
    const char *memory = framer.buffer;
    mp_framer_reset(&framer);
    cr_expect_eq(framer.buffer, memory);
    feed(&framer, span_of("\xEF\xBB\xBFnew\n"));
    cr_expect_eq(drain(&framer, &lines), MP_FRAMER_MORE);
    cr_expect_str_eq(lines.bytes, "abc|new|", "the mark counts at the start of the new stream");
    mp_buffer_done(&lines);
    mp_framer_done(&framer);
}

/* Without an LF the memory is bounded by the limit and one read. */
Test(framer, memory_is_bounded)
{
    enum { MAX_LINE = 1000000 };
    struct mp_framer framer;
    mp_framer_init(&framer, MAX_LINE);
    size_t fed = 0;
    struct mp_span line;
    do {
        size_t room_size;
        char *room = mp_framer_room(&framer, READ_BYTES, &room_size);
        cr_assert_not_null(room);
        cr_assert_leq(framer.capacity, MAX_LINE + 1 + READ_BYTES);
        memset(room, 'x', room_size);
        mp_framer_filled(&framer, room_size);
        fed += room_size;
        cr_assert_leq(fed, MAX_LINE + 1 + READ_BYTES, "the limit comes late");
    } while (mp_framer_next(&framer, &line) == MP_FRAMER_MORE);
    cr_expect_eq(mp_framer_next(&framer, &line), MP_FRAMER_TOO_LARGE);
    mp_framer_done(&framer);
}

Test(framer, no_room_grows_beyond_the_bound_on_a_long_stream)
{
    enum { MAX_LINE = 100000, ROUNDS = 3000 };
    struct mp_framer framer;
    mp_framer_init(&framer, MAX_LINE);
    size_t line_at = 0, lines = 0, fed_lines = 0;
    for (int round = 0; round < ROUNDS; round++) {
        size_t room_size;
        char *room = mp_framer_room(&framer, READ_BYTES, &room_size);
        cr_assert_not_null(room);
        cr_assert_leq(framer.capacity, MAX_LINE + 1 + READ_BYTES);
        size_t size = 1 + (size_t)round * 7919 % READ_BYTES;
        for (size_t i = 0; i < size; i++) {
            bool ends = line_at == (fed_lines * 37117) % MAX_LINE + 1;
            room[i] = ends ? '\n' : 'x';
            line_at = ends ? 0 : line_at + 1;
            fed_lines += ends;
        }
        mp_framer_filled(&framer, size);
        struct mp_span line;
        while (mp_framer_next(&framer, &line) == MP_FRAMER_LINE) {
            cr_assert_eq(line.size, (lines * 37117) % MAX_LINE + 1);
            lines++;
        }
    }
    cr_expect_eq(lines, fed_lines);
    mp_framer_done(&framer);
}

/* Quadratic work would take hours here. */
Test(framer, one_byte_at_a_time_is_linear, .timeout = 120)
{
    enum { SIZE = 4 * 1024 * 1024 };
    struct mp_framer framer;
    struct mp_span line;
    mp_framer_init(&framer, SIZE);
    for (size_t i = 0; i < SIZE; i++) {
        size_t room_size;
        *mp_framer_room(&framer, 1, &room_size) = 'x';
        mp_framer_filled(&framer, 1);
        cr_assert_eq(mp_framer_next(&framer, &line), MP_FRAMER_MORE);
    }
    feed(&framer, span_of("\r"));
    cr_assert_eq(mp_framer_next(&framer, &line), MP_FRAMER_MORE);
    feed(&framer, span_of("\nnext\n"));
    cr_assert_eq(mp_framer_next(&framer, &line), MP_FRAMER_LINE);
    cr_expect_eq(line.size, SIZE);
    cr_assert_eq(mp_framer_next(&framer, &line), MP_FRAMER_LINE);
    cr_expect(span_is(line, "next"));
    mp_framer_done(&framer);
}

static void feed_line(struct mp_framer *framer, size_t size)
{
    for (size_t fed = 0; fed <= size;) {
        size_t room_size, part = size + 1 - fed;
        char *room = mp_framer_room(framer, READ_BYTES, &room_size);
        cr_assert_not_null(room);
        if (part > READ_BYTES)
            part = READ_BYTES;
        memset(room, 'x', part);
        fed += part;
        if (fed > size)
            room[part - 1] = '\n';
        mp_framer_filled(framer, part);
        struct mp_span line;
        cr_assert_eq(mp_framer_next(framer, &line), fed > size ? MP_FRAMER_LINE : MP_FRAMER_MORE);
    }
}

Test(framer, memory_of_a_huge_line_is_given_back)
{
    struct mp_framer framer;
    mp_framer_init(&framer, 8 * 1024 * 1024);
    feed_line(&framer, 8 * 1024 * 1024);
    cr_expect_geq(framer.capacity, 8 * 1024 * 1024);
    for (int i = 0; i < 20; i++)
        feed_line(&framer, 100);
    cr_expect_leq(framer.capacity, 256 * 1024);
    mp_framer_done(&framer);
}

Test(framer, large_lines_in_a_row_keep_the_memory)
{
    struct mp_framer framer;
    mp_framer_init(&framer, 8 * 1024 * 1024);
    feed_line(&framer, 1024 * 1024);
    size_t capacity = framer.capacity;
    for (int i = 0; i < 20; i++) {
        size_t room_size;
        cr_assert_not_null(mp_framer_room(&framer, READ_BYTES, &room_size));
        cr_expect_eq(framer.capacity, capacity);
        feed_line(&framer, 1024 * 1024);
    }
    mp_framer_done(&framer);
}

static void fill(struct mp_framer *framer, size_t size, const char *end)
{
    struct mp_buffer bytes = MP_BUFFER_INIT;
    while (bytes.size < size)
        mp_buffer_add_text(&bytes, "x");
    mp_buffer_add_text(&bytes, end);
    feed(framer, (struct mp_span){bytes.bytes, bytes.size});
    mp_buffer_done(&bytes);
}

static void next_is(struct mp_framer *framer, const char *wanted)
{
    struct mp_span line;
    cr_assert_eq(mp_framer_next(framer, &line), MP_FRAMER_LINE);
    cr_expect(line.size == strlen(wanted) && memcmp(line.bytes, wanted, line.size) == 0, "%s",
              wanted);
}

Test(framer, a_large_line_is_taken_with_its_memory)
{
    static const char *const ends[] = {"\n", "\r\n"};
    for (int i = 0; i < 6; i++) {
        struct mp_framer framer;
        struct mp_span line;
        mp_framer_init(&framer, 1024 * 1024);
        if (i >= 4)
            feed(&framer, span_of("first\n"));
        fill(&framer, 100000, ends[i % 2]);
        feed(&framer, span_of("behind\nit"));
        if (i >= 4)
            next_is(&framer, "first");
        cr_assert_eq(mp_framer_next(&framer, &line), MP_FRAMER_LINE);
        struct mp_taken taken = mp_framer_take(&framer, line);
        cr_assert_not_null(taken.block);
        cr_expect_eq(taken.line.bytes, line.bytes, "it did not move");
        cr_expect_eq(taken.line.size, 100000);
        cr_expect_geq(taken.line.bytes, taken.block + MP_HEADROOM);
        cr_expect_lt(taken.line.bytes + taken.line.size, taken.block + taken.size);
        next_is(&framer, "behind");
        cr_expect_eq(mp_framer_next(&framer, &line), MP_FRAMER_MORE);
        feed(&framer, span_of("self\n"));
        next_is(&framer, "itself");
        mp_framer_done(&framer);
        cr_expect_eq(taken.line.bytes[99999], 'x', "it is the taker's");
        free(taken.block);
    }
}

Test(framer, what_is_not_worth_it_is_not_taken)
{
    struct mp_framer framer;
    struct mp_span line;
    mp_framer_init(&framer, 8 * 1024 * 1024);
    fill(&framer, 1000, "\n");
    cr_assert_eq(mp_framer_next(&framer, &line), MP_FRAMER_LINE);
    cr_expect_null(mp_framer_take(&framer, line).block, "small");
    fill(&framer, 60000, "\n");
    fill(&framer, 1000000, "\n");
    cr_assert_eq(mp_framer_next(&framer, &line), MP_FRAMER_LINE);
    cr_expect_null(mp_framer_take(&framer, line).block, "it fills little of the buffer");
    cr_assert_eq(mp_framer_next(&framer, &line), MP_FRAMER_LINE);
    struct mp_span element = {line.bytes, line.size - 1};
    cr_expect_null(mp_framer_take(&framer, element).block, "a part of a line");
    struct mp_taken taken = mp_framer_take(&framer, line);
    cr_assert_not_null(taken.block);
    free(taken.block);
    fill(&framer, 100000, "");
    cr_assert_eq(mp_framer_next(&framer, &line), MP_FRAMER_MORE);
    cr_assert_eq(mp_framer_last(&framer, &line), MP_FRAMER_LINE);
    cr_expect_null(mp_framer_take(&framer, line).block, "it has no end");
    mp_framer_done(&framer);
}
