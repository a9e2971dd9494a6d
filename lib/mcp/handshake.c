/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/handshake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/answer.h"

/* A server that answered the probe with an error and then says nothing to `initialize` for so long
 * has been put off by the probe: it is started again. */
#define PUT_OFF_MS 10000

enum step { STEP_PROBE, STEP_INITIALIZE, STEP_AGREED, STEP_RESPAWN, STEP_FAILED };

/* One question to the server: the message and its call. */
struct question {
    struct mp_message message;
    struct mp_call call;
    bool is_asked;
};

struct talk {
    const struct mp_handshake *given;
    const struct mp_revision *revision; /* to ask with, then agreed on */
    char *hello;                        /* owned */
    bool has_retried;                   /* with a version of the server's list */
    bool has_answered_probe;
    struct question probe; /* stays in flight beside `initialize` when it was met with silence */
    struct question initialize;
    mcpump_err err;
    mcpump_failure **ret_failure;
};

/* -- failing */

static enum step fail(struct talk *talk, mcpump_err err, mcpump_phase phase, const char *words)
{
    mcpump_transport *transport = talk->given->transport;
    char clean[512];
    snprintf(clean, sizeof(clean), "%s", words);
    struct mp_failure_facts facts = {.name = transport->options.label,
                                     .err = err,
                                     .phase = phase,
                                     .sent = MCPUMP_SENT,
                                     .detail = clean};
    talk->err = mp_fail(talk->ret_failure, &facts, mp_tail_copy(&transport->stderr_pump.tail));
    return STEP_FAILED;
}

static enum step fail_with_error(struct talk *talk, mcpump_phase phase, const char *method,
                                 const mcpump_reply *reply)
{
    char error[256], words[384];
    mp_answer_error(reply, error, sizeof(error));
    snprintf(words, sizeof(words), "the server answered %s with %s", method, error);
    return fail(talk, MCPUMP_ERR_HANDSHAKE, phase, words);
}

/* -- asking */

/* Neither question is ever cancelled on the wire: `initialize` must not be, and a late answer to
 * the probe is welcome. */
static bool ask(struct talk *talk, struct question *question)
{
    struct mp_call_plan plan = {
        .request = mp_message_span(&question->message),
        .envelope = &question->message.envelope,
        .limits = talk->given->limits,
        .is_quiet = true,
    };
    mp_call_begin(&question->call, talk->given->transport, &plan);
    question->is_asked = true;
    return question->call.entry != NULL;
}

/* Ends the question; one that was not answered is given up. */
static mcpump_err finish(struct talk *talk, struct question *question, mcpump_phase phase,
                         mcpump_reply **ret_reply, mcpump_failure **ret_failure)
{
    (void)talk;
    mcpump_err err = mp_call_finish(&question->call, phase, ret_reply, ret_failure);
    mp_message_done(&question->message);
    question->is_asked = false;
    return err;
}

static void drop(struct talk *talk, struct question *question)
{
    mcpump_reply *reply = NULL;
    if (question->is_asked &&
        finish(talk, question, MCPUMP_PHASE_HANDSHAKE, &reply, NULL) == MCPUMP_OK)
        mcpump_reply_free(reply);
}

/* Keeps what the server said of itself. No memory: it is not known then. */
static void keep_hello(struct talk *talk, const mcpump_reply *reply)
{
    size_t size;
    const char *value = mcpump_reply_value(reply, &size);
    free(talk->hello);
    talk->hello = strndup(value, size);
}

/* -- the probe */

static enum step judge_discovery(struct talk *talk, const mcpump_reply *reply)
{
    const struct mp_revision *found = NULL;
    mcpump_era insisted = talk->given->era;
    enum mp_discovery discovery = mp_answer_discovery(reply, talk->revision->version, &found);
    if (discovery == MP_DISCOVERY_MODERN) {
        talk->revision = found;
        keep_hello(talk, reply);
        return STEP_AGREED;
    }
    if (discovery == MP_DISCOVERY_REFUSED && !talk->has_retried) {
        talk->has_retried = true;
        talk->revision = found;
        return STEP_PROBE;
    }
    if (discovery != MP_DISCOVERY_LEGACY)
        return fail(talk, MCPUMP_ERR_HANDSHAKE, MCPUMP_PHASE_PROBE,
                    "the server speaks no protocol version that is known here");
    if (insisted != MCPUMP_ERA_MODERN)
        return STEP_INITIALIZE;
    if (mcpump_reply_is_error(reply))
        return fail_with_error(talk, MCPUMP_PHASE_PROBE, "server/discover", reply);
    return fail(talk, MCPUMP_ERR_HANDSHAKE, MCPUMP_PHASE_PROBE, "the server is not modern");
}

