/* SPDX-License-Identifier: Apache-2.0 */
#include "base/promise.h"

#include <assert.h>

#if MP_HAVE_FUTEX
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

enum watched {
    WATCHED,
    WATCHED_BEFORE, /* by the same waiter */
    KEPT,           /* so it is not watched */
};

static void do_besides(const struct mp_besides *besides)
{
    if (besides->number != NULL)
        atomic_fetch_sub(besides->number, besides->one);
    if (besides->alarm != NULL)
        mp_alarm_raise(besides->alarm);
}

/* -- one waiter: who owns it sleeps, others post; one promise: who watches it, and whether it is
 * kept */

#if MP_HAVE_FUTEX

#define SLEEPS   1u
#define ONE_POST 2u

static struct mp_waiter kept_mark;

static void waiter_init(struct mp_waiter *waiter)
{
    atomic_init(&waiter->word, 0);
}

static void waiter_done(struct mp_waiter *waiter)
{
    (void)waiter;
}

static unsigned waiter_posts(struct mp_waiter *waiter)
{
    return atomic_load(&waiter->word) / ONE_POST;
}

void mp_wakes_send(struct mp_wakes *wakes)
{
    if (wakes->beds == 0)
        return;
    atomic_fetch_add(&wakes->dorm->word, 1);
    syscall(SYS_futex, &wakes->dorm->word, FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, NULL, NULL,
            wakes->beds);
    wakes->beds = 0;
}

static void add_wake(struct mp_wakes *wakes, const struct mp_besides *besides)
{
    if (wakes->dorm != besides->dorm)
        mp_wakes_send(wakes);
    wakes->dorm = besides->dorm;
    wakes->beds |= besides->bed;
}

/* The waiter may be gone once the word is stored. A wake that then meets nobody, or another who
 * sleeps at this address by now, is one that everybody who sleeps on a futex is prepared for. */
static void waiter_post(struct mp_waiter *waiter, struct mp_wakes *wakes)
{
    struct mp_besides besides = waiter->besides;
    uint32_t word = atomic_load(&waiter->word);
    while (!atomic_compare_exchange_weak(&waiter->word, &word, (word & ~SLEEPS) + ONE_POST)) {
    }
    if (word / ONE_POST == 0)
        do_besides(&besides);
    if ((word & SLEEPS) == 0)
        return;
    if (besides.dorm != NULL)
        add_wake(wakes, &besides);
    else
        syscall(SYS_futex, &waiter->word, FUTEX_WAKE_PRIVATE, 1);
}

/* Where a waiter sleeps: on a word, as long as that has this value. */
struct bed {
    _Atomic uint32_t *word;
    uint32_t value, bits;
};

/* The system call itself is no point of cancellation. Cancelled at any moment between the two
 * changes of type: nothing but the call happens there. */
static void sleep_in(const struct bed *bed, struct mp_patience patience)
{
    struct timespec until, *limit = NULL;
    if (patience.until != MP_NEVER) {
        until = mp_deadline_timespec(patience.until);
        limit = &until;
    }
    int type;
    if (patience.is_cancellable)
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
    syscall(SYS_futex, bed->word, FUTEX_WAIT_BITSET_PRIVATE, bed->value, limit, NULL, bed->bits);
    if (patience.is_cancellable)
        pthread_setcanceltype(type, NULL);
}

/* Says that it sleeps; false: it was posted meanwhile. In a dormitory, the word is looked at before
 * that: who posts then changes it, so that no wake comes too early to be noticed. */
static bool go_to_bed(struct mp_waiter *waiter, uint32_t word, struct bed *ret_bed)
{
    struct mp_dorm *dorm = waiter->besides.dorm;
    *ret_bed = (struct bed){&waiter->word, word | SLEEPS, FUTEX_BITSET_MATCH_ANY};
    if (dorm != NULL)
        *ret_bed = (struct bed){&dorm->word, atomic_load(&dorm->word), waiter->besides.bed};
    return atomic_compare_exchange_strong(&waiter->word, &word, word | SLEEPS);
}

static bool waiter_wait(struct mp_waiter *waiter, unsigned posts, struct mp_patience patience)
{
    uint32_t word = atomic_load(&waiter->word);
    while (word / ONE_POST < posts) {
        struct bed bed;
        if (mp_deadline_passed(patience.until))
            return false;
        if (go_to_bed(waiter, word, &bed))
            sleep_in(&bed, patience);
        word = atomic_load(&waiter->word);
    }
    return true;
}

