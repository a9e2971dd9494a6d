/* SPDX-License-Identifier: Apache-2.0 */
#include "base/board.h"

#include <assert.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* A member's place; `chunk` NULL: none. */
struct place {
    struct mp_board_chunk *chunk;
    size_t at;
};

static void make(void *arg)
{
    struct mp_board *board = arg;
    atomic_store(&board->visits, 0);
    memset(&board->first, 0, sizeof(board->first));
    mp_mutex_init(&board->lock);
}

void mp_board_init(struct mp_board *board)
{
    memset(board, 0, sizeof(*board));
    mp_once_here(&board->made, make, board);
}

void mp_board_done(struct mp_board *board)
{
    if (!mp_once_was_here(&board->made))
        return; /* the parent may have been changing it; the memory goes with the child */
    struct mp_board_chunk *chunk = atomic_load(&board->first.next);
    while (chunk != NULL) {
        struct mp_board_chunk *next = atomic_load(&chunk->next);
        free(chunk);
        chunk = next;
    }
    mp_mutex_done(&board->lock);
}

/* The member's place, or a free one for NULL. */
static struct place find_locked(struct mp_board *board, const void *member)
    MP_REQUIRES(&board->lock)
{
    for (struct mp_board_chunk *chunk = &board->first; chunk != NULL;
         chunk = atomic_load(&chunk->next)) {
        for (size_t i = 0; i < MP_BOARD_CHUNK; i++) {
            if (atomic_load(&chunk->members[i]) == member)
                return (struct place){chunk, i};
        }
    }
    return (struct place){NULL, 0};
}

static struct place add_chunk_locked(struct mp_board *board) MP_REQUIRES(&board->lock)
{
    struct mp_board_chunk *chunk = calloc(1, sizeof(*chunk));
    if (chunk != NULL) {
        atomic_store(&chunk->next, atomic_load(&board->first.next));
        atomic_store(&board->first.next, chunk);
    }
    return (struct place){chunk, 0};
}

bool mp_board_join(struct mp_board *board, void *member)
{
    mp_once_here(&board->made, make, board);
    mp_mutex_lock(&board->lock);
    struct place place = find_locked(board, member);
    if (place.chunk == NULL)
        place = find_locked(board, NULL);
    if (place.chunk == NULL)
        place = add_chunk_locked(board);
    bool has_place = place.chunk != NULL;
    if (has_place) {
        place.chunk->uses[place.at]++;
        atomic_store(&place.chunk->members[place.at], member);
    }
    mp_mutex_unlock(&board->lock);
    return has_place;
}

void mp_board_leave(struct mp_board *board, void *member)
{
    if (!mp_once_was_here(&board->made))
        return; /* it has joined in the parent */
    mp_mutex_lock(&board->lock);
    struct place place = find_locked(board, member);
    assert(place.chunk != NULL);
    bool is_last = --place.chunk->uses[place.at] == 0;
    if (is_last)
        atomic_store(&place.chunk->members[place.at], NULL);
    mp_mutex_unlock(&board->lock);
    while (is_last && atomic_load(&board->visits) != 0)
        sched_yield();
}

void mp_board_visit(struct mp_board *board, void (*fn)(void *member))
{
    if (!mp_once_was_here(&board->made))
        return;
    atomic_fetch_add(&board->visits, 1);
    for (struct mp_board_chunk *chunk = &board->first; chunk != NULL;
         chunk = atomic_load(&chunk->next)) {
        for (size_t i = 0; i < MP_BOARD_CHUNK; i++) {
            void *member = atomic_load(&chunk->members[i]);
            if (member != NULL)
                fn(member);
        }
    }
    atomic_fetch_sub(&board->visits, 1);
}