/* The process is gone, or does not take what we write. */
static enum step judge_loss(struct talk *talk, mcpump_err err, bool had_probe,
                            mcpump_failure *failure)
{
    bool is_lost = err == MCPUMP_ERR_CLOSED || err == MCPUMP_ERR_NOT_OPEN;
    mcpump_cause cause = mp_transport_verdict(talk->given->transport).cause;
    bool is_by_itself = cause == MCPUMP_CAUSE_EXITED || cause == MCPUMP_CAUSE_WRITE_FAILED ||
                        cause == MCPUMP_CAUSE_STDOUT_CLOSED;
    if (is_lost && is_by_itself && had_probe && talk->given->may_respawn &&
        talk->given->era == MCPUMP_ERA_AUTO) {
        mcpump_failure_free(failure);
        return STEP_RESPAWN;
    }
    if (talk->ret_failure != NULL)
        *talk->ret_failure = failure;
    else
        mcpump_failure_free(failure);
    talk->err = err;
    return STEP_FAILED;
}

static enum step fail_by_memory(struct talk *talk, struct question *question, mcpump_phase phase)
{
    mp_message_done(&question->message);
    return fail(talk, MCPUMP_ERR_NO_MEMORY, phase, mcpump_err_text(MCPUMP_ERR_NO_MEMORY));
}

static enum step probe(struct talk *talk)
{
    const struct mp_handshake *given = talk->given;
    struct question *question = &talk->probe;
    const struct mp_metadata metadata = {.client = given->client,
                                         .version = talk->revision->version};
    if (mp_message_init(&question->message, "server/discover", NULL, false) != NULL ||
        mp_message_add_metadata(&question->message, &metadata) != NULL)
        return fail_by_memory(talk, question, MCPUMP_PHASE_PROBE);

    /* Where legacy is out of the question, silence is only a slow start. */
    mp_deadline silence = given->limits.deadline;
    if (given->era == MCPUMP_ERA_AUTO)
        silence = mp_deadline_earlier(silence, mp_deadline_after_ms(given->probe_timeout_ms));
    if (ask(talk, question) && !mp_call_wait_either(&question->call, &question->call, silence) &&
        given->era == MCPUMP_ERA_AUTO && !mp_deadline_passed(given->limits.deadline))
        return STEP_INITIALIZE;

    mcpump_reply *reply = NULL;
    mcpump_failure *failure = NULL;
    mcpump_err err = finish(talk, question, MCPUMP_PHASE_PROBE, &reply, &failure);
    if (err != MCPUMP_OK)
        return judge_loss(talk, err, true, failure);
    talk->has_answered_probe = true;
    enum step next = judge_discovery(talk, reply);
    mcpump_reply_free(reply);
    return next;
}

/* -- initialize */

static bool make_initialize(struct talk *talk)
{
    struct mp_buffer params = MP_BUFFER_INIT;
    mp_buffer_addf(&params, "{\"protocolVersion\":\"%s\",\"capabilities\":%s,\"clientInfo\":%s}",
                   mp_revision_newest(MCPUMP_ERA_LEGACY)->version,
                   talk->given->client->capabilities, talk->given->client->info);
    bool made = !params.failed && mp_message_init(&talk->initialize.message, "initialize",
                                                  params.bytes, false) == NULL;
    mp_buffer_done(&params);
    return made;
}

/* Whether the probe, thought unanswered, has been answered as only a modern server answers. */
static bool is_modern_after_all(struct talk *talk, enum step *ret_next)
{
    const mcpump_reply *late = talk->probe.is_asked ? mp_call_peek(&talk->probe.call) : NULL;
    const struct mp_revision *found = NULL;
    if (late == NULL ||
        mp_answer_discovery(late, talk->revision->version, &found) == MP_DISCOVERY_LEGACY)
        return false;
    *ret_next = judge_discovery(talk, late);
    return true;
}

/* Waits for the answer to `initialize`, and for that to the probe as long as there is none; the
 * reader wakes it at either. True: the late answer decides, *ret_next. */
static bool wait_for_initialize(struct talk *talk, mp_deadline deadline, enum step *ret_next)
{
    struct mp_call *initialize = &talk->initialize.call, *probe = &talk->probe.call;
    if (talk->probe.is_asked && !mp_call_is_done(probe))
        mp_call_wait_either(probe, initialize, deadline);
    if (is_modern_after_all(talk, ret_next))
        return true;
    mp_call_wait_either(initialize, initialize, deadline);
    return false;
}

static bool send_initialized(struct talk *talk)
{
    struct mp_message message;
    mcpump_err err = MCPUMP_ERR_NO_MEMORY;
    if (mp_message_init(&message, "notifications/initialized", NULL, true) == NULL)
        err = mp_call_notify(talk->given->transport, mp_message_span(&message), &message.envelope,
                             &talk->given->limits, talk->ret_failure);
    mp_message_done(&message);
    talk->err = err;
    return err == MCPUMP_OK;
}

