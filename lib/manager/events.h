/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event queue of a manager. Servers post; hosts take. It is bounded, also when no host ever
 * takes anything: notifications and lines of stderr give way, the oldest first, and are counted in
 * the event that comes after the gap; `list_changed` notifications that say the same of the same
 * server stand in it once; when it is full, the states of one server are joined, and requests are
 * refused. Posting takes a time that does not depend on what is queued, never blocks, and may hold
 * a server's lock.
 */
#ifndef MP_MANAGER_EVENTS_H
#define MP_MANAGER_EVENTS_H

#include <stdatomic.h>

#include "base/bell.h"
#include "base/board.h"
#include "base/latch.h"
#include "base/sync.h"
#include "mcpump/event.h"
#include "wire/envelope.h"

struct mp_ask;
struct mp_seat;

struct mp_event_limits {
    int kinds; /* bits of mcpump_event_kind */
    size_t max_events, max_bytes;
};

struct mp_event_list {
    mcpump_event *first, *last;
};

struct mp_events {
    /* -- immutable */
    struct mp_event_limits limits;
    /* Its fd is the host's to poll, readable while a take would not block. */
    struct mp_bell bell;
    /* The bells of those who wait, for an interrupt that is cleared at once. */
    struct mp_board takers;

    /* -- atomic, sequentially consistent: stored before the bell is rung, looked at after it was
     * heard; the flags are changed under the lock */
    struct mp_latch latch;
    atomic_bool has_events;
    atomic_bool is_closed; /* nothing is posted any more */

    struct mp_mutex lock;
    /* -- protected by lock */
    struct mp_event_list all;       /* in the order in which they are taken */
    struct mp_event_list droppable; /* those of them that give way, in the same order */
    size_t count, bytes;
    size_t request_count;
    uint64_t dropped; /* since the last event that was put in */
};

/* 0 or an errno. */
int mp_events_init(struct mp_events *events, const struct mp_event_limits *limits);
void mp_events_done(struct mp_events *events);

/* Whether events of this kind are queued at all. NULL: none are. */
static inline bool mp_events_want(const struct mp_events *events, mcpump_event_kind kind)
{
    return events != NULL && (events->limits.kinds & (int)kind) != 0;
}

/* Where an event comes from. */
struct mp_event_source {
    mcpump_server *server; /* with a seat (owner.seat); REQUESTs hold it */
    uint64_t generation;
};

/* `failure` is borrowed and may be NULL. */
void mp_events_post_state(struct mp_events *events, const struct mp_event_source *source,
                          mcpump_server_state state, mcpump_server_state previous,
                          const mcpump_failure *failure);
void mp_events_post_notification(struct mp_events *events, const struct mp_event_source *source,
                                 struct mp_span line, const struct mp_envelope *envelope);
void mp_events_post_stderr(struct mp_events *events, const struct mp_event_source *source,
                           struct mp_span line);
/* False: it was not posted (no room, no memory, closed), and the ask is still the caller's. */
bool mp_events_post_request(struct mp_events *events, const struct mp_event_source *source,
                            struct mp_ask *ask, struct mp_span line,
                            const struct mp_envelope *envelope);

/* As mcpump_manager_next_event; woken by who posts, by close and by interrupt. */
mcpump_err mp_events_take(struct mp_events *events, mp_deadline deadline, mcpump_event **ret_event);

/* Async-signal-safe, both. */
void mp_events_interrupt(struct mp_events *events);
void mp_events_clear_interrupt(struct mp_events *events);

/* The server of this seat is gone from the manager: its requests are dropped, its states give way
 * from now on as notifications do. Not under a lock. */
void mp_events_retire(struct mp_events *events, struct mp_seat *seat);

/* The last event is in; what is queued can still be taken. */
void mp_events_close(struct mp_events *events);
/* Throws away what is queued. Not under a lock. */
void mp_events_clear(struct mp_events *events);

#endif
