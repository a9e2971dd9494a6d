/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/session.h"

#include <stdio.h>

#include "mcp/answer.h"
#include "mcp/outcome.h"

#define NS_PER_US 1000

/* -- failing */

mcpump_err mp_session_fail(const struct mp_session *session, mcpump_err err, mcpump_phase phase,
                           const char *subject, const char *words, mcpump_failure **ret_failure)
{
    struct mp_failure_facts facts = {.name = mcpump_transport_display_name(session->transport),
                                     .err = err,
                                     .phase = phase,
                                     .subject = subject,
                                     .detail = words};
    return mp_fail(ret_failure, &facts, NULL);
}

mcpump_err mp_session_fail_over(const struct mp_session *session, mcpump_err err,
                                const char *method, const char *words, mcpump_reply *reply,
                                mcpump_failure **ret_failure)
{
    struct mp_failure_facts facts = {.name = mcpump_transport_display_name(session->transport),
                                     .err = err,
                                     .phase = MCPUMP_PHASE_REQUEST,
                                     .subject = method,
                                     .sent = MCPUMP_SENT,
                                     .detail = words};
    mp_fail(ret_failure, &facts, NULL);
    mp_failure_keep_reply(ret_failure != NULL ? *ret_failure : NULL, reply);
    return err;
}

static mcpump_err refuse(const struct mp_session *session, const struct mp_message *message,
                         mcpump_phase phase, const char *method, const char *why,
                         mcpump_failure **ret_failure)
{
    mcpump_err err = message->text.failed ? MCPUMP_ERR_NO_MEMORY : MCPUMP_ERR_INVALID_REQUEST;
    return mp_session_fail(session, err, phase, method, why, ret_failure);
}

/* -- requests and notifications */

static void done_message(void *message)
{
    mp_message_done(message);
}

/* A legacy request has only what the host wants in it. */
static const char *add_metadata(const struct mp_session *session, struct mp_message *message)
{
    bool is_modern = session->revision->era == MCPUMP_ERA_MODERN;
    if (!is_modern && mp_trace_is_empty(&session->trace))
        return NULL;
    struct mp_metadata metadata = {.trace = session->trace};
    if (is_modern) {
        metadata.client = session->client;
        metadata.version = session->revision->version;
        metadata.log_level = session->log_level;
    }
    return mp_message_add_metadata(message, &metadata);
}

/* Writes a request in the words of the era. Then done_message. */
static mcpump_err make_message(const struct mp_session *session, const char *method,
                               const char *params, struct mp_message *message,
                               mcpump_failure **ret_failure)
{
    const char *why = mp_message_init(message, method, params, false);
    if (why == NULL)
        why = add_metadata(session, message);
    return why == NULL ? MCPUMP_OK
                       : refuse(session, message, MCPUMP_PHASE_REQUEST, method, why, ret_failure);
}

static struct mp_call_plan plan_for(const struct mp_message *message,
                                    const struct mp_call_limits *limits)
{
    return (struct mp_call_plan){
        .request = mp_message_span(message), .envelope = &message->envelope, .limits = *limits};
}

mcpump_err mp_session_request(const struct mp_session *session, const char *method,
                              const char *params, const struct mp_call_limits *limits,
                              mcpump_reply **ret_reply, mcpump_failure **ret_failure)
{
    struct mp_message message;
    mcpump_err err = make_message(session, method, params, &message, ret_failure);
    struct mp_call_plan plan = plan_for(&message, limits);
    pthread_cleanup_push(done_message, &message); /* of a thread that is cancelled */
    if (err == MCPUMP_OK)
        err = mp_call_make(session->transport, &plan, MCPUMP_PHASE_REQUEST, ret_reply, ret_failure);
    pthread_cleanup_pop(true);
    return err;
}

mcpump_err mp_session_submit(const struct mp_session *session, const char *method,
                             const char *params, const struct mp_call_limits *limits,
                             const struct mp_call_owner *owner, mcpump_call **ret_call,
                             mcpump_failure **ret_failure)
{
    struct mp_message message;
    mcpump_err err = make_message(session, method, params, &message, ret_failure);
    struct mp_call_plan plan = plan_for(&message, limits);
    if (err == MCPUMP_OK)
        err = mp_call_submit(session->transport, &plan, owner, ret_call, ret_failure);
    mp_message_done(&message);
    return err;
}

