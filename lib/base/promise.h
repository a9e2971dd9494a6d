/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A promise is kept once, by one thread, while others may watch it. A thread that waits for one of
 * several puts a waiter of its own, mostly on its stack, into each of them; who keeps a promise
 * takes the waiter out and posts it. So each keeping wakes one thread, and what it last touches is
 * the waiter: whoever takes a waiter back too late is about to be posted, and waits for that.
 *
 * Two implementations, chosen by the meson option `futex`: atomics and the futex system call, or
 * mutexes and conditions. What was stored before a promise was kept is seen by who finds it kept.
 */
#ifndef MP_BASE_PROMISE_H
#define MP_BASE_PROMISE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sync.h"

struct mp_waiter {
#if MP_HAVE_FUTEX
    _Atomic uint32_t word; /* twice the posts, and 1 while the owner sleeps */
#else
    struct mp_mutex lock;
    struct mp_cond posted;
    unsigned posts; /* protected by lock */
#endif
};

struct mp_promise {
#if MP_HAVE_FUTEX
    _Atomic(struct mp_waiter *) state; /* NULL: not kept; a mark: kept; else who watches it */
#else
    struct mp_mutex lock;
    /* -- protected by lock */
    struct mp_waiter *waiter;
    bool is_kept;
#endif
};

/* Not kept, watched by nobody. */
void mp_promise_init(struct mp_promise *promise);
void mp_promise_done(struct mp_promise *promise);

/* Not kept again, for who alone knows it. */
void mp_promise_renew(struct mp_promise *promise);

/* Keeps it, and posts who watches it. Does not touch the promise once that can be seen. */
void mp_promise_keep(struct mp_promise *promise);

bool mp_promise_is_kept(struct mp_promise *promise);

/* Several promises, wherever they are. */
struct mp_promises {
    size_t count;
    struct mp_promise *(*at)(const void *context, size_t i); /* NULL: none in this place */
    const void *context;
};

/* How a wait is made: the deadline, and whether it is a point of cancellation. */
struct mp_patience {
    mp_deadline until;
    bool is_cancellable;
};

/* Waits until one of them is kept: woken by who keeps it, or at the deadline: false then. Nobody
 * else may wait for any of them meanwhile. */
bool mp_promise_wait_any(const struct mp_promises *promises, struct mp_patience patience);

/* The same for one. */
bool mp_promise_wait(struct mp_promise *promise, struct mp_patience patience);

#endif
