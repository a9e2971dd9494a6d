/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/writer.h"

#include <errno.h>
#include <poll.h>

#include "base/fd.h"
#include "process/pipe.h"

/* A caller lends its time to others' frames for so many writes; then the thread has to do it. */
#define CALLER_ROUNDS 4

/* More than that is not gathered: the server can begin while its client goes on. */
#define GATHERED_BYTES 2048

int mp_writer_init(struct mp_writer *writer, size_t limit, struct mp_counters *counters,
                   struct mp_tap *tap)
{
    mp_outbox_init(&writer->outbox, limit);
    writer->thread.running = false;
    writer->fd = -1;
    writer->counters = counters;
    writer->tap = tap;
    atomic_init(&writer->flush_until, MP_NEVER);
    atomic_init(&writer->failed, 0);
    atomic_init(&writer->gathered, 0);
    return mp_bell_init(&writer->bell);
}

void mp_writer_done(struct mp_writer *writer)
{
    mp_bell_done(&writer->bell);
    mp_outbox_done(&writer->outbox);
}

/* Before they are written: who answers is not shown first. A frame that is tried again was shown.
 */
static void show(struct mp_tap *tap, const struct mp_batch *batch)
{
    for (int i = 0; i < batch->count; i++) {
        struct mp_frame *frame = batch->frames[i];
        if (!frame->shown)
            mp_tap_show(tap, MCPUMP_TO_SERVER, (struct mp_span){frame->bytes, frame->size - 1});
        frame->shown = true;
    }
}

/* One write of one batch, with the role. False: nothing more can be written now. */
static bool write_batch(struct mp_writer *writer)
{
    struct mp_batch batch;
    if (atomic_load(&writer->failed) != 0 || !mp_outbox_begin(&writer->outbox, &batch))
        return false;
    if (writer->tap != NULL)
        show(writer->tap, &batch);
    size_t wanted = 0;
    for (int i = 0; i < batch.count; i++)
        wanted += batch.parts[i].iov_len;

    ssize_t n;
    do {
        n = mp_pipe_writev(writer->fd, batch.parts, batch.count);
    } while (n < 0 && errno == EINTR);

    bool failed = n < 0 && errno != EAGAIN;
    if (failed)
        atomic_store(&writer->failed, errno);
    size_t written = n > 0 ? (size_t)n : 0;
    mp_outbox_settle(&writer->outbox, &batch, written, written < wanted);
    mp_count(&writer->counters->bytes_written, written);
    if (failed)
        mp_bell_ring(writer->on_failure);
    return written == wanted;
}

/* What a caller writes itself; the rest is the thread's. */
static void write_as_caller(struct mp_writer *writer)
{
    if (!mp_outbox_take_role(&writer->outbox, false))
        return;
    int state = mp_cancel_disable(); /* or the role would be lost */
    for (int round = 0; round < CALLER_ROUNDS && write_batch(writer); round++) {
    }
    bool frames_left = mp_outbox_drop_role(&writer->outbox);
    mp_cancel_restore(state);
    bool is_stopping = atomic_load(&writer->flush_until) != MP_NEVER;
    if (frames_left || is_stopping)
        mp_bell_ring(&writer->bell);
}

mcpump_err mp_writer_send(struct mp_writer *writer, struct mp_frame *frame, bool held)
{
    mcpump_err err = mp_outbox_push(&writer->outbox, frame, held);
    if (err == MCPUMP_OK)
        write_as_caller(writer);
    return err;
}

mcpump_err mp_writer_gather(struct mp_writer *writer, struct mp_frame *frame, bool held,
                            bool *ret_much)
{
    size_t size = frame->size; /* not ours any more, once it is pushed */
    mcpump_err err = mp_outbox_push(&writer->outbox, frame, held);
    if (err == MCPUMP_OK)
        *ret_much = atomic_fetch_add(&writer->gathered, size) + size >= GATHERED_BYTES;
    return err;
}

void mp_writer_flush(struct mp_writer *writer)
{
    if (atomic_load(&writer->gathered) != 0 && atomic_exchange(&writer->gathered, 0) != 0)
        write_as_caller(writer);
}

mcpump_sent mp_writer_withdraw(struct mp_writer *writer, struct mp_frame *frame,
                               struct mp_frame *sequel, bool *ret_sequel)
{
    mcpump_sent sent = mp_outbox_withdraw(&writer->outbox, frame, sequel, ret_sequel);
    if (*ret_sequel)
        write_as_caller(writer);
    return sent;
}

/* What is left for the writer thread to wait for. */
enum left {
    LEFT_NOTHING,
    LEFT_TO_PIPE,   /* frames, until the pipe takes them */
    LEFT_TO_CALLER, /* frames that a caller is writing; it rings when it leaves some behind */
};

/* Writes while the pipe takes it. */
static enum left write_as_thread(struct mp_writer *writer)
{
    if (!mp_outbox_take_role(&writer->outbox, true))
        return mp_outbox_bytes(&writer->outbox) > 0 ? LEFT_TO_CALLER : LEFT_NOTHING;
    while (write_batch(writer)) {
    }
    return mp_outbox_drop_role(&writer->outbox) ? LEFT_TO_PIPE : LEFT_NOTHING;
}

/* Sleeps until the bell rings, the pipe takes bytes again (if we wait for that), or the time is
 * over. Rung by a caller that leaves work, and by mp_writer_stop. */
static void sleep_until_work(struct mp_writer *writer, bool for_room)
{
    struct pollfd fds[] = {{writer->bell.fd, POLLIN, 0}, {writer->fd, POLLOUT, 0}};
    poll(fds, for_room ? 2 : 1, mp_deadline_poll_ms(atomic_load(&writer->flush_until)));
    mp_bell_hear(&writer->bell);
}

static bool has_to_stop(const struct mp_writer *writer, enum left left)
{
    mp_deadline until = atomic_load(&writer->flush_until);
    if (until == MP_NEVER)
        return false;
    return left == LEFT_NOTHING || atomic_load(&writer->failed) != 0 || mp_deadline_passed(until);
}

static void writer_main(void *arg)
{
    struct mp_writer *writer = arg;
    enum left left = LEFT_NOTHING;
    while (!has_to_stop(writer, left)) {
        sleep_until_work(writer, left == LEFT_TO_PIPE && atomic_load(&writer->failed) == 0);
        left = write_as_thread(writer);
    }
    mp_outbox_seize(&writer->outbox);
    mp_fd_close(&writer->fd);
}

int mp_writer_start(struct mp_writer *writer, const struct mp_writer_start *start, const char *name)
{
    writer->fd = start->fd;
    writer->on_failure = start->on_failure;
    atomic_store(&writer->flush_until, MP_NEVER);
    atomic_store(&writer->failed, 0);
    mp_bell_hear(&writer->bell);
    mp_outbox_open(&writer->outbox, start->connection);
    int err = mp_thread_start(&writer->thread, name, writer_main, writer);
    if (err != 0) {
        mp_outbox_seize(&writer->outbox);
        writer->fd = -1;
    }
    return err;
}

void mp_writer_stop(struct mp_writer *writer, mp_deadline flush_until)
{
    mp_outbox_refuse(&writer->outbox);
    atomic_store(&writer->flush_until, flush_until);
    mp_bell_ring(&writer->bell);
}
