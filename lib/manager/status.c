/* SPDX-License-Identifier: Apache-2.0 */
/* What can be asked of a server. */
#include <stdio.h>
#include <string.h>

#include "manager/server.h"

#define NS_PER_MS 1000000

#define NAME_OF(name, number, text) [number] = #name,
static const char *const names[] = {MCPUMP_SERVER_STATES(NAME_OF)};
#define TEXT_OF(name, number, text) [number] = text,
static const char *const texts[] = {MCPUMP_SERVER_STATES(TEXT_OF)};
#define STATE_COUNT (sizeof(names) / sizeof(*names))

const char *mcpump_server_state_name(mcpump_server_state state)
{
    return (size_t)state < STATE_COUNT ? names[state] : "UNKNOWN";
}

const char *mcpump_server_state_text(mcpump_server_state state)
{
    return (size_t)state < STATE_COUNT ? texts[state] : "unknown";
}

/* The lock of an object that is only looked at. */
static mcpump_server *unlocked(const mcpump_server *server)
{
    union {
        const mcpump_server *in;
        mcpump_server *out;
    } cast = {server};
    return cast.out;
}

mcpump_server_state mcpump_server_get_state(const mcpump_server *server)
{
    mcpump_server *own = unlocked(server);
    if (mp_transport_is_elsewhere(server->transport))
        return MCPUMP_SERVER_STOPPED;
    mp_mutex_lock(&own->lock);
    mcpump_server_state state = own->state;
    mp_mutex_unlock(&own->lock);
    return state;
}

/* What was agreed on, if it still holds. */
static const struct mp_revision *current_revision(const mcpump_server *server)
{
    if (!mcpump_transport_is_connected(server->transport))
        return NULL;
    return atomic_load(&server->revision);
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

/* -- the status */

static void tell_life_locked(mcpump_server *server, mcpump_server_status *status)
    MP_REQUIRES(&server->lock)
{
    int64_t now = mp_now_ns();
    status->state = server->state;
    status->era = server->last_era;
    status->restarts = server->times_ready > 0 ? server->times_ready - 1 : 0;
    status->attempts_in_row = (uint64_t)server->tries_in_row;
    status->uptime_ms = -1;
    status->next_try_ms = -1;
    if (server->state == MCPUMP_SERVER_READY)
        status->uptime_ms = (now - server->ready_since_ns) / NS_PER_MS;
    if (server->state == MCPUMP_SERVER_BACKING_OFF || server->state == MCPUMP_SERVER_FAILED)
        status->next_try_ms = server->next_try > now ? (server->next_try - now) / NS_PER_MS : 0;
    if (server->last_failure != NULL)
        snprintf(status->last_failure, sizeof(status->last_failure), "%s",
                 mcpump_failure_message(server->last_failure));
    memcpy(status->server_name, server->server_name, sizeof(status->server_name));
    memcpy(status->server_version, server->server_version, sizeof(status->server_version));
}

static void tell_counts(mcpump_server *server, mcpump_server_status *status)
{
    mcpump_stats stats = {.size = sizeof(stats)};
    mcpump_transport_stats(server->transport, &stats);
    status->in_flight = stats.in_flight;
    status->queued_bytes = stats.queued_bytes;
    status->calls = atomic_load_explicit(&server->calls, memory_order_relaxed);
    status->calls_failed = atomic_load_explicit(&server->calls_failed, memory_order_relaxed);
    status->p50_us = mp_histogram_percentile(&server->latency, 50);
    status->p99_us = mp_histogram_percentile(&server->latency, 99);
}

void mcpump_server_get_status(mcpump_server *server, mcpump_server_status *ret_status)
{
    mcpump_server_status status = {.size = ret_status->size, .version = "", .pid = -1};
    if (!mp_transport_is_elsewhere(server->transport)) {
        mp_mutex_lock(&server->lock);
        tell_life_locked(server, &status);
        mp_mutex_unlock(&server->lock);
        tell_counts(server, &status);
        status.generation = atomic_load(&server->generation);
        status.version = mcpump_server_protocol_version(server);
        status.pid = mcpump_transport_pid(server->transport);
    }
    size_t size = ret_status->size < sizeof(status) ? ret_status->size : sizeof(status);
    memcpy(ret_status, &status, size);
}
