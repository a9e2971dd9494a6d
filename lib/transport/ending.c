/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a connection ends, in the reader thread, whatever the cause: find the cause, let stderr
 * settle, fail the calls, climb the stop ladder, reap, let the other threads go.
 */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/fd.h"
#include "process/ladder.h"
#include "transport/transport.h"

/* How long the writer may go on with frames that were accepted before a close. */
#define FLUSH_MS 200
/* How long stderr may take to be read before failures quote it. */
#define SETTLE_MS 100
/* No event tells that a process group has become empty: it is looked at so often. */
#define GROUP_LOOK_MS 10

#define DISCARD_BYTES (16 * 1024)

static mcpump_cause judge_locked(const mcpump_transport *transport) MP_REQUIRES(&transport->lock)
{
    if (transport->verdict.cause != MCPUMP_CAUSE_NONE)
        return transport->verdict.cause;
    if (transport->process.ended)
        return MCPUMP_CAUSE_EXITED;
    if (atomic_load(&transport->writer.failed) != 0)
        return MCPUMP_CAUSE_WRITE_FAILED;
    return MCPUMP_CAUSE_STDOUT_CLOSED;
}

/* A failed write and the end of stdout are mostly how an exit shows first: the exit is the cause.
 * How the server ends later, on our stop ladder, is no part of the verdict. */
static struct mp_verdict find_verdict(mcpump_transport *transport)
{
    struct mp_verdict *verdict = &transport->verdict;
    mp_process_poll_exit(&transport->process);
    mp_mutex_lock(&transport->lock);
    verdict->cause = judge_locked(transport);
    verdict->exit = transport->process.exit;
    if (verdict->cause == MCPUMP_CAUSE_WRITE_FAILED)
        verdict->sys_errno = atomic_load(&transport->writer.failed);
    transport->state = MP_TRANSPORT_ENDING;
    struct mp_verdict found = *verdict;
    mp_mutex_unlock(&transport->lock);
    return found;
}

static void fail_calls(mcpump_transport *transport)
{
    mp_pending_accept(&transport->pending, false);
    mp_entry_complete_list(mp_pending_take_all(&transport->pending));
}

static void act(mcpump_transport *transport, enum mp_ladder_action action)
{
    struct mp_process *process = &transport->process;
    switch (action) {
    case MP_LADDER_CLOSE_STDIN:
        mp_writer_stop(&transport->writer, mp_deadline_after_ms(process->ended ? 0 : FLUSH_MS));
        break;
    case MP_LADDER_TERMINATE:
        mp_process_terminate(process);
        break;
    case MP_LADDER_KILL:
        mp_process_kill(process);
        break;
    case MP_LADDER_ACTIONS:
        break;
    }
}

/* Throws away what the server writes: one blocked on its last output must not be killed for it. */
static void discard_stdout(mcpump_transport *transport)
{
    char bytes[DISCARD_BYTES];
    ssize_t n = read(transport->stdout_fd, bytes, sizeof(bytes));
    transport->reader.at_end = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

/* Sleeps until the server ends (then its guard), the server writes, the bell rings (escalation), or
 * the deadline. */
static void wait_on_ladder(mcpump_transport *transport, mp_deadline until)
{
    struct pollfd fds[3] = {
        {transport->bell.fd, POLLIN, 0},
        {transport->reader.at_end ? -1 : transport->stdout_fd, POLLIN, 0},
        {mp_process_watch_fd(&transport->process), POLLIN, 0},
    };
    if (fds[2].fd < 0)
        until = mp_deadline_earlier(until, mp_deadline_after_ms(GROUP_LOOK_MS));
    poll(fds, 3, mp_deadline_poll_ms(until));
    if (fds[0].revents != 0)
        mp_bell_hear(&transport->bell);
    if (fds[1].revents != 0)
        discard_stdout(transport);
}

/* A first interrupt stops calls and leaves the server its graces; a second one is impatience, as a
 * second close is. */
static bool has_to_hurry(const mcpump_transport *transport, uint64_t latch_count)
{
    return atomic_load(&transport->escalate) ||
           mp_latch_count(&transport->latch) - latch_count >= 2;
}

static void climb(mcpump_transport *transport)
{
    struct mp_ladder ladder;
    uint64_t latch_count = mp_latch_count(&transport->latch);
    mp_ladder_init(&ladder, transport->options.stdin_grace_ms, transport->options.term_grace_ms);
    do {
        if (has_to_hurry(transport, latch_count))
            mp_ladder_escalate(&ladder);
        enum mp_ladder_action action;
        while ((action = mp_ladder_step(&ladder, mp_now_ns())) != MP_LADDER_ACTIONS)
            act(transport, action);
        if (mp_process_is_gone(&transport->process))
            return;
        wait_on_ladder(transport, ladder.until);
    } while (!mp_ladder_is_over(&ladder, mp_now_ns()));
    mp_logf(&transport->log, MCPUMP_LOG_ERROR, "process %d does not end, not even by SIGKILL",
            (int)transport->process.pid);
}

static void report(mcpump_transport *transport, const struct mp_verdict *verdict)
{
    mp_trace_moment(&transport->row, transport->options.label, "ended",
                    mcpump_cause_text(verdict->cause));
    mcpump_log_level level =
        verdict->cause == MCPUMP_CAUSE_CLOSED_BY_HOST ? MCPUMP_LOG_DEBUG : MCPUMP_LOG_WARNING;
    mp_logf(&transport->log, level, "the connection ended: %s%s%s",
            mcpump_cause_text(verdict->cause), verdict->detail[0] != '\0' ? ": " : "",
            verdict->detail);
}

void mp_ending_run(mcpump_transport *transport)
{
    const struct mp_listener *listener = &transport->listener;
    struct mp_verdict verdict = find_verdict(transport);
    report(transport, &verdict);
    if (verdict.cause != MCPUMP_CAUSE_CLOSED_BY_HOST)
        mp_stderr_pump_settle(&transport->stderr_pump, mp_deadline_after_ms(SETTLE_MS));
    if (listener->lost != NULL)
        listener->lost(listener->user);
    fail_calls(transport);
    climb(transport);
    mp_writer_stop(&transport->writer, 0);
    mp_stderr_pump_stop(&transport->stderr_pump);
    mp_fd_close(&transport->stdout_fd);

    mp_mutex_lock(&transport->lock);
    mp_process_done(&transport->process);
    transport->state = MP_TRANSPORT_ENDED;
    mp_mutex_unlock(&transport->lock);
    if (listener->gone != NULL)
        listener->gone(listener->user);
    mp_running_remove(transport);
}
