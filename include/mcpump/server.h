/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server: a transport that speaks MCP, in both eras. Connecting starts the process, asks it
 * (`server/discover`) whether it is modern, and else makes the `initialize` handshake. Requests are
 * then given as method and params; metadata and ids are added here.
 *
 * Threads: every function may be called from any thread at any time between new and free, and none
 * from a log or stderr function.
 */
#ifndef MCPUMP_SERVER_H
#define MCPUMP_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "call.h"
#include "error.h"
#include "export.h"
#include "failure.h"
#include "options.h"
#include "reply.h"
#include "transport.h"

MCPUMP_BEGIN_DECLS

typedef struct mcpump_server mcpump_server;

/** The two families of protocol revisions. */
typedef enum mcpump_era {
    MCPUMP_ERA_AUTO = 0,   /**< In options: ask the server. As an answer: not known (yet). */
    MCPUMP_ERA_LEGACY = 1, /**< 2024-11-05 to 2025-11-25: opens with `initialize`. */
    MCPUMP_ERA_MODERN = 2, /**< From 2026-07-28: every request carries its metadata. */
} mcpump_era;

/** Start from MCPUMP_SERVER_OPTIONS_INIT. Everything is copied: borrowed until the call returns. */
typedef struct mcpump_server_options {
    size_t size; /**< sizeof(mcpump_server_options) */
    mcpump_transport_options transport;
    mcpump_era era;             /**< AUTO probes; LEGACY and MODERN insist. */
    int64_t probe_timeout_ms;   /**< Silence for so long means legacy. 0: 3000. */
    int64_t connect_timeout_ms; /**< From the start to ready. 0: 60000; MCPUMP_FOREVER. */
    const char *client_name;    /**< What the server is told. NULL: "mcpump". */
    const char *client_version; /**< NULL: that of the library. */
} mcpump_server_options;

#define MCPUMP_SERVER_OPTIONS_INIT                                                                 \
    {                                                                                              \
        .size = sizeof(mcpump_server_options), .transport = MCPUMP_TRANSPORT_OPTIONS_INIT          \
    }

/**
 * Makes a server; nothing is started. Borrows the options until it returns. On success *ret_server
 * is new, to be freed with mcpump_server_free. Errors as for mcpump_transport_new.
 */
MCPUMP_API mcpump_err mcpump_server_new(const mcpump_server_options *options,
                                        mcpump_server **ret_server, mcpump_failure **ret_failure);

/**
 * Starts the process and agrees on a protocol version. Connected already: does nothing. When
 * several threads connect at once, one does it and the others wait for it. Blocks until ready,
 * failed, interrupted, or connect_timeout_ms; after a failure the process is gone, for which the
 * graces may be waited (a second interrupt cuts them short).
 * Errors: SPAWN, HANDSHAKE, TIMEOUT, INTERRUPTED, CANCELLED, CLOSED, NO_MEMORY.
 * Source: MCP 2026-07-28 versioning; MCP 2025-11-25 lifecycle.
 */
MCPUMP_API mcpump_err mcpump_server_connect(mcpump_server *server, mcpump_failure **ret_failure);

/** Ends the process as mcpump_transport_close does; a connect that is under way fails. */
MCPUMP_API void mcpump_server_close(mcpump_server *server);

/** Closes if need be and frees. No other call may be running or come later. NULL is allowed. */
MCPUMP_API void mcpump_server_free(mcpump_server *server);

/**
 * Sends a request and waits for its reply. `params` is the text of a JSON object, or NULL; borrowed
 * until the call returns, and passed on byte for byte but for `_meta`, to which members that the
 * caller did not set are added. Connects first when the server was never connected or was closed;
 * once a connection is lost, calls fail with CLOSED until mcpump_server_connect. On success
 * *ret_reply is new; an error reply of the server is a success too.
 * Blocks and fails as mcpump_transport_send_request and mcpump_server_connect do: a call that has
 * to connect, and fails at that, stops the process before it returns.
 */
MCPUMP_API mcpump_err mcpump_server_request(mcpump_server *server, const char *method,
                                            const char *params, const mcpump_call_options *options,
                                            mcpump_reply **ret_reply, mcpump_failure **ret_failure);

/** Queues a notification; `params` as for a request. Does not wait for the server. */
MCPUMP_API mcpump_err mcpump_server_notify(mcpump_server *server, const char *method,
                                           const char *params, mcpump_failure **ret_failure);

/**
 * Makes a round trip that asks for nothing: `ping` in the legacy era, `server/discover` in the
 * modern one, which has no ping. *ret_us, if not NULL, becomes its time in microseconds.
 * Errors as for a request; SERVER_ERROR when the server does not answer with a result.
 */
MCPUMP_API mcpump_err mcpump_server_ping(mcpump_server *server, const mcpump_call_options *options,
                                         int64_t *ret_us, mcpump_failure **ret_failure);

/**
 * Lists all tools, page by page, under one timeout. *ret_tools becomes the text of one JSON array,
 * NUL-terminated, each tool as the server wrote it; the caller frees it with mcpump_text_free.
 * Errors as for a request; SERVER_ERROR with the server's words in the failure; INVALID_REPLY.
 */
MCPUMP_API mcpump_err mcpump_server_list_tools(mcpump_server *server,
                                               const mcpump_call_options *options, char **ret_tools,
                                               mcpump_failure **ret_failure);

/**
 * Calls a tool. `arguments` is the text of a JSON object, or NULL for none; borrowed until the call
 * returns. The reply is that of `tools/call`. Errors as for a request.
 */
MCPUMP_API mcpump_err mcpump_server_call_tool(mcpump_server *server, const char *tool,
                                              const char *arguments,
                                              const mcpump_call_options *options,
                                              mcpump_reply **ret_reply,
                                              mcpump_failure **ret_failure);

/** The interrupt latch; as for a transport. A connect under way is aborted too. */
MCPUMP_API void mcpump_server_interrupt(mcpump_server *server);
MCPUMP_API void mcpump_server_clear_interrupt(mcpump_server *server);
MCPUMP_API bool mcpump_server_is_interrupted(const mcpump_server *server);

/** Whether the server is ready for requests now. */
MCPUMP_API bool mcpump_server_is_connected(const mcpump_server *server);

/** The era of the server that is connected, else MCPUMP_ERA_AUTO. */
MCPUMP_API mcpump_era mcpump_server_era(const mcpump_server *server);

/** The protocol version agreed on, "" when not connected. Static. */
MCPUMP_API const char *mcpump_server_protocol_version(const mcpump_server *server);

/** The transport beneath, for pid, stats and display name. Borrowed until the server is freed. */
MCPUMP_API mcpump_transport *mcpump_server_transport(mcpump_server *server);

/** Frees a text that a function returned as new. NULL is allowed. */
MCPUMP_API void mcpump_text_free(char *text);

MCPUMP_END_DECLS

#endif