void mp_promise_init(struct mp_promise *promise)
{
    atomic_init(&promise->state, NULL);
}

void mp_promise_done(struct mp_promise *promise)
{
    (void)promise;
}

void mp_promise_renew(struct mp_promise *promise)
{
    atomic_store_explicit(&promise->state, NULL, memory_order_relaxed);
}

void mp_promise_keep(struct mp_promise *promise, struct mp_wakes *wakes)
{
    struct mp_waiter *waiter = atomic_exchange(&promise->state, &kept_mark);
    if (waiter != NULL)
        waiter_post(waiter, wakes);
}

bool mp_promise_is_kept(struct mp_promise *promise)
{
    return atomic_load(&promise->state) == &kept_mark;
}

static enum watched watch(struct mp_promise *promise, struct mp_waiter *waiter)
{
    struct mp_waiter *found = NULL;
    if (atomic_compare_exchange_strong(&promise->state, &found, waiter))
        return WATCHED;
    assert(found == waiter || found == &kept_mark);
    return found == waiter ? WATCHED_BEFORE : KEPT;
}

/* False: it is kept, and a post has come of it or is about to. */
static bool unwatch(struct mp_promise *promise, struct mp_waiter *waiter)
{
    struct mp_waiter *found = waiter;
    return atomic_compare_exchange_strong(&promise->state, &found, NULL) || found == NULL;
}

#else

static void waiter_init(struct mp_waiter *waiter)
{
    mp_mutex_init(&waiter->lock);
    mp_cond_init(&waiter->posted);
    waiter->posts = 0;
}

static void waiter_done(struct mp_waiter *waiter)
{
    mp_cond_done(&waiter->posted);
    mp_mutex_done(&waiter->lock);
}

static unsigned waiter_posts(struct mp_waiter *waiter)
{
    mp_mutex_lock(&waiter->lock);
    unsigned posts = waiter->posts;
    mp_mutex_unlock(&waiter->lock);
    return posts;
}

/* Everybody has a condition of its own, and is woken at once. */
void mp_wakes_send(struct mp_wakes *wakes)
{
    (void)wakes;
}

/* Signalled under the lock: the waiter may be gone once it is released. */
static void waiter_post(struct mp_waiter *waiter)
{
    struct mp_besides besides = waiter->besides;
    mp_mutex_lock(&waiter->lock);
    bool is_first = waiter->posts++ == 0;
    mp_cond_signal(&waiter->posted);
    mp_mutex_unlock(&waiter->lock);
    if (is_first)
        do_besides(&besides);
}

/* Run by a cancellation within the wait, or popped. */
static void unlock(void *waiter) MP_UNCHECKED
{
    mp_mutex_unlock(&((struct mp_waiter *)waiter)->lock);
}

static bool wait_locked(struct mp_waiter *waiter, unsigned posts, struct mp_patience patience)
    MP_REQUIRES(&waiter->lock)
{
    bool in_time = true;
    while (waiter->posts < posts && in_time)
        in_time = patience.is_cancellable
                      ? mp_cond_wait_cancellable(&waiter->posted, &waiter->lock, patience.until)
                      : mp_cond_wait(&waiter->posted, &waiter->lock, patience.until);
    return waiter->posts >= posts;
}

/* The handler unlocks. */
static bool waiter_wait(struct mp_waiter *waiter, unsigned posts,
                        struct mp_patience patience) MP_UNCHECKED
{
    bool posted;
    mp_mutex_lock(&waiter->lock);
    pthread_cleanup_push(unlock, waiter);
    posted = wait_locked(waiter, posts, patience);
    pthread_cleanup_pop(true);
    return posted;
}

void mp_promise_init(struct mp_promise *promise)
{
    mp_mutex_init(&promise->lock);
    promise->waiter = NULL;
    promise->is_kept = false;
}

void mp_promise_done(struct mp_promise *promise)
{
    mp_mutex_done(&promise->lock);
}

void mp_promise_renew(struct mp_promise *promise)
{
    mp_mutex_lock(&promise->lock);
    promise->waiter = NULL;
    promise->is_kept = false;
    mp_mutex_unlock(&promise->lock);
}

