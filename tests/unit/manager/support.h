/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of this room: servers that are none, with a seat in a hub. */
#ifndef TEST_MANAGER_SUPPORT_H
#define TEST_MANAGER_SUPPORT_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "manager/seat.h"
#include "manager/server.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* One that has no process, no thread and no transport; held by the test alone. */
static inline mcpump_server *fake_server_new(struct mp_hub *hub, const char *name)
{
    mcpump_server *server = calloc(1, sizeof(*server));
    cr_assert_not_null(server);
    atomic_init(&server->refs, 1000000); /* so that no event ever frees it */
    mp_mutex_init(&server->lock);
    mp_cond_init(&server->work);
    server->turn.server = server;
    server->owner.seat = mp_seat_new(hub, name);
    server->owner.events = &hub->events;
    server->owner.turns = &hub->turns;
    return server;
}

static inline void fake_server_free(mcpump_server *server)
{
    mp_seat_unref(server->owner.seat);
    mp_cond_done(&server->work);
    mp_mutex_done(&server->lock);
    free(server);
}

#endif