mcpump_err mp_session_notify(const struct mp_session *session, const char *method,
                             const char *params, const struct mp_call_limits *limits,
                             mcpump_failure **ret_failure)
{
    struct mp_message message;
    const char *why = mp_message_init(&message, method, params, true);
    mcpump_err err = why != NULL
                         ? refuse(session, &message, MCPUMP_PHASE_NOTIFY, method, why, ret_failure)
                         : mp_call_notify(session->transport, mp_message_span(&message),
                                          &message.envelope, limits, ret_failure);
    mp_message_done(&message);
    return err;
}

/* -- replies that are looked at */

static mcpump_err refuse_outcome(const struct mp_session *session, const char *method,
                                 enum mp_outcome outcome, struct mp_span type, mcpump_reply *reply,
                                 mcpump_failure **ret_failure)
{
    char words[160];
    if (outcome == MP_OUTCOME_INPUT_REQUIRED)
        snprintf(words, sizeof(words), "the server asks for input, and nobody is there to give it");
    else
        snprintf(words, sizeof(words), "the result is of a type that is not known here: %.*s",
                 type.size < 100 ? (int)type.size : 100, type.bytes);
    return mp_session_fail_over(session, MCPUMP_ERR_INVALID_REPLY, method, words, reply,
                                ret_failure);
}

mcpump_err mp_session_ask(const struct mp_session *session, const char *method, const char *params,
                          const struct mp_call_limits *limits, mcpump_reply **ret_reply,
                          mcpump_failure **ret_failure)
{
    mcpump_reply *reply = NULL;
    mcpump_err err = mp_session_request(session, method, params, limits, &reply, ret_failure);
    if (err != MCPUMP_OK)
        return err;
    struct mp_span type;
    /* Results of the legacy era have no type, and may have a member of that name. */
    enum mp_outcome outcome = session->revision->era == MCPUMP_ERA_MODERN
                                  ? mp_outcome_of(reply, &type)
                                  : MP_OUTCOME_COMPLETE;
    if (outcome != MP_OUTCOME_COMPLETE)
        return refuse_outcome(session, method, outcome, type, reply, ret_failure);
    *ret_reply = reply;
    return MCPUMP_OK;
}

mcpump_err mp_session_demand(const struct mp_session *session, const char *method,
                             const char *params, const struct mp_call_limits *limits,
                             mcpump_reply **ret_reply, mcpump_failure **ret_failure)
{
    mcpump_reply *reply = NULL;
    mcpump_err err = mp_session_ask(session, method, params, limits, &reply, ret_failure);
    if (err != MCPUMP_OK)
        return err;
    if (mcpump_reply_is_error(reply)) {
        char error[384], words[448];
        mp_answer_error(reply, error, sizeof(error));
        snprintf(words, sizeof(words), "the server answered with %s", error);
        return mp_session_fail_over(session, MCPUMP_ERR_SERVER_ERROR, method, words, reply,
                                    ret_failure);
    }
    *ret_reply = reply;
    return MCPUMP_OK;
}

/* -- what has no result of its own */

mcpump_err mp_session_ping(const struct mp_session *session, const struct mp_call_limits *limits,
                           int64_t *ret_us, mcpump_failure **ret_failure)
{
    bool is_modern = session->revision->era == MCPUMP_ERA_MODERN;
    const char *method = is_modern ? "server/discover" : "ping";
    mcpump_reply *reply = NULL;
    int64_t start = mp_now_ns();
    mcpump_err err = mp_session_demand(session, method, NULL, limits, &reply, ret_failure);
    if (err == MCPUMP_OK && ret_us != NULL)
        *ret_us = (mp_now_ns() - start) / NS_PER_US;
    if (err == MCPUMP_OK)
        mcpump_reply_free(reply);
    return err;
}

mcpump_err mp_session_set_level(const struct mp_session *session, const char *level,
                                const struct mp_call_limits *limits, mcpump_failure **ret_failure)
{
    char params[48];
    mcpump_reply *reply = NULL;
    snprintf(params, sizeof(params), "{\"level\":\"%s\"}", level);
    mcpump_err err =
        mp_session_demand(session, "logging/setLevel", params, limits, &reply, ret_failure);
    if (err == MCPUMP_OK)
        mcpump_reply_free(reply);
    return err;
}
