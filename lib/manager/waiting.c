/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Letting calls in. A server that is ready lets them in without a lock; else a call joins those who
 * wait, sleeps on a bell of its own, and looks at the state anew whenever that rings: at each
 * change of state, by an interrupt, at the end of its run; or until its deadline.
 */
#include <poll.h>
#include <stdio.h>

#include "manager/server.h"
#include "mcpump/run.h"

#define NS_PER_MS 1000000

/* One who wants the server to be ready. */
struct comer {
    mcpump_server *server;
    const struct mp_call_limits *limits;
    bool is_host; /* mcpump_server_connect: no delay and no stop holds it */
    /* -- of the server, when it joined or looked last */
    uint64_t closes, attempts;
    struct mp_joiner joiner;
};

enum view {
    VIEW_READY,
    VIEW_WAIT,
    VIEW_FAIL,   /* with words of our own */
    VIEW_SHARED, /* with the failure of the last attempt */
};

/* What was seen of the server. */
struct sight {
    enum view view;
    mcpump_err err;
    int sys_errno;
    const struct mp_revision *revision; /* READY */
    uint64_t connection;                /* READY */
    mp_deadline until;                  /* WAIT: the server is to be looked at again */
    int64_t retry_after_ms;             /* UNAVAILABLE */
};

/* What ends the waiting from outside. A latch that was set before an explicit connect does not, the
 * connect clears it; a call that finds it set comes no further. */
static mcpump_err stopped(const struct comer *comer)
{
    const struct mp_call_limits *limits = comer->limits;
    if (mp_latch_count(&comer->server->transport->latch) != limits->latch_count)
        return MCPUMP_ERR_INTERRUPTED;
    if (mp_run_is_cancelled(limits->run))
        return MCPUMP_ERR_CANCELLED;
    return mp_deadline_passed(limits->deadline) ? MCPUMP_ERR_TIMEOUT : MCPUMP_OK;
}

static struct sight want_locked(struct comer *comer) MP_REQUIRES(&comer->server->lock)
{
    int err = mp_server_want_locked(comer->server, comer->limits->latch_count);
    if (err != 0)
        return (struct sight){.view = VIEW_FAIL, .err = MCPUMP_ERR_SPAWN, .sys_errno = err};
    return (struct sight){.view = VIEW_WAIT, .until = MP_NEVER};
}

/* BACKING_OFF or FAILED. A failed server is not tried again before its time, however many ask. */
static struct sight look_at_outage_locked(struct comer *comer) MP_REQUIRES(&comer->server->lock)
{
    mcpump_server *server = comer->server;
    bool is_due = server->state == MCPUMP_SERVER_FAILED && mp_deadline_passed(server->next_try);
    if (comer->is_host || is_due)
        return want_locked(comer);
    if (comer->limits->wait_for_ready)
        return (struct sight){.view = VIEW_WAIT, .until = server->next_try};
    int64_t ms = (server->next_try - mp_now_ns() + NS_PER_MS - 1) / NS_PER_MS;
    return (struct sight){
        .view = VIEW_FAIL, .err = MCPUMP_ERR_UNAVAILABLE, .retry_after_ms = ms > 0 ? ms : 0};
}

static struct sight look_at_state_locked(struct comer *comer) MP_REQUIRES(&comer->server->lock)
{
    mcpump_server *server = comer->server;
    switch (server->state) {
    case MCPUMP_SERVER_READY:
        /* Dead, and the reader is about to say so: for one who asks for a connection that is none.
         */
        if (comer->is_host && !mcpump_transport_is_connected(server->transport))
            return (struct sight){.view = VIEW_WAIT, .until = MP_NEVER};
        return (struct sight){.view = VIEW_READY,
                              .revision = atomic_load(&server->revision),
                              .connection = atomic_load(&server->connection)};
    case MCPUMP_SERVER_CONNECTING:
        return (struct sight){.view = VIEW_WAIT, .until = MP_NEVER};
    case MCPUMP_SERVER_IDLE:
        return want_locked(comer);
    case MCPUMP_SERVER_STOPPED:
        if (comer->is_host)
            return want_locked(comer);
        return (struct sight){.view = VIEW_FAIL, .err = MCPUMP_ERR_NOT_OPEN};
    default:
        return look_at_outage_locked(comer);
    }
}

/* An attempt that failed while the comer waited is its failure too; not one that was stopped, nor
 * for one who waits through failures. */
