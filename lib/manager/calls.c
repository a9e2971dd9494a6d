/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public calls of a server: each comes in (waiting.c), speaks through a session (mcp/), is
 * counted and leaves.
 */
#include <stdlib.h>

#include "manager/server.h"

#define NS_PER_US 1000

/* One call on its way through. */
struct passage {
    mcpump_server *server;
    struct mp_call_limits limits;
    struct mp_session session;
    mcpump_err err;
    bool is_in;
};

/* False: the call is not valid, or was not let in; err. */
static bool enter(struct passage *passage, mcpump_server *server,
                  const mcpump_call_options *options, mcpump_failure **ret_failure)
{
    *passage = (struct passage){.server = server, .err = MCPUMP_ERR_INVALID_ARGUMENT};
    if (ret_failure != NULL)
        *ret_failure = NULL;
    if (server == NULL || !mp_call_limits_init(&passage->limits, server->transport, options))
        return false;
    passage->err = mp_server_enter(server, &passage->limits, &passage->session, ret_failure);
    passage->is_in = passage->err == MCPUMP_OK;
    atomic_fetch_add_explicit(&server->calls, 1, memory_order_relaxed);
    if (!passage->is_in)
        atomic_fetch_add_explicit(&server->calls_failed, 1, memory_order_relaxed);
    return passage->is_in;
}

/* How a call ended that was let in. */
static void count_out(void *arg, mcpump_err err, int64_t started_ns)
{
    mcpump_server *server = arg;
    if (err == MCPUMP_OK)
        mp_histogram_add(&server->latency, (mp_now_ns() - started_ns) / NS_PER_US);
    else
        atomic_fetch_add_explicit(&server->calls_failed, 1, memory_order_relaxed);
    mp_server_leave(server);
}

/* Also of a thread that is cancelled: `err` is still CANCELLED then. */
static void leave(void *arg)
{
    struct passage *passage = arg;
    count_out(passage->server, passage->err, passage->limits.started_ns);
}

mcpump_err mcpump_server_request(mcpump_server *server, const char *method, const char *params,
                                 const mcpump_call_options *options, mcpump_reply **ret_reply,
                                 mcpump_failure **ret_failure)
{
    struct passage passage;
    if (method == NULL || ret_reply == NULL)
        server = NULL;
    if (!enter(&passage, server, options, ret_failure))
        return passage.err;
    passage.err = MCPUMP_ERR_CANCELLED;
    pthread_cleanup_push(leave, &passage);
    passage.err = mp_session_request(&passage.session, method, params, &passage.limits, ret_reply,
                                     ret_failure);
    pthread_cleanup_pop(true);
    return passage.err;
}

/* It stays in until its outcome is given. */
mcpump_err mcpump_server_submit(mcpump_server *server, const char *method, const char *params,
                                const mcpump_call_options *options, mcpump_call **ret_call,
                                mcpump_failure **ret_failure)
{
    struct passage passage;
    if (method == NULL || ret_call == NULL)
        server = NULL;
    if (!enter(&passage, server, options, ret_failure))
        return passage.err;
    struct mp_call_owner owner = {count_out, server};
    passage.err = mp_session_submit(&passage.session, method, params, &passage.limits, &owner,
                                    ret_call, ret_failure);
    if (passage.err != MCPUMP_OK)
        leave(&passage);
    return passage.err;
}

mcpump_err mcpump_server_notify(mcpump_server *server, const char *method, const char *params,
                                mcpump_failure **ret_failure)
{
    struct passage passage;
    if (!enter(&passage, method != NULL ? server : NULL, NULL, ret_failure))
        return passage.err;
    passage.err = mp_session_notify(&passage.session, method, params, &passage.limits, ret_failure);
    leave(&passage);
    return passage.err;
}

mcpump_err mcpump_server_ping(mcpump_server *server, const mcpump_call_options *options,
                              int64_t *ret_us, mcpump_failure **ret_failure)
{
    struct passage passage;
    if (!enter(&passage, server, options, ret_failure))
        return passage.err;
    passage.err = MCPUMP_ERR_CANCELLED;
    pthread_cleanup_push(leave, &passage);
    passage.err = mp_session_ping(&passage.session, &passage.limits, ret_us, ret_failure);
    pthread_cleanup_pop(true);
    return passage.err;
}

mcpump_err mcpump_server_list_tools(mcpump_server *server, const mcpump_call_options *options,
                                    char **ret_tools, mcpump_failure **ret_failure)
{
    struct passage passage;
    if (!enter(&passage, ret_tools != NULL ? server : NULL, options, ret_failure))
        return passage.err;
    passage.err = MCPUMP_ERR_CANCELLED;
    pthread_cleanup_push(leave, &passage);
    passage.err = mp_session_list_tools(&passage.session, &passage.limits, ret_tools, ret_failure);
    pthread_cleanup_pop(true);
    return passage.err;
}

mcpump_err mcpump_server_call_tool(mcpump_server *server, const char *tool, const char *arguments,
                                   const mcpump_call_options *options, mcpump_reply **ret_reply,
                                   mcpump_failure **ret_failure)
{
    struct passage passage;
    if (tool == NULL || ret_reply == NULL)
        server = NULL;
    if (!enter(&passage, server, options, ret_failure))
        return passage.err;
    passage.err = MCPUMP_ERR_CANCELLED;
    pthread_cleanup_push(leave, &passage);
    passage.err = mp_session_call_tool(&passage.session, tool, arguments, &passage.limits,
                                       ret_reply, ret_failure);
    pthread_cleanup_pop(true);
    return passage.err;
}

void mcpump_text_free(char *text)
{
    free(text);
}
