/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sync.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* Deep enough for the sanitizers' frames and a printf of doubles in the host's log function. */
#define STACK_BYTES (128 * 1024)

static void must(int err)
{
    assert(err == 0);
    (void)err;
}

void mp_mutex_init(struct mp_mutex *mutex)
{
    must(pthread_mutex_init(&mutex->native, NULL));
}

void mp_mutex_done(struct mp_mutex *mutex)
{
    must(pthread_mutex_destroy(&mutex->native));
}

void mp_mutex_lock(struct mp_mutex *mutex) MP_UNCHECKED
{
    must(pthread_mutex_lock(&mutex->native));
}

void mp_mutex_unlock(struct mp_mutex *mutex) MP_UNCHECKED
{
    must(pthread_mutex_unlock(&mutex->native));
}

void mp_cond_init(struct mp_cond *cond)
{
    pthread_condattr_t attr;
    must(pthread_condattr_init(&attr));
    must(pthread_condattr_setclock(&attr, CLOCK_MONOTONIC));
    must(pthread_cond_init(&cond->native, &attr));
    must(pthread_condattr_destroy(&attr));
}

void mp_cond_done(struct mp_cond *cond)
{
    must(pthread_cond_destroy(&cond->native));
}

void mp_cond_signal(struct mp_cond *cond)
{
    must(pthread_cond_signal(&cond->native));
}

void mp_cond_broadcast(struct mp_cond *cond)
{
    must(pthread_cond_broadcast(&cond->native));
}

int mp_cancel_disable(void)
{
    int state;
    must(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state));
    return state;
}

void mp_cancel_restore(int state)
{
    must(pthread_setcancelstate(state, NULL));
}

bool mp_cond_wait(struct mp_cond *cond, struct mp_mutex *mutex, mp_deadline deadline)
{
    int state = mp_cancel_disable();
    bool in_time = mp_cond_wait_cancellable(cond, mutex, deadline);
    mp_cancel_restore(state);
    return in_time;
}

bool mp_cond_wait_cancellable(struct mp_cond *cond, struct mp_mutex *mutex, mp_deadline deadline)
{
    if (deadline == MP_NEVER) {
        must(pthread_cond_wait(&cond->native, &mutex->native));
        return true;
    }
    struct timespec until = mp_deadline_timespec(deadline);
    int err = pthread_cond_timedwait(&cond->native, &mutex->native, &until);
    assert(err == 0 || err == ETIMEDOUT);
    return err == 0;
}

static void *thread_main(void *arg)
{
    struct mp_thread *thread = arg;
    pthread_setname_np(pthread_self(), thread->name);
    thread->fn(thread->arg);
    return NULL;
}

static size_t stack_bytes(void)
{
    long least = sysconf(_SC_THREAD_STACK_MIN);
    return least > STACK_BYTES ? (size_t)least : STACK_BYTES;
}

int mp_thread_start(struct mp_thread *thread, const char *name, mp_thread_fn fn, void *arg)
{
    thread->fn = fn;
    thread->arg = arg;
    snprintf(thread->name, sizeof(thread->name), "%s", name);

    pthread_attr_t attr;
    int err = pthread_attr_init(&attr);
    if (err != 0)
        return err;
    err = pthread_attr_setstacksize(&attr, stack_bytes());
    if (err == 0) {
        /* The new thread inherits this mask: no signal of the host is ever taken by it. */
        sigset_t all, old;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &old);
        err = pthread_create(&thread->native, &attr, thread_main, thread);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    }
    pthread_attr_destroy(&attr);
    thread->running = err == 0;
    return err;
}

void mp_thread_join(struct mp_thread *thread)
{
    if (!thread->running)
        return;
    int state = mp_cancel_disable();
    must(pthread_join(thread->native, NULL));
    mp_cancel_restore(state);
    thread->running = false;
}
