/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/framer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A buffer that is no larger is never shrunk. */
#define KEPT_CAPACITY ((size_t)128 * 1024)

/* A smaller line is cheaper to copy than to be given a buffer. */
#define LEAST_TAKEN ((size_t)48 * 1024)

/* Keeps sums of sizes from overflowing; no line comes near it. */
#define LARGEST_LINE (SIZE_MAX / 4)

#define MARK      "\xEF\xBB\xBF"
#define MARK_SIZE (sizeof(MARK) - 1)

void mp_framer_init(struct mp_framer *framer, size_t max_line)
{
    if (max_line > LARGEST_LINE)
        max_line = LARGEST_LINE;
    *framer = (struct mp_framer){.max_line = max_line, .at_start = true};
}

static char *block_of(const struct mp_framer *framer)
{
    return framer->buffer != NULL ? framer->buffer - MP_HEADROOM : NULL;
}

static bool resize(struct mp_framer *framer, size_t capacity)
{
    char *block = realloc(block_of(framer), MP_HEADROOM + capacity);
    if (block == NULL)
        return false;
    framer->buffer = block + MP_HEADROOM;
    framer->capacity = capacity;
    return true;
}

void mp_framer_done(struct mp_framer *framer)
{
    free(block_of(framer));
    mp_framer_init(framer, framer->max_line);
}

void mp_framer_reset(struct mp_framer *framer)
{
    framer->start = framer->scanned = framer->end = 0;
    framer->at_start = true;
}

/* Moves the unfinished line to the front. It stays there until it is handed out, so that no byte
 * is moved twice. */
static void compact(struct mp_framer *framer)
{
    memmove(framer->buffer, framer->buffer + framer->start, framer->end - framer->start);
    framer->scanned -= framer->start;
    framer->end -= framer->start;
    framer->start = 0;
}

/* Called when the buffer is empty. It halves when not a quarter of it was used since it last was:
 * one huge line does not hold its memory for long, many of them do not allocate each time. */
static void shrink(struct mp_framer *framer)
{
    size_t half = framer->capacity / 2;
    if (half >= KEPT_CAPACITY && framer->end <= half / 2)
        resize(framer, half);
}

/* Doubles, but not beyond the longest line, its CR and one more read. */
static bool grow(struct mp_framer *framer, size_t least)
{
    size_t needed = framer->end + least;
    size_t most = framer->max_line + 1 + least;
    size_t capacity = framer->capacity * 2;
    if (capacity > most)
        capacity = most;
    if (capacity < needed)
        capacity = needed;
    return resize(framer, capacity);
}

char *mp_framer_room(struct mp_framer *framer, size_t least, size_t *ret_size)
{
    if (framer->start == framer->end) {
        shrink(framer);
        framer->start = framer->scanned = framer->end = 0;
    }
    if (framer->capacity - framer->end < least && framer->start > 0)
        compact(framer);
    if (framer->capacity - framer->end < least && !grow(framer, least))
        return NULL;
    *ret_size = framer->capacity - framer->end;
    return framer->buffer + framer->end;
}

void mp_framer_filled(struct mp_framer *framer, size_t size)
{
    framer->end += size;
}

/* Steps over the byte order mark, if there is one. False: too few bytes to tell. */
static bool skip_mark(struct mp_framer *framer)
{
    size_t size = framer->end - framer->start;
    size_t compared = size < MARK_SIZE ? size : MARK_SIZE;
    bool alike = compared == 0 || memcmp(framer->buffer + framer->start, MARK, compared) == 0;
    if (alike && compared < MARK_SIZE)
        return false;
    framer->at_start = false;
    if (alike)
        framer->start = framer->scanned = framer->start + MARK_SIZE;
    return true;
}

/* The bytes from start to stop without a CR at their end. */
static struct mp_span line_until(const struct mp_framer *framer, size_t stop)
{
    bool has_cr = stop > framer->start && framer->buffer[stop - 1] == '\r';
    return (struct mp_span){framer->buffer + framer->start, stop - framer->start - has_cr};
}

static bool is_blank(struct mp_span line)
{
    for (size_t i = 0; i < line.size; i++) {
        if (line.bytes[i] != ' ' && line.bytes[i] != '\t')
            return false;
    }
    return true;
}

/* A line that is too large is not stepped over: every later call finds it again. */
enum mp_framer_result mp_framer_next(struct mp_framer *framer, struct mp_span *ret_line)
{
    if (framer->at_start && !skip_mark(framer))
        return MP_FRAMER_MORE;
    for (;;) {
        const char *from = framer->buffer + framer->scanned;
        const char *lf = memchr(from, '\n', framer->end - framer->scanned);
        framer->scanned = lf != NULL ? (size_t)(lf - framer->buffer) : framer->end;
        struct mp_span line = line_until(framer, framer->scanned);
        if (line.size > framer->max_line)
            return MP_FRAMER_TOO_LARGE;
        if (lf == NULL)
            return MP_FRAMER_MORE;
        framer->start = ++framer->scanned;
        if (!is_blank(line)) {
            *ret_line = line;
            return MP_FRAMER_LINE;
        }
    }
}

/* The new buffer is as large as the old one: the next line may be as long. Memory that is not
 * written to costs nothing, and an idle framer shrinks. What the line does not fill is not given
 * back either: the next allocation of this size then finds memory that is mapped already, which
 * matters more than all the rest of the way of a large reply. */
struct mp_taken mp_framer_take(struct mp_framer *framer, struct mp_span line)
{
    const char *end = line.bytes + line.size, *next = framer->buffer + framer->start;
    bool is_large = line.size >= LEAST_TAKEN && line.size >= framer->capacity / 3;
    /* An element of a batch ends before its bracket. */
    if (!is_large || end >= next || (*end != '\n' && *end != '\r'))
        return (struct mp_taken){.block = NULL};
    char *block = malloc(MP_HEADROOM + framer->capacity);
    if (block == NULL)
        return (struct mp_taken){.block = NULL};
    struct mp_taken taken = {block_of(framer), MP_HEADROOM + framer->capacity, line};
    framer->end -= framer->start;
    memcpy(block + MP_HEADROOM, next, framer->end);
    framer->scanned -= framer->start;
    framer->start = 0;
    framer->buffer = block + MP_HEADROOM;
    return taken;
}

enum mp_framer_result mp_framer_last(struct mp_framer *framer, struct mp_span *ret_line)
{
    if (framer->start == framer->end)
        return MP_FRAMER_MORE;
    framer->at_start = false;
    struct mp_span line = line_until(framer, framer->end);
    if (line.size > framer->max_line)
        return MP_FRAMER_TOO_LARGE;
    framer->start = framer->scanned = framer->end;
    if (is_blank(line))
        return MP_FRAMER_MORE;
    *ret_line = line;
    return MP_FRAMER_LINE;
}
