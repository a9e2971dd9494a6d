/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/session.h"

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

static mcpump_err refuse(const struct mp_session *session, const struct mp_message *message,
                         mcpump_phase phase, const char *method, const char *why,
                         mcpump_failure **ret_failure)
{
    mcpump_err err = message->text.failed ? MCPUMP_ERR_NO_MEMORY : MCPUMP_ERR_INVALID_REQUEST;
    return mp_session_fail(session, err, phase, method, why, ret_failure);
}

static void done_message(void *message)
{
    mp_message_done(message);
}

/* Writes a request in the words of the era. Then done_message. */
static mcpump_err make_message(const struct mp_session *session, const char *method,
                               const char *params, struct mp_message *message,
                               mcpump_failure **ret_failure)
{
    const struct mp_revision *revision = session->revision;
    const char *why = mp_message_init(message, method, params, false);
    if (why == NULL && revision->era == MCPUMP_ERA_MODERN)
        why = mp_message_add_metadata(message, session->client, revision->version);
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
