/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading: stdout into the framer, lines through the envelope, replies to their callers; by the
 * reader thread, or by a caller that it has lent the reading to (lease.h). The thread sleeps only
 * in poll, on stdout, the bell and the process, and blocks on nothing else. When the connection
 * ends it goes on to end it, in ending.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/text.h"
#include "transport/reply.h"
#include "transport/transport.h"
#include "wire/control.h"
#include "wire/message_id.h"

#define READ_BYTES (64 * 1024)
/* A pipe that was found full so often in a row holds back its server. It is made larger then, once,
 * and not before: all pipes of a user share a budget (pipe-user-pages-soft, 64 MiB by default), and
 * beyond it the kernel refuses, or makes the next pipes of the user tiny. */
#define FULL_READS 4
#define PIPE_BYTES (256 * 1024)
/* After the first of exit, end of stdout, failed write: how long the others may take, so that what
 * was said last is read and the exit status is known. */
#define DRAIN_MS 100
/* A larger answer stands in line with the requests: the room ahead of them is for small frames. */
#define LARGE_ANSWER_BYTES (64 * 1024)

/* -- dispatch: one message */

/* How much of a peer's text a log line shows, for "%.*s". */
static int shown(struct mp_span text)
{
    return (int)(text.size < 200 ? text.size : 200);
}

static void drop_stray(mcpump_transport *transport, enum mp_stray stray, struct mp_span id)
{
    _Atomic uint64_t *counters[] = {
        [MP_STRAY_LATE] = &transport->counters.late_replies,
        [MP_STRAY_DUPLICATE] = &transport->counters.duplicate_replies,
        [MP_STRAY_UNKNOWN] = &transport->counters.unknown_replies,
    };
    static const char *const words[] = {
        [MP_STRAY_LATE] = "late", [MP_STRAY_DUPLICATE] = "duplicate", [MP_STRAY_UNKNOWN] = "stray"};
    mp_count(counters[stray], 1);
    mp_logf(&transport->log, MCPUMP_LOG_DEBUG, "dropped a %s reply, id %.*s", words[stray],
            shown(id), id.size > 0 ? id.bytes : "");
}

static void dispatch_reply(mcpump_transport *transport, struct mp_span line,
                           const struct mp_envelope *envelope)
{
    uint64_t id;
    enum mp_stray stray = MP_STRAY_UNKNOWN;
    struct mp_entry *entry = NULL;
    if (envelope->id.bytes == NULL)
        mp_logf(&transport->log, MCPUMP_LOG_WARNING, "the server reports an error: %.*s",
                shown(envelope->value), envelope->value.bytes);
    if (mp_message_id_parse(envelope->id, &id))
        entry = mp_pending_take(&transport->pending, id, &stray);
    if (entry == NULL) {
        drop_stray(transport, stray, envelope->id);
        return;
    }
    struct mp_taken taken = mp_framer_take(&transport->reader.framer, line);
    entry->reply = taken.block != NULL ? mp_reply_move(taken, envelope, entry->caller_id)
                                       : mp_reply_new(line, envelope, entry->caller_id);
    entry->err = entry->reply != NULL ? MCPUMP_OK : MCPUMP_ERR_NO_MEMORY;
    if (entry->replied_ns != NULL)
        *entry->replied_ns = mp_now_ns();
    entry->next_removed = transport->reader.answered;
    transport->reader.answered = entry;
    mp_count(&transport->counters.replies, 1);
}

mcpump_err mp_transport_answer(mcpump_transport *transport, struct mp_buffer *answer)
{
    bool is_large = answer->size > LARGE_ANSWER_BYTES;
    struct mp_frame *frame = mp_frame_new(answer, !is_large);
    if (frame == NULL)
        return MCPUMP_ERR_NO_MEMORY;
    mcpump_err err = mp_writer_send(&transport->writer, frame, false);
    if (err == MCPUMP_OK)
        return MCPUMP_OK;
    mp_frame_free(frame);
    /* Asks and does not read the answers. */
    if (err == MCPUMP_ERR_QUEUE_FULL && !is_large)
        mp_transport_fault(transport, MCPUMP_CAUSE_WRITE_QUEUE_FULL, 0, NULL);
    return err;
}

static void dispatch_request(mcpump_transport *transport, struct mp_span line,
                             const struct mp_envelope *envelope)
{
    const struct mp_listener *listener = &transport->listener;
    mp_count(&transport->counters.server_requests, 1);
    if (atomic_load_explicit(&transport->ignores_requests, memory_order_relaxed)) {
        mp_logf(&transport->log, MCPUMP_LOG_WARNING, "ignored a request of the server: %.*s",
                shown(envelope->method), envelope->method.bytes);
        return;
    }
    if (listener->asked != NULL && !mp_envelope_is_method(envelope, "ping") &&
        listener->asked(listener->user, line, envelope))
        return;
    struct mp_buffer answer = MP_BUFFER_INIT;
    mp_control_answer(&answer, envelope);
    mp_transport_answer(transport, &answer);
}

