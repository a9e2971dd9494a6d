/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interrupting: one transport, a group, all of them. What may be called in a signal handler is
 * atomics, a visit of a board and writes to eventfds: no lock, no allocation, errno kept.
 */
#include <stdlib.h>

#include "base/board.h"
#include "base/run.h"
#include "mcpump/run.h"
#include "transport/transport.h"

/* -- one */

static void ring(void *bell)
{
    mp_bell_ring(bell);
}

void mcpump_transport_interrupt(mcpump_transport *transport)
{
    if (mp_transport_is_elsewhere(transport))
        return;
    mp_latch_set(&transport->latch);
    mp_bell_ring(&transport->bell);
    mp_board_visit(&transport->watchers, ring);
}

void mcpump_transport_clear_interrupt(mcpump_transport *transport)
{
    mp_latch_clear(&transport->latch);
}

bool mcpump_transport_is_interrupted(const mcpump_transport *transport)
{
    return mp_latch_is_set(&transport->latch);
}

bool mcpump_transport_request_cancelled(const mcpump_transport *transport)
{
    return mp_latch_is_set(&transport->latch) || mp_run_is_cancelled(mcpump_run_current());
}

static void interrupt(void *transport)
{
    mcpump_transport_interrupt(transport);
}

static void clear(void *transport)
{
    mcpump_transport_clear_interrupt(transport);
}

/* -- a group */

struct mcpump_group {
    struct mp_latch latch;
    struct mp_board members;
};

mcpump_group *mcpump_group_new(void)
{
    mcpump_group *group = calloc(1, sizeof(*group));
    if (group != NULL)
        mp_board_init(&group->members);
    return group;
}

void mcpump_group_free(mcpump_group *group)
{
    if (group == NULL)
        return;
    mp_board_done(&group->members);
    free(group);
}

/* Joins first, then looks: an interrupt in between is either delivered or seen. */
mcpump_err mcpump_group_add(mcpump_group *group, mcpump_transport *transport)
{
    if (group == NULL || transport == NULL)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    if (!mp_board_join(&group->members, transport))
        return MCPUMP_ERR_NO_MEMORY;
    if (mp_latch_is_set(&group->latch))
        mcpump_transport_interrupt(transport);
    return MCPUMP_OK;
}

void mcpump_group_remove(mcpump_group *group, mcpump_transport *transport)
{
    mp_board_leave(&group->members, transport);
}

void mcpump_group_interrupt(mcpump_group *group)
{
    mp_latch_set(&group->latch);
    mp_board_visit(&group->members, interrupt);
}

void mcpump_group_clear_interrupt(mcpump_group *group)
{
    mp_latch_clear(&group->latch);
    mp_board_visit(&group->members, clear);
}

bool mcpump_group_is_interrupted(const mcpump_group *group)
{
    return mp_latch_is_set(&group->latch);
}

/* -- all */

/* All transports that were made in this process. Never done: a signal may come at any time. */
static struct mp_board all;

bool mp_interrupt_join_all(mcpump_transport *transport)
{
    return mp_board_join(&all, transport);
}

void mp_interrupt_leave_all(mcpump_transport *transport)
{
    mp_board_leave(&all, transport);
}

void mcpump_interrupt_all(void)
{
    mp_board_visit(&all, interrupt);
}

void mcpump_clear_interrupt_all(void)
{
    mp_board_visit(&all, clear);
}
