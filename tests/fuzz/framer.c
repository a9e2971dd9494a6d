/* SPDX-License-Identifier: Apache-2.0 */
/*
 * However a stream is cut into reads, the framer gives the lines that a plain splitter gives that
 * sees all of it at once, and its memory stays bounded. The first byte of the input is the line
 * limit, the second one seeds the sizes of the reads; the rest is the stream.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "check.h"
#include "wire/framer.h"

static void note(struct mp_buffer *lines, struct mp_span line)
{
    mp_buffer_addf(lines, "%zu:", line.size);
    mp_buffer_add(lines, line.bytes, line.size);
}

/* All bytes are there at once: one line after the other. */
static void split_plainly(struct mp_span stream, size_t max_line, struct mp_buffer *lines)
{
    const char *at = stream.bytes, *end = at + stream.size;
    if (stream.size >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0)
        at += 3;
    while (at < end) {
        const char *stop = at;
        bool blank = true;
        while (stop < end && *stop != '\n')
            stop++;
        size_t size = (size_t)(stop - at);
        if (size > 0 && at[size - 1] == '\r')
            size--;
        for (size_t i = 0; i < size; i++)
            blank = blank && (at[i] == ' ' || at[i] == '\t');
        if (size > max_line) {
            mp_buffer_add_text(lines, "too large");
            return;
        }
        if (!blank)
            note(lines, (struct mp_span){at, size});
        at = stop < end ? stop + 1 : end;
    }
}

static enum mp_framer_result drain(struct mp_framer *framer, struct mp_buffer *lines)
{
    struct mp_span line;
    enum mp_framer_result result;
    while ((result = mp_framer_next(framer, &line)) == MP_FRAMER_LINE)
        note(lines, line);
    return result;
}

static void split(struct mp_span stream, size_t max_line, unsigned seed, struct mp_buffer *lines)
{
    enum { LARGEST_READ = 16 };
    struct mp_framer framer;
    struct mp_span line;
    enum mp_framer_result result = MP_FRAMER_MORE;
    mp_framer_init(&framer, max_line);
    for (size_t at = 0; at < stream.size && result == MP_FRAMER_MORE;) {
        size_t room_size, left = stream.size - at;
        char *room = mp_framer_room(&framer, LARGEST_READ, &room_size);
        CHECK(room != NULL && room_size >= LARGEST_READ);
        /* An unfinished line has a CR at most beyond the limit; half a mark is two bytes. */
        CHECK(framer.capacity <= max_line + 2 + LARGEST_READ);
        seed = seed * 1664525 + 1013904223;
        size_t size = 1 + (seed >> 24) % LARGEST_READ;
        size = size < left ? size : left;
        memcpy(room, stream.bytes + at, size);
        mp_framer_filled(&framer, size);
        at += size;
        result = drain(&framer, lines);
    }
    if (result == MP_FRAMER_MORE)
        result = mp_framer_last(&framer, &line);
    if (result == MP_FRAMER_LINE)
        note(lines, line);
    if (result == MP_FRAMER_TOO_LARGE)
        mp_buffer_add_text(lines, "too large");
    mp_framer_done(&framer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    struct mp_span stream = {(const char *)data + 2, size - 2};
    struct mp_buffer plain = MP_BUFFER_INIT, cut = MP_BUFFER_INIT;
    split_plainly(stream, data[0], &plain);
    split(stream, data[0], data[1], &cut);
    CHECK(plain.size == cut.size);
    CHECK(plain.size == 0 || memcmp(plain.bytes, cut.bytes, plain.size) == 0);
    mp_buffer_done(&plain);
    mp_buffer_done(&cut);
    return 0;
}
