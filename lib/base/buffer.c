/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buffer.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64

void mp_buffer_done(struct mp_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct mp_buffer)MP_BUFFER_INIT;
}

bool mp_buffer_reserve(struct mp_buffer *buffer, size_t size)
{
    if (buffer->failed || size >= SIZE_MAX / 2 - buffer->size) {
        buffer->failed = true;
        return false;
    }
    size_t needed = buffer->size + size + 1;
    if (needed <= buffer->capacity)
        return true;
    size_t capacity = buffer->capacity ? buffer->capacity : FIRST_CAPACITY;
    while (capacity < needed)
        capacity *= 2;
    char *bytes = realloc(buffer->bytes, capacity);
    if (bytes == NULL) {
        buffer->failed = true;
        return false;
    }
    bytes[buffer->size] = '\0';
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

void mp_buffer_add(struct mp_buffer *buffer, const void *bytes, size_t size)
{
    if (!mp_buffer_reserve(buffer, size))
        return;
    if (size > 0)
        memcpy(buffer->bytes + buffer->size, bytes, size);
    buffer->size += size;
    buffer->bytes[buffer->size] = '\0';
}

void mp_buffer_add_text(struct mp_buffer *buffer, const char *text)
{
    mp_buffer_add(buffer, text, strlen(text));
}

void mp_buffer_addv(struct mp_buffer *buffer, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (size < 0) {
        buffer->failed = true;
        return;
    }
    if (!mp_buffer_reserve(buffer, (size_t)size))
        return;
    vsnprintf(buffer->bytes + buffer->size, (size_t)size + 1, format, args);
    buffer->size += (size_t)size;
}

void mp_buffer_addf(struct mp_buffer *buffer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mp_buffer_addv(buffer, format, args);
    va_end(args);
}

char *mp_buffer_take(struct mp_buffer *buffer)
{
    mp_buffer_reserve(buffer, 0);
    char *bytes = NULL;
    if (!buffer->failed) {
        bytes = buffer->bytes;
        buffer->bytes = NULL;
    }
    mp_buffer_done(buffer);
    return bytes;
}
