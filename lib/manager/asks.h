/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks: requests of a legacy server that the host is to answer. Each is answered exactly once: by
 * the host, or with -32601 at its deadline, by the keeper of the server; or never, when its
 * connection is gone.
 */
#ifndef MP_MANAGER_ASKS_H
#define MP_MANAGER_ASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sync.h"
#include "mcpump/error.h"
#include "transport/transport.h"

enum mp_ask_state {
    MP_ASK_OPEN,
    MP_ASK_SENDING, /* a thread is handing the answer to the transport */
    MP_ASK_OVER,    /* answered, or its connection is gone; off the list */
};

/* One request; on the list until it is over, and held by the event that tells of it. */
struct mp_ask {
    /* -- immutable */
    char *id; /* JSON text */
    mp_deadline deadline;
    /* -- protected by mp_asks.lock */
    struct mp_ask *next;
    enum mp_ask_state state;
    bool is_held; /* by its event */
};

struct mp_asks {
    mcpump_transport *transport; /* immutable */
    struct mp_mutex lock;
    struct mp_cond sent; /* an answer is no longer being sent; mp_asks_close waits for it */
    /* -- protected by lock */
    struct mp_ask *first;
    size_t count, sending;
};

/* More open asks than this are answered with -32601 at once: a server that asks without end. */
#define MP_ASKS_MOST 256

void mp_asks_init(struct mp_asks *asks, mcpump_transport *transport);
/* None may be held. */
void mp_asks_done(struct mp_asks *asks);

/* A new one, held, or NULL: too many, or no memory. Reader thread. */
struct mp_ask *mp_asks_add(struct mp_asks *asks, struct mp_span id, mp_deadline deadline);

/* Answers it: with a result (the text of one JSON value) or, when that is NULL, an error. Errors:
 * NOT_OPEN (answered before, or its connection is gone), QUEUE_FULL and NO_MEMORY (it stays open).
 */
mcpump_err mp_asks_answer(struct mp_asks *asks, struct mp_ask *ask, const char *result, int code,
                          const char *message);

/* The event lets go of it; an open one is answered with -32601. */
void mp_asks_release(struct mp_asks *asks, struct mp_ask *ask);

/* Answers those whose time is over; returns the next deadline, MP_NEVER when there is none. */
mp_deadline mp_asks_expire(struct mp_asks *asks);

/* The connection is gone, or going: none of them can be answered any more. Waits for the answers
 * that are being sent, which does not take long, so that none meets the next connection. */
void mp_asks_close(struct mp_asks *asks);

#endif
