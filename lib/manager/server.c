/* SPDX-License-Identifier: Apache-2.0 */
/* The making and freeing of servers, and their latch. */
#include "manager/server.h"
#include "manager/seat.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

mcpump_err mp_server_fail(mcpump_server *server, mcpump_err err, mcpump_phase phase,
                          const char *subject, const char *words, mcpump_failure **ret_failure)
{
    const struct mp_session session = {.transport = server->transport};
    return mp_session_fail(&session, err, phase, subject, words, ret_failure);
}

/* -- options */

/* A number of the options: where it goes, and what it may be. */
struct number {
    const char *key;
    int64_t given, fallback;
    int64_t least; /* beyond 0, which stands for the fallback */
    int64_t as_if; /* what the least one, when it is negative, stands for */
    int64_t *ret_number;
};

static bool take_number(const struct number *number)
{
    if (number->given < number->least || number->given > MP_OPTIONS_MOST)
        return false;
    *number->ret_number = number->given;
    if (number->given == 0)
        *number->ret_number = number->fallback;
    else if (number->given < 0)
        *number->ret_number = number->as_if;
    return true;
}

static mcpump_err refuse(mcpump_server *server, const char *key, int64_t value,
                         mcpump_failure **ret_failure)
{
    char words[48];
    snprintf(words, sizeof(words), "%" PRId64 " is out of range", value);
    return mp_server_fail(server, MCPUMP_ERR_INVALID_ARGUMENT, MCPUMP_PHASE_OPTIONS, key, words,
                          ret_failure);
}

static mcpump_err take_options(mcpump_server *server, const mcpump_server_options *options,
                               mcpump_failure **ret_failure)
{
    struct mp_policy *policy = &server->policy;
    const struct number numbers[] = {
        {"probe_timeout_ms", options->probe_timeout_ms, 3000, 0, 0, &server->probe_timeout_ms},
        {"connect_timeout_ms", options->connect_timeout_ms, 60000, MCPUMP_FOREVER, MCPUMP_FOREVER,
         &server->connect_timeout_ms},
        {"backoff_first_ms", options->backoff_first_ms, 1000, 0, 0, &policy->backoff_first_ms},
        {"backoff_most_ms", options->backoff_most_ms, 60000, 0, 0, &policy->backoff_most_ms},
        {"stable_ms", options->stable_ms, 30000, 0, 0, &policy->stable_ms},
        {"max_reconnects", options->max_reconnects, 5, MCPUMP_ZERO, 0, &policy->max_reconnects},
        {"idle_timeout_ms", options->idle_timeout_ms, 0, 0, 0, &server->idle_timeout_ms},
    };
    if ((int)options->era < 0 || options->era > MCPUMP_ERA_MODERN)
        return refuse(server, "era", (int)options->era, ret_failure);
    server->era = options->era;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        if (!take_number(&numbers[i]))
            return refuse(server, numbers[i].key, numbers[i].given, ret_failure);
    }
    return MCPUMP_OK;
}

/* -- made */

static mcpump_err init(mcpump_server *server, const mcpump_server_options *options,
                       const struct mp_owner *owner, mcpump_failure **ret_failure)
{
    mcpump_err err = mcpump_transport_new(&options->transport, &server->transport, ret_failure);
    if (err != MCPUMP_OK)
        return err;
    mp_asks_init(&server->asks, server->transport);
    mp_server_listen(server);
    if (owner != NULL) {
        server->owner = *owner;
        mp_seat_ref(owner->seat);
    }
    if (!mp_client_init(&server->client, options->client_name, options->client_version))
        return MCPUMP_ERR_NO_MEMORY;
    return take_options(server, options, ret_failure);
}

static void destroy(mcpump_server *server)
{
    if (server->transport != NULL)
        mp_asks_done(&server->asks);
    mcpump_transport_free(server->transport);
    mp_client_done(&server->client);
    mcpump_failure_free(server->last_failure);
    free(server->hello);
    mp_seat_unref(server->owner.seat);
    mp_lists_done(&server->lists);
    mp_cond_done(&server->changed);
    mp_cond_done(&server->work);
    mp_mutex_done(&server->lock);
    free(server);
}

mcpump_err mp_server_new(const mcpump_server_options *options, const struct mp_owner *owner,
                         mcpump_server **ret_server, mcpump_failure **ret_failure)
{
    mcpump_server_options whole;
    if (!mp_options_import(&whole, sizeof(whole), options))
        return mp_options_refuse_size(options, ret_failure);
    mcpump_server *server = calloc(1, sizeof(*server));
    if (server == NULL)
        return MCPUMP_ERR_NO_MEMORY;
    atomic_init(&server->refs, 1);
    server->turn.server = server;
    mp_mutex_init(&server->lock);
    mp_cond_init(&server->work);
    mp_cond_init(&server->changed);
    mp_lists_init(&server->lists);
    mcpump_err err = init(server, &whole, owner, ret_failure);
    if (err != MCPUMP_OK) {
        destroy(server);
        return err;
    }
    *ret_server = server;
    return MCPUMP_OK;
}

mcpump_err mcpump_server_new(const mcpump_server_options *options, mcpump_server **ret_server,
                             mcpump_failure **ret_failure)
{
    if (ret_failure != NULL)
        *ret_failure = NULL;
    if (options == NULL || ret_server == NULL)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    return mp_server_new(options, NULL, ret_server, ret_failure);
}

mcpump_server *mp_server_ref(mcpump_server *server)
{
    atomic_fetch_add_explicit(&server->refs, 1, memory_order_relaxed);
    return server;
}

/* -- freed */

/* The keeper brings down what is up, and ends. */
static void end_keeper(mcpump_server *server)
{
    mp_mutex_lock(&server->lock);
    server->is_quitting = true;
    bool has_keeper = server->has_keeper;
    if (server->state == MCPUMP_SERVER_CONNECTING)
        server->downs_wanted++;
    mp_server_set_state_locked(server, MCPUMP_SERVER_STOPPED, NULL);
    mp_transport_close_begin(server->transport, false);
    mp_server_nudge_locked(server);
    mp_mutex_unlock(&server->lock);
    if (has_keeper)
        mp_thread_join(&server->keeper);
}

void mcpump_server_free(mcpump_server *server)
{
    if (server == NULL || atomic_fetch_sub_explicit(&server->refs, 1, memory_order_acq_rel) > 1)
        return;
    /* In a forked child there is no keeper, and who held the locks is not known. */
    if (mp_transport_is_elsewhere(server->transport)) {
        mcpump_transport_free(server->transport);
        return;
    }
    end_keeper(server);
    destroy(server);
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
