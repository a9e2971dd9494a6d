/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closing, from outside: a thread of the host says that a connection is to end, and may wait for
 * it. The ending itself is the reader's, in ending.c.
 */
#include <stdio.h>

#include "base/home.h"
#include "transport/transport.h"

void mp_transport_join_threads(mcpump_transport *transport)
{
    mp_thread_join(&transport->reader.thread);
    mp_thread_join(&transport->writer.thread);
    mp_thread_join(&transport->stderr_pump.thread);
}

void mp_transport_fault(mcpump_transport *transport, mcpump_cause cause, int sys_errno,
                        const char *detail)
{
    struct mp_verdict *verdict = &transport->verdict;
    mp_mutex_lock(&transport->lock);
    if (verdict->cause == MCPUMP_CAUSE_NONE) {
        verdict->cause = cause;
        verdict->sys_errno = sys_errno;
        snprintf(verdict->detail, sizeof(verdict->detail), "%s", detail != NULL ? detail : "");
    }
    mp_mutex_unlock(&transport->lock);
    mp_bell_ring(&transport->bell);
}

struct mp_verdict mp_transport_verdict(mcpump_transport *transport)
{
    mp_mutex_lock(&transport->lock);
    struct mp_verdict verdict = transport->verdict;
    mp_mutex_unlock(&transport->lock);
    return verdict;
}

/* Whether it is up to us to close; if another thread does, it is told to hurry, and waited for. */
static bool begin_closing(mcpump_transport *transport)
{
    mp_mutex_lock(&transport->lock);
    /* Woken by the thread that opens, which takes milliseconds. */
    while (transport->opening.is_under_way)
        mp_cond_wait(&transport->changed, &transport->lock, MP_NEVER);
    bool is_ours = !transport->closing && transport->state != MP_TRANSPORT_CLOSED;
    if (is_ours)
        transport->closing = true;
    /* Woken by the thread that closes; its ladder is bounded. */
    while (!is_ours && transport->closing) {
        atomic_store(&transport->escalate, true);
        mp_bell_ring(&transport->bell);
        mp_cond_wait(&transport->changed, &transport->lock, MP_NEVER);
    }
    mp_mutex_unlock(&transport->lock);
    return is_ours;
}

void mcpump_transport_close(mcpump_transport *transport)
{
    if (mp_transport_is_elsewhere(transport) || !begin_closing(transport))
        return;
    mp_transport_fault(transport, MCPUMP_CAUSE_CLOSED_BY_HOST, 0, NULL);
    mp_transport_join_threads(transport);
    mp_mutex_lock(&transport->lock);
    transport->state = MP_TRANSPORT_CLOSED;
    transport->closing = false;
    mp_mutex_unlock(&transport->lock);
    mp_cond_broadcast(&transport->changed);
}

/* Whether an open is under way in another thread, which then closes what it opens. */
static bool tell_opener(mcpump_transport *transport)
{
    mp_mutex_lock(&transport->lock);
    struct mp_opening *opening = &transport->opening;
    bool is_opening = opening->is_under_way && !opening->is_made;
    opening->is_unwanted |= is_opening;
    mp_mutex_unlock(&transport->lock);
    return is_opening;
}

void mp_transport_close_begin(mcpump_transport *transport, bool hurry)
{
    if (mp_transport_is_elsewhere(transport) || tell_opener(transport))
        return;
    if (hurry)
        atomic_store(&transport->escalate, true);
    /* Wakes the reader in either case. */
    mp_transport_fault(transport, MCPUMP_CAUSE_CLOSED_BY_HOST, 0, NULL);
}

void mcpump_transport_close_begin(mcpump_transport *transport)
{
    bool is_second = mp_transport_verdict(transport).cause == MCPUMP_CAUSE_CLOSED_BY_HOST;
    mp_transport_close_begin(transport, is_second);
}

/* -- all that have a process */

static struct {
    struct mp_mutex lock;
    struct mp_cond changed; /* one has left */
    /* -- protected by lock */
    mcpump_transport *first;
} running;

/* Made anew in a forked child: what the list holds is the parent's, who may also have held the
 * lock. */
static struct mp_once running_made;

static void make_running(void *unused)
{
    (void)unused;
    mp_mutex_init(&running.lock);
    mp_cond_init(&running.changed);
    running.first = NULL;
}

/* Any that shutdown has told to close; those that were opened since then are no concern of it. */
static mcpump_transport *first_shut_locked(void) MP_REQUIRES(&running.lock)
{
    mcpump_transport *each = running.first;
    while (each != NULL && !each->is_shut)
        each = each->next_running;
    return each;
}

/* Woken by the readers, each when its process is gone. False: the deadline was first. */
static bool wait_until_gone_locked(mp_deadline deadline) MP_REQUIRES(&running.lock)
{
    bool in_time = true;
    while (first_shut_locked() != NULL && in_time)
        in_time = mp_cond_wait(&running.changed, &running.lock, deadline);
    return first_shut_locked() == NULL;
}

static void close_all_locked(void) MP_REQUIRES(&running.lock)
{
    for (mcpump_transport *each = running.first; each != NULL; each = each->next_running) {
        each->is_shut = true;
        mp_transport_fault(each, MCPUMP_CAUSE_CLOSED_BY_HOST, 0, NULL);
    }
}

static void escalate_all_locked(void) MP_REQUIRES(&running.lock)
{
    for (mcpump_transport *each = running.first; each != NULL; each = each->next_running) {
        if (!each->is_shut)
            continue;
        atomic_store(&each->escalate, true);
        mp_bell_ring(&each->bell);
    }
}

void mp_running_add(mcpump_transport *transport)
{
    mp_once_here(&running_made, make_running, NULL);
    mp_mutex_lock(&running.lock);
    transport->is_shut = false;
    transport->next_running = running.first;
    transport->previous_running = NULL;
    if (running.first != NULL)
        running.first->previous_running = transport;
    running.first = transport;
    mp_mutex_unlock(&running.lock);
}

void mp_running_remove(mcpump_transport *transport)
{
    mp_mutex_lock(&running.lock);
    mcpump_transport *previous = transport->previous_running, *next = transport->next_running;
    *(previous != NULL ? &previous->next_running : &running.first) = next;
    if (next != NULL)
        next->previous_running = previous;
    mp_mutex_unlock(&running.lock);
    mp_cond_broadcast(&running.changed);
}

/* Relaxed: who was ended by a shutdown learns of it through locks. */
static _Atomic uint64_t shutdowns;

uint64_t mp_transport_shutdowns(void)
{
    return atomic_load_explicit(&shutdowns, memory_order_relaxed);
}

mcpump_err mcpump_shutdown(int64_t timeout_ms)
{
    mp_deadline deadline = mp_deadline_after_ms(timeout_ms);
    atomic_fetch_add_explicit(&shutdowns, 1, memory_order_relaxed);
    mp_once_here(&running_made, make_running, NULL);
    mp_mutex_lock(&running.lock);
    close_all_locked();
    bool all_gone = wait_until_gone_locked(deadline);
    if (!all_gone) {
        escalate_all_locked();
        wait_until_gone_locked(MP_NEVER); /* each ladder is bounded once it has killed */
    }
    mp_mutex_unlock(&running.lock);
    return all_gone ? MCPUMP_OK : MCPUMP_ERR_TIMEOUT;
}
