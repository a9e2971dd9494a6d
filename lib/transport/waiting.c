/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/waiting.h"

#include <poll.h>

/* -- with the lease: this thread reads */

struct lead {
    mcpump_transport *transport;
    struct mp_vigil vigil;
    int cancel_state; /* of the host's thread, from outside */
};

static bool has_to_stop(struct lead *lead)
{
    return mp_vigil_is_over(&lead->vigil) || mp_lease_is_wanted(&lead->transport->lease);
}

/* Woken by the server's output, by who keeps a promise (an interrupt, the end of the connection, a
 * cancel), by who wants the lease, or at the deadline. */
static void sleep_armed(struct lead *lead, struct mp_patience patience)
{
    struct mp_alarm *alarm = &lead->transport->lease.alarm;
    struct pollfd fds[] = {{lead->transport->stdout_fd, POLLIN, 0}, {alarm->bell.fd, POLLIN, 0}};
    mp_alarm_arm(alarm);
    if (!has_to_stop(lead)) {
        if (patience.is_cancellable)
            mp_cancel_restore(lead->cancel_state);
        poll(fds, 2, mp_deadline_poll_ms(patience.until));
        mp_cancel_disable();
    }
    mp_alarm_disarm(alarm);
    if (fds[1].revents != 0)
        mp_bell_hear(&alarm->bell);
}

/* Begins with a sleep, since the request has hardly been read. False: there is something for the
 * reader to handle. */
static bool read_until_over(struct lead *lead, struct mp_patience patience)
{
    enum mp_read read = MP_READ_NOTHING;
    while (!has_to_stop(lead)) {
        if (read == MP_READ_NOTHING)
            sleep_armed(lead, patience);
        read = mp_reader_read(lead->transport);
        if (read == MP_READ_END || read == MP_READ_FAULT)
            return false;
        if (mp_deadline_passed(patience.until))
            break;
    }
    return true;
}

static void stop_leading(struct lead *lead, bool for_good)
{
    mp_alarm_disarm(&lead->transport->lease.alarm);
    mp_vigil_end(&lead->vigil);
    mp_lease_drop(&lead->transport->lease, for_good);
}

/* Run by a cancellation within the sleep. */
static void abandon_leading(void *lead)
{
    stop_leading(lead, false);
}

static bool lead_until_over(mcpump_transport *transport, const struct mp_promises *promises,
                            struct mp_patience patience)
{
    const struct mp_besides besides = {.alarm = &transport->lease.alarm};
    struct lead lead = {.transport = transport, .cancel_state = mp_cancel_disable()};
    bool is_over = !mp_vigil_begin(&lead.vigil, promises, &besides);
    bool for_good = false;
    mp_writer_flush(&transport->writer);
    pthread_cleanup_push(abandon_leading, &lead);
    if (!is_over)
        for_good = !read_until_over(&lead, patience);
    pthread_cleanup_pop(false);
    is_over |= mp_vigil_is_over(&lead.vigil);
    stop_leading(&lead, for_good);
    mp_cancel_restore(lead.cancel_state);
    return is_over;
}

void mp_waiting_glance(mcpump_transport *transport)
{
    if (!mp_lease_take(&transport->lease))
        return;
    int state = mp_cancel_disable();
    mp_writer_flush(&transport->writer);
    enum mp_read read = mp_reader_read(transport);
    mp_lease_drop(&transport->lease, read == MP_READ_END || read == MP_READ_FAULT);
    mp_cancel_restore(state);
}

/* -- without: another thread reads */

struct seat {
    struct mp_lease *lease;
    struct mp_vigil vigil;
};

/* Also run by a cancellation within the wait. */
static void leave_seat(void *arg)
{
    struct seat *seat = arg;
    if (!mp_vigil_end(&seat->vigil))
        mp_lease_stand(seat->lease);
}

/* A sleep until the deadline of its entry needs no timer of its own: the reader watches that. */
static bool sit_until_over(mcpump_transport *transport, const struct mp_promises *promises,
                           const struct mp_entry *entry, struct mp_patience patience)
{
    bool is_over;
    struct seat seat = {.lease = &transport->lease};
    struct mp_besides besides;
    if (patience.until == entry->deadline) {
        patience.until = MP_NEVER;
        if (mp_pending_set_alarm(&transport->pending, entry))
            mp_bell_ring(&transport->bell);
    }
    mp_lease_sit(seat.lease, &besides);
    mp_writer_flush(&transport->writer);
    besides.dorm = &transport->pending.dorm;
    besides.bed = entry->bed;
    bool is_open = mp_vigil_begin(&seat.vigil, promises, &besides);
    pthread_cleanup_push(leave_seat, &seat);
    is_over = !is_open || mp_vigil_wait(&seat.vigil, patience);
    pthread_cleanup_pop(true);
    return is_over;
}

bool mp_waiting_for(mcpump_transport *transport, const struct mp_promises *promises,
                    const struct mp_entry *entry, struct mp_patience patience)
{
    if (mp_lease_take(&transport->lease) && lead_until_over(transport, promises, patience))
        return true;
    return sit_until_over(transport, promises, entry, patience);
}
