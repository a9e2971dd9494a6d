/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is given back at once, and wiped then: the texts of a configuration, some of which
 * came out of the environment.
 */
#ifndef MP_CONFIG_ARENA_H
#define MP_CONFIG_ARENA_H

#include <stddef.h>

struct mp_arena {
    struct mp_arena_chunk *chunks; /* the one in use first */
};

/* Zeroed; NULL: no memory. */
void *mp_arena_new(struct mp_arena *arena, size_t size);

/* The same for an array of `count`, which may be 0. */
void *mp_arena_array(struct mp_arena *arena, size_t count, size_t size);

/* A copy, NUL-terminated. */
char *mp_arena_text(struct mp_arena *arena, const char *text, size_t size);

void mp_arena_done(struct mp_arena *arena);

#endif
