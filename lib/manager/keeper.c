/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper of a server: the one thread that connects it, ends its connections, and brings it
 * back. It sleeps on `work`, until somebody nudges it or a time has come: the next try, the end of
 * an idle server, the deadline of an ask. It holds the lock whenever it is not connecting or
 * closing.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "manager/events.h"
#include "manager/server.h"
#include "mcp/answer.h"
#include "transport/loss.h"

#define NS_PER_MS 1000000

/* -- going down by itself */

static uint64_t chance(void)
{
    uint64_t bits;
    if (getrandom(&bits, sizeof(bits), GRND_NONBLOCK) != (ssize_t)sizeof(bits))
        bits = (uint64_t)mp_now_ns();
    return bits;
}

/* Takes the failure. */
static void keep_failure_locked(mcpump_server *server, mcpump_failure **failure)
    MP_REQUIRES(&server->lock)
{
    mcpump_failure_free(server->last_failure);
    server->last_failure = *failure;
    *failure = NULL;
}

/* A connection was lost, or could not be made. Takes the failure. */
static void back_off_locked(mcpump_server *server, mcpump_failure **failure)
    MP_REQUIRES(&server->lock)
{
    struct mp_outage outage = {.tries_in_row = server->tries_in_row,
                               .ready_ms = -1,
                               .comes_back = server->comes_back,
                               .chance = chance()};
    if (server->state == MCPUMP_SERVER_READY)
        outage.ready_ms = (mp_now_ns() - server->ready_since_ns) / NS_PER_MS;
    struct mp_policy_step step = mp_policy_next(&server->policy, &outage);
    server->tries_in_row = step.tries_in_row;
    server->next_try = mp_deadline_after_ms(step.delay_ms);
    keep_failure_locked(server, failure);
    mp_server_set_state_locked(server,
                               step.by_itself ? MCPUMP_SERVER_BACKING_OFF : MCPUMP_SERVER_FAILED,
                               server->last_failure);
}

/* The connection of a server that is READY has ended: what the host ended beneath us does not come
 * back by itself, nor does anything after mcpump_shutdown. */
static void lose_locked(mcpump_server *server) MP_REQUIRES(&server->lock)
{
    mcpump_failure *failure = mp_loss_failure(server->transport);
    bool by_host = mp_transport_verdict(server->transport).cause == MCPUMP_CAUSE_CLOSED_BY_HOST ||
                   mp_transport_shutdowns() != server->shutdowns;
    if (by_host)
        mp_server_set_state_locked(server, MCPUMP_SERVER_IDLE, NULL);
    else
        back_off_locked(server, &failure);
    mcpump_failure_free(failure);
}

/* -- the listener: threads of the transport */

static struct mp_event_source source_of(mcpump_server *server)
{
    return (struct mp_event_source){server, atomic_load(&server->generation)};
}

static void on_notified(void *user, struct mp_span line, const struct mp_envelope *envelope)
{
    mcpump_server *server = user;
    struct mp_event_source source = source_of(server);
    mp_lists_notified(&server->lists, envelope);
    if (mp_events_want(server->owner.events, MCPUMP_EVENT_NOTIFICATION))
        mp_events_post_notification(server->owner.events, &source, line, envelope);
}

static bool on_asked(void *user, struct mp_span line, const struct mp_envelope *envelope)
{
    mcpump_server *server = user;
    struct mp_event_source source = source_of(server);
    if (!mp_events_want(server->owner.events, MCPUMP_EVENT_REQUEST))
        return false;
    struct mp_ask *ask = mp_asks_add(&server->asks, envelope->id,
                                     mp_deadline_after_ms(server->owner.request_timeout_ms));
    if (ask == NULL)
        return false;
    if (mp_events_post_request(server->owner.events, &source, ask, line, envelope))
        mp_server_nudge(server); /* it has a deadline */
    else
        mp_asks_release(&server->asks, ask);
    return true;
}

static void on_lost(void *user)
{
    mcpump_server *server = user;
    mp_mutex_lock(&server->lock);
    server->is_lost = true;
    if (server->state == MCPUMP_SERVER_READY)
        lose_locked(server);
    mp_server_nudge_locked(server);
    mp_mutex_unlock(&server->lock);
}

