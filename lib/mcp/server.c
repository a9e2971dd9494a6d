/* SPDX-License-Identifier: Apache-2.0 */
/* The public server: its making, its requests, and what can be asked of it. */
#include "mcp/server.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "transport/call.h"

/* -- made and freed */

mcpump_err mp_server_fail(mcpump_server *server, mcpump_err err, mcpump_phase phase,
                          const char *subject, const char *words, mcpump_failure **ret_failure)
{
    struct mp_failure_facts facts = {.name = mcpump_transport_display_name(server->transport),
                                     .err = err,
                                     .phase = phase,
                                     .subject = subject,
                                     .detail = words};
    return mp_fail(ret_failure, &facts, NULL);
}

static mcpump_err refuse_option(mcpump_server *server, const char *key, int64_t value,
                                mcpump_failure **ret_failure)
{
    char words[48];
    snprintf(words, sizeof(words), "%" PRId64 " is out of range", value);
    return mp_server_fail(server, MCPUMP_ERR_INVALID_ARGUMENT, MCPUMP_PHASE_OPTIONS, key, words,
                          ret_failure);
}

static mcpump_err init(mcpump_server *server, const mcpump_server_options *options,
                       mcpump_failure **ret_failure)
{
    mcpump_err err = mcpump_transport_new(&options->transport, &server->transport, ret_failure);
    if (err != MCPUMP_OK)
        return err;
    if (!mp_client_init(&server->client, options->client_name, options->client_version))
        return MCPUMP_ERR_NO_MEMORY;
    if ((int)options->era < 0 || options->era > MCPUMP_ERA_MODERN)
        return refuse_option(server, "era", (int)options->era, ret_failure);
    if (options->probe_timeout_ms < 0 || options->probe_timeout_ms > MP_OPTIONS_MOST)
        return refuse_option(server, "probe_timeout_ms", options->probe_timeout_ms, ret_failure);
    if (options->connect_timeout_ms < MCPUMP_FOREVER ||
        options->connect_timeout_ms > MP_OPTIONS_MOST)
        return refuse_option(server, "connect_timeout_ms", options->connect_timeout_ms,
                             ret_failure);
    server->era = options->era;
    server->probe_timeout_ms = options->probe_timeout_ms != 0 ? options->probe_timeout_ms : 3000;
    server->connect_timeout_ms =
        options->connect_timeout_ms != 0 ? options->connect_timeout_ms : 60000;
    return MCPUMP_OK;
}

mcpump_err mcpump_server_new(const mcpump_server_options *options, mcpump_server **ret_server,
                             mcpump_failure **ret_failure)
{
    mcpump_server_options whole;
    if (ret_failure != NULL)
        *ret_failure = NULL;
    if (options == NULL || ret_server == NULL)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    if (!mp_options_import(&whole, sizeof(whole), options))
        return mp_options_refuse_size(options, ret_failure);
    mcpump_server *server = calloc(1, sizeof(*server));
    if (server == NULL)
        return MCPUMP_ERR_NO_MEMORY;
    mp_mutex_init(&server->lock);
    mp_cond_init(&server->changed);
    mcpump_err err = init(server, &whole, ret_failure);
    if (err != MCPUMP_OK) {
        mcpump_server_free(server);
        return err;
    }
    *ret_server = server;
    return MCPUMP_OK;
}

void mcpump_server_free(mcpump_server *server)
{
    if (server == NULL)
        return;
    if (server->transport != NULL && mp_transport_is_elsewhere(server->transport)) {
        mcpump_transport_free(server->transport);
        return;
    }
    if (server->transport != NULL)
        mcpump_server_close(server);
    mcpump_transport_free(server->transport);
    mp_client_done(&server->client);
    mcpump_failure_free(server->last_failure);
    mp_cond_done(&server->changed);
    mp_mutex_done(&server->lock);
    free(server);
}

/* -- requests */

static mcpump_err refuse_message(mcpump_server *server, const struct mp_message *message,
                                 mcpump_phase phase, const char *method, const char *why,
                                 mcpump_failure **ret_failure)
{
    mcpump_err err = message->text.failed ? MCPUMP_ERR_NO_MEMORY : MCPUMP_ERR_INVALID_REQUEST;
    return mp_server_fail(server, err, phase, method, why, ret_failure);
}

