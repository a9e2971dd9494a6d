/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growable byte buffer with a sticky error: append freely, ask once at the end whether memory ran
 * out. The bytes are always followed by a NUL that is not counted.
 */
#ifndef MP_BASE_BUFFER_H
#define MP_BASE_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct mp_buffer {
    char *bytes; /* NULL until the first append */
    size_t size;
    size_t capacity;
    bool failed; /* an append found no memory; the content is what was there before */
};

#define MP_BUFFER_INIT                                                                             \
    {                                                                                              \
        NULL, 0, 0, false                                                                          \
    }

void mp_buffer_done(struct mp_buffer *buffer);

/* Makes room for `size` more bytes without adding them. False: no memory. */
bool mp_buffer_reserve(struct mp_buffer *buffer, size_t size);

void mp_buffer_add(struct mp_buffer *buffer, const void *bytes, size_t size);
void mp_buffer_add_text(struct mp_buffer *buffer, const char *text);
void mp_buffer_addf(struct mp_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void mp_buffer_addv(struct mp_buffer *buffer, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* Returns new bytes, NUL-terminated, for free(3), and leaves the buffer empty; NULL if it failed.
 */
char *mp_buffer_take(struct mp_buffer *buffer);

#endif
