/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connecting a server: one thread at a time does it, with the lock released; those who come
 * meanwhile wait for its outcome, each until its own deadline. The one who connects wakes them.
 */
#include <poll.h>

#include "mcp/server.h"
#include "mcpump/run.h"

/* -- one attempt, by the thread that has set CONNECTING */

static bool is_closing(mcpump_server *server)
{
    mp_mutex_lock(&server->lock);
    bool closing = server->closers > 0;
    mp_mutex_unlock(&server->lock);
    return closing;
}

/* What ends a connect and the waiting for it. A latch that was set before an explicit connect does
 * not, the connect clears it; a call that finds it set comes no further. */
static mcpump_err stopped(const mcpump_server *server, const struct mp_call_limits *limits)
{
    if (mp_latch_count(&server->transport->latch) != limits->latch_count)
        return MCPUMP_ERR_INTERRUPTED;
    if (mp_run_is_cancelled(limits->run))
        return MCPUMP_ERR_CANCELLED;
    return mp_deadline_passed(limits->deadline) ? MCPUMP_ERR_TIMEOUT : MCPUMP_OK;
}

static mcpump_err fail_plainly(mcpump_server *server, mcpump_err err, mcpump_phase phase,
                               mcpump_failure **ret_failure)
{
    return mp_server_fail(server, err, phase, NULL, mcpump_err_text(err), ret_failure);
}

/* Starts a process, unless somebody closes. One who begins to close between the two looks finds the
 * transport closed and waits for us; the second look then ends what we have opened. */
static mcpump_err open_transport(mcpump_server *server, const struct mp_call_limits *limits,
                                 mcpump_failure **ret_failure)
{
    mcpump_err err = stopped(server, limits);
    if (err != MCPUMP_OK)
        return fail_plainly(server, err, MCPUMP_PHASE_START, ret_failure);
    if (!is_closing(server)) {
        err = mp_transport_open(server->transport, limits->latch_count, ret_failure);
        if (err != MCPUMP_OK || !is_closing(server))
            return err;
        mcpump_transport_close(server->transport);
    }
    return mp_server_fail(server, MCPUMP_ERR_CLOSED, MCPUMP_PHASE_START, NULL,
                          mcpump_cause_text(MCPUMP_CAUSE_CLOSED_BY_HOST), ret_failure);
}

static mcpump_err shake_hands(mcpump_server *server, const struct mp_call_limits *limits,
                              const struct mp_revision **ret_revision, mcpump_failure **ret_failure)
{
    struct mp_handshake handshake = {
        .transport = server->transport,
        .client = &server->client,
        .era = server->era,
        .probe_timeout_ms = server->probe_timeout_ms,
        .limits = *limits,
        .may_respawn = true,
    };
    mcpump_err err = open_transport(server, limits, ret_failure);
    if (err != MCPUMP_OK)
        return err;
    enum mp_handshake_result result = mp_handshake_run(&handshake, ret_revision, &err, ret_failure);
    if (result == MP_HANDSHAKE_RESPAWN) {
        mcpump_transport_close(server->transport);
        handshake.may_respawn = false;
        handshake.era = MCPUMP_ERA_LEGACY;
        err = open_transport(server, limits, ret_failure);
        if (err != MCPUMP_OK)
            return err;
        result = mp_handshake_run(&handshake, ret_revision, &err, ret_failure);
    }
    if (result == MP_HANDSHAKE_AGREED)
        return MCPUMP_OK;
    return err;
}

static void wake_all_locked(mcpump_server *server) MP_REQUIRES(&server->lock)
{
    for (struct mp_joiner *joiner = server->joiners; joiner != NULL; joiner = joiner->next)
        mp_bell_ring(&joiner->bell);
    mp_cond_broadcast(&server->changed);
}

/* What an attempt came to. */
struct outcome {
    mcpump_err err;
    const struct mp_revision *revision;
    mcpump_failure *failure;
    bool is_personal;
};

/* Tells the outcome to those who wait; on failure the process is stopped after that, so that they
 * do not wait for it too. */
static void publish(mcpump_server *server, const struct outcome *outcome)
{
    mp_mutex_lock(&server->lock);
    server->attempts++;
    mcpump_failure *old = server->last_failure;
    server->last_err = outcome->err;
    server->last_failure = outcome->failure;
    server->last_was_personal = outcome->is_personal;
    server->revision = outcome->revision;
    if (outcome->err == MCPUMP_OK)
        server->state = MP_SERVER_READY;
    wake_all_locked(server);
    mp_mutex_unlock(&server->lock);
    mcpump_failure_free(old);
}

