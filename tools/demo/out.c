/* SPDX-License-Identifier: Apache-2.0 */
#include "out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FIRST_CAPACITY (64 * 1024)
/* A buffer that one huge answer has blown up is given back. */
#define KEPT_CAPACITY (16 * 1024 * 1024)

void out_done(struct out *out)
{
    free(out->bytes);
    *out = (struct out){NULL, 0, 0};
}

static void grow(struct out *out, size_t needed)
{
    size_t capacity = out->capacity ? out->capacity : FIRST_CAPACITY;
    while (capacity < needed)
        capacity *= 2;
    char *bytes = realloc(out->bytes, capacity);
    if (bytes == NULL) {
        fputs("out of memory\n", stderr);
        _exit(1);
    }
    out->bytes = bytes;
    out->capacity = capacity;
}

char *out_room(struct out *out, size_t size)
{
    if (out->capacity - out->size < size)
        grow(out, out->size + size);
    char *room = out->bytes + out->size;
    out->size += size;
    return room;
}

void out_f(struct out *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    /* The NUL that vsnprintf adds is taken off again. */
    char *room = out_room(out, (size_t)size + 1);
    va_start(args, format);
    vsnprintf(room, (size_t)size + 1, format, args);
    va_end(args);
    out->size--;
}

void out_filler(struct out *out, size_t size)
{
    static const char pattern[] =
        "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-.";
    size_t done = sizeof(pattern) - 1;
    if (size == 0)
        return;
    char *room = out_room(out, size);
    memcpy(room, pattern, size < done ? size : done);
    while (done < size) {
        size_t part = size - done < done ? size - done : done;
        memcpy(room + done, room, part);
        done += part;
    }
}

void out_string(struct out *out, const char *text, size_t size)
{
    out_text(out, "\"");
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c == 0x7F)
            out_f(out, "\\u%04x", c);
        else if (c == '"' || c == '\\')
            out_f(out, "\\%c", c);
        else
            out_bytes(out, text + i, 1);
    }
    out_text(out, "\"");
}

bool out_flush(struct out *out, int fd)
{
    size_t done = 0;
    bool alive = true;
    while (alive && done < out->size) {
        ssize_t n = write(fd, out->bytes + done, out->size - done);
        if (n >= 0)
            done += (size_t)n;
        else
            alive = errno == EINTR;
    }
    out->size = 0;
    if (out->capacity > KEPT_CAPACITY)
        out_done(out);
    return alive;
}
