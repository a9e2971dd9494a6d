/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A transport: one server process and three threads (writer, reader, stderr), raw JSON-RPC. For a
 * server that speaks MCP see server.h, which is built on this.
 *
 * Threads: unless a comment says otherwise, every function may be called from any thread at any
 * time between new and free, and none from a log or stderr function.
 */
#ifndef MCPUMP_TRANSPORT_H
#define MCPUMP_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "call.h"
#include "error.h"
#include "export.h"
#include "failure.h"
#include "options.h"
#include "reply.h"

MCPUMP_BEGIN_DECLS

typedef struct mcpump_transport mcpump_transport;

/** What a transport has counted since it was made. Set `size` before the call. */
typedef struct mcpump_stats {
    size_t size;                   /**< sizeof(mcpump_stats) */
    uint64_t opens;                /**< Processes started. */
    uint64_t requests;             /**< Requests accepted from callers. */
    uint64_t replies;              /**< Replies that reached their caller. */
    uint64_t notifications_sent;   /**< By callers. */
    uint64_t notifications_read;   /**< From the server. */
    uint64_t server_requests;      /**< From the server. */
    uint64_t late_replies;         /**< Dropped: their caller had given up. */
    uint64_t duplicate_replies;    /**< Dropped: the id had been answered. */
    uint64_t unknown_replies;      /**< Dropped: the id was never used, or is none. */
    uint64_t junk_lines;           /**< Dropped: no messages. */
    uint64_t cancelled_on_wire;    /**< `notifications/cancelled` queued. */
    uint64_t bytes_written;        /**< To stdin. */
    uint64_t bytes_read;           /**< From stdout. */
    uint64_t stderr_lines;         /**< Read. */
    uint64_t stderr_lines_dropped; /**< Their sink did not take them. */
    uint64_t queued_bytes;         /**< Waiting to be written, now. */
    uint64_t in_flight;            /**< Calls that wait for a reply, now. */
    uint64_t stalled_ms;           /**< How long the server has read nothing of what waits, now. */
} mcpump_stats;

/**
 * Makes a transport; nothing is started. Borrows the options until it returns. On success
 * *ret_transport is new, to be freed with mcpump_transport_free.
 * Errors: INVALID_ARGUMENT (the failure names the option and its value), NO_MEMORY, SYSTEM.
 */
MCPUMP_API mcpump_err mcpump_transport_new(const mcpump_transport_options *options,
                                           mcpump_transport **ret_transport,
                                           mcpump_failure **ret_failure);

/**
 * Starts the server. Blocks until the command runs or could not be run (milliseconds); it does not
 * wait for the server to say anything. Clears the interrupt latch on success.
 * Errors: SPAWN (stage and errno say which step), ALREADY_OPEN (also while it is closing),
 * NO_MEMORY.
 */
MCPUMP_API mcpump_err mcpump_transport_open(mcpump_transport *transport,
                                            mcpump_failure **ret_failure);

/**
 * Ends the server: closes its stdin, waits stdin_grace_ms, SIGTERM to its process group, waits
 * term_grace_ms, SIGKILL; its output is read meanwhile. Calls in flight fail with CLOSED. Blocks
 * until the process is reaped and the threads are gone; each step ends as soon as the server does.
 * A second close from another thread escalates to SIGKILL at once. Not open: does nothing.
 */
MCPUMP_API void mcpump_transport_close(mcpump_transport *transport);

/**
 * Begins to close and returns: calls in flight fail, the rest of mcpump_transport_close goes on in
 * the background. Close, free or mcpump_shutdown waits for it. Begun a second time, it escalates.
 */
MCPUMP_API void mcpump_transport_close_begin(mcpump_transport *transport);

/**
 * Closes all transports of this process that are open, and waits until their server processes, also
 * those that were being closed already, are gone: as long as the slowest of them takes, at most
 * timeout_ms (MCPUMP_FOREVER: as long as the graces take), then they are killed. The objects are to
 * be freed as ever. Errors: TIMEOUT (some had to be killed before their graces were over).
 */
MCPUMP_API mcpump_err mcpump_shutdown(int64_t timeout_ms);

/**
 * Closes if need be and frees. No other call may be running or come later. NULL is allowed. In a
 * forked child, it closes the child's copies of the descriptors and leaves the parent's server
 * alone.
 */
