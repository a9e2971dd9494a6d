/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A board: a set of pointers that threads join and leave under a lock, and that a signal handler
 * may visit without one. Who leaves waits until every visit that may have seen the pointer is over,
 * so that what it points to can be freed then.
 *
 * In a forked child the board is empty: its members are the parent's, and so are the threads that
 * may have held its lock or visited it at the fork. It is made anew when somebody joins.
 */
#ifndef MP_BASE_BOARD_H
#define MP_BASE_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/home.h"
#include "base/sync.h"

#define MP_BOARD_CHUNK 8

struct mp_board_chunk {
    /* Stored under the lock, loaded by visitors: sequentially consistent, as is `visits`. Either a
     * visitor finds NULL, or who has just left finds the visit. */
    _Atomic(void *) members[MP_BOARD_CHUNK];
    /* Chunks are added under the lock and never taken away. */
    _Atomic(struct mp_board_chunk *) next;
    /* -- protected by the board's lock */
    size_t uses[MP_BOARD_CHUNK]; /* how often the member has joined */
};

/* All zero is a board too. */
struct mp_board {
    struct mp_once made;
    atomic_int visits; /* under way */
    struct mp_board_chunk first;
    struct mp_mutex lock;
};

void mp_board_init(struct mp_board *board);
/* No visit may be under way or come later. */
void mp_board_done(struct mp_board *board);

/* The same member may join many times; it leaves as often. False: no memory. */
bool mp_board_join(struct mp_board *board, void *member);

/* When it was the last time, waits for the visits under way: they are short, and end by
 * themselves. */
void mp_board_leave(struct mp_board *board, void *member);

/* Calls `fn` with each member. Async-signal-safe if fn is; errno is fn's. */
void mp_board_visit(struct mp_board *board, void (*fn)(void *member));

#endif