static void done_message(void *message)
{
    mp_message_done(message);
}

mcpump_err mp_server_request(mcpump_server *server, const char *method, const char *params,
                             const struct mp_call_limits *limits, mcpump_reply **ret_reply,
                             mcpump_failure **ret_failure)
{
    const struct mp_revision *revision;
    mcpump_err err = mp_server_ready(server, limits, &revision, ret_failure);
    if (err != MCPUMP_OK)
        return err;
    struct mp_message message;
    const char *why = mp_message_init(&message, method, params, false);
    if (why == NULL && revision->era == MCPUMP_ERA_MODERN)
        why = mp_message_add_metadata(&message, &server->client, revision->version);
    struct mp_call_plan plan = {
        .request = mp_message_span(&message), .envelope = &message.envelope, .limits = *limits};
    pthread_cleanup_push(done_message, &message); /* of a thread that is cancelled */
    if (why != NULL)
        err = refuse_message(server, &message, MCPUMP_PHASE_REQUEST, method, why, ret_failure);
    else
        err = mp_call_make(server->transport, &plan, MCPUMP_PHASE_REQUEST, ret_reply, ret_failure);
    pthread_cleanup_pop(true);
    return err;
}

mcpump_err mcpump_server_request(mcpump_server *server, const char *method, const char *params,
                                 const mcpump_call_options *options, mcpump_reply **ret_reply,
                                 mcpump_failure **ret_failure)
{
    struct mp_call_limits limits;
    if (ret_failure != NULL)
        *ret_failure = NULL;
    if (server == NULL || method == NULL || ret_reply == NULL ||
        !mp_call_limits_init(&limits, server->transport, options))
        return MCPUMP_ERR_INVALID_ARGUMENT;
    return mp_server_request(server, method, params, &limits, ret_reply, ret_failure);
}

mcpump_err mcpump_server_notify(mcpump_server *server, const char *method, const char *params,
                                mcpump_failure **ret_failure)
{
    if (ret_failure != NULL)
        *ret_failure = NULL;
    if (server == NULL || method == NULL)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    const struct mp_revision *revision;
    struct mp_call_limits limits;
    mp_call_limits_init(&limits, server->transport, NULL);
    mcpump_err err = mp_server_ready(server, &limits, &revision, ret_failure);
    if (err != MCPUMP_OK)
        return err;
    struct mp_message message;
    const char *why = mp_message_init(&message, method, params, true);
    err = why != NULL
              ? refuse_message(server, &message, MCPUMP_PHASE_NOTIFY, method, why, ret_failure)
              : mp_call_notify(server->transport, mp_message_span(&message), &message.envelope,
                               &limits, ret_failure);
    mp_message_done(&message);
    return err;
}

/* -- the latch */

void mcpump_server_interrupt(mcpump_server *server)
{
    mcpump_transport_interrupt(server->transport);
}

void mcpump_server_clear_interrupt(mcpump_server *server)
{
    mcpump_transport_clear_interrupt(server->transport);
}

bool mcpump_server_is_interrupted(const mcpump_server *server)
{
    return mcpump_transport_is_interrupted(server->transport);
}

/* -- asked */

/* What was agreed on, if it still holds. */
static const struct mp_revision *current_revision(const mcpump_server *server)
{
    if (!mcpump_transport_is_connected(server->transport))
        return NULL;
    union {
        const mcpump_server *in;
        mcpump_server *out; /* the lock of an object that is only looked at */
    } cast = {server};
    mp_mutex_lock(&cast.out->lock);
    const struct mp_revision *revision = server->state == MP_SERVER_READY ? server->revision : NULL;
    mp_mutex_unlock(&cast.out->lock);
    return revision;
}

bool mcpump_server_is_connected(const mcpump_server *server)
{
    return current_revision(server) != NULL;
}

mcpump_era mcpump_server_era(const mcpump_server *server)
{
    const struct mp_revision *revision = current_revision(server);
    return revision != NULL ? revision->era : MCPUMP_ERA_AUTO;
}

const char *mcpump_server_protocol_version(const mcpump_server *server)
{
    const struct mp_revision *revision = current_revision(server);
    return revision != NULL ? revision->version : "";
}

mcpump_transport *mcpump_server_transport(mcpump_server *server)
{
    return server->transport;
}

void mcpump_text_free(char *text)
{
    free(text);
}
