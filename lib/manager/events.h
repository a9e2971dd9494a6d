/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event queue of a manager. Servers post; hosts take. It is bounded: notifications and lines of
 * stderr give way, the oldest first, and are counted in the event that comes after the gap;
 * `list_changed` notifications that say the same of the same server stand in it once; states of one
 * server are joined when the queue is full. Posting never blocks and may hold a server's lock.
 */
#ifndef MP_MANAGER_EVENTS_H
#define MP_MANAGER_EVENTS_H

#include <stdatomic.h>

#include "base/bell.h"
#include "base/sync.h"
#include "mcpump/event.h"
#include "wire/envelope.h"

struct mp_event_limits {
    int kinds; /* bits of mcpump_event_kind */
    size_t max_events, max_bytes;
};

struct mp_events {
    /* -- immutable */
    struct mp_event_limits limits;
    /* Rung when the queue is no longer empty, at its end, and by the latch: its fd is the host's to
     * poll, readable while a take would not block. */
    struct mp_bell bell;
    atomic_bool is_interrupted; /* stored before the bell is rung, also in a signal handler */

    struct mp_mutex lock;
    /* -- protected by lock */
    mcpump_event *first, *last;
    size_t count, bytes;
    uint64_t dropped; /* since the last event that was put in */
    bool is_closed;   /* nothing is posted any more */
};

/* 0 or an errno. */
int mp_events_init(struct mp_events *events, const struct mp_event_limits *limits);
void mp_events_done(struct mp_events *events);

static inline bool mp_events_want(const struct mp_events *events, mcpump_event_kind kind)
{
    return events != NULL && (events->limits.kinds & (int)kind) != 0;
}

/* Where an event comes from. */
struct mp_event_source {
    mcpump_server *server; /* referenced by the events that need it */
    const char *name;
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
/* False: it was not posted (no memory, closed). */
struct mp_ask;
bool mp_events_post_request(struct mp_events *events, const struct mp_event_source *source,
                            struct mp_ask *ask, struct mp_span line,
                            const struct mp_envelope *envelope);

/* As mcpump_manager_next_event; woken by who posts, by close and by interrupt. */
mcpump_err mp_events_take(struct mp_events *events, mp_deadline deadline, mcpump_event **ret_event);

/* Async-signal-safe. */
void mp_events_interrupt(struct mp_events *events);
void mp_events_clear_interrupt(struct mp_events *events);

/* The last event is in; what is queued can still be taken. */
void mp_events_close(struct mp_events *events);

#endif
