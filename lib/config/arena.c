/* SPDX-License-Identifier: Apache-2.0 */
#include "config/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES 4096

struct mp_arena_chunk {
    struct mp_arena_chunk *next;
    size_t size, used;
    _Alignas(max_align_t) char bytes[];
};

static struct mp_arena_chunk *add_chunk(struct mp_arena *arena, size_t size)
{
    size = size > CHUNK_BYTES ? size : CHUNK_BYTES;
    struct mp_arena_chunk *chunk = calloc(1, sizeof(*chunk) + size);
    if (chunk == NULL)
        return NULL;
    chunk->size = size;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    return chunk;
}

void *mp_arena_new(struct mp_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + _Alignof(max_align_t) - 1) / _Alignof(max_align_t) * _Alignof(max_align_t);
    struct mp_arena_chunk *chunk = arena->chunks;
    if (chunk == NULL || size > chunk->size - chunk->used)
        chunk = add_chunk(arena, size);
    if (chunk == NULL)
        return NULL;
    void *bytes = chunk->bytes + chunk->used;
    chunk->used += size;
    return bytes;
}

void *mp_arena_array(struct mp_arena *arena, size_t count, size_t size)
{
    return count <= SIZE_MAX / size ? mp_arena_new(arena, count * size) : NULL;
}

char *mp_arena_text(struct mp_arena *arena, const char *text, size_t size)
{
    char *copy = mp_arena_new(arena, size + 1);
    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}

void mp_arena_done(struct mp_arena *arena)
{
    while (arena->chunks != NULL) {
        struct mp_arena_chunk *chunk = arena->chunks;
        arena->chunks = chunk->next;
        explicit_bzero(chunk->bytes, chunk->used);
        free(chunk);
    }
}
