/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the trace tells: of each call its times, once it has ended; of connections what they come
 * to. A viewer shows a row for each transport, and in it the calls by method. The file is in
 * trace_sink.c.
 */
#ifndef MP_TRANSPORT_TRACE_H
#define MP_TRANSPORT_TRACE_H

#include "mcpump/error.h"
#include "transport/trace_sink.h"
#include "wire/framer.h"

/* The row of a transport. */
struct mp_trace_row {
    uint32_t number;            /* immutable */
    _Atomic uint32_t titled_in; /* the trace that knows its name */
};

void mp_trace_row_init(struct mp_trace_row *row);

/* The times of a call; 0: it did not come so far. */
struct mp_trace_times {
    bool is_wanted; /* or nobody asks the clock */
    size_t bytes;   /* of the request */
    int64_t queued_ns;
    int64_t written_ns; /* protected by mp_outbox.lock until the frame is let go of */
    int64_t replied_ns; /* whoever removed the entry, until it is done */
};

struct mp_traced_call {
    const char *label; /* of the server */
    struct mp_span method;
    uint64_t id; /* on the wire; 0: none */
    int64_t started_ns;
    const struct mp_trace_times *times;
    const char *outcome;
    mcpump_sent sent;
    size_t reply_bytes;
};

/* A call has ended and its thread is back. No lock held. */
void mp_trace_call(struct mp_trace_row *row, const struct mp_traced_call *call);

/* Something has happened to a connection. Writes nothing, so it may be told under a lock. */
void mp_trace_moment(struct mp_trace_row *row, const char *label, const char *what,
                     const char *detail);

#endif
