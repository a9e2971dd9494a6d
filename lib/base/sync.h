/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutexes, conditions and threads. Nothing else in the library calls pthreads for these. Conditions
 * use CLOCK_MONOTONIC. The attributes are clang's thread-safety analysis.
 */
#ifndef MP_BASE_SYNC_H
#define MP_BASE_SYNC_H

#include <pthread.h>
#include <stdbool.h>

#include "base/clock.h"

#if defined(__clang__)
#define MP_TSA(x) __attribute__((x))
#else
#define MP_TSA(x)
#endif
#define MP_CAPABILITY(name) MP_TSA(capability(name))
#define MP_ACQUIRES(...)    MP_TSA(acquire_capability(__VA_ARGS__))
#define MP_RELEASES(...)    MP_TSA(release_capability(__VA_ARGS__))
/* For what the analysis cannot follow; it says why. */
#define MP_UNCHECKED     MP_TSA(no_thread_safety_analysis)
#define MP_REQUIRES(...) MP_TSA(requires_capability(__VA_ARGS__))

struct MP_CAPABILITY("mutex") mp_mutex {
    pthread_mutex_t native;
};

struct mp_cond {
    pthread_cond_t native;
};

void mp_mutex_init(struct mp_mutex *mutex);
void mp_mutex_done(struct mp_mutex *mutex);
void mp_mutex_lock(struct mp_mutex *mutex) MP_ACQUIRES(mutex);
void mp_mutex_unlock(struct mp_mutex *mutex) MP_RELEASES(mutex);

void mp_cond_init(struct mp_cond *cond);
void mp_cond_done(struct mp_cond *cond);
void mp_cond_signal(struct mp_cond *cond);
void mp_cond_broadcast(struct mp_cond *cond);

/* Waits for a signal, or until the deadline: false then. Wakes spuriously too: call it in a loop on
 * the predicate, with the same deadline. No point of cancellation, as nothing else here is. */
bool mp_cond_wait(struct mp_cond *cond, struct mp_mutex *mutex, mp_deadline deadline)
    MP_REQUIRES(mutex);

/* The same as a point of cancellation: the caller has pushed a handler that unlocks the mutex. */
bool mp_cond_wait_cancellable(struct mp_cond *cond, struct mp_mutex *mutex, mp_deadline deadline)
    MP_REQUIRES(mutex);

/* Puts off pthread_cancel of this thread, for code that must not end half-way; returns what
 * mp_cancel_restore needs. Nests. */
int mp_cancel_disable(void);
void mp_cancel_restore(int state);

/* A thread with all signals blocked, a small stack and a name (cut to 15 bytes). */
typedef void (*mp_thread_fn)(void *arg);

struct mp_thread {
    pthread_t native;
    bool running; /* owner only: started and not yet joined */
    mp_thread_fn fn;
    void *arg;
    char name[16];
};

/* 0 or an errno. The struct must live until the join. */
int mp_thread_start(struct mp_thread *thread, const char *name, mp_thread_fn fn, void *arg);

/* Does nothing when it was not started. */
void mp_thread_join(struct mp_thread *thread);

#endif
