/* SPDX-License-Identifier: Apache-2.0 */
/* How one call is made. */
#ifndef MCPUMP_CALL_H
#define MCPUMP_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export.h"

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
} mcpump_call_options;

#define MCPUMP_CALL_OPTIONS_INIT                                                                   \
    {                                                                                              \
        .size = sizeof(mcpump_call_options)                                                        \
    }

MCPUMP_END_DECLS

#endif
