/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of an event. It belongs to the queue until it is taken, then to the host. */
#ifndef MP_MANAGER_EVENT_H
#define MP_MANAGER_EVENT_H

#include "manager/events.h"
#include "manager/seat.h"

#define MP_NO_CHANGE (-1)

struct mp_event_links {
    mcpump_event *prev, *next;
};

struct mcpump_event {
    mcpump_event_kind kind;
    uint64_t generation;
    uint64_t dropped;     /* just before it */
    struct mp_seat *seat; /* held */
    size_t size;          /* what it counts for in the queue */

    /* -- STATE */
    mcpump_server_state state, previous;
    mcpump_failure *failure; /* owned */

    /* -- what has a text; all in the allocation of the event, each ended by a NUL */
    struct mp_span text;
    struct mp_span params; /* within text */
    const char *method, *subscription;

    /* -- REQUEST; held, both */
    mcpump_server *server;
    struct mp_ask *ask;

    /* -- protected by the lock of the queue */
    struct mp_event_links all, droppable;
    bool gives_way; /* stands in the list of the droppable ones */
    int change;     /* which of the seat's `changed` it may be, or MP_NO_CHANGE */
};

/* Each returns new, without what it holds of a server. NULL: no memory. */
mcpump_event *mp_event_new_state(const struct mp_event_source *source,
                                 const mcpump_failure *failure);
mcpump_event *mp_event_new_text(mcpump_event_kind kind, const struct mp_event_source *source,
                                struct mp_span line, const struct mp_envelope *envelope);

/* Sets the failure of a STATE in place of the one it has; takes it. */
void mp_event_set_failure(mcpump_event *event, mcpump_failure *failure);

#endif
