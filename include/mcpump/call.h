/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How one call is made, and calls that are in flight without a thread of their own: submit one,
 * do something else, wait for it. The blocking calls are a submit and a wait.
 */
#ifndef MCPUMP_CALL_H
#define MCPUMP_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "export.h"
#include "failure.h"
#include "reply.h"

MCPUMP_BEGIN_DECLS

/** See run.h. */
typedef struct mcpump_run mcpump_run;

/** Start from MCPUMP_CALL_OPTIONS_INIT. NULL in place of the options means all defaults. */
typedef struct mcpump_call_options {
    size_t size; /**< sizeof(mcpump_call_options) */
    /** One limit over everything: a connection that is being made, the queue, the write, the reply.
     * In milliseconds. 0: default_timeout_ms of the transport; MCPUMP_FOREVER: none. */
    int64_t timeout_ms;
    /** What the server is told when the call is given up. NULL: a fixed neutral text. */
    const char *cancel_reason;
    mcpump_run *run; /**< What the call belongs to. NULL: the run of this thread, if any. */
    /** Of a server that is down: wait for its next try, instead of failing at once. */
    bool wait_for_ready;
    /** Of a list: ask the server, whatever it allowed to keep of the last answer. */
    bool fresh;
    /** Of a request to a server: the trace that it belongs to, put into `_meta` where the caller's
     * own has no such member. UTF-8 without control characters, borrowed until the call returns;
     * the first of the form that W3C Trace Context gives it. NULL: none. A transport, which takes
     * the text of whole messages, does not look at them. */
    const char *traceparent, *tracestate, *baggage;
} mcpump_call_options;

#define MCPUMP_CALL_OPTIONS_INIT                                                                   \
    {                                                                                              \
        .size = sizeof(mcpump_call_options)                                                        \
    }

/**
 * A call in flight, made by mcpump_transport_submit or mcpump_server_submit. Its outcome is kept
 * until it is asked for. One thread at a time may use it, but for mcpump_call_cancel. It must be
 * freed before its transport or server is.
 */
typedef struct mcpump_call mcpump_call;

/**
 * Waits until the call is over, by its reply, its timeout, an interrupt, its run, a cancel, or the
 * end of the connection, and gives its outcome, once: a second wait fails with INVALID_ARGUMENT. On
 * success *ret_reply is new. Errors as for mcpump_transport_send_request; CANCELLED after
 * mcpump_call_cancel. A thread that is cancelled (pthread_cancel) while it waits gives it up.
 */
MCPUMP_API mcpump_err mcpump_call_wait(mcpump_call *call, mcpump_reply **ret_reply,
                                       mcpump_failure **ret_failure);

/** Whether mcpump_call_wait would return at once. Does not block. */
MCPUMP_API bool mcpump_call_poll(mcpump_call *call);

/**
 * Gives the call up: it is over with CANCELLED, unless it was over before; the server is told if
 * the request had left. Does not block. Any thread, also while another one waits for the call.
 */
MCPUMP_API void mcpump_call_cancel(mcpump_call *call);

/**
 * Waits until mcpump_call_poll is true of one of `count` calls, of whatever servers; entries may be
 * NULL. *ret_index becomes its place; when several are over, the one that comes first. It is then
 * to be waited for, or it is found again. Blocks at most timeout_ms (0: polls; MCPUMP_FOREVER).
 * Errors: TIMEOUT (none is over), INVALID_ARGUMENT (there is none at all), NO_MEMORY.
 */
MCPUMP_API mcpump_err mcpump_wait_any(mcpump_call *const *calls, size_t count, int64_t timeout_ms,
                                      size_t *ret_index);

/** Cancels the call if it is not over, and frees it. NULL is allowed. */
MCPUMP_API void mcpump_call_free(mcpump_call *call);

MCPUMP_END_DECLS

#endif
