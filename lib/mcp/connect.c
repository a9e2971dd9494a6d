/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connecting a server: one thread at a time does it, with the lock released; those who come
 * meanwhile wait for its outcome, each until its own deadline. The one who connects wakes them.
 */
#include "mcp/server.h"

/* -- one attempt, by the thread that has set CONNECTING */

static bool is_closing(mcpump_server *server)
{
    mp_mutex_lock(&server->lock);
    bool closing = server->closers > 0;
    mp_mutex_unlock(&server->lock);
    return closing;
}

/* Starts a process, unless somebody closes. One who begins to close between the two looks finds the
 * transport closed and waits for us; the second look then ends what we have opened. */
static mcpump_err open_transport(mcpump_server *server, uint64_t latch_count,
                                 mcpump_failure **ret_failure)
{
    if (!is_closing(server)) {
        mcpump_err err = mp_transport_open(server->transport, latch_count, ret_failure);
        if (err != MCPUMP_OK || !is_closing(server))
            return err;
        mcpump_transport_close(server->transport);
    }
    return mp_server_fail(server, MCPUMP_ERR_CLOSED, MCPUMP_PHASE_START, NULL,
                          mcpump_cause_text(MCPUMP_CAUSE_CLOSED_BY_HOST), ret_failure);
}

static mcpump_err shake_hands(mcpump_server *server, uint64_t latch_count, mp_deadline deadline,
                              const struct mp_revision **ret_revision, mcpump_failure **ret_failure)
{
    struct mp_handshake handshake = {
        .transport = server->transport,
        .client = &server->client,
        .era = server->era,
        .probe_timeout_ms = server->probe_timeout_ms,
        .deadline = deadline,
        .may_respawn = true,
    };
    mcpump_err err = open_transport(server, latch_count, ret_failure);
    if (err != MCPUMP_OK)
        return err;
    enum mp_handshake_result result = mp_handshake_run(&handshake, ret_revision, &err, ret_failure);
    if (result == MP_HANDSHAKE_RESPAWN) {
        mcpump_transport_close(server->transport);
        handshake.may_respawn = false;
        handshake.era = MCPUMP_ERA_LEGACY;
        err = open_transport(server, latch_count, ret_failure);
        if (err != MCPUMP_OK)
            return err;
        result = mp_handshake_run(&handshake, ret_revision, &err, ret_failure);
    }
    if (result == MP_HANDSHAKE_AGREED)
        return MCPUMP_OK;
    return err;
}

/* Tells the outcome to those who wait; on failure the process is stopped after that, so that they
 * do not wait for it too. */
static void publish(mcpump_server *server, mcpump_err err, const struct mp_revision *revision,
                    mcpump_failure *failure, bool hurried)
{
    mp_mutex_lock(&server->lock);
    server->attempts++;
    server->last_err = err;
    mcpump_failure *old = server->last_failure;
    server->last_failure = failure;
    server->last_was_hurried = hurried;
    server->revision = revision;
    if (err == MCPUMP_OK)
        server->state = MP_SERVER_READY;
    mp_mutex_unlock(&server->lock);
    mp_cond_broadcast(&server->changed);
    mcpump_failure_free(old);
}

static void give_up(mcpump_server *server)
{
    mcpump_transport_close(server->transport);
    mp_mutex_lock(&server->lock);
    server->state = MP_SERVER_IDLE;
    mp_mutex_unlock(&server->lock);
    mp_cond_broadcast(&server->changed);
}

static mcpump_err connect_now(mcpump_server *server, mp_deadline deadline,
                              mcpump_failure **ret_failure)
{
    mp_deadline own = mp_deadline_after_ms(server->connect_timeout_ms);
    uint64_t latch_count = mp_latch_count(&server->transport->latch);
    const struct mp_revision *revision = NULL;
    mcpump_failure *failure = NULL;
    mcpump_transport_close(server->transport); /* what is left of a connection that was lost */
    mcpump_err err =
        shake_hands(server, latch_count, mp_deadline_earlier(own, deadline), &revision, &failure);
    if (ret_failure != NULL)
        *ret_failure = mp_failure_clone(failure);
    publish(server, err, revision, failure, err == MCPUMP_ERR_TIMEOUT && deadline < own);
    if (err != MCPUMP_OK)
        give_up(server);
    return err;
}

/* -- who connects, who waits; `reconnect`: also when a connection has been lost */

/* Waits for the attempt that is under way: woken by who makes it. False: the deadline was first. */
static bool wait_for_attempt_locked(mcpump_server *server, mp_deadline deadline)
    MP_REQUIRES(&server->lock)
{
    uint64_t attempts = server->attempts;
    bool in_time = true;
    while (server->state == MP_SERVER_CONNECTING && server->attempts == attempts && in_time)
        in_time = mp_cond_wait(&server->changed, &server->lock, deadline);
    return server->attempts != attempts;
}

/* After a failed attempt its maker still stops the process: woken by it, bounded by the ladder. */
static bool wait_until_idle_locked(mcpump_server *server, mp_deadline deadline)
    MP_REQUIRES(&server->lock)
{
    bool in_time = true;
    while (server->state == MP_SERVER_CONNECTING && in_time)
        in_time = mp_cond_wait(&server->changed, &server->lock, deadline);
    return server->state != MP_SERVER_CONNECTING;
}

