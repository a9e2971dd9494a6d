/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wanted of a server, by calls and by its host: a connection, or none. The state changes at
 * once, under the lock; the keeper is nudged and sees to the process.
 */
#include <stdio.h>

#include "manager/events.h"
#include "manager/server.h"

void mp_server_nudge_locked(mcpump_server *server)
{
    server->nudges++;
    mp_cond_signal(&server->work);
}

void mp_server_nudge(mcpump_server *server)
{
    mp_mutex_lock(&server->lock);
    mp_server_nudge_locked(server);
    mp_mutex_unlock(&server->lock);
}

static void tell_locked(mcpump_server *server, mcpump_server_state previous,
                        const mcpump_failure *failure) MP_REQUIRES(&server->lock)
{
    struct mp_event_source source = {server, atomic_load(&server->generation)};
    if (mp_events_want(server->owner.events, MCPUMP_EVENT_STATE))
        mp_events_post_state(server->owner.events, &source, server->state, previous, failure);
}

void mp_server_set_state_locked(mcpump_server *server, mcpump_server_state state,
                                const mcpump_failure *failure)
{
    mcpump_server_state previous = server->state;
    if (state == previous)
        return;
    server->state = state;
    if (state != MCPUMP_SERVER_READY)
        atomic_store(&server->revision, NULL);
    if (state == MCPUMP_SERVER_IDLE || state == MCPUMP_SERVER_STOPPED)
        server->comes_back = false;
    mp_trace_moment(&server->transport->row, server->transport->options.label,
                    mcpump_server_state_name(state), mcpump_server_state_name(previous));
    tell_locked(server, previous, failure);
    for (struct mp_joiner *joiner = server->joiners; joiner != NULL; joiner = joiner->next)
        mp_bell_ring(&joiner->bell);
    mp_server_nudge_locked(server);
}

int mp_server_want_locked(mcpump_server *server, uint64_t latch_count)
{
    if (!server->has_keeper) {
        char name[32];
        snprintf(name, sizeof(name), "mcp-k:%.20s", server->transport->options.label);
        int err = mp_thread_start(&server->keeper, name, mp_keeper_main, server);
        if (err != 0)
            return err;
        server->has_keeper = true;
    }
    server->latch_count = latch_count;
    server->is_wanted = false;
    server->shutdowns = mp_transport_shutdowns();
    mp_server_set_state_locked(server, MCPUMP_SERVER_CONNECTING, NULL);
    return 0;
}

/* -- going down */

void mp_server_drop_locked(mcpump_server *server)
{
    server->last_was_stopped = true;
    server->downs_wanted++;
    mp_server_set_state_locked(server, MCPUMP_SERVER_IDLE, NULL);
    mp_transport_close_begin(server->transport, false);
}

/*
 * The transport is told under the lock: the keeper cannot have opened the next connection yet,
 * which must not be hit. One that it is about to open it ends itself: it looks again once it is
 * open.
 */
uint64_t mp_server_down(mcpump_server *server, mcpump_server_state state, bool hurry)
{
    mp_mutex_lock(&server->lock);
    uint64_t down = ++server->downs_wanted;
    server->closes++;
    mp_server_set_state_locked(server, state, NULL);
    if (!server->is_up) { /* nor will it be: the state says so */
        server->downs_done = down;
        mp_cond_broadcast(&server->changed);
    }
    mp_transport_close_begin(server->transport, hurry);
    mp_server_nudge_locked(server);
    mp_mutex_unlock(&server->lock);
    return down;
}

bool mp_server_wait_down(mcpump_server *server, uint64_t down, mp_deadline deadline)
{
    bool in_time = true;
    mp_mutex_lock(&server->lock);
    /* Woken by the keeper. */
    while (server->downs_done < down && in_time)
        in_time = mp_cond_wait(&server->changed, &server->lock, deadline);
    bool is_done = server->downs_done >= down;
    mp_mutex_unlock(&server->lock);
    return is_done;
}

/* Two threads at it: the second is impatient. */
static void close_and_wait(mcpump_server *server, mcpump_server_state state)
{
    if (mp_transport_is_elsewhere(server->transport))
        return;
    mp_mutex_lock(&server->lock);
    bool hurry = server->closers++ > 0;
    mp_mutex_unlock(&server->lock);
    mp_server_wait_down(server, mp_server_down(server, state, hurry), MP_NEVER);
    mp_mutex_lock(&server->lock);
    server->closers--;
    mp_mutex_unlock(&server->lock);
}

void mcpump_server_close(mcpump_server *server)
{
    close_and_wait(server, MCPUMP_SERVER_IDLE);
}

void mcpump_server_stop(mcpump_server *server)
{
    close_and_wait(server, MCPUMP_SERVER_STOPPED);
}

void mcpump_server_stop_begin(mcpump_server *server)
{
    if (mp_transport_is_elsewhere(server->transport))
        return;
    mp_mutex_lock(&server->lock);
    bool hurry = server->begun_down > server->downs_done;
    server->begun_down = server->downs_wanted + 1;
    mp_mutex_unlock(&server->lock);
    mp_server_down(server, MCPUMP_SERVER_STOPPED, hurry);
}

/* -- coming up */

static mcpump_err refuse_start(mcpump_server *server, mcpump_err err, int sys_errno,
                               mcpump_failure **ret_failure)
{
    struct mp_failure_facts facts = {
        .name = server->transport->options.label,
        .err = err,
        .phase = MCPUMP_PHASE_START,
        .stage = sys_errno != 0 ? MCPUMP_STAGE_THREADS : MCPUMP_STAGE_NONE,
        .sys_errno = sys_errno,
    };
    return mp_fail(ret_failure, &facts, NULL);
}

void mp_server_retire(mcpump_server *server)
{
    mp_mutex_lock(&server->lock);
    server->is_retired = true;
    mp_mutex_unlock(&server->lock);
}

mcpump_err mcpump_server_start(mcpump_server *server, mcpump_failure **ret_failure)
{
    if (ret_failure != NULL)
        *ret_failure = NULL;
    if (server == NULL)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    if (mp_transport_is_elsewhere(server->transport))
        return refuse_start(server, MCPUMP_ERR_FORKED, 0, ret_failure);
    int err = 0;
    mp_mutex_lock(&server->lock);
    bool is_retired = server->is_retired;
    if (!is_retired && server->state != MCPUMP_SERVER_READY &&
        server->state != MCPUMP_SERVER_CONNECTING)
        err = mp_server_want_locked(server, mp_latch_count(&server->transport->latch));
    if (err == 0 && !is_retired)
        server->is_wanted = server->comes_back = true;
    mp_mutex_unlock(&server->lock);
    if (is_retired)
        return refuse_start(server, MCPUMP_ERR_NOT_OPEN, 0, ret_failure);
    return err == 0 ? MCPUMP_OK : refuse_start(server, MCPUMP_ERR_SPAWN, err, ret_failure);
}

mcpump_err mcpump_server_restart(mcpump_server *server, mcpump_failure **ret_failure)
{
    if (ret_failure != NULL)
        *ret_failure = NULL;
    if (server == NULL)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    if (!mp_transport_is_elsewhere(server->transport))
        mp_server_down(server, MCPUMP_SERVER_STOPPED, false);
    return mcpump_server_connect(server, ret_failure);
}
