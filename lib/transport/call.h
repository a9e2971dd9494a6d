/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a call in its caller's thread: begin, wait, finish. The blocking call is the three
 * together, on the caller's stack; a handshake has two calls in flight at once; a submitted call
 * (submit.c) is kept by the host between them.
 */
#ifndef MP_TRANSPORT_CALL_H
#define MP_TRANSPORT_CALL_H

#include "transport/trace.h"
#include "transport/transport.h"
#include "wire/envelope.h"

/* What may end a call early, from its options and from its start. */
struct mp_call_limits {
    mp_deadline deadline;
    int64_t started_ns;        /* 0: when the call begins */
    uint64_t latch_count;      /* of the latch at the start: what is set later stops the call */
    mcpump_run *run;           /* NULL: none */
    const char *cancel_reason; /* NULL: the neutral text */
    uint64_t connection;       /* the only one that the call may go out on; 0: any */
    bool wait_for_ready;       /* of a server that is down */
};

/* Starts a call: with the transport's default timeout and the run of this thread where the options
 * (may be NULL) say nothing. False: they are not valid. */
bool mp_call_limits_init(struct mp_call_limits *limits, const mcpump_transport *transport,
                         const mcpump_call_options *options);

/* INTERRUPTED or CANCELLED when a call under these limits has to stop, else OK; the deadline is not
 * looked at. */
mcpump_err mp_call_stopped(const mcpump_transport *transport, const struct mp_call_limits *limits);

struct mp_call_plan {
    struct mp_span request;             /* borrowed until the call has begun */
    const struct mp_envelope *envelope; /* of kind REQUEST; borrowed as long */
    /* The caller's id and the method, which are needed until the end: absent, they stand in the
     * request, which then lives as long as the call. */
    struct mp_span caller_id, method;
    struct mp_call_limits limits;
    bool is_quiet;   /* the server is not told when it is given up */
    bool may_gather; /* it need not be written before others are submitted or waited for */
};

struct mp_call {
    mcpump_transport *transport;
    struct mp_call_limits limits;
    struct mp_span method;
    bool is_quiet;
    struct mp_entry *entry; /* NULL: it could not begin */
    mcpump_err err;         /* then: why */
    /* -- whoever removed the entry from the table, until it is done; then the caller */
    struct mp_frame *frame; /* NULL: settled */
    mcpump_sent sent;

    struct mp_trace_times times;
};

/* Registers and sends. Finish it in any case. */
void mp_call_begin(struct mp_call *call, mcpump_transport *transport,
                   const struct mp_call_plan *plan);

/* Waits until the call is done, or its deadline. A point of cancellation: the caller has pushed a
 * handler that finishes it. */
void mp_call_wait(struct mp_call *call);

/* Waits until one of two calls is done, or `deadline`. They may be the same. */
bool mp_call_wait_either(struct mp_call *one, struct mp_call *other, mp_deadline deadline);

bool mp_call_is_done(struct mp_call *call);

/* Its reply so far, or NULL; borrowed until finish. */
const mcpump_reply *mp_call_peek(struct mp_call *call);

/* Ends it with CANCELLED, if nobody else has ended it, and tells the server if the request had
 * left. Any thread, between the begin and the release. */
void mp_call_cancel(struct mp_call *call);

/*
 * Ends the call: not done, it is given up with TIMEOUT, and the server is told if the request had
 * left. On success *ret_reply is new. The failure gets `phase` and the method. Then release it.
 */
mcpump_err mp_call_conclude(struct mp_call *call, mcpump_phase phase, mcpump_reply **ret_reply,
                            mcpump_failure **ret_failure);

/* Gives the entry back. */
void mp_call_release(struct mp_call *call);

/* Both. */
mcpump_err mp_call_finish(struct mp_call *call, mcpump_phase phase, mcpump_reply **ret_reply,
                          mcpump_failure **ret_failure);

/* begin, wait, finish. A thread that is cancelled while it waits gives the call up. */
mcpump_err mp_call_make(mcpump_transport *transport, const struct mp_call_plan *plan,
                        mcpump_phase phase, mcpump_reply **ret_reply, mcpump_failure **ret_failure);

/* Who wants to know how a submitted call ends: once, in the thread that waits for it or frees it.
 */
struct mp_call_owner {
    void (*concluded)(void *user, mcpump_err err, int64_t started_ns);
    void *user;
};

/* begin, and what is needed later is copied: the public handle. `owner` may be NULL; it is not told
 * of a call that could not begin. */
mcpump_err mp_call_submit(mcpump_transport *transport, const struct mp_call_plan *plan,
                          const struct mp_call_owner *owner, mcpump_call **ret_call,
                          mcpump_failure **ret_failure);

/* Sends a notification, scanned into `envelope`. It waits for nothing; the limits may stop it
 * before. */
mcpump_err mp_call_notify(mcpump_transport *transport, struct mp_span notification,
                          const struct mp_envelope *envelope, const struct mp_call_limits *limits,
                          mcpump_failure **ret_failure);

#endif
