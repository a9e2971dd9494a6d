/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a failed call tells. A function that takes `mcpump_failure **ret_failure` accepts NULL
 * there; otherwise it stores a new failure that the caller frees, or NULL on success or when memory
 * for it was missing. A failure never changes: many threads may read it at once.
 */
#ifndef MCPUMP_FAILURE_H
#define MCPUMP_FAILURE_H

#include <stdint.h>

#include "error.h"
#include "export.h"
#include "reply.h"

MCPUMP_BEGIN_DECLS

typedef struct mcpump_failure mcpump_failure;

/**
 * One sentence for a person: server, phase, cause, exit status or signal, the last line of its
 * stderr. UTF-8 without control characters. Borrowed until the failure is freed. Of NULL, which is
 * what a call leaves when memory for a failure was missing: "out of memory".
 */
MCPUMP_API const char *mcpump_failure_message(const mcpump_failure *failure);

/** The error that the call returned. */
MCPUMP_API mcpump_err mcpump_failure_error(const mcpump_failure *failure);

/** Why the connection ended; MCPUMP_CAUSE_NONE when it lives. */
MCPUMP_API mcpump_cause mcpump_failure_cause(const mcpump_failure *failure);

/** What the connection was doing. */
MCPUMP_API mcpump_phase mcpump_failure_phase(const mcpump_failure *failure);

/** The step of the start that failed; MCPUMP_STAGE_NONE when the process was started. */
MCPUMP_API mcpump_stage mcpump_failure_stage(const mcpump_failure *failure);

/** The errno of the system call that failed, else 0. */
MCPUMP_API int mcpump_failure_errno(const mcpump_failure *failure);

/** The exit status of the server, or -1: it lives, ended by a signal, or nobody could tell. */
MCPUMP_API int mcpump_failure_exit_status(const mcpump_failure *failure);

/** The signal that ended the server, else 0. */
MCPUMP_API int mcpump_failure_term_signal(const mcpump_failure *failure);

/** Whether the request had left. */
MCPUMP_API mcpump_sent mcpump_failure_sent(const mcpump_failure *failure);

/** How long the call took, in milliseconds. */
MCPUMP_API int64_t mcpump_failure_elapsed_ms(const mcpump_failure *failure);

/** With UNAVAILABLE: in how many milliseconds, from when the call failed, the server is tried
 * again; -1: not by itself. */
MCPUMP_API int64_t mcpump_failure_retry_after_ms(const mcpump_failure *failure);

/**
 * The last lines that the server wrote to stderr (at most 64 lines, 16 KiB), each ended by LF,
 * control characters neutralised; "" when there are none. Borrowed until the failure is freed.
 */
MCPUMP_API const char *mcpump_failure_stderr(const mcpump_failure *failure);

/**
 * The reply that the call failed over: with SERVER_ERROR the server's error, with INVALID_REPLY the
 * result that was not what was asked for; NULL with any other error. See reply.h and result.h for
 * what can be read out of it. Borrowed until the failure is freed.
 */
MCPUMP_API const mcpump_reply *mcpump_failure_reply(const mcpump_failure *failure);

/** Frees the failure. NULL is allowed. */
MCPUMP_API void mcpump_failure_free(mcpump_failure *failure);

MCPUMP_END_DECLS

#endif
