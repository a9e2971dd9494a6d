/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns: how many servers of a manager may connect at one time; those who come later get theirs in
 * the order in which they asked. Nobody blocks for a turn: who is given one is nudged.
 */
#ifndef MP_MANAGER_TURNS_H
#define MP_MANAGER_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sync.h"
#include "mcpump/server.h"

/* One server's turn; within the server. */
struct mp_turn {
    mcpump_server *server; /* immutable */
    /* -- protected by mp_turns.lock */
    struct mp_turn *next;
    bool is_waiting, is_given;
    bool is_nudged; /* a thread is about to nudge the server, which must last until then */
};

struct mp_turns {
    struct mp_mutex lock;
    struct mp_cond nudged; /* a nudge is over */
    /* -- protected by lock */
    int64_t free;
    struct mp_turn *first, *last; /* who waits */
};

void mp_turns_init(struct mp_turns *turns, int64_t count);
void mp_turns_done(struct mp_turns *turns);

/* True: it is this one's turn, until mp_turns_give_back. Else it is queued, and its server nudged
 * when the turn comes; asking again is free. NULL turns: always. Holding the server's lock is
 * allowed. */
bool mp_turns_take(struct mp_turns *turns, struct mp_turn *turn);

/*
 * Gives the turn back, or leaves the queue; nudges who is next. Not with a server's lock. Once it
 * has returned, nobody nudges this server any more: it waits for one who is about to. Who has taken
 * or asked for a turn has to do this before the server is freed.
 */
void mp_turns_give_back(struct mp_turns *turns, struct mp_turn *turn);

#endif
