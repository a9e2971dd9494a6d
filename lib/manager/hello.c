/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What passes between client and server about themselves: what the server said when it presented
 * itself, and the log level that it is told.
 */
#include <stdlib.h>
#include <string.h>

#include "manager/passage.h"
#include "mcp/answer.h"
#include "mcp/params.h"
#include "mcp/tree.h"
#include "mcpump/typed.h"
#include "wire/member.h"

/* How long a new connection waits for the server to take a log level. */
#define LEVEL_MS 5000

/* -- what the server said */

/* Returns new: the result with which it presented itself, or NULL when that was lost. */
static mcpump_err copy_hello(mcpump_server *server, char **ret_hello)
{
    mcpump_err err = MCPUMP_OK;
    mp_mutex_lock(&server->lock);
    *ret_hello = server->hello != NULL ? strdup(server->hello) : NULL;
    if (server->times_ready == 0)
        err = MCPUMP_ERR_NOT_OPEN;
    else if (server->hello != NULL && *ret_hello == NULL)
        err = MCPUMP_ERR_NO_MEMORY;
    mp_mutex_unlock(&server->lock);
    return err;
}

/* Adds to `out` what is asked for; false: there is none. */
typedef bool part_fn(struct mp_buffer *out, const char *hello);

static mcpump_err tell(mcpump_server *server, part_fn *add, char **ret_text)
{
    char *hello;
    struct mp_buffer out = MP_BUFFER_INIT;
    if (server == NULL || ret_text == NULL)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    if (mp_transport_is_elsewhere(server->transport))
        return MCPUMP_ERR_FORKED;
    mcpump_err err = copy_hello(server, &hello);
    if (err != MCPUMP_OK) {
        free(hello);
        return err;
    }
    bool has_part = hello != NULL && add(&out, hello);
    free(hello);
    bool failed = out.failed;
    char *text = has_part ? mp_buffer_take(&out) : NULL;
    mp_buffer_done(&out);
    if (failed || (has_part && text == NULL))
        return MCPUMP_ERR_NO_MEMORY;
    *ret_text = text;
    return MCPUMP_OK;
}

static bool add_object(struct mp_buffer *out, struct mp_span object)
{
    if (*object.bytes != '{')
        return false;
    mp_buffer_add(out, object.bytes, object.size);
    return true;
}

static bool add_info(struct mp_buffer *out, const char *hello)
{
    struct mp_span info;
    return mp_answer_info(hello, &info) && add_object(out, info);
}

static bool find(const char *hello, const char *key, struct mp_span *ret_value)
{
    struct mp_span result = {hello, strlen(hello)};
    return mp_member_find(result, key, ret_value);
}

static bool add_capabilities(struct mp_buffer *out, const char *hello)
{
    struct mp_span capabilities;
    return find(hello, "capabilities", &capabilities) && add_object(out, capabilities);
}

static bool add_instructions(struct mp_buffer *out, const char *hello)
{
    struct mp_span instructions;
    return find(hello, "instructions", &instructions) && mp_tree_add_string(out, instructions);
}

mcpump_err mcpump_server_info(mcpump_server *server, char **ret_info)
{
    return tell(server, add_info, ret_info);
}

mcpump_err mcpump_server_capabilities(mcpump_server *server, char **ret_capabilities)
{
    return tell(server, add_capabilities, ret_capabilities);
}

mcpump_err mcpump_server_instructions(mcpump_server *server, char **ret_instructions)
{
    return tell(server, add_instructions, ret_instructions);
}

/* -- the log level */

/* Remembered first, so that a connection that is made meanwhile has it; taken back if the server
 * refuses, unless another thread has said something else since. */
static mcpump_err set_level(struct mp_passage *passage, const char *level,
                            mcpump_failure **ret_failure)
{
    mcpump_server *server = passage->server;
    const char *before = atomic_exchange(&server->log_level, level), *ours = level;
    if (passage->session.revision->era == MCPUMP_ERA_MODERN)
        return MCPUMP_OK;
    mcpump_err err = mp_session_set_level(&passage->session, level, &passage->limits, ret_failure);
    if (err != MCPUMP_OK)
        atomic_compare_exchange_strong(&server->log_level, &ours, before);
    return err;
}

mcpump_err mcpump_server_set_log_level(mcpump_server *server, const char *level,
                                       const mcpump_call_options *options,
                                       mcpump_failure **ret_failure)
{
    struct mp_passage passage;
    const char *known = level != NULL ? mp_params_level(level) : NULL;
    if (ret_failure != NULL)
        *ret_failure = NULL;
    if (server == NULL)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    if (level == NULL) {
        atomic_store(&server->log_level, NULL);
        return MCPUMP_OK;
    }
    if (known == NULL)
        return mp_server_fail(server, MCPUMP_ERR_INVALID_ARGUMENT, MCPUMP_PHASE_REQUEST, "level",
                              "there is no such log level", ret_failure);
    if (!mp_passage_enter(&passage, server, options, ret_failure))
        return passage.err;
    pthread_cleanup_push(mp_passage_leave, &passage);
    passage.is_answered = passage.session.revision->era == MCPUMP_ERA_MODERN;
    passage.err = set_level(&passage, known, ret_failure);
    pthread_cleanup_pop(true);
    return passage.err;
}

void mp_server_repeat_level(mcpump_server *server, const struct mp_revision *revision,
                            const struct mp_call_limits *limits)
{
    const char *level = atomic_load(&server->log_level);
    if (level == NULL || revision == NULL || revision->era == MCPUMP_ERA_MODERN)
        return;
    const struct mp_session session = {
        .transport = server->transport, .client = &server->client, .revision = revision};
    struct mp_call_limits brief = *limits;
    brief.deadline = mp_deadline_earlier(brief.deadline, mp_deadline_after_ms(LEVEL_MS));
    mp_session_set_level(&session, level, &brief, NULL);
}
