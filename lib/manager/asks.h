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

/* One request; on the list until it is answered, and held by the event that tells of it. */
struct mp_ask {
    /* -- immutable */
    char *id; /* JSON text */
    mp_deadline deadline;
    /* -- protected by mp_asks.lock */
    struct mp_ask *next;
    bool is_open; /* not yet answered, and the connection is the same */
    bool is_held; /* by its event */
};

struct mp_asks {
    mcpump_transport *transport; /* immutable */
    struct mp_mutex lock;
    /* -- protected by lock */
    struct mp_ask *first;
    size_t count;
};

/* More open asks than this are answered with -32601 at once: a server that asks without end. */
#define MP_ASKS_MOST 256

void mp_asks_init(struct mp_asks *asks, mcpump_transport *transport);
void mp_asks_done(struct mp_asks *asks);

/* A new one, held, or NULL: too many, or no memory. Reader thread. */
struct mp_ask *mp_asks_add(struct mp_asks *asks, struct mp_span id, mp_deadline deadline);

/* Answers it: with a result (JSON text) or, when that is NULL, an error. Errors: NOT_OPEN (answered
 * before, or its connection is gone), NO_MEMORY. */
mcpump_err mp_asks_answer(struct mp_asks *asks, struct mp_ask *ask, const char *result, int code,
                          const char *message);

/* The event lets go of it; an open one is answered with -32601. */
void mp_asks_release(struct mp_asks *asks, struct mp_ask *ask);

/* Answers those whose time is over; returns the next deadline, MP_NEVER when there is none. */
mp_deadline mp_asks_expire(struct mp_asks *asks);

/* The connection is gone: none of them can be answered any more. */
void mp_asks_close(struct mp_asks *asks);

#endif