static void give_up(mcpump_server *server)
{
    mcpump_transport_close(server->transport);
    mp_mutex_lock(&server->lock);
    server->state = MP_SERVER_IDLE;
    wake_all_locked(server);
    mp_mutex_unlock(&server->lock);
}

static mcpump_err connect_now(mcpump_server *server, const struct mp_call_limits *limits,
                              mcpump_failure **ret_failure)
{
    struct mp_call_limits earlier = *limits;
    mp_deadline own = mp_deadline_after_ms(server->connect_timeout_ms);
    earlier.deadline = mp_deadline_earlier(own, limits->deadline);
    struct outcome outcome = {.err = MCPUMP_OK};
    mcpump_transport_close(server->transport); /* what is left of a connection that was lost */
    outcome.err = shake_hands(server, &earlier, &outcome.revision, &outcome.failure);
    /* An interrupt hits those who wait by themselves, but not one who came after it was cleared. */
    outcome.is_personal = outcome.err == MCPUMP_ERR_CANCELLED ||
                          outcome.err == MCPUMP_ERR_INTERRUPTED ||
                          (outcome.err == MCPUMP_ERR_TIMEOUT && limits->deadline < own);
    if (ret_failure != NULL)
        *ret_failure = mp_failure_clone(outcome.failure);
    publish(server, &outcome);
    if (outcome.err != MCPUMP_OK)
        give_up(server);
    return outcome.err;
}

/* -- who connects, who waits; `reconnect`: also when a connection has been lost */

/* One who wants the server to be connected. */
struct comer {
    mcpump_server *server;
    const struct mp_call_limits *limits;
    bool reconnect;
    struct mp_joiner joiner;
};

/* Sleeps until the bell rings: the connecting thread at its outcome, an interrupt, the end of the
 * run; or until the deadline. With the lock released. */
static void sleep_locked(struct comer *comer) MP_REQUIRES(&comer->server->lock)
{
    mp_mutex_unlock(&comer->server->lock);
    struct pollfd bell = {comer->joiner.bell.fd, POLLIN, 0};
    poll(&bell, 1, mp_deadline_poll_ms(comer->limits->deadline));
    mp_bell_hear(&comer->joiner.bell);
    mp_mutex_lock(&comer->server->lock);
}

/* Until nobody connects any more. An error is the comer's own, or that of the attempt it waited for
 * (*ret_shared), unless that failed for a reason of its maker's. */
static mcpump_err wait_locked(struct comer *comer, bool *ret_shared)
    MP_REQUIRES(&comer->server->lock)
{
    mcpump_server *server = comer->server;
    uint64_t attempts = server->attempts;
    mcpump_err err = MCPUMP_OK;
    while (server->state == MP_SERVER_CONNECTING && err == MCPUMP_OK) {
        sleep_locked(comer);
        err = stopped(comer->server, comer->limits);
        if (server->attempts == attempts)
            continue;
        attempts = server->attempts;
        if (server->last_err != MCPUMP_OK && !server->last_was_personal) {
            *ret_shared = true;
            return server->last_err;
        }
    }
    return err;
}

static void join_locked(struct comer *comer) MP_REQUIRES(&comer->server->lock)
{
    comer->joiner.next = comer->server->joiners;
    comer->server->joiners = &comer->joiner;
}

static void leave_locked(struct comer *comer) MP_REQUIRES(&comer->server->lock)
{
    struct mp_joiner **link = &comer->server->joiners;
    while (*link != &comer->joiner)
        link = &(*link)->next;
    *link = comer->joiner.next;
}

/* With the bell in all places where it may be rung from. */
static mcpump_err wait_with_bell(struct comer *comer, mcpump_failure **ret_failure)
{
    bool is_shared = false;
    mp_mutex_lock(&comer->server->lock);
    join_locked(comer);
    mcpump_err err = stopped(comer->server, comer->limits);
    if (err == MCPUMP_OK)
        err = wait_locked(comer, &is_shared);
    leave_locked(comer);
    if (is_shared && ret_failure != NULL)
        *ret_failure = mp_failure_clone(comer->server->last_failure);
    mp_mutex_unlock(&comer->server->lock);
    if (err != MCPUMP_OK && !is_shared)
        fail_plainly(comer->server, err, MCPUMP_PHASE_HANDSHAKE, ret_failure);
    return err;
}

