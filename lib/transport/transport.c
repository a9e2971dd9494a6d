/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public transport: its making, and what can be asked of it. Opening is
 * in opening.c, closing in closing.c, interrupting in interrupt.c, calls in call.c, the threads in
 * reader.c (with ending.c), writer.c, stderr_pump.c.
 */
#include "transport/transport.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/home.h"

/* -- made and freed */

static int init_parts(mcpump_transport *transport)
{
    const struct mp_options *options = &transport->options;
    transport->home = mp_home();
    mp_trace_row_init(&transport->row);
    transport->log =
        (struct mp_log){options->log_fn, options->log_user, options->log_level, options->label};
    mp_tap_init(&transport->tap, options->tap_fn, options->tap_user, options->secret_env);
    transport->cwd = transport->options.cwd;
    transport->options.cwd = NULL;
    transport->stdout_fd = -1;
    transport->process = MP_PROCESS_NONE;
    mp_mutex_init(&transport->lock);
    mp_cond_init(&transport->changed);
    mp_board_init(&transport->watchers);
    mp_pending_init(&transport->pending);
    mp_framer_init(&transport->reader.framer, options->max_message_bytes);
    /* All of them, so that all of them can be done again. */
    int errs[] = {
        mp_bell_init(&transport->bell),
        mp_lease_init(&transport->lease, &transport->bell),
        mp_writer_init(&transport->writer, options->write_queue_bytes, &transport->counters,
                       options->tap_fn != NULL ? &transport->tap : NULL),
        mp_stderr_pump_init(&transport->stderr_pump, options->label, &transport->counters),
    };
    for (size_t i = 0; i < sizeof(errs) / sizeof(*errs); i++) {
        if (errs[i] != 0)
            return errs[i];
    }
    return 0;
}

static void done_parts(mcpump_transport *transport)
{
    mp_stderr_pump_done(&transport->stderr_pump);
    mp_writer_done(&transport->writer);
    mp_lease_done(&transport->lease);
    mp_bell_done(&transport->bell);
    mp_framer_done(&transport->reader.framer);
    mp_pending_done(&transport->pending);
    mp_board_done(&transport->watchers);
    mp_cond_done(&transport->changed);
    mp_mutex_done(&transport->lock);
    mp_tap_done(&transport->tap);
    mp_options_done(&transport->options);
    free(transport->cwd);
    free(transport);
}

mcpump_err mcpump_transport_new(const mcpump_transport_options *options,
                                mcpump_transport **ret_transport, mcpump_failure **ret_failure)
{
    if (ret_failure != NULL)
        *ret_failure = NULL;
    if (options == NULL || ret_transport == NULL)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    mcpump_transport *transport = calloc(1, sizeof(*transport));
    if (transport == NULL)
        return MCPUMP_ERR_NO_MEMORY;
    mcpump_err err = mp_options_init(&transport->options, options, ret_failure);
    if (err != MCPUMP_OK) {
        mp_options_done(&transport->options);
        free(transport);
        return err;
    }
    int sys_errno = init_parts(transport);
    if (sys_errno == 0 && !mp_interrupt_join_all(transport))
        sys_errno = ENOMEM;
    if (sys_errno != 0) {
        struct mp_failure_facts facts = {.name = transport->options.label,
                                         .err = MCPUMP_ERR_SYSTEM,
                                         .phase = MCPUMP_PHASE_START,
                                         .sys_errno = sys_errno};
        mp_fail(ret_failure, &facts, NULL);
        done_parts(transport);
        return MCPUMP_ERR_SYSTEM;
    }
    *ret_transport = transport;
    return MCPUMP_OK;
}

/* In a forked child: threads and process are the parent's, and locks may have been held when it
 * forked. The child's copies of the fds must go, or the server would not see the end of its stdin
 * when the parent closes it; the memory goes with the child. */
static void abandon_copy(mcpump_transport *transport)
{
    int *fds[] = {&transport->writer.fd,          &transport->stdout_fd,
                  &transport->stderr_pump.fd,     &transport->bell.fd,
                  &transport->writer.bell.fd,     &transport->stderr_pump.bell.fd,
                  &transport->lease.alarm.bell.fd};
    for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
        mp_fd_close(fds[i]);
    mp_process_done(&transport->process);
}

void mcpump_transport_free(mcpump_transport *transport)
{
    if (transport == NULL)
        return;
    if (mp_transport_is_elsewhere(transport)) {
        abandon_copy(transport);
        return;
    }
    mcpump_transport_close(transport);
    mp_interrupt_leave_all(transport);
    done_parts(transport);
}

bool mp_transport_is_elsewhere(const mcpump_transport *transport)
{
    return transport->home != mp_home();
}

/* -- asked */

/* The locks of a transport that is only looked at: the object itself is never const. */
static mcpump_transport *unconst(const mcpump_transport *transport)
{
    union {
        const mcpump_transport *in;
        mcpump_transport *out;
    } cast = {transport};
    return cast.out;
}