static mcpump_err timed_out(mcpump_server *server, mcpump_failure **ret_failure)
{
    return mp_server_fail(server, MCPUMP_ERR_TIMEOUT, MCPUMP_PHASE_HANDSHAKE, NULL,
                          "the time is over while the server is being connected", ret_failure);
}

enum turn {
    TURN_CONNECT, /* it is up to this thread: CONNECTING was set */
    TURN_DONE,    /* ready */
    TURN_FAILED,  /* the attempt waited for has failed: its failure is this thread's too */
    TURN_LATE,    /* the deadline */
};

static enum turn take_turn_locked(mcpump_server *server, mp_deadline deadline, bool reconnect)
    MP_REQUIRES(&server->lock)
{
    while (server->state == MP_SERVER_CONNECTING) {
        bool ended = wait_for_attempt_locked(server, deadline);
        if (ended && server->last_err != MCPUMP_OK && !server->last_was_hurried)
            return TURN_FAILED;
        if (!wait_until_idle_locked(server, deadline))
            return TURN_LATE;
    }
    bool is_lost = reconnect && !mcpump_transport_is_connected(server->transport);
    if (server->state == MP_SERVER_READY && !is_lost)
        return TURN_DONE;
    server->state = MP_SERVER_CONNECTING;
    return TURN_CONNECT;
}

static mcpump_err connect_or_join(mcpump_server *server, mp_deadline deadline, bool reconnect,
                                  const struct mp_revision **ret_revision,
                                  mcpump_failure **ret_failure)
{
    mcpump_err err = MCPUMP_OK;
    mp_mutex_lock(&server->lock);
    enum turn turn = take_turn_locked(server, deadline, reconnect);
    if (turn == TURN_FAILED) {
        err = server->last_err;
        if (ret_failure != NULL)
            *ret_failure = mp_failure_clone(server->last_failure);
    }
    *ret_revision = server->revision;
    mp_mutex_unlock(&server->lock);
    if (turn == TURN_LATE)
        return timed_out(server, ret_failure);
    if (turn != TURN_CONNECT)
        return err;
    err = connect_now(server, deadline, ret_failure);
    mp_mutex_lock(&server->lock);
    *ret_revision = server->revision;
    mp_mutex_unlock(&server->lock);
    return err;
}

/* In a forked child not even the lock may be touched. */
static mcpump_err fail_elsewhere(mcpump_server *server, mcpump_phase phase,
                                 mcpump_failure **ret_failure)
{
    return mp_server_fail(server, MCPUMP_ERR_FORKED, phase, NULL,
                          mcpump_err_text(MCPUMP_ERR_FORKED), ret_failure);
}

mcpump_err mp_server_ready(mcpump_server *server, mp_deadline deadline,
                           const struct mp_revision **ret_revision, mcpump_failure **ret_failure)
{
    const struct mp_revision *revision = NULL;
    if (mp_transport_is_elsewhere(server->transport))
        return fail_elsewhere(server, MCPUMP_PHASE_REQUEST, ret_failure);
    if (mcpump_server_is_interrupted(server))
        return mp_server_fail(server, MCPUMP_ERR_INTERRUPTED, MCPUMP_PHASE_REQUEST, NULL,
                              mcpump_err_text(MCPUMP_ERR_INTERRUPTED), ret_failure);
    mcpump_err err = connect_or_join(server, deadline, false, &revision, ret_failure);
    if (err != MCPUMP_OK)
        return err;
    if (revision == NULL) /* closed in the same instant */
        return mp_server_fail(server, MCPUMP_ERR_NOT_OPEN, MCPUMP_PHASE_REQUEST, NULL,
                              mcpump_err_text(MCPUMP_ERR_NOT_OPEN), ret_failure);
    *ret_revision = revision;
    return MCPUMP_OK;
}

mcpump_err mcpump_server_connect(mcpump_server *server, mcpump_failure **ret_failure)
{
    const struct mp_revision *revision;
    if (ret_failure != NULL)
        *ret_failure = NULL;
    if (server == NULL)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    if (mp_transport_is_elsewhere(server->transport))
        return fail_elsewhere(server, MCPUMP_PHASE_START, ret_failure);
    /* Each attempt is bounded by connect_timeout_ms. */
    return connect_or_join(server, MP_NEVER, true, &revision, ret_failure);
}

void mcpump_server_close(mcpump_server *server)
{
    if (mp_transport_is_elsewhere(server->transport))
        return;
    mp_mutex_lock(&server->lock);
    server->closers++;
    mp_mutex_unlock(&server->lock);
    mcpump_transport_close(server->transport);

    mp_mutex_lock(&server->lock);
    wait_until_idle_locked(server, MP_NEVER);
    server->closers--;
    if (server->closers == 0 && server->state == MP_SERVER_READY) {
        server->state = MP_SERVER_IDLE;
        server->revision = NULL;
    }
    mp_mutex_unlock(&server->lock);
}
