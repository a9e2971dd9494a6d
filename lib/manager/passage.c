/* SPDX-License-Identifier: Apache-2.0 */
#include "manager/passage.h"

#define NS_PER_US 1000

/* What the options say that is not a limit. The limits have checked their size. */
static bool take_options(struct mp_passage *passage, const mcpump_call_options *options,
                         struct mp_trace *ret_trace, mcpump_failure **ret_failure)
{
    mcpump_call_options whole = MCPUMP_CALL_OPTIONS_INIT;
    if (options == NULL)
        return true;
    mp_options_import(&whole, sizeof(whole), options);
    passage->fresh = whole.fresh;
    *ret_trace = (struct mp_trace){whole.traceparent, whole.tracestate, whole.baggage};
    const char *name;
    const char *why = mp_trace_is_empty(ret_trace) ? NULL : mp_trace_check(ret_trace, &name);
    if (why != NULL)
        mp_server_fail(passage->server, MCPUMP_ERR_INVALID_ARGUMENT, MCPUMP_PHASE_REQUEST, name,
                       why, ret_failure);
    return why == NULL;
}

bool mp_passage_enter(struct mp_passage *passage, mcpump_server *server,
                      const mcpump_call_options *options, mcpump_failure **ret_failure)
{
    struct mp_trace trace = {NULL, NULL, NULL};
    *passage = (struct mp_passage){.server = server, .err = MCPUMP_ERR_INVALID_ARGUMENT};
    if (ret_failure != NULL)
        *ret_failure = NULL;
    if (server == NULL || !mp_call_limits_init(&passage->limits, server->transport, options) ||
        !take_options(passage, options, &trace, ret_failure))
        return false;
    passage->err = mp_server_enter(server, &passage->limits, &passage->session, ret_failure);
    passage->session.trace = trace;
    passage->limits.connection = passage->session.connection;
    atomic_fetch_add_explicit(&server->calls, 1, memory_order_relaxed);
    if (passage->err != MCPUMP_OK) {
        atomic_fetch_add_explicit(&server->calls_failed, 1, memory_order_relaxed);
        return false;
    }
    passage->err = MCPUMP_ERR_CANCELLED;
    return true;
}

static void leave(mcpump_server *server, mcpump_err err, int64_t started_ns, bool is_answered)
{
    if (err != MCPUMP_OK)
        atomic_fetch_add_explicit(&server->calls_failed, 1, memory_order_relaxed);
    else if (!is_answered)
        mp_histogram_add(&server->latency, (mp_now_ns() - started_ns) / NS_PER_US);
    mp_server_leave(server);
}

void mp_passage_leave(void *arg)
{
    struct mp_passage *passage = arg;
    leave(passage->server, passage->err, passage->limits.started_ns, passage->is_answered);
}

void mp_passage_count_out(void *server, mcpump_err err, int64_t started_ns)
{
    leave(server, err, started_ns, false);
}
