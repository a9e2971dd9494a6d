/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests of the protocol as calls of a server, and what a server says of itself. JSON goes in
 * and out as text and is passed on byte for byte: large integers, decimals, escapes and the order
 * of keys stay. See result.h for what can be read out of a reply, json.h for trees.
 *
 * Each is a request in the sense of mcpump_server_request: it starts an idle server, takes the same
 * options, blocks in the same way, and can fail with the same errors. An error reply of the server
 * is a success of those that give a reply, and SERVER_ERROR of those that do not, with the reply in
 * mcpump_failure_reply. A result of the modern era that is not `complete` (it asks for input, or is
 * of a type that is not known here) is INVALID_REPLY, with the reply in the failure too;
 * mcpump_server_request takes any.
 *
 * Any thread, but not a log or stderr function.
 */
#ifndef MCPUMP_TYPED_H
#define MCPUMP_TYPED_H

#include "server.h"

MCPUMP_BEGIN_DECLS

/**
 * Makes a round trip that asks for nothing: `ping` in the legacy era, `server/discover` in the
 * modern one, which has no ping. *ret_us, if not NULL, becomes its time in microseconds.
 */
MCPUMP_API mcpump_err mcpump_server_ping(mcpump_server *server, const mcpump_call_options *options,
                                         int64_t *ret_us, mcpump_failure **ret_failure);

/**
 * Lists all tools, resources, resource templates or prompts, page by page, under one timeout.
 * *ret_tools (and so on) becomes the text of one JSON array, NUL-terminated, each item as the
 * server wrote it; the caller frees it with mcpump_text_free. A list is kept for as long as a
 * modern server allows (`ttlMs`, the least of its pages), and the next call is given a copy without
 * asking, until the server says that the list has changed, or is started anew; the option `fresh`
 * asks in any case. The list of a legacy server is not kept. Errors: INVALID_REPLY also for a page
 * without the list, and for a list of more than 10000 pages or eight times max_message_bytes;
 * CLOSED when the server was started anew between two pages.
 * Source: MCP 2026-07-28 pagination, caching.
 */
MCPUMP_API mcpump_err mcpump_server_list_tools(mcpump_server *server,
                                               const mcpump_call_options *options, char **ret_tools,
                                               mcpump_failure **ret_failure);
MCPUMP_API mcpump_err mcpump_server_list_resources(mcpump_server *server,
                                                   const mcpump_call_options *options,
                                                   char **ret_resources,
                                                   mcpump_failure **ret_failure);
MCPUMP_API mcpump_err mcpump_server_list_resource_templates(mcpump_server *server,
                                                            const mcpump_call_options *options,
                                                            char **ret_templates,
                                                            mcpump_failure **ret_failure);
MCPUMP_API mcpump_err mcpump_server_list_prompts(mcpump_server *server,
                                                 const mcpump_call_options *options,
                                                 char **ret_prompts, mcpump_failure **ret_failure);

/**
 * Calls a tool. `arguments` is the text of a JSON object, or NULL for none; borrowed until the call
 * returns. *ret_reply is the new reply of `tools/call`. Errors: INVALID_REQUEST for arguments that
 * are no object.
 */
MCPUMP_API mcpump_err mcpump_server_call_tool(mcpump_server *server, const char *tool,
                                              const char *arguments,
                                              const mcpump_call_options *options,
                                              mcpump_reply **ret_reply,
                                              mcpump_failure **ret_failure);

/** Reads a resource: *ret_reply is the new reply of `resources/read`. */
MCPUMP_API mcpump_err mcpump_server_read_resource(mcpump_server *server, const char *uri,
                                                  const mcpump_call_options *options,
                                                  mcpump_reply **ret_reply,
                                                  mcpump_failure **ret_failure);

/** Gets a prompt: *ret_reply is the new reply of `prompts/get`. `arguments` as for a tool; the
 * protocol wants strings in them. */
MCPUMP_API mcpump_err mcpump_server_get_prompt(mcpump_server *server, const char *prompt,
                                               const char *arguments,
                                               const mcpump_call_options *options,
                                               mcpump_reply **ret_reply,
                                               mcpump_failure **ret_failure);

/** What is to be completed. Start from MCPUMP_COMPLETION_INIT. */
typedef struct mcpump_completion {
    size_t size;              /**< sizeof(mcpump_completion) */
    const char *prompt;       /**< The name of a prompt, or NULL. */
    const char *uri_template; /**< That of a resource template. One of the two. */
    const char *argument;     /**< Whose value it is. */
    const char *value;        /**< What there is of it. NULL: "". */
    const char *context;      /**< The arguments that are known: a JSON object, or NULL. */
} mcpump_completion;

#define MCPUMP_COMPLETION_INIT                                                                     \
    {                                                                                              \
        .size = sizeof(mcpump_completion)                                                          \
    }

/** Asks how an argument may go on: *ret_reply is the new reply of `completion/complete`. Borrows
 * the completion until it returns. */
MCPUMP_API mcpump_err mcpump_server_complete(mcpump_server *server,
                                             const mcpump_completion *completion,
                                             const mcpump_call_options *options,
                                             mcpump_reply **ret_reply,
                                             mcpump_failure **ret_failure);

/**
 * Says from which level on the server's log messages are wanted: "debug", "info", "notice",
 * "warning", "error", "critical", "alert" or "emergency". It is remembered, for all connections to
 * come: a modern server is told with each request, a legacy one by `logging/setLevel`, now and
 * after each restart. NULL forgets it, without a word to the server: a legacy one keeps to what it
 * was told until it is started anew. On failure what was remembered before stays.
 * Errors: INVALID_ARGUMENT for another level; SERVER_ERROR.
 */
MCPUMP_API mcpump_err mcpump_server_set_log_level(mcpump_server *server, const char *level,
                                                  const mcpump_call_options *options,
                                                  mcpump_failure **ret_failure);

/**
 * What the server said of itself when it was last connected: name, version and so on (an object,
 * `Implementation`), its capabilities (an object), and its instructions (plain text). The text is
 * new, to be freed with mcpump_text_free, or NULL when the server said nothing of the kind. Neither
 * starts the server nor blocks. Errors: NOT_OPEN before the first connection; NO_MEMORY; FORKED.
 */
MCPUMP_API mcpump_err mcpump_server_info(mcpump_server *server, char **ret_info);
MCPUMP_API mcpump_err mcpump_server_capabilities(mcpump_server *server, char **ret_capabilities);
MCPUMP_API mcpump_err mcpump_server_instructions(mcpump_server *server, char **ret_instructions);

MCPUMP_END_DECLS

#endif