static void on_said(void *user, const char *line, size_t size)
{
    mcpump_server *server = user;
    struct mp_event_source source = source_of(server);
    struct mp_span text = {line, size};
    if (mp_events_want(server->owner.events, MCPUMP_EVENT_STDERR))
        mp_events_post_stderr(server->owner.events, &source, text);
}

void mp_server_listen(mcpump_server *server)
{
    server->transport->listener = (struct mp_listener){
        .user = server,
        .notified = on_notified,
        .asked = on_asked,
        .lost = on_lost,
        .said = on_said,
    };
}

/* -- one attempt */

struct attempt {
    uint64_t downs; /* wanted when it began: one more, and it is not wanted any longer */
    mcpump_era last_era;
    uint64_t shutdowns; /* of the process before the attempt was wanted: one more ends it */
    struct mp_call_limits limits;
    mcpump_err err;
    struct mp_agreement agreement;
    char server_name[64], server_version[64];
    mcpump_failure *failure;
};

static bool is_unwanted(mcpump_server *server, const struct attempt *attempt)
{
    mp_mutex_lock(&server->lock);
    bool unwanted = server->downs_wanted != attempt->downs;
    mp_mutex_unlock(&server->lock);
    return unwanted || mp_transport_shutdowns() != attempt->shutdowns;
}

/* The process before this one, if any, is gone, and its reader has said so. */
static void forget_loss(mcpump_server *server)
{
    mp_mutex_lock(&server->lock);
    server->is_lost = false;
    mp_mutex_unlock(&server->lock);
}

static void fail(mcpump_server *server, struct attempt *attempt, mcpump_err err, const char *words)
{
    mcpump_failure_free(attempt->failure);
    attempt->failure = NULL;
    attempt->err = mp_server_fail(server, err, MCPUMP_PHASE_START, NULL, words, &attempt->failure);
}

static void fail_closed(mcpump_server *server, struct attempt *attempt)
{
    fail(server, attempt, MCPUMP_ERR_CLOSED, mcpump_cause_text(MCPUMP_CAUSE_CLOSED_BY_HOST));
}

/* Starts a process. One who wants it down between the two looks finds nothing that is open; the
 * second look ends what we have opened. */
static bool open_transport(mcpump_server *server, struct attempt *attempt)
{
    const struct mp_call_limits *limits = &attempt->limits;
    forget_loss(server);
    if (mp_latch_count(&server->transport->latch) != limits->latch_count)
        fail(server, attempt, MCPUMP_ERR_INTERRUPTED, mcpump_err_text(MCPUMP_ERR_INTERRUPTED));
    else if (mp_deadline_passed(limits->deadline))
        fail(server, attempt, MCPUMP_ERR_TIMEOUT, mcpump_err_text(MCPUMP_ERR_TIMEOUT));
    else if (is_unwanted(server, attempt))
        fail_closed(server, attempt);
    else
        attempt->err = mp_transport_open(server->transport, limits->latch_count, &attempt->failure);
    if (attempt->err == MCPUMP_OK && is_unwanted(server, attempt))
        fail_closed(server, attempt);
    return attempt->err == MCPUMP_OK;
}

static enum mp_handshake_result shake_hands(mcpump_server *server, struct attempt *attempt,
                                            mcpump_era era, bool may_respawn)
{
    struct mp_handshake handshake = {
        .transport = server->transport,
        .client = &server->client,
        .era = era,
        .probe_timeout_ms = server->probe_timeout_ms,
        .limits = attempt->limits,
        .may_respawn = may_respawn,
    };
    if (!open_transport(server, attempt))
        return MP_HANDSHAKE_FAILED;
    return mp_handshake_run(&handshake, &attempt->agreement, &attempt->err, &attempt->failure);
}

/* At most three processes: one that is thought to be legacy, one that is asked, one that the
 * question was too much for. */