static struct sight look_locked(struct comer *comer) MP_REQUIRES(&comer->server->lock)
{
    mcpump_server *server = comer->server;
    mcpump_err err = stopped(comer);
    if (err == MCPUMP_OK && server->closes != comer->closes)
        err = MCPUMP_ERR_CLOSED;
    if (err == MCPUMP_OK && server->is_retired)
        err = MCPUMP_ERR_NOT_OPEN;
    if (err != MCPUMP_OK)
        return (struct sight){.view = VIEW_FAIL, .err = err};
    bool has_failed = server->attempts != comer->attempts && server->last_err != MCPUMP_OK &&
                      !server->last_was_stopped;
    comer->attempts = server->attempts;
    if (has_failed && !comer->limits->wait_for_ready)
        return (struct sight){.view = VIEW_SHARED, .err = server->last_err};
    return look_at_state_locked(comer);
}

static void sleep_locked(struct comer *comer, mp_deadline until) MP_REQUIRES(&comer->server->lock)
{
    mp_mutex_unlock(&comer->server->lock);
    struct pollfd bell = {comer->joiner.bell.fd, POLLIN, 0};
    poll(&bell, 1, mp_deadline_poll_ms(mp_deadline_earlier(until, comer->limits->deadline)));
    mp_bell_hear(&comer->joiner.bell);
    mp_mutex_lock(&comer->server->lock);
}

static void join_locked(struct comer *comer) MP_REQUIRES(&comer->server->lock)
{
    mcpump_server *server = comer->server;
    comer->closes = server->closes;
    comer->attempts = server->attempts;
    comer->joiner.next = server->joiners;
    server->joiners = &comer->joiner;
}

/* The last one to leave because it was told to stop takes the attempt with it, if it was made for
 * those who waited only. One whose time is over does not: a server that starts slowly would never
 * be up. */
static void leave_locked(struct comer *comer, mcpump_err err) MP_REQUIRES(&comer->server->lock)
{
    mcpump_server *server = comer->server;
    struct mp_joiner **link = &server->joiners;
    while (*link != &comer->joiner)
        link = &(*link)->next;
    *link = comer->joiner.next;
    bool is_told = err == MCPUMP_ERR_INTERRUPTED || err == MCPUMP_ERR_CANCELLED;
    if (is_told && server->joiners == NULL && !server->is_wanted &&
        server->state == MCPUMP_SERVER_CONNECTING)
        mp_server_drop_locked(comer->server);
}

/* In words of our own. */
static void tell(const struct comer *comer, const struct sight *sight, mcpump_failure **ret_failure)
{
    bool is_start = sight->sys_errno != 0;
    struct mp_failure_facts facts = {
        .name = comer->server->transport->options.label,
        .err = sight->err,
        .phase = is_start ? MCPUMP_PHASE_START : MCPUMP_PHASE_HANDSHAKE,
        .stage = is_start ? MCPUMP_STAGE_THREADS : MCPUMP_STAGE_NONE,
        .sys_errno = sight->sys_errno,
        .elapsed_ms = (mp_now_ns() - comer->limits->started_ns) / NS_PER_MS,
    };
    if (sight->err == MCPUMP_ERR_NOT_OPEN)
        facts.phase = MCPUMP_PHASE_REQUEST;
    if (sight->err == MCPUMP_ERR_CLOSED) {
        facts.cause = MCPUMP_CAUSE_CLOSED_BY_HOST;
        facts.detail = mcpump_cause_text(facts.cause);
    }
    mp_fail(ret_failure, &facts, NULL);
}

/* Why it is down is in the facts, and as a sentence in the sentence. */
static void tell_outage_locked(mcpump_server *server, const struct sight *sight,
                               mcpump_failure **ret_failure) MP_REQUIRES(&server->lock)
{
    struct mp_failure_facts facts = {.err = MCPUMP_ERR_UNAVAILABLE};
    if (server->last_failure != NULL) {
        facts = *mp_failure_facts(server->last_failure);
        facts.earlier = mcpump_failure_message(server->last_failure);
    }
    facts.name = server->transport->options.label;
    facts.err = MCPUMP_ERR_UNAVAILABLE;
    facts.phase = MCPUMP_PHASE_REQUEST;
    facts.sent = MCPUMP_NOT_SENT;
    facts.retry_after_ms = sight->retry_after_ms;
    facts.elapsed_ms = 0;
    mp_fail(ret_failure, &facts, NULL);
}

