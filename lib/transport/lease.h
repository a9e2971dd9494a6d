/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who reads stdout. It is the reader thread, but for a caller that waits alone it is quicker to
 * read its reply itself than to be woken by another thread. So the reader lends the reading:
 *
 *   - It lends when a number of replies in a row left nobody asleep. From then on it does not watch
 *     stdout, and a caller that comes to wait *takes* the lease, reads and dispatches like the
 * reader (replies of others too), and *drops* it when its own reply is there. While nobody holds
 * it, it is there for the next caller.
 *   - A caller that cannot take the lease *sits*: it sleeps, and counts as a sleeper. The first one
 *     that sits ends the lending: where nobody holds the lease, stdout is the reader's again, which
 *     is rung; who holds it is asked for it, and drops it so.
 *   - So whenever somebody sleeps, the reader watches stdout, or a caller holds the lease that has
 *     been asked to drop it and is neither asleep on anything but the alarm and stdout, nor blocked
 *     (what it runs is the dispatch of the reader). No reply waits for a thread that does not come.
 *   - Where nobody sleeps and nobody holds the lease, something may be in the pipe, too: a
 *     notification, or replies to calls that nobody waits for. The reader has lent for a time: it
 *     wakes after MP_LEASE_MS, and when the lease was not taken since, stdout is its own again.
 * While a caller holds the lease, it *dozes* without a limit, and is rung at the drop. So nothing
 * in the pipe is older than two such times, and an idle connection makes no system call.
 *   - The reader never stops to watch the bell and the process. What it finds there is its own to
 *     handle; before it does anything that concerns stdout (the drain after an exit, the end) it
 *     takes the reading back, which the holder grants at once, and does not lend again.
 *
 * Requests that are submitted, and not waited for, are gathered by the same rule: while the lease
 * is there to be taken, a frame may be left in the outbox for whoever flushes it. That is whoever
 * changes this (takes the lease, sits, takes the reading back), after the change, and the reader
 * each time it wakes; who has left a frame looks after that, whether it is still so, and flushes if
 * not. So a frame that was gathered is as old as what is in the pipe, at most, when it is written.
 *
 * All this is one atomic word; each step below is one change of it, and what is rung is rung after
 * that. The framer and the other fields of the reading belong to the reader while the word says
 * that nothing is lent, else to who holds the lease: the changes of the word order their accesses.
 */
#ifndef MP_TRANSPORT_LEASE_H
#define MP_TRANSPORT_LEASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bell.h"
#include "base/promise.h"

/* How long stdout may stand unwatched when no caller reads. */
#define MP_LEASE_MS 2

struct mp_lease {
    const struct mp_bell *reader; /* immutable: wakes the reader */
    struct mp_alarm alarm;        /* wakes the holder, who sleeps in a poll */
    _Atomic uint32_t word;        /* sequentially consistent: see lease.c */
    _Atomic uint32_t taken;       /* how often; relaxed, changed by the holder */
    /* -- reader thread only */
    uint32_t seen;  /* of `taken`, when this time began */
    unsigned quiet; /* replies in a row that left nobody asleep */
};

/* 0 or an errno. */
int mp_lease_init(struct mp_lease *lease, const struct mp_bell *reader);
void mp_lease_done(struct mp_lease *lease);

/* -- by the reader thread */

/* Nothing is lent, for a new connection. */
void mp_lease_reset(struct mp_lease *lease);

/* After replies were dispatched: lends if it is time to. */
void mp_lease_offer(struct mp_lease *lease);

bool mp_lease_is_lent(const struct mp_lease *lease);

/* How long to sleep while it is lent; MP_NEVER: until rung. */
mp_deadline mp_lease_until(const struct mp_lease *lease);

/* That time is over: takes the reading back, or sees that it is still made use of. */
void mp_lease_review(struct mp_lease *lease);

/* Takes the reading back. False: somebody holds the lease, was asked to drop it, and will ring. */
bool mp_lease_reclaim(struct mp_lease *lease);

/* -- by a caller */

/* False: it cannot be had. */
bool mp_lease_take(struct mp_lease *lease);

/* Whether the holder has to drop it. */
bool mp_lease_is_wanted(const struct mp_lease *lease);

/* `for_good`: the holder has found what is for the reader to handle. */
void mp_lease_drop(struct mp_lease *lease, bool for_good);

/* Whether frames may be gathered: it is lent, and nobody holds it. */
bool mp_lease_is_free(const struct mp_lease *lease);

/* One more sleeps. It stands up by itself, unless it was posted, which does that: *ret_besides. */
void mp_lease_sit(struct mp_lease *lease, struct mp_besides *ret_besides);
void mp_lease_stand(struct mp_lease *lease);

#endif
