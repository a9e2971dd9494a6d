/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a server is about to write: a growing run of bytes that is written in one go. No memory ends
 * the program, since a server without memory has nothing better to do.
 */
#ifndef MCPUMP_DEMO_OUT_H
#define MCPUMP_DEMO_OUT_H

#include <string.h>

#include "json.h"

struct out {
    char *bytes; /* NULL until the first append */
    size_t size;
    size_t capacity;
};

void out_done(struct out *out);

/* Adds `size` bytes that the caller fills in at the place returned. */
char *out_room(struct out *out, size_t size);

void out_f(struct out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3), nonnull(2)));

/* `size` bytes of printable filler that needs no escapes. */
void out_filler(struct out *out, size_t size);

/* A JSON string with its quotes; the text is valid UTF-8. */
void out_string(struct out *out, const char *text, size_t size);

/* Writes all of it to fd and empties it. False: the reader is gone; nothing is left either way. */
bool out_flush(struct out *out, int fd);

static inline void out_bytes(struct out *out, const char *bytes, size_t size)
{
    if (size > 0)
        memcpy(out_room(out, size), bytes, size);
}

static inline void out_text(struct out *out, const char *text)
{
    out_bytes(out, text, strlen(text));
}

static inline void out_span(struct out *out, struct json_span span)
{
    out_bytes(out, span.bytes, span.size);
}

#endif
