/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of every call in a file, to be looked at with a trace viewer (https://ui.perfetto.dev,
 * chrome://tracing): when it was queued, written, replied to and back in its thread, beside what
 * became of the connections. One trace a process, of all its servers.
 */
#ifndef MCPUMP_TRACE_H
#define MCPUMP_TRACE_H

#include "error.h"
#include "export.h"
#include "failure.h"

MCPUMP_BEGIN_DECLS

/**
 * Starts the trace of this process. The file `path` is made, for its owner alone, or emptied; a
 * FIFO needs a reader. From here on each call that ends is written, in the thread that made it and
 * many at a time: its method, server and outcome, no params and no results. What the file does not
 * take is dropped and counted at its end; at most 1 MiB waits in memory. A child that is forked
 * writes nothing, and may start a trace of its own. Blocks as long as open(2) does. Any thread, but
 * not from a log, stderr or tap function.
 * Errors: INVALID_ARGUMENT (no path), ALREADY_OPEN (there is a trace), SYSTEM (the failure names
 * the file, errno says why), NO_MEMORY. Source: Trace Event Format, JSON array.
 */
MCPUMP_API mcpump_err mcpump_trace_start(const char *path, mcpump_failure **ret_failure);

/**
 * Ends it: writes what waits and closes the file, which is one JSON array then. A process that ends
 * without this leaves one that viewers read, without the last records. Calls in flight go on, and
 * are not in it. Does nothing when there is no trace. Any thread, but not from such a function.
 */
MCPUMP_API void mcpump_trace_stop(void);

MCPUMP_END_DECLS

#endif