bool mcpump_transport_is_connected(const mcpump_transport *transport)
{
    struct mp_mutex *lock = &unconst(transport)->lock;
    if (mp_transport_is_elsewhere(transport))
        return false;
    int state = mp_cancel_disable(); /* looking at the process is a point of cancellation */
    mp_mutex_lock(lock);
    bool connected = transport->state == MP_TRANSPORT_OPEN &&
                     transport->verdict.cause == MCPUMP_CAUSE_NONE &&
                     mp_process_is_alive(&transport->process);
    mp_mutex_unlock(lock);
    mp_cancel_restore(state);
    return connected;
}

const char *mcpump_transport_display_name(const mcpump_transport *transport)
{
    return transport->options.label;
}

pid_t mcpump_transport_pid(const mcpump_transport *transport)
{
    struct mp_mutex *lock = &unconst(transport)->lock;
    if (mp_transport_is_elsewhere(transport))
        return -1;
    mp_mutex_lock(lock);
    pid_t pid = transport->process.pid;
    mp_mutex_unlock(lock);
    return pid;
}

mcpump_err mcpump_transport_set_working_dir(mcpump_transport *transport, const char *directory,
                                            mcpump_failure **ret_failure)
{
    if (ret_failure != NULL)
        *ret_failure = NULL;
    if (transport == NULL)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    struct mp_failure_facts facts = {.name = transport->options.label,
                                     .phase = MCPUMP_PHASE_OPTIONS,
                                     .subject = "cwd",
                                     .detail = directory};
    if (mp_transport_is_elsewhere(transport)) {
        facts.err = MCPUMP_ERR_FORKED;
        facts.detail = NULL;
        return mp_fail(ret_failure, &facts, NULL);
    }
    facts.sys_errno = directory != NULL ? mp_options_check_directory(directory) : 0;
    if (facts.sys_errno != 0) {
        facts.err = MCPUMP_ERR_INVALID_ARGUMENT;
        return mp_fail(ret_failure, &facts, NULL);
    }
    char *copy = directory != NULL ? strdup(directory) : NULL;
    if (directory != NULL && copy == NULL)
        facts.err = MCPUMP_ERR_NO_MEMORY;
    mp_mutex_lock(&transport->lock);
    if (transport->opening.is_under_way ||
        (transport->state != MP_TRANSPORT_CLOSED && transport->state != MP_TRANSPORT_ENDED))
        facts.err = MCPUMP_ERR_ALREADY_OPEN;
    if (facts.err == MCPUMP_OK) {
        char *old = transport->cwd;
        transport->cwd = copy;
        copy = old;
    }
    mp_mutex_unlock(&transport->lock);
    free(copy);
    facts.detail = NULL;
    return facts.err == MCPUMP_OK ? MCPUMP_OK : mp_fail(ret_failure, &facts, NULL);
}

void mcpump_transport_stats(const mcpump_transport *transport, mcpump_stats *ret_stats)
{
    const struct mp_counters *counters = &transport->counters;
    mcpump_stats stats = {
        .size = ret_stats->size,
        .opens = mp_counted(&counters->opens),
        .requests = mp_counted(&counters->requests),
        .replies = mp_counted(&counters->replies),
        .notifications_sent = mp_counted(&counters->notifications_sent),
        .notifications_read = mp_counted(&counters->notifications_read),
        .server_requests = mp_counted(&counters->server_requests),
        .late_replies = mp_counted(&counters->late_replies),
        .duplicate_replies = mp_counted(&counters->duplicate_replies),
        .unknown_replies = mp_counted(&counters->unknown_replies),
        .junk_lines = mp_counted(&counters->junk_lines),
        .cancelled_on_wire = mp_counted(&counters->cancelled_on_wire),
        .bytes_written = mp_counted(&counters->bytes_written),
        .bytes_read = mp_counted(&counters->bytes_read),
        .stderr_lines = mp_counted(&counters->stderr_lines),
        .stderr_lines_dropped = mp_counted(&counters->stderr_lines_dropped),
    };
    if (!mp_transport_is_elsewhere(transport)) { /* where nothing is under way, and no lock free */
        stats.stalled_ms = mp_outbox_stalled_ms(&unconst(transport)->writer.outbox);
        stats.queued_bytes = mp_outbox_bytes(&unconst(transport)->writer.outbox);
        stats.in_flight = mp_pending_count(&unconst(transport)->pending);
    }
    size_t size = stats.size < sizeof(stats) ? stats.size : sizeof(stats);
    memcpy(ret_stats, &stats, size);
}

mp_deadline mp_transport_deadline(const mcpump_transport *transport, int64_t now_ns,
                                  int64_t timeout_ms)
{
    if (timeout_ms == 0)
        timeout_ms = transport->options.default_timeout_ms;
    return mp_deadline_from(now_ns, timeout_ms);
}

void mp_transport_ignore_requests(mcpump_transport *transport, bool ignore)
{
    atomic_store_explicit(&transport->ignores_requests, ignore, memory_order_relaxed);
}
