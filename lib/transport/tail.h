/* SPDX-License-Identifier: Apache-2.0 */
/* The last lines of a server's stderr, kept for failures: at most 64 lines and 16 KiB. */
#ifndef MP_TRANSPORT_TAIL_H
#define MP_TRANSPORT_TAIL_H

#include <stddef.h>

#include "base/sync.h"

#define MP_TAIL_LINES 64
#define MP_TAIL_BYTES (16 * 1024)

struct mp_tail {
    struct mp_mutex lock;
    /* -- protected by lock */
    char *text; /* lines, each ended by LF; NULL until the first */
    size_t size;
    size_t lines;
};

void mp_tail_init(struct mp_tail *tail);
void mp_tail_done(struct mp_tail *tail);

/* Forgets all lines. */
void mp_tail_clear(struct mp_tail *tail);

/* Adds a clean line without its end; the oldest go. A line that finds no memory is left out. */
void mp_tail_add(struct mp_tail *tail, const char *line, size_t size);

/* Returns new: the lines, NUL-terminated, for free(3); NULL when there are none or no memory. */
char *mp_tail_copy(struct mp_tail *tail);

#endif
