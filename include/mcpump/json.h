/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For hosts that use json-c: trees in place of text. Nobody else needs its headers. A tree has one
 * owner thread at a time, also for reading: writing it out as text keeps that text in it.
 *
 * A tree is less exact than the text: integers beyond 64 bits are cut to what fits, and of members
 * that stand twice the last one counts. Arguments that must arrive as they are go in as text.
 */
#ifndef MCPUMP_JSON_H
#define MCPUMP_JSON_H

#include "server.h"

MCPUMP_BEGIN_DECLS

struct json_object;

/**
 * The value of `result`, or of `error` when it is one, as a tree. *ret_value is new, to be given
 * back with json_object_put; NULL stands for `null`. Errors: NO_MEMORY; INVALID_REPLY when json-c
 * refuses the text.
 */
MCPUMP_API mcpump_err mcpump_reply_json(const mcpump_reply *reply, struct json_object **ret_value);

/** The same of a text that this library has given, such as a list. Errors: INVALID_ARGUMENT when it
 * is no JSON. */
MCPUMP_API mcpump_err mcpump_text_json(const char *text, struct json_object **ret_value);

/** As mcpump_server_request, mcpump_server_call_tool and mcpump_server_get_prompt. The tree is
 * borrowed until the call returns; NULL: none. Errors: NO_MEMORY when it cannot be written out. */
MCPUMP_API mcpump_err mcpump_server_request_json(mcpump_server *server, const char *method,
                                                 struct json_object *params,
                                                 const mcpump_call_options *options,
                                                 mcpump_reply **ret_reply,
                                                 mcpump_failure **ret_failure);
MCPUMP_API mcpump_err mcpump_server_call_tool_json(mcpump_server *server, const char *tool,
                                                   struct json_object *arguments,
                                                   const mcpump_call_options *options,
                                                   mcpump_reply **ret_reply,
                                                   mcpump_failure **ret_failure);
MCPUMP_API mcpump_err mcpump_server_get_prompt_json(mcpump_server *server, const char *prompt,
                                                    struct json_object *arguments,
                                                    const mcpump_call_options *options,
                                                    mcpump_reply **ret_reply,
                                                    mcpump_failure **ret_failure);

MCPUMP_END_DECLS

#endif
