/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the servers of a manager share (the hub), and the place that each of them has there (its
 * seat). A server, and each event that tells of it, holds the seat, and a seat holds the hub: both
 * outlive the manager as long as a host keeps one of them.
 */
#ifndef MP_MANAGER_SEAT_H
#define MP_MANAGER_SEAT_H

#include <stdatomic.h>

#include "manager/events.h"
#include "manager/turns.h"

struct mp_hub {
    atomic_int refs;
    struct mp_events events;
    struct mp_turns turns;
};

/* Returns new, held once; NULL: *ret_errno says why. */
struct mp_hub *mp_hub_new(const struct mp_event_limits *limits, int64_t parallel_starts,
                          int *ret_errno);
void mp_hub_unref(struct mp_hub *hub);

/* The list_changed notifications: tools, prompts, resources. */
#define MP_CHANGES 3

struct mp_seat {
    atomic_int refs;
    /* -- immutable */
    struct mp_hub *hub;
    char *name; /* of the server */
    /* -- protected by the lock of the events: what stands in the queue */
    mcpump_event *state; /* the last one */
    mcpump_event *changed[MP_CHANGES];
    size_t requests;
    bool is_retired; /* the server is gone from the manager: none of its events has to stay */
};

/* Returns new, held once. NULL: no memory. */
struct mp_seat *mp_seat_new(struct mp_hub *hub, const char *name);
struct mp_seat *mp_seat_ref(struct mp_seat *seat);
/* NULL is allowed. */
void mp_seat_unref(struct mp_seat *seat);

#endif
