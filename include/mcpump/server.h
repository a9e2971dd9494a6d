/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server: a transport that speaks MCP, in both eras, and that comes back. Connecting starts the
 * process, asks it (`server/discover`) whether it is modern, and else makes the `initialize`
 * handshake. Requests are then given as method and params; metadata and ids are added here.
 *
 * A server is started by the first call that needs it, or by mcpump_server_start. A connection that
 * is lost is made anew by itself, after a delay that is drawn at random below a bound, which
 * doubles from one loss to the next. Calls that were in flight fail and are never made twice; new
 * ones fail at once while the server is down, with its last failure and the time of the next try.
 * After max_reconnects in a row that did not last, and when it could not be started for a call, the
 * server is FAILED: it is tried again for a call that comes after the delay, or at once by
 * mcpump_server_start, mcpump_server_connect or mcpump_server_restart.
 *
 * Threads: every function may be called from any thread at any time between new and free, and none
 * from a log or stderr function.
 */
#ifndef MCPUMP_SERVER_H
#define MCPUMP_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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

    int64_t backoff_first_ms; /**< Bound of the delay before the first reconnect. 0: 1000. */
    int64_t backoff_most_ms;  /**< What the bound doubles up to. 0: 60000. */
    /** A connection that was ready for so long lets the bound start anew; a handshake alone does
     * not. 0: 30000. */
    int64_t stable_ms;
    int64_t max_reconnects;  /**< In a row, by itself. 0: 5; MCPUMP_ZERO: none. */
    int64_t idle_timeout_ms; /**< Stop when no call was made for so long. 0: never. */
} mcpump_server_options;

#define MCPUMP_SERVER_OPTIONS_INIT                                                                 \
    {                                                                                              \
        .size = sizeof(mcpump_server_options), .transport = MCPUMP_TRANSPORT_OPTIONS_INIT          \
    }

/* X(NAME, number, text): where a server is in its life. */
#define MCPUMP_SERVER_STATES(X)                                                                    \
    X(IDLE, 0, "idle")             /* not started; a call starts it */                             \
    X(CONNECTING, 1, "connecting") /* calls wait until it is ready */                              \
    X(READY, 2, "ready")                                                                           \
    X(BACKING_OFF, 3, "backing off") /* it is down, and tried again by itself */                   \
    X(FAILED, 4, "failed")           /* it is down; a call after next_try_ms tries again */        \
    X(STOPPED, 5, "stopped")         /* by mcpump_server_stop; calls do not start it */

typedef enum mcpump_server_state {
#define MCPUMP_X(name, number, text) MCPUMP_SERVER_##name = number,
    MCPUMP_SERVER_STATES(MCPUMP_X)
#undef MCPUMP_X
} mcpump_server_state;

/** Name ("BACKING_OFF") and text ("backing off"). Static; "UNKNOWN", "unknown" out of range. */
MCPUMP_API const char *mcpump_server_state_name(mcpump_server_state state);
MCPUMP_API const char *mcpump_server_state_text(mcpump_server_state state);

/** What is known about a server at one moment. Set `size` before the call. */
typedef struct mcpump_server_status {
    size_t size; /**< sizeof(mcpump_server_status) */
    mcpump_server_state state;
    mcpump_era era;               /**< Of the last connection; AUTO: none yet. */
    const char *version;          /**< Protocol version agreed on, "" when not ready. Static. */
    uint64_t generation;          /**< Of the connection: how many were begun. */
    pid_t pid;                    /**< -1: no process. */
    int64_t uptime_ms;            /**< Since it became ready; -1: it is not. */
    int64_t next_try_ms;          /**< From now; BACKING_OFF and FAILED, else -1. */
    uint64_t restarts;            /**< Connections that were made after the first. */
    uint64_t attempts_in_row;     /**< Reconnects since it was last stable. */
    uint64_t calls, calls_failed; /**< That were made; of them, without a reply. */
    uint64_t in_flight, queued_bytes;
    int64_t p50_us, p99_us;  /**< Of the answered calls, within an eighth; -1: none. */
    char server_name[64];    /**< serverInfo.name, "" when not known. No control characters. */
    char server_version[64]; /**< serverInfo.version. */
    char last_failure[512];  /**< Of the last loss or failed start, one sentence, else "". */
} mcpump_server_status;