void mp_promise_keep(struct mp_promise *promise, struct mp_wakes *wakes)
{
    (void)wakes;
    mp_mutex_lock(&promise->lock);
    struct mp_waiter *waiter = promise->waiter;
    promise->is_kept = true;
    mp_mutex_unlock(&promise->lock);
    if (waiter != NULL)
        waiter_post(waiter);
}

bool mp_promise_is_kept(struct mp_promise *promise)
{
    mp_mutex_lock(&promise->lock);
    bool is_kept = promise->is_kept;
    mp_mutex_unlock(&promise->lock);
    return is_kept;
}

static enum watched watch(struct mp_promise *promise, struct mp_waiter *waiter)
{
    mp_mutex_lock(&promise->lock);
    enum watched watched = promise->is_kept            ? KEPT
                           : promise->waiter == waiter ? WATCHED_BEFORE
                                                       : WATCHED;
    if (watched == WATCHED)
        promise->waiter = waiter;
    mp_mutex_unlock(&promise->lock);
    return watched;
}

/* False: it is kept, and a post has come of it or is about to. */
static bool unwatch(struct mp_promise *promise, struct mp_waiter *waiter)
{
    (void)waiter;
    mp_mutex_lock(&promise->lock);
    bool is_kept = promise->is_kept;
    promise->waiter = NULL;
    mp_mutex_unlock(&promise->lock);
    return !is_kept;
}

#endif

/* -- waiting for one of several */

static struct mp_promise *promise_at(const struct mp_vigil *vigil, size_t i)
{
    return vigil->promises->at(vigil->promises->context, i);
}

bool mp_vigil_begin(struct mp_vigil *vigil, const struct mp_promises *promises,
                    const struct mp_besides *besides)
{
    waiter_init(&vigil->waiter);
    vigil->waiter.besides = *besides;
    vigil->promises = promises;
    vigil->has_twins = false;
    for (vigil->count = 0; vigil->count < promises->count; vigil->count++) {
        struct mp_promise *promise = promise_at(vigil, vigil->count);
        enum watched watched = promise != NULL ? watch(promise, &vigil->waiter) : WATCHED;
        if (watched == KEPT)
            return false;
        vigil->has_twins |= watched == WATCHED_BEFORE;
    }
    return true;
}

bool mp_vigil_is_over(struct mp_vigil *vigil)
{
    return waiter_posts(&vigil->waiter) > 0;
}

bool mp_vigil_wait(struct mp_vigil *vigil, struct mp_patience patience)
{
    return waiter_wait(&vigil->waiter, 1, patience);
}

static bool stands_before(const struct mp_vigil *vigil, size_t i)
{
    size_t first = 0;
    while (promise_at(vigil, first) != promise_at(vigil, i))
        first++;
    return first < i;
}

/* Where it is too late to take the waiter back, a post is waited for, whose thread is between two
 * steps. */
bool mp_vigil_end(struct mp_vigil *vigil)
{
    unsigned kept = 0;
    for (size_t i = 0; i < vigil->count; i++) {
        struct mp_promise *promise = promise_at(vigil, i);
        if (promise != NULL && !unwatch(promise, &vigil->waiter))
            kept += !vigil->has_twins || !stands_before(vigil, i);
    }
    waiter_wait(&vigil->waiter, kept, (struct mp_patience){MP_NEVER, false});
    waiter_done(&vigil->waiter);
    return kept > 0;
}

static void end_vigil(void *vigil)
{
    mp_vigil_end(vigil);
}

bool mp_promise_wait_any(const struct mp_promises *promises, struct mp_patience patience)
{
    static const struct mp_besides nothing;
    bool kept;
    struct mp_vigil vigil;
    bool is_open = mp_vigil_begin(&vigil, promises, &nothing);
    pthread_cleanup_push(end_vigil, &vigil);
    kept = !is_open || mp_vigil_wait(&vigil, patience);
    pthread_cleanup_pop(true);
    return kept;
}

static struct mp_promise *only(const void *context, size_t i)
{
    (void)i;
    union {
        const void *in;
        struct mp_promise *out;
    } cast = {context};
    return cast.out;
}

struct mp_promises mp_promises_of(struct mp_promise *promise)
{
    return (struct mp_promises){1, only, promise};
}

bool mp_promise_wait(struct mp_promise *promise, struct mp_patience patience)
{
    const struct mp_promises promises = mp_promises_of(promise);
    return mp_promise_wait_any(&promises, patience);
}