static void try_eras(mcpump_server *server, struct attempt *attempt)
{
    bool is_guess = server->era == MCPUMP_ERA_AUTO && attempt->last_era == MCPUMP_ERA_LEGACY;
    mcpump_era era = is_guess ? MCPUMP_ERA_LEGACY : server->era;
    enum mp_handshake_result result = shake_hands(server, attempt, era, !is_guess);
    if (is_guess && result == MP_HANDSHAKE_FAILED && attempt->err == MCPUMP_ERR_HANDSHAKE) {
        mcpump_transport_close(server->transport);
        mcpump_failure_free(attempt->failure);
        attempt->failure = NULL;
        result = shake_hands(server, attempt, MCPUMP_ERA_AUTO, true);
    }
    if (result == MP_HANDSHAKE_RESPAWN) {
        mcpump_transport_close(server->transport);
        shake_hands(server, attempt, MCPUMP_ERA_LEGACY, false);
    }
}

static void be_ready_locked(mcpump_server *server, struct attempt *attempt)
    MP_REQUIRES(&server->lock)
{
    free(server->hello);
    server->hello = attempt->agreement.hello;
    attempt->agreement.hello = NULL;
    memcpy(server->server_name, attempt->server_name, sizeof(server->server_name));
    memcpy(server->server_version, attempt->server_version, sizeof(server->server_version));
    server->last_era = attempt->agreement.revision->era;
    server->ready_since_ns = mp_now_ns();
    server->times_ready++;
    server->comes_back = true;
    atomic_store_explicit(&server->last_used_ns, server->ready_since_ns, memory_order_relaxed);
    atomic_store(&server->connection, mp_pending_connection(&server->transport->pending));
    atomic_store(&server->revision, attempt->agreement.revision);
    mp_server_set_state_locked(server, MCPUMP_SERVER_READY, NULL);
    if (server->is_lost) /* in the meantime */
        lose_locked(server);
}

/* It was ended beneath us, by mcpump_shutdown or mcpump_transport_close. */
static bool was_ended_by_host(mcpump_server *server, const struct attempt *attempt)
{
    return attempt->err == MCPUMP_ERR_CLOSED &&
           (mp_transport_verdict(server->transport).cause == MCPUMP_CAUSE_CLOSED_BY_HOST ||
            mp_transport_shutdowns() != attempt->shutdowns);
}

/* Tells what the attempt came to. */
static void publish_locked(mcpump_server *server, struct attempt *attempt)
    MP_REQUIRES(&server->lock)
{
    server->attempts++;
    server->last_err = attempt->err;
    server->last_was_stopped = false;
    if (server->downs_wanted != attempt->downs) {
        server->last_was_stopped = true;
    } else if (attempt->err == MCPUMP_OK) {
        be_ready_locked(server, attempt);
    } else if (attempt->err == MCPUMP_ERR_INTERRUPTED) {
        mp_server_drop_locked(server);
    } else if (was_ended_by_host(server, attempt)) {
        mp_server_drop_locked(server);
        server->last_was_stopped = false; /* for those who waited it was a failure */
        keep_failure_locked(server, &attempt->failure);
    } else {
        server->last_era = MCPUMP_ERA_AUTO; /* what was remembered may be wrong */
        server->downs_wanted++;
        back_off_locked(server, &attempt->failure);
    }
    mcpump_failure_free(attempt->failure);
    free(attempt->agreement.hello);
    for (struct mp_joiner *joiner = server->joiners; joiner != NULL; joiner = joiner->next)
        mp_bell_ring(&joiner->bell);
}

static void attempt_locked(mcpump_server *server) MP_REQUIRES(&server->lock)
{
    struct attempt attempt = {.downs = server->downs_wanted,
                              .last_era = server->last_era,
                              .shutdowns = server->shutdowns};
    attempt.limits = (struct mp_call_limits){
        .deadline = mp_deadline_after_ms(server->connect_timeout_ms),
        .latch_count = server->latch_count,
    };
    server->is_up = true;
    atomic_fetch_add(&server->generation, 1);
    mp_lists_forget(&server->lists);
    mp_mutex_unlock(&server->lock);
    try_eras(server, &attempt);
    if (attempt.agreement.hello != NULL)
        mp_answer_server_info(attempt.agreement.hello, attempt.server_name,
                              sizeof(attempt.server_name), attempt.server_version,
                              sizeof(attempt.server_version));
    if (attempt.err == MCPUMP_OK)
        mp_server_repeat_level(server, attempt.agreement.revision, &attempt.limits);
    mp_turns_give_back(server->owner.turns, &server->turn);
    mp_mutex_lock(&server->lock);
    publish_locked(server, &attempt);
}