/**
 * Makes a server; nothing is started. Borrows the options until it returns. On success *ret_server
 * is new, to be freed with mcpump_server_free. Errors as for mcpump_transport_new.
 */
MCPUMP_API mcpump_err mcpump_server_new(const mcpump_server_options *options,
                                        mcpump_server **ret_server, mcpump_failure **ret_failure);

/**
 * Makes sure that the server is ready, from whatever state: starts it, or tries at once what a
 * delay was put before, and waits. When several threads connect at once, one attempt is made for
 * all. Blocks until ready, failed, interrupted, or connect_timeout_ms; the process of an attempt
 * that failed is stopped in the background.
 * Errors: SPAWN, HANDSHAKE, TIMEOUT, INTERRUPTED, CANCELLED, CLOSED, NO_MEMORY.
 * Source: MCP 2026-07-28 versioning; MCP 2025-11-25 lifecycle.
 */
MCPUMP_API mcpump_err mcpump_server_connect(mcpump_server *server, mcpump_failure **ret_failure);

/** As mcpump_server_connect, but returns at once. Errors: FORKED, SYSTEM (no thread). */
MCPUMP_API mcpump_err mcpump_server_start(mcpump_server *server, mcpump_failure **ret_failure);

/**
 * Ends the process as mcpump_transport_close does and waits for that; a connect that is under way
 * fails. Afterwards the server is IDLE: the next call starts it.
 */
MCPUMP_API void mcpump_server_close(mcpump_server *server);

/** As mcpump_server_close, but afterwards the server is STOPPED: calls fail with NOT_OPEN until
 * mcpump_server_start, connect or restart. */
MCPUMP_API void mcpump_server_stop(mcpump_server *server);

/** As mcpump_server_stop, but returns at once; the rest goes on in the background. A second one
 * skips the graces. */
MCPUMP_API void mcpump_server_stop_begin(mcpump_server *server);

/** Stop, then connect: a new process in any state. Errors as for mcpump_server_connect. */
MCPUMP_API mcpump_err mcpump_server_restart(mcpump_server *server, mcpump_failure **ret_failure);

/**
 * Gives a server back: what mcpump_server_new or mcpump_manager_find has given. The last one who
 * does closes and frees it. No other call of the same holder may be running or come later. NULL is
 * allowed.
 */
MCPUMP_API void mcpump_server_free(mcpump_server *server);

/** Where it is now. */
MCPUMP_API mcpump_server_state mcpump_server_get_state(const mcpump_server *server);

/** Fills in what is known, as far as ret_status->size reaches. */
MCPUMP_API void mcpump_server_get_status(mcpump_server *server, mcpump_server_status *ret_status);

/**
 * Sends a request and waits for its reply. `params` is the text of a JSON object, or NULL; borrowed
 * until the call returns, and passed on byte for byte but for `_meta`, to which members that the
 * caller did not set are added. An idle server is started first, and one that is being started
 * waited for, within the timeout of the call. On success *ret_reply is new; an error reply of the
 * server is a success too. Blocks as mcpump_transport_send_request does. Errors: those of it and of
 * mcpump_server_connect; UNAVAILABLE, at once, while the server is down: the failure tells its last
 * failure and mcpump_failure_retry_after_ms, unless the options say wait_for_ready.
 */
MCPUMP_API mcpump_err mcpump_server_request(mcpump_server *server, const char *method,
                                            const char *params, const mcpump_call_options *options,
                                            mcpump_reply **ret_reply, mcpump_failure **ret_failure);

/**
 * The same without waiting for the reply: see mcpump_transport_submit. Connects first when
 * mcpump_server_request would; that it does wait for, and fails as that does.
 */
MCPUMP_API mcpump_err mcpump_server_submit(mcpump_server *server, const char *method,
                                           const char *params, const mcpump_call_options *options,
                                           mcpump_call **ret_call, mcpump_failure **ret_failure);

/** Queues a notification; `params` as for a request. Does not wait for the server. */
MCPUMP_API mcpump_err mcpump_server_notify(mcpump_server *server, const char *method,
                                           const char *params, mcpump_failure **ret_failure);

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