MCPUMP_API void mcpump_transport_free(mcpump_transport *transport);

/**
 * Sends a request and waits for its reply. `request` is one JSON-RPC request of `size` bytes, line
 * breaks between its tokens allowed; borrowed until the call returns. The id (a string or a
 * number) is the caller's business: callers may use the same one at the same time, and each gets
 * it back as it was spelled. On success *ret_reply is new, to be freed with mcpump_reply_free; an
 * error reply of the server is a success too. Blocks until reply, timeout, interrupt or the end of
 * the connection, whichever is first; a server that does not read delays none of them.
 * Errors: INVALID_REQUEST, NOT_OPEN, TIMEOUT, INTERRUPTED, CLOSED, QUEUE_FULL, NO_MEMORY.
 * Source: JSON-RPC 2.0; MCP stdio transport.
 */
MCPUMP_API mcpump_err mcpump_transport_send_request(mcpump_transport *transport,
                                                    const char *request, size_t size,
                                                    const mcpump_call_options *options,
                                                    mcpump_reply **ret_reply,
                                                    mcpump_failure **ret_failure);

/**
 * Sends a request and does not wait: the call is in flight, to be waited for with mcpump_call_wait.
 * `request` as for mcpump_transport_send_request, copied: borrowed until this returns. On success
 * *ret_call is new, to be freed with mcpump_call_free before the transport is, and the run that the
 * call belongs to must outlive it. Errors as for mcpump_transport_send_request, without those that
 * only a wait can come to. The deadline counts from here; that it has passed is found by who waits
 * or polls, and a reply that was there before counts.
 */
MCPUMP_API mcpump_err mcpump_transport_submit(mcpump_transport *transport, const char *request,
                                              size_t size, const mcpump_call_options *options,
                                              mcpump_call **ret_call, mcpump_failure **ret_failure);

/**
 * Queues a notification: a JSON-RPC message with a method and no id. Borrowed until the call
 * returns. Does not wait for the server. Errors as for a request.
 */
MCPUMP_API mcpump_err mcpump_transport_notify(mcpump_transport *transport, const char *notification,
                                              size_t size, mcpump_failure **ret_failure);

/**
 * Aborts every call in flight with INTERRUPTED, and lets new ones fail at once, until
 * mcpump_transport_clear_interrupt or a successful open. The connection lives on.
 * Async-signal-safe: no lock, no allocation, errno kept.
 */
MCPUMP_API void mcpump_transport_interrupt(mcpump_transport *transport);

/**
 * Lets calls through again. A call that was in flight when the interrupt came is aborted even if
 * this follows at once. Async-signal-safe.
 */
MCPUMP_API void mcpump_transport_clear_interrupt(mcpump_transport *transport);

/** Whether the latch is set. Async-signal-safe. */
MCPUMP_API bool mcpump_transport_is_interrupted(const mcpump_transport *transport);

/** Whether the server process lives and the connection has not ended. A zombie is dead. */
MCPUMP_API bool mcpump_transport_is_connected(const mcpump_transport *transport);

/** Whether a call that this thread made now would be aborted at once. */
MCPUMP_API bool mcpump_transport_request_cancelled(const mcpump_transport *transport);

/** The sanitized display name, never empty. Borrowed until the transport is freed. */
MCPUMP_API const char *mcpump_transport_display_name(const mcpump_transport *transport);

/**
 * Sets the working directory for the next open: absolute and existing, or NULL for the host's.
 * Errors: INVALID_ARGUMENT (the failure names the directory), ALREADY_OPEN, NO_MEMORY.
 */
MCPUMP_API mcpump_err mcpump_transport_set_working_dir(mcpump_transport *transport,
                                                       const char *directory,
                                                       mcpump_failure **ret_failure);

/** The pid of the server process, which leads its own process group; -1 when there is none. */
MCPUMP_API pid_t mcpump_transport_pid(const mcpump_transport *transport);

/** Fills in the counters, as far as ret_stats->size reaches. */
MCPUMP_API void mcpump_transport_stats(const mcpump_transport *transport, mcpump_stats *ret_stats);

MCPUMP_END_DECLS

#endif
