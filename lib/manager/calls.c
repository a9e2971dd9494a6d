/* SPDX-License-Identifier: Apache-2.0 */
/* The public calls of a server that are about one message: raw, and typed with a reply. */
#include <stdlib.h>

#include "manager/passage.h"
#include "mcp/params.h"

/* -- raw */

mcpump_err mcpump_server_request(mcpump_server *server, const char *method, const char *params,
                                 const mcpump_call_options *options, mcpump_reply **ret_reply,
                                 mcpump_failure **ret_failure)
{
    struct mp_passage passage;
    if (method == NULL || ret_reply == NULL)
        server = NULL;
    if (!mp_passage_enter(&passage, server, options, ret_failure))
        return passage.err;
    pthread_cleanup_push(mp_passage_leave, &passage);
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
    struct mp_passage passage;
    if (method == NULL || ret_call == NULL)
        server = NULL;
    if (!mp_passage_enter(&passage, server, options, ret_failure))
        return passage.err;
    struct mp_call_owner owner = {mp_passage_count_out, server};
    passage.err = mp_session_submit(&passage.session, method, params, &passage.limits, &owner,
                                    ret_call, ret_failure);
    if (passage.err != MCPUMP_OK)
        mp_passage_leave(&passage);
    return passage.err;
}

mcpump_err mcpump_server_notify(mcpump_server *server, const char *method, const char *params,
                                mcpump_failure **ret_failure)
{
    struct mp_passage passage;
    if (!mp_passage_enter(&passage, method != NULL ? server : NULL, NULL, ret_failure))
        return passage.err;
    passage.err = mp_session_notify(&passage.session, method, params, &passage.limits, ret_failure);
    mp_passage_leave(&passage);
    return passage.err;
}

mcpump_err mcpump_server_ping(mcpump_server *server, const mcpump_call_options *options,
                              int64_t *ret_us, mcpump_failure **ret_failure)
{
    struct mp_passage passage;
    if (!mp_passage_enter(&passage, server, options, ret_failure))
        return passage.err;
    pthread_cleanup_push(mp_passage_leave, &passage);
    passage.err = mp_session_ping(&passage.session, &passage.limits, ret_us, ret_failure);
    pthread_cleanup_pop(true);
    return passage.err;
}

/* -- typed */

/* A request whose reply is the host's. The params were made, or `why` says why not. */
struct typed {
    const char *method;
    struct mp_buffer params; /* owned */
    const char *why;
    const mcpump_call_options *options;
    mcpump_reply **ret_reply;
    mcpump_failure **ret_failure;
};

static mcpump_err refuse(mcpump_server *server, const struct typed *typed)
{
    if (typed->ret_failure != NULL)
        *typed->ret_failure = NULL;
    if (typed->why == NULL)
        return MCPUMP_ERR_NO_MEMORY;
    return mp_server_fail(server, MCPUMP_ERR_INVALID_REQUEST, MCPUMP_PHASE_REQUEST, typed->method,
                          typed->why, typed->ret_failure);
}

static mcpump_err pass(mcpump_server *server, const struct typed *typed)
{
    struct mp_passage passage;
    if (!mp_passage_enter(&passage, server, typed->options, typed->ret_failure))
        return passage.err;
    pthread_cleanup_push(mp_passage_leave, &passage);
    passage.err = mp_session_ask(&passage.session, typed->method, typed->params.bytes,
                                 &passage.limits, typed->ret_reply, typed->ret_failure);
    pthread_cleanup_pop(true);
    return passage.err;
}

static void done_params(void *typed)
{
    mp_buffer_done(&((struct typed *)typed)->params);
}

static mcpump_err make(mcpump_server *server, struct typed *typed)
{
    mcpump_err err;
    pthread_cleanup_push(done_params, typed); /* of a thread that is cancelled */
    err = typed->why != NULL || typed->params.failed ? refuse(server, typed) : pass(server, typed);
    pthread_cleanup_pop(true);
    return err;
}

/* `what` and so on are required. */
static bool is_invalid(const mcpump_server *server, const void *what, mcpump_reply **ret_reply,
                       mcpump_failure **ret_failure)
{
    if (ret_failure != NULL)
        *ret_failure = NULL;
    return server == NULL || what == NULL || ret_reply == NULL;
}

mcpump_err mcpump_server_call_tool(mcpump_server *server, const char *tool, const char *arguments,
                                   const mcpump_call_options *options, mcpump_reply **ret_reply,
                                   mcpump_failure **ret_failure)
{
    struct typed typed = {"tools/call", MP_BUFFER_INIT, NULL, options, ret_reply, ret_failure};
    if (is_invalid(server, tool, ret_reply, ret_failure))
        return MCPUMP_ERR_INVALID_ARGUMENT;
    typed.why = mp_params_call(&typed.params, tool, arguments);
    return make(server, &typed);
}

mcpump_err mcpump_server_read_resource(mcpump_server *server, const char *uri,
                                       const mcpump_call_options *options, mcpump_reply **ret_reply,
                                       mcpump_failure **ret_failure)
{
    struct typed typed = {"resources/read", MP_BUFFER_INIT, NULL, options, ret_reply, ret_failure};
    if (is_invalid(server, uri, ret_reply, ret_failure))
        return MCPUMP_ERR_INVALID_ARGUMENT;
    typed.why = mp_params_read(&typed.params, uri);
    return make(server, &typed);
}

mcpump_err mcpump_server_get_prompt(mcpump_server *server, const char *prompt,
                                    const char *arguments, const mcpump_call_options *options,
                                    mcpump_reply **ret_reply, mcpump_failure **ret_failure)
{
    struct typed typed = {"prompts/get", MP_BUFFER_INIT, NULL, options, ret_reply, ret_failure};
    if (is_invalid(server, prompt, ret_reply, ret_failure))
        return MCPUMP_ERR_INVALID_ARGUMENT;
    typed.why = mp_params_call(&typed.params, prompt, arguments);
    return make(server, &typed);
}

mcpump_err mcpump_server_complete(mcpump_server *server, const mcpump_completion *completion,
                                  const mcpump_call_options *options, mcpump_reply **ret_reply,
                                  mcpump_failure **ret_failure)
{
    struct typed typed = {
        "completion/complete", MP_BUFFER_INIT, NULL, options, ret_reply, ret_failure};
    mcpump_completion whole;
    if (is_invalid(server, completion, ret_reply, ret_failure))
        return MCPUMP_ERR_INVALID_ARGUMENT;
    if (!mp_options_import(&whole, sizeof(whole), completion))
        return mp_options_refuse_size(completion, ret_failure);
    typed.why = mp_params_complete(&typed.params, &whole);
    return make(server, &typed);
}

void mcpump_text_free(char *text)
{
    free(text);
}
