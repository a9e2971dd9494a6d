/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of the trace: one a process, lines in, an array of JSON out. Lines are collected under a
 * lock that is a leaf, and written without it by the thread whose line makes them enough. A write
 * that fails costs lines, never the form of the file: a line that was begun is finished later, or
 * taken back.
 */
#ifndef MP_TRANSPORT_TRACE_SINK_H
#define MP_TRANSPORT_TRACE_SINK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

/* A longer line is dropped. */
#define MP_TRACE_LINE_BYTES 4096

/* The number of the trace that is being written, 0: none. Relaxed: a call that sees it late is in
 * the trace or not, as one that began a moment earlier or later. */
extern _Atomic uint32_t mp_trace_number;

/* Whether the trace is of this process, and not of the one that forked it. */
bool mp_trace_is_here(void);

static inline bool mp_trace_is_on(void)
{
    return atomic_load_explicit(&mp_trace_number, memory_order_relaxed) != 0 && mp_trace_is_here();
}

/*
 * Adds a line: one or more events with a comma after each, and an LF at the end, and nowhere else.
 * False: it was dropped. `may_write`: if there is enough to be written, write it; not under a lock.
 */
bool mp_trace_add(const struct mp_buffer *line, bool may_write);

#endif
