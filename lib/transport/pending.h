/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pending table: requests that wait for a reply, by id. Each is a promise of its own, so that a
 * reply wakes who waits for it and nobody else.
 *
 * Ids grow for the life of the table and are never used twice, across reopenings too: a reply that
 * comes late can meet no later request. Whoever removes an entry from the table completes it,
 * exactly once; until then nobody else touches it. Entries are recycled; their memory stays until
 * mp_pending_done.
 */
#ifndef MP_TRANSPORT_PENDING_H
#define MP_TRANSPORT_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/latch.h"
#include "base/promise.h"
#include "base/run.h"
#include "base/sync.h"
#include "mcpump/error.h"
#include "mcpump/reply.h"
#include "wire/framer.h"

struct mp_frame;

struct mp_entry {
    /* -- immutable while registered */
    uint64_t id;
    uint64_t connection;   /* which it is on */
    uint64_t latch_count;  /* of the latch, when the call began */
    const mcpump_run *run; /* what the call belongs to; NULL: no run */
    mp_deadline deadline;
    struct mp_span caller_id; /* within the caller's request; valid until done */
    /* -- protected by mp_pending.lock */
    struct mp_entry *next; /* in its bucket, or in the list of free entries */
    /* -- whoever removed it from the table, until done */
    struct mp_entry *next_removed;
    mcpump_err err;
    mcpump_reply *reply; /* when err is MCPUMP_OK */
    int64_t *replied_ns; /* where the time of the reply is wanted; NULL: nowhere */

    struct mp_promise done; /* kept by that one */
    uint32_t bed;           /* immutable: for who waits for it, in the dormitory of the table */

    /* -- the caller */
    struct mp_frame *spare; /* of an earlier call, to be used again; NULL: none */
    bool is_alone;          /* when it was registered, it was the only one */
};

/* How many given-up ids are remembered, to tell a late reply from a duplicate. */
#define MP_PENDING_GIVEN_UP 256

struct mp_pending {
    struct mp_dorm dorm;
    /* No deadline in the table is earlier, but for those that nobody sleeps on. Stored under the
     * lock; who has registered, which takes the lock, loads it without. */
    _Atomic mp_deadline alarm;
    struct mp_mutex lock;
    /* -- protected by lock */
    bool accepting;
    uint64_t connection; /* how often it has begun to accept */
    uint64_t next_id;
    struct mp_entry **buckets;
    size_t bucket_count; /* a power of two, or 0 */
    size_t count;
    struct mp_entry *free;
    unsigned made;                          /* entries, ever */
    uint64_t given_up[MP_PENDING_GIVEN_UP]; /* id at id % size; 0: none */
};

/* Why a reply found no entry. */
enum mp_stray {
    MP_STRAY_LATE,      /* its caller had given up */
    MP_STRAY_DUPLICATE, /* it was answered before */
    MP_STRAY_UNKNOWN,   /* never used */
};

void mp_pending_init(struct mp_pending *pending);
/* No entry may be in use. */
void mp_pending_done(struct mp_pending *pending);

/* Lets entries in, of a new connection, or not; the entries that are in stay. */
void mp_pending_accept(struct mp_pending *pending, bool accepting);

/* Which connection it is now. */
uint64_t mp_pending_connection(struct mp_pending *pending);

/* What an entry starts with. */
struct mp_registration {
    struct mp_span caller_id;
    uint64_t latch_count;
    const mcpump_run *run;
    uint64_t connection; /* the only one that the call may go out on; 0: any */
    int64_t *replied_ns;
    mp_deadline deadline;
};

/* Registers a call under a new id. Errors: CLOSED (not accepting), NO_MEMORY. */
mcpump_err mp_pending_register(struct mp_pending *pending,
                               const struct mp_registration *registration,
                               struct mp_entry **ret_entry);

/* Removes the entry of an id and returns it, or NULL and *ret_stray. For the reader. */
struct mp_entry *mp_pending_take(struct mp_pending *pending, uint64_t id, enum mp_stray *ret_stray);

/*
 * Removes the entry, which the caller then completes, and remembers its id as given up; false when
 * somebody else has removed it and is about to complete it.
 */
bool mp_pending_give_up(struct mp_pending *pending, struct mp_entry *entry);

/* Removes the entries that the latch hits, with err INTERRUPTED, and those whose run is cancelled,
 * with CANCELLED; returns them as a list by next_removed. */
struct mp_entry *mp_pending_take_stopped(struct mp_pending *pending, const struct mp_latch *latch);

/*
 * Deadlines are watched by one thread, the reader, so that those who sleep need no timer each: the
 * kernel's cost more than the rest of a sleep. mp_pending_set_alarm is for who is about to sleep on
 * an entry: true: the watcher has to be woken, since it sleeps too long. It sleeps until the alarm,
 * then takes the entries whose time is over, with err TIMEOUT, which sets the alarm anew.
 */
bool mp_pending_set_alarm(struct mp_pending *pending, const struct mp_entry *entry);
mp_deadline mp_pending_alarm(struct mp_pending *pending);
struct mp_entry *mp_pending_take_late(struct mp_pending *pending);

/* Removes all entries, with err CLOSED. */
struct mp_entry *mp_pending_take_all(struct mp_pending *pending);

/* Completes an entry that the caller removed: wakes who waits for it. No lock held. */
void mp_entry_complete(struct mp_entry *entry);

/* Completes a list by next_removed; those who sleep are woken all at once. */
void mp_entry_complete_list(struct mp_entry *list);

/* Waits until the entry is done: woken by mp_entry_complete, or at the deadline: false then. */
bool mp_entry_wait(struct mp_entry *entry, mp_deadline deadline);

/* Whether it is done, now. */
bool mp_entry_is_done(struct mp_entry *entry);

/* Gives a done entry back. Its reply must have been taken. */
void mp_pending_release(struct mp_pending *pending, struct mp_entry *entry);

/* How many wait. */
size_t mp_pending_count(struct mp_pending *pending);

#endif