static mcpump_err wait_for_other(struct comer *comer, mcpump_failure **ret_failure)
{
    struct mp_bell *bell = &comer->joiner.bell;
    struct mp_board *watchers = &comer->server->transport->watchers;
    mcpump_err err = MCPUMP_ERR_NO_MEMORY;
    if (mp_bell_init(bell) != 0)
        return fail_plainly(comer->server, MCPUMP_ERR_SYSTEM, MCPUMP_PHASE_HANDSHAKE, ret_failure);
    if (mp_board_join(watchers, bell)) {
        if (mp_run_join(comer->limits->run, bell)) {
            err = wait_with_bell(comer, ret_failure);
            mp_run_leave(comer->limits->run, bell);
        }
        mp_board_leave(watchers, bell);
    }
    mp_bell_done(bell);
    return err;
}

enum turn {
    TURN_CONNECT, /* it is up to this thread: CONNECTING was set */
    TURN_WAIT,    /* another one does it */
    TURN_DONE,    /* ready */
};

static enum turn take_turn(const struct comer *comer, const struct mp_revision **ret_revision)
{
    mcpump_server *server = comer->server;
    enum turn turn = TURN_CONNECT;
    mp_mutex_lock(&server->lock);
    if (server->state == MP_SERVER_CONNECTING)
        turn = TURN_WAIT;
    else if (server->state == MP_SERVER_READY &&
             (!comer->reconnect || mcpump_transport_is_connected(server->transport)))
        turn = TURN_DONE;
    else
        server->state = MP_SERVER_CONNECTING;
    *ret_revision = server->revision;
    mp_mutex_unlock(&server->lock);
    return turn;
}

/* No point of cancellation, whatever is called within it: a thread that ended here would leave the
 * server connecting for ever. */
static mcpump_err connect_or_join(struct comer *comer, const struct mp_revision **ret_revision,
                                  mcpump_failure **ret_failure)
{
    enum turn turn;
    mcpump_err err = MCPUMP_OK;
    int state = mp_cancel_disable();
    while (err == MCPUMP_OK && (turn = take_turn(comer, ret_revision)) != TURN_DONE)
        err = turn == TURN_CONNECT ? connect_now(comer->server, comer->limits, ret_failure)
                                   : wait_for_other(comer, ret_failure);
    mp_cancel_restore(state);
    return err;
}

/* In a forked child not even the lock may be touched. */
static mcpump_err fail_elsewhere(mcpump_server *server, mcpump_phase phase,
                                 mcpump_failure **ret_failure)
{
    return mp_server_fail(server, MCPUMP_ERR_FORKED, phase, NULL,
                          mcpump_err_text(MCPUMP_ERR_FORKED), ret_failure);
}

mcpump_err mp_server_ready(mcpump_server *server, const struct mp_call_limits *limits,
                           const struct mp_revision **ret_revision, mcpump_failure **ret_failure)
{
    if (mp_transport_is_elsewhere(server->transport))
        return fail_elsewhere(server, MCPUMP_PHASE_REQUEST, ret_failure);
    struct comer comer = {.server = server, .limits = limits};
    mcpump_err err = mp_call_stopped(server->transport, limits);
    if (err != MCPUMP_OK)
        return fail_plainly(server, err, MCPUMP_PHASE_REQUEST, ret_failure);
    const struct mp_revision *revision = NULL;
    err = connect_or_join(&comer, &revision, ret_failure);
    if (err != MCPUMP_OK)
        return err;
    if (revision == NULL) /* closed in the same instant */
        return fail_plainly(server, MCPUMP_ERR_NOT_OPEN, MCPUMP_PHASE_REQUEST, ret_failure);
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
    struct mp_call_limits limits = {.deadline = MP_NEVER,
                                    .latch_count = mp_latch_count(&server->transport->latch),
                                    .run = mcpump_run_current()};
    struct comer comer = {.server = server, .limits = &limits, .reconnect = true};
    mcpump_err err = stopped(server, &limits);
    if (err != MCPUMP_OK)
        return fail_plainly(server, err, MCPUMP_PHASE_START, ret_failure);
    return connect_or_join(&comer, &revision, ret_failure);
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
    /* Woken by the thread that connects: its calls fail, and its ladder is bounded. */
    while (server->state == MP_SERVER_CONNECTING)
        mp_cond_wait(&server->changed, &server->lock, MP_NEVER);
    server->closers--;
    if (server->closers == 0 && server->state == MP_SERVER_READY) {
        server->state = MP_SERVER_IDLE;
        server->revision = NULL;
    }
    mp_mutex_unlock(&server->lock);
}