static void dispatch_notification(mcpump_transport *transport, struct mp_span line,
                                  const struct mp_envelope *envelope)
{
    const struct mp_listener *listener = &transport->listener;
    mp_count(&transport->counters.notifications_read, 1);
    if (listener->notified != NULL)
        listener->notified(listener->user, line, envelope);
}

static void dispatch_junk(mcpump_transport *transport, struct mp_span line, const char *why)
{
    struct mp_reader *reader = &transport->reader;
    char preview[sizeof(reader->junk_preview)];
    mp_text_clean(line.bytes, line.size, preview, sizeof(preview));
    mp_count(&transport->counters.junk_lines, 1);
    mp_logf(&transport->log, MCPUMP_LOG_DEBUG, "not a message (%s): %s", why, preview);
    if (reader->junk_run == 0)
        snprintf(reader->junk_preview, sizeof(reader->junk_preview), "%s", preview);
    if (++reader->junk_run <= transport->options.max_junk_lines)
        return;
    char detail[sizeof(transport->verdict.detail)];
    snprintf(detail, sizeof(detail), "the first: %s", reader->junk_preview);
    mp_transport_fault(transport, MCPUMP_CAUSE_JUNK_OUTPUT, 0, detail);
}

/* Not for a batch. */
static void dispatch_message(mcpump_transport *transport, struct mp_span line,
                             const struct mp_envelope *envelope)
{
    switch (envelope->kind) {
    case MP_KIND_RESULT:
    case MP_KIND_ERROR:
        dispatch_reply(transport, line, envelope);
        break;
    case MP_KIND_REQUEST:
        dispatch_request(transport, line, envelope);
        break;
    case MP_KIND_NOTIFICATION:
        dispatch_notification(transport, line, envelope);
        break;
    default:
        dispatch_junk(transport, line, envelope->why);
        return;
    }
    transport->reader.junk_run = 0;
}

static void dispatch_batch(mcpump_transport *transport, struct mp_span line)
{
    const char *at = NULL;
    struct mp_span element;
    while (mp_batch_next(line, &at, &element)) {
        struct mp_envelope envelope;
        mp_envelope_scan(element, &envelope);
        if (envelope.kind == MP_KIND_BATCH) {
            envelope.kind = MP_KIND_JUNK;
            envelope.why = "an array within an array";
        }
        dispatch_message(transport, element, &envelope);
    }
}

static void dispatch_line(mcpump_transport *transport, struct mp_span line)
{
    struct mp_envelope envelope;
    mp_tap_show(&transport->tap, MCPUMP_FROM_SERVER, line);
    mp_envelope_scan(line, &envelope);
    if (envelope.kind == MP_KIND_BATCH)
        dispatch_batch(transport, line);
    else
        dispatch_message(transport, line, &envelope);
}

/* -- reading */

static bool has_verdict(mcpump_transport *transport)
{
    return mp_transport_verdict(transport).cause != MCPUMP_CAUSE_NONE;
}

/* Wakes the callers whose replies the last lines held, after all of them were looked at. */
static void wake_answered(mcpump_transport *transport)
{
    struct mp_entry *list = transport->reader.answered;
    transport->reader.answered = NULL;
    transport->reader.has_answered |= list != NULL;
    mp_entry_complete_list(list);
}

/* False: the connection has to end. */
static bool dispatch_lines(mcpump_transport *transport)
{
    struct mp_reader *reader = &transport->reader;
    struct mp_span line;
    enum mp_framer_result result;
    while ((result = mp_framer_next(&reader->framer, &line)) == MP_FRAMER_LINE) {
        dispatch_line(transport, line);
        if (reader->junk_run > transport->options.max_junk_lines)
            break;
    }
    wake_answered(transport);
    if (result == MP_FRAMER_TOO_LARGE) {
        char limit[64];
        snprintf(limit, sizeof(limit), "max_message_bytes is %zu",
                 transport->options.max_message_bytes);
        mp_transport_fault(transport, MCPUMP_CAUSE_MESSAGE_TOO_LARGE, 0, limit);
    }
    return result == MP_FRAMER_MORE;
}

static void dispatch_last_line(mcpump_transport *transport)
{
    struct mp_span line;
    if (mp_framer_last(&transport->reader.framer, &line) == MP_FRAMER_LINE)
        dispatch_line(transport, line);
    wake_answered(transport);
}

/* The first of exit, end of stdout and failed write sets the time for the others. */
static void begin_draining(struct mp_reader *reader)
{
    if (reader->drain_until == MP_NEVER)
        reader->drain_until = mp_deadline_after_ms(DRAIN_MS);
}

