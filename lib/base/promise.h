/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A promise is kept once, by one thread, while others may watch it. A thread that waits for one of
 * several puts a waiter of its own, mostly on its stack, into each of them; who keeps a promise
 * takes the waiter out and posts it. So each keeping wakes one thread, and what it last touches is
 * the waiter: whoever takes a waiter back too late is about to be posted, and waits for that.
 *
 * Many who wait for the same thing sleep in a dormitory, where one system call wakes any number of
 * them: who keeps several promises collects whom to wake, and wakes them at the end.
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

#include "base/bell.h"
#include "base/sync.h"

/* Outlives all waiters that sleep in it. */
struct mp_dorm {
    _Atomic uint32_t word; /* changes with each wake */
};

/* Those who were posted, and still have to be woken. Start with zeros. */
struct mp_wakes {
    struct mp_dorm *dorm;
    uint32_t beds;
};

/* How a waiter sleeps, and what its first post does besides waking it. All may be zero. */
struct mp_besides {
    struct mp_dorm *dorm;     /* where it sleeps; NULL: by itself */
    uint32_t bed;             /* one bit; who shares it is woken, too, and sleeps on */
    struct mp_alarm *alarm;   /* is raised: its owner may sleep in a poll; NULL: it does not */
    _Atomic uint32_t *number; /* becomes smaller by `one`: how many still sleep; NULL: nothing */
    uint32_t one;
};

struct mp_waiter {
    struct mp_besides besides; /* immutable */
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

/* Keeps it, and posts who watches it. Does not touch the promise once that can be seen. Who is to
 * be woken in a dormitory is added to `wakes`. */
void mp_promise_keep(struct mp_promise *promise, struct mp_wakes *wakes);

/* Wakes them. */
void mp_wakes_send(struct mp_wakes *wakes);

bool mp_promise_is_kept(struct mp_promise *promise);

/* Several promises, wherever they are. */
struct mp_promises {
    size_t count;
    struct mp_promise *(*at)(const void *context, size_t i); /* NULL: none in this place */
    const void *context;
};

/* A waiter in the first `count` of the promises: on the stack of the one thread that waits. */
struct mp_vigil {
    struct mp_waiter waiter;
    const struct mp_promises *promises;
    size_t count;
    bool has_twins; /* a promise stands there twice, but is watched once */
};

/* How a wait is made: the deadline, and whether it is a point of cancellation. */
struct mp_patience {
    mp_deadline until;
    bool is_cancellable;
};

/* Watches them all. Nobody else may, meanwhile. False: one is kept already. End it in any case. */
bool mp_vigil_begin(struct mp_vigil *vigil, const struct mp_promises *promises,
                    const struct mp_besides *besides);

/* Whether one of them was kept since the begin. */
bool mp_vigil_is_over(struct mp_vigil *vigil);

/* Waits for that: woken by who keeps it, or at the deadline: false then. */
bool mp_vigil_wait(struct mp_vigil *vigil, struct mp_patience patience);

/* Takes the waiter back. Whether it was posted; what a post does besides is then done, or about to
 * be. */
bool mp_vigil_end(struct mp_vigil *vigil);

/* Waits until one of them is kept; false: the deadline was first. */
bool mp_promise_wait_any(const struct mp_promises *promises, struct mp_patience patience);

/* The same for one. */
bool mp_promise_wait(struct mp_promise *promise, struct mp_patience patience);

/* One, as several. */
struct mp_promises mp_promises_of(struct mp_promise *promise);

#endif
