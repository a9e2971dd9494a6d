/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The framer: bytes in, lines out. Only LF ends a line; one CR before it is stripped, a UTF-8 byte
 * order mark at the very start too; blank lines (nothing but spaces and tabs) vanish. It reads into
 * its own buffer, scans each byte once, and holds at most one unfinished line of max_line bytes. A
 * large line can be taken away with the buffer that it stands in, so that it is not copied.
 * No fd, no lock: one thread at a time.
 */
#ifndef MP_WIRE_FRAMER_H
#define MP_WIRE_FRAMER_H

#include <stdbool.h>
#include <stddef.h>

struct mp_span {
    const char *bytes; /* NULL: absent */
    size_t size;
};

struct mp_framer {
    char *buffer; /* within its allocation: MP_HEADROOM bytes stand in front */
    size_t capacity;
    size_t start;   /* first byte not yet handed out */
    size_t scanned; /* up to here no LF follows start */
    size_t end;     /* end of what was read */
    size_t max_line;
    bool at_start; /* nothing was handed out yet: a byte order mark may stand here */
};

/* What is free in front of a line that is taken: its id may become longer. */
#define MP_HEADROOM 64

enum mp_framer_result {
    MP_FRAMER_LINE,      /* *ret_line is a line, without its end */
    MP_FRAMER_MORE,      /* no whole line: read on */
    MP_FRAMER_TOO_LARGE, /* the line is, or is going to be, longer than max_line: sticky */
};

void mp_framer_init(struct mp_framer *framer, size_t max_line);
void mp_framer_done(struct mp_framer *framer);

/* Forgets all bytes, for a new stream; keeps the memory. */
void mp_framer_reset(struct mp_framer *framer);

/* Room for at least `least` bytes to read into: *ret_size is how much there is. NULL: no memory.
 * Moves the unfinished line, so lines handed out before are gone. */
char *mp_framer_room(struct mp_framer *framer, size_t least, size_t *ret_size);

/* `size` bytes were read into the room. */
void mp_framer_filled(struct mp_framer *framer, size_t size);

/* The next line; valid until the next mp_framer_room. */
enum mp_framer_result mp_framer_next(struct mp_framer *framer, struct mp_span *ret_line);

/* A line with the memory that it stands in. */
struct mp_taken {
    char *block; /* for free(3); NULL: nothing was taken */
    size_t size;
    struct mp_span line;
};

/* Takes away a line that mp_framer_next has just handed out, with the buffer, when that is worth
 * it: the line is large and fills much of it. What else was read stays with the framer. */
struct mp_taken mp_framer_take(struct mp_framer *framer, struct mp_span line);

/* After the stream's end, when mp_framer_next has said MORE: the last line, if it lacks its LF. */
enum mp_framer_result mp_framer_last(struct mp_framer *framer, struct mp_span *ret_line);

#endif