/* Nothing is lost when it is refused. */
static void enlarge_pipe(mcpump_transport *transport, size_t size)
{
    struct mp_reader *reader = &transport->reader;
    if (reader->full_reads == FULL_READS)
        return;
    reader->full_reads = size >= READ_BYTES ? reader->full_reads + 1 : 0;
    if (reader->full_reads == FULL_READS)
        fcntl(transport->stdout_fd, F_SETPIPE_SZ, PIPE_BYTES);
}

enum mp_read mp_reader_read(mcpump_transport *transport)
{
    struct mp_reader *reader = &transport->reader;
    size_t size;
    char *room = mp_framer_room(&reader->framer, READ_BYTES, &size);
    if (room == NULL) {
        mp_transport_fault(transport, MCPUMP_CAUSE_NO_MEMORY, 0, NULL);
        return MP_READ_FAULT;
    }
    ssize_t n = read(transport->stdout_fd, room, size);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return MP_READ_NOTHING;
    if (n <= 0) {
        errno = n < 0 ? errno : 0;
        return MP_READ_END;
    }
    mp_count(&transport->counters.bytes_read, (uint64_t)n);
    mp_framer_filled(&reader->framer, (size_t)n);
    enlarge_pipe(transport, (size_t)n);
    return dispatch_lines(transport) ? MP_READ_SOME : MP_READ_FAULT;
}

static void read_stdout(mcpump_transport *transport)
{
    struct mp_reader *reader = &transport->reader;
    if (mp_reader_read(transport) == MP_READ_END) {
        if (errno != 0)
            mp_transport_fault(transport, MCPUMP_CAUSE_READ_FAILED, errno, NULL);
        reader->at_end = true;
        dispatch_last_line(transport);
        begin_draining(reader);
    }
    bool has_answered = reader->has_answered;
    reader->has_answered = false;
    if (has_answered)
        mp_lease_offer(&transport->lease); /* from here on another may read */
}

/* Heard the bell: an interrupt, or a run that was cancelled. */
static void sweep_stopped(mcpump_transport *transport)
{
    mp_entry_complete_list(mp_pending_take_stopped(&transport->pending, &transport->latch));
}

/* Whether what comes concerns stdout, so that nobody else may read. */
static bool is_ending(const struct mp_reader *reader, bool has_cause)
{
    return has_cause || reader->drain_until != MP_NEVER;
}

static bool has_to_end(const struct mp_reader *reader, bool has_cause)
{
    return has_cause || (reader->at_end && reader->process_ended) ||
           mp_deadline_passed(reader->drain_until);
}

static void look_around(mcpump_transport *transport, const struct pollfd fds[3])
{
    struct mp_reader *reader = &transport->reader;
    if (fds[0].revents != 0) {
        mp_bell_hear(&transport->bell);
        sweep_stopped(transport);
        if (atomic_load(&transport->writer.failed) != 0)
            begin_draining(reader);
    }
    if (fds[1].revents != 0)
        read_stdout(transport);
    if (fds[2].revents != 0) {
        reader->process_ended = true;
        begin_draining(reader);
    }
}

/* Sleeps on stdout, unless that is lent, the bell and the process. */
static void watch(mcpump_transport *transport, bool is_lent)
{
    struct mp_reader *reader = &transport->reader;
    struct mp_lease *lease = &transport->lease;
    /* poll ignores negative fds: what has ended is not asked again. */
    struct pollfd fds[3] = {
        {transport->bell.fd, POLLIN, 0},
        {reader->at_end || is_lent ? -1 : transport->stdout_fd, POLLIN, 0},
        {reader->process_ended ? -1 : mp_process_watch_fd(&transport->process), POLLIN, 0},
    };
    mp_writer_flush(&transport->writer);
    mp_deadline until = is_lent ? mp_lease_until(lease) : reader->drain_until;
    until = mp_deadline_earlier(until, mp_pending_alarm(&transport->pending));
    if (poll(fds, 3, mp_deadline_poll_ms(until)) == 0 && is_lent)
        mp_lease_review(lease);
    look_around(transport, fds);
    mp_entry_complete_list(mp_pending_take_late(&transport->pending));
}

void mp_reader_main(void *arg)
{
    mcpump_transport *transport = arg;
    struct mp_reader *reader = &transport->reader;
    if (!mp_opening_run(transport))
        return;
    for (;;) {
        bool has_cause = has_verdict(transport);
        bool is_lent = is_ending(reader, has_cause) ? !mp_lease_reclaim(&transport->lease)
                                                    : mp_lease_is_lent(&transport->lease);
        if (!is_lent && has_to_end(reader, has_cause))
            break;
        watch(transport, is_lent);
    }
    mp_ending_run(transport);
}
