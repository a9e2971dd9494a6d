/* SPDX-License-Identifier: Apache-2.0 */
#include "manager/seat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct mp_hub *mp_hub_new(const struct mp_event_limits *limits, int64_t parallel_starts,
                          int *ret_errno)
{
    struct mp_hub *hub = calloc(1, sizeof(*hub));
    *ret_errno = hub != NULL ? mp_events_init(&hub->events, limits) : ENOMEM;
    if (*ret_errno != 0) {
        free(hub);
        return NULL;
    }
    mp_turns_init(&hub->turns, parallel_starts);
    atomic_init(&hub->refs, 1);
    return hub;
}

void mp_hub_unref(struct mp_hub *hub)
{
    if (hub == NULL || atomic_fetch_sub(&hub->refs, 1) > 1)
        return;
    mp_turns_done(&hub->turns);
    mp_events_done(&hub->events);
    free(hub);
}

struct mp_seat *mp_seat_new(struct mp_hub *hub, const char *name)
{
    struct mp_seat *seat = calloc(1, sizeof(*seat));
    char *copy = strdup(name);
    if (seat == NULL || copy == NULL) {
        free(seat);
        free(copy);
        return NULL;
    }
    atomic_fetch_add(&hub->refs, 1);
    atomic_init(&seat->refs, 1);
    seat->hub = hub;
    seat->name = copy;
    return seat;
}

struct mp_seat *mp_seat_ref(struct mp_seat *seat)
{
    atomic_fetch_add(&seat->refs, 1);
    return seat;
}

void mp_seat_unref(struct mp_seat *seat)
{
    if (seat == NULL || atomic_fetch_sub(&seat->refs, 1) > 1)
        return;
    mp_hub_unref(seat->hub);
    free(seat->name);
    free(seat);
}
