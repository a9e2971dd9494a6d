/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a caller waits for entries of one transport: it reads its reply itself when it can have the
 * lease (lease.h), else it sleeps until another thread has read it.
 */
#ifndef MP_TRANSPORT_WAITING_H
#define MP_TRANSPORT_WAITING_H

#include "base/promise.h"
#include "transport/transport.h"

/*
 * Waits until one of the promises is kept; false: the deadline was first. While the caller reads,
 * it runs what the reader runs: a log function and a listener may be called in its thread. A point
 * of cancellation, if the patience says so, only while it sleeps. `entry` is one of those that are
 * waited for; the promises are those of entries of this transport.
 */
bool mp_waiting_for(mcpump_transport *transport, const struct mp_promises *promises,
                    const struct mp_entry *entry, struct mp_patience patience);

/* Takes in what is in the pipe, if it is up to callers to read it. Does not wait. */
void mp_waiting_glance(mcpump_transport *transport);

#endif