/* -- the loop */

static bool has_to_go_down_locked(const mcpump_server *server) MP_REQUIRES(&server->lock)
{
    bool is_unwanted = server->downs_done < server->downs_wanted;
    return is_unwanted || (server->is_up && (server->is_lost || server->is_quitting));
}

static void bring_down_locked(mcpump_server *server) MP_REQUIRES(&server->lock)
{
    uint64_t down = server->downs_wanted;
    if (server->is_up) {
        mp_mutex_unlock(&server->lock);
        mcpump_transport_close(server->transport);
        mp_asks_close(&server->asks);
        mp_mutex_lock(&server->lock);
    }
    server->is_up = server->is_lost = false;
    server->downs_done = down;
    mp_cond_broadcast(&server->changed);
}

/* Its time has come; not when all was shut down meanwhile, or an interrupt holds. */
static void try_again_locked(mcpump_server *server) MP_REQUIRES(&server->lock)
{
    const struct mp_latch *latch = &server->transport->latch;
    if (mp_latch_is_set(latch) || mp_transport_shutdowns() != server->shutdowns) {
        mp_server_set_state_locked(server, MCPUMP_SERVER_IDLE, NULL);
        return;
    }
    uint64_t shutdowns = server->shutdowns;
    mp_server_want_locked(server, mp_latch_count(latch));
    server->is_wanted = true;
    server->shutdowns = shutdowns;
}

/* Stops an idle server, unless a call has come in: see `revision` in server.h. */
static void stop_idle_locked(mcpump_server *server) MP_REQUIRES(&server->lock)
{
    const struct mp_revision *revision = atomic_load(&server->revision);
    atomic_store(&server->revision, NULL);
    if (atomic_load(&server->users) > 0) {
        atomic_store(&server->revision, revision);
        return;
    }
    server->downs_wanted++;
    mp_server_set_state_locked(server, MCPUMP_SERVER_IDLE, NULL);
}

/* When an idle server is to be looked at; one in use is looked at again after the same time. */
static mp_deadline idle_deadline_locked(mcpump_server *server) MP_REQUIRES(&server->lock)
{
    if (server->state != MCPUMP_SERVER_READY || server->idle_timeout_ms == 0)
        return MP_NEVER;
    if (atomic_load(&server->users) > 0)
        return mp_deadline_after_ms(server->idle_timeout_ms);
    int64_t last_used_ns = atomic_load_explicit(&server->last_used_ns, memory_order_relaxed);
    return mp_deadline_from(last_used_ns, server->idle_timeout_ms);
}

/* Sleeps until it is nudged or a time has come. */
static void rest_locked(mcpump_server *server) MP_REQUIRES(&server->lock)
{
    uint64_t nudges = server->nudges;
    bool needs_turn = server->state == MCPUMP_SERVER_CONNECTING;
    mp_mutex_unlock(&server->lock);
    if (!needs_turn)
        mp_turns_give_back(server->owner.turns, &server->turn);
    mp_deadline until = mp_asks_expire(&server->asks);
    mp_mutex_lock(&server->lock);
    mp_deadline idle = idle_deadline_locked(server);
    if (server->state == MCPUMP_SERVER_BACKING_OFF && mp_deadline_passed(server->next_try))
        try_again_locked(server);
    else if (mp_deadline_passed(idle))
        stop_idle_locked(server);
    until = mp_deadline_earlier(until, idle);
    if (server->state == MCPUMP_SERVER_BACKING_OFF)
        until = mp_deadline_earlier(until, server->next_try);
    if (server->nudges == nudges)
        mp_cond_wait(&server->work, &server->lock, until);
}

/* Quitting, it leaves nothing behind. */
void mp_keeper_main(void *arg)
{
    mcpump_server *server = arg;
    mp_mutex_lock(&server->lock);
    while (!server->is_quitting || has_to_go_down_locked(server)) {
        if (has_to_go_down_locked(server))
            bring_down_locked(server);
        else if (server->state == MCPUMP_SERVER_CONNECTING &&
                 mp_turns_take(server->owner.turns, &server->turn))
            attempt_locked(server);
        else
            rest_locked(server);
    }
    mp_mutex_unlock(&server->lock);
    mp_turns_give_back(server->owner.turns, &server->turn);
}
