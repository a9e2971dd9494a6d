/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A turn that is given back goes to the first who waits, under the lock; the nudge follows without
 * it, since it takes the server's lock, which comes first.
 */
#include "manager/turns.h"

#include "manager/server.h"

void mp_turns_init(struct mp_turns *turns, int64_t count)
{
    *turns = (struct mp_turns){.free = count};
    mp_mutex_init(&turns->lock);
    mp_cond_init(&turns->nudged);
}

void mp_turns_done(struct mp_turns *turns)
{
    mp_cond_done(&turns->nudged);
    mp_mutex_done(&turns->lock);
}

static void queue_locked(struct mp_turns *turns, struct mp_turn *turn) MP_REQUIRES(&turns->lock)
{
    turn->next = NULL;
    turn->is_waiting = true;
    *(turns->last != NULL ? &turns->last->next : &turns->first) = turn;
    turns->last = turn;
}

static void leave_locked(struct mp_turns *turns, struct mp_turn *turn) MP_REQUIRES(&turns->lock)
{
    struct mp_turn *before = NULL;
    for (struct mp_turn *each = turns->first; each != turn; each = each->next)
        before = each;
    *(before != NULL ? &before->next : &turns->first) = turn->next;
    if (turns->last == turn)
        turns->last = before;
    turn->is_waiting = false;
}

bool mp_turns_take(struct mp_turns *turns, struct mp_turn *turn)
{
    if (turns == NULL)
        return true;
    mp_mutex_lock(&turns->lock);
    if (!turn->is_given && !turn->is_waiting) {
        turn->is_given = turns->free > 0;
        if (turn->is_given)
            turns->free--;
        else
            queue_locked(turns, turn);
    }
    bool is_given = turn->is_given;
    mp_mutex_unlock(&turns->lock);
    return is_given;
}

/* The next one has the turn now, and is to be nudged; NULL: nobody waits. */
static struct mp_turn *pass_on_locked(struct mp_turns *turns) MP_REQUIRES(&turns->lock)
{
    struct mp_turn *next = turns->first;
    if (next == NULL) {
        turns->free++;
        return NULL;
    }
    leave_locked(turns, next);
    next->is_given = next->is_nudged = true;
    return next;
}

void mp_turns_give_back(struct mp_turns *turns, struct mp_turn *turn)
{
    struct mp_turn *next = NULL;
    if (turns == NULL)
        return;
    mp_mutex_lock(&turns->lock);
    /* Woken by who nudges; it does so without a lock of ours. */
    while (turn->is_nudged)
        mp_cond_wait(&turns->nudged, &turns->lock, MP_NEVER);
    if (turn->is_waiting)
        leave_locked(turns, turn);
    if (turn->is_given)
        next = pass_on_locked(turns);
    turn->is_given = false;
    mp_mutex_unlock(&turns->lock);
    if (next == NULL)
        return;
    mp_server_nudge(next->server);
    mp_mutex_lock(&turns->lock);
    next->is_nudged = false;
    mp_mutex_unlock(&turns->lock);
    mp_cond_broadcast(&turns->nudged);
}