static enum step judge_initialize(struct talk *talk, const mcpump_reply *reply)
{
    const struct mp_revision *found = mp_revision_newest(MCPUMP_ERA_MODERN);
    if (mcpump_reply_is_error(reply)) {
        /* A modern server that was asked in the old way says which versions it has. It is not
         * probed again: it was slow to answer that, or would not. */
        if (talk->given->era == MCPUMP_ERA_AUTO &&
            mp_answer_discovery(reply, "", &found) == MP_DISCOVERY_REFUSED) {
            talk->revision = found;
            return STEP_AGREED;
        }
        return fail_with_error(talk, MCPUMP_PHASE_HANDSHAKE, "initialize", reply);
    }
    char words[256] = "";
    found = mp_answer_initialize(reply, words, sizeof(words));
    if (found == NULL)
        return fail(talk, MCPUMP_ERR_HANDSHAKE, MCPUMP_PHASE_HANDSHAKE, words);
    if (!send_initialized(talk))
        return STEP_FAILED;
    talk->revision = found;
    keep_hello(talk, reply);
    return STEP_AGREED;
}

/* How long to wait before the probe is blamed for the silence. */
static mp_deadline patience(const struct talk *talk)
{
    bool may_blame =
        talk->has_answered_probe && talk->given->may_respawn && talk->given->era == MCPUMP_ERA_AUTO;
    return may_blame ? mp_deadline_after_ms(PUT_OFF_MS) : MP_NEVER;
}

static enum step initialize(struct talk *talk)
{
    struct question *question = &talk->initialize;
    enum step next = STEP_FAILED;
    bool had_probe = talk->probe.is_asked || talk->has_answered_probe;
    if (!make_initialize(talk)) {
        drop(talk, &talk->probe);
        return fail_by_memory(talk, question, MCPUMP_PHASE_HANDSHAKE);
    }

    mp_deadline put_off = patience(talk);
    mp_deadline deadline = mp_deadline_earlier(talk->given->limits.deadline, put_off);
    bool decided = ask(talk, question) && wait_for_initialize(talk, deadline, &next);
    bool is_put_off = !decided && !mp_call_is_done(&question->call) && mp_deadline_passed(put_off);
    mcpump_reply *reply = NULL;
    mcpump_failure *failure = NULL;
    mcpump_err err = finish(talk, question, MCPUMP_PHASE_HANDSHAKE, &reply, &failure);
    drop(talk, &talk->probe);
    if (decided || is_put_off) {
        mcpump_failure_free(failure);
        if (err == MCPUMP_OK)
            mcpump_reply_free(reply);
        return decided ? next : STEP_RESPAWN;
    }
    if (err != MCPUMP_OK)
        return judge_loss(talk, err, had_probe, failure);
    next = judge_initialize(talk, reply);
    mcpump_reply_free(reply);
    return next;
}

/* -- all of it */

/* Closed between two questions, the next one finds nothing open; whoever connects is told the same
 * as within one. */
static void call_it_closed(struct talk *talk)
{
    if (talk->ret_failure != NULL)
        mcpump_failure_free(*talk->ret_failure);
    fail(talk, MCPUMP_ERR_CLOSED, MCPUMP_PHASE_HANDSHAKE,
         mcpump_cause_text(MCPUMP_CAUSE_CLOSED_BY_HOST));
}

enum mp_handshake_result mp_handshake_run(const struct mp_handshake *handshake,
                                          struct mp_agreement *ret_agreement, mcpump_err *ret_err,
                                          mcpump_failure **ret_failure)
{
    struct talk talk = {.given = handshake,
                        .revision = mp_revision_newest(MCPUMP_ERA_MODERN),
                        .ret_failure = ret_failure};
    enum step step = handshake->era == MCPUMP_ERA_LEGACY ? STEP_INITIALIZE : STEP_PROBE;
    mp_transport_ignore_requests(handshake->transport, false);
    while (step == STEP_PROBE || step == STEP_INITIALIZE)
        step = step == STEP_PROBE ? probe(&talk) : initialize(&talk);
    if (step == STEP_RESPAWN)
        return MP_HANDSHAKE_RESPAWN;
    if (step == STEP_FAILED && talk.err == MCPUMP_ERR_NOT_OPEN)
        call_it_closed(&talk);
    if (step == STEP_FAILED) {
        *ret_err = talk.err;
        return MP_HANDSHAKE_FAILED;
    }
    mp_transport_ignore_requests(handshake->transport, talk.revision->era == MCPUMP_ERA_MODERN);
    *ret_agreement = (struct mp_agreement){talk.revision, talk.hello};
    return MP_HANDSHAKE_AGREED;
}