static void tell_locked(struct comer *comer, const struct sight *sight,
                        mcpump_failure **ret_failure) MP_REQUIRES(&comer->server->lock)
{
    mcpump_server *server = comer->server;
    if (ret_failure == NULL)
        return;
    if (sight->view == VIEW_SHARED)
        *ret_failure = mp_failure_clone(server->last_failure);
    else if (sight->err == MCPUMP_ERR_UNAVAILABLE)
        tell_outage_locked(comer->server, sight, ret_failure);
    else
        tell(comer, sight, ret_failure);
}

/* With the bell in all places where it may be rung from. */
static struct sight wait_with_bell(struct comer *comer, mcpump_failure **ret_failure)
{
    mp_mutex_lock(&comer->server->lock);
    join_locked(comer);
    struct sight sight = look_locked(comer);
    while (sight.view == VIEW_WAIT) {
        sleep_locked(comer, sight.until);
        sight = look_locked(comer);
    }
    leave_locked(comer, sight.err);
    if (sight.view != VIEW_READY)
        tell_locked(comer, &sight, ret_failure);
    mp_mutex_unlock(&comer->server->lock);
    return sight;
}

static struct sight refuse(const struct comer *comer, mcpump_err err, mcpump_failure **ret_failure)
{
    struct sight sight = {.view = VIEW_FAIL, .err = err};
    tell(comer, &sight, ret_failure);
    return sight;
}

static struct sight wait_until_ready(struct comer *comer, mcpump_failure **ret_failure)
{
    struct mp_bell *bell = &comer->joiner.bell;
    struct mp_board *watchers = &comer->server->transport->watchers;
    if (mp_bell_init(bell) != 0)
        return refuse(comer, MCPUMP_ERR_SYSTEM, ret_failure);
    struct sight sight = {.view = VIEW_FAIL, .err = MCPUMP_ERR_NO_MEMORY};
    if (mp_board_join(watchers, bell)) {
        if (mp_run_join(comer->limits->run, bell)) {
            sight = wait_with_bell(comer, ret_failure);
            mp_run_leave(comer->limits->run, bell);
        }
        mp_board_leave(watchers, bell);
    }
    mp_bell_done(bell);
    return sight;
}

/* No point of cancellation: a thread that ended here would leave its bell behind. In a forked child
 * not even the lock may be touched. */
static struct sight come(struct comer *comer, mcpump_failure **ret_failure)
{
    mcpump_server *server = comer->server;
    if (mp_transport_is_elsewhere(server->transport))
        return refuse(comer, MCPUMP_ERR_FORKED, ret_failure);
    mcpump_err err =
        comer->is_host ? stopped(comer) : mp_call_stopped(server->transport, comer->limits);
    if (err != MCPUMP_OK)
        return refuse(comer, err, ret_failure);
    int state = mp_cancel_disable();
    struct sight sight = wait_until_ready(comer, ret_failure);
    mp_cancel_restore(state);
    return sight;
}

mcpump_err mp_server_enter(mcpump_server *server, const struct mp_call_limits *limits,
                           struct mp_session *ret_session, mcpump_failure **ret_failure)
{
    atomic_fetch_add(&server->users, 1);
    uint64_t connection = atomic_load(&server->connection);
    const struct mp_revision *revision = atomic_load(&server->revision);
    if (revision == NULL || mp_transport_is_elsewhere(server->transport)) {
        struct comer comer = {.server = server, .limits = limits};
        struct sight sight = come(&comer, ret_failure);
        if (sight.view != VIEW_READY) {
            mp_server_leave(server);
            return sight.err;
        }
        connection = sight.connection;
        revision = sight.revision;
    }
    *ret_session = (struct mp_session){.transport = server->transport,
                                       .client = &server->client,
                                       .revision = revision,
                                       .connection = connection,
                                       .log_level = atomic_load(&server->log_level)};
    return MCPUMP_OK;
}

void mp_server_leave(mcpump_server *server)
{
    if (server->idle_timeout_ms != 0)
        atomic_store_explicit(&server->last_used_ns, mp_now_ns(), memory_order_relaxed);
    atomic_fetch_sub(&server->users, 1);
}

mcpump_err mcpump_server_connect(mcpump_server *server, mcpump_failure **ret_failure)
{
    if (ret_failure != NULL)
        *ret_failure = NULL;
    if (server == NULL)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    /* Each attempt is bounded by connect_timeout_ms. */
    struct mp_call_limits limits = {.started_ns = mp_now_ns(),
                                    .deadline = MP_NEVER,
                                    .latch_count = mp_latch_count(&server->transport->latch),
                                    .run = mcpump_run_current()};
    struct comer comer = {.server = server, .limits = &limits, .is_host = true};
    return come(&comer, ret_failure).err;
}
