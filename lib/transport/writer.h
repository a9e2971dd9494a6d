/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer: puts the frames of an outbox into the server's stdin. A caller who finds nobody
 * writing writes at once, without blocking, which spares it a change of threads; the writer thread
 * sees to what is left, waits for a pipe that is full, and closes it in the end.
 */
#ifndef MP_TRANSPORT_WRITER_H
#define MP_TRANSPORT_WRITER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/bell.h"
#include "base/sync.h"
#include "transport/counters.h"
#include "transport/outbox.h"
#include "transport/tap.h"

struct mp_writer {
    struct mp_outbox outbox;
    struct mp_thread thread;
    struct mp_bell bell; /* wakes the writer thread: work was left to it, or it has to stop */
    /* -- immutable while the thread runs */
    int fd;                           /* closed by the writer thread, with the role seized */
    const struct mp_bell *on_failure; /* rung when a write failed */
    struct mp_counters *counters;
    struct mp_tap *tap; /* NULL: nobody looks */
    /* -- atomic: stored before the bell is rung, sequentially consistent */
    _Atomic mp_deadline flush_until; /* stop then; MP_NEVER: not asked to stop */
    atomic_int failed;               /* errno of the write that failed, else 0 */
    _Atomic size_t gathered;         /* bytes that were pushed and left for a flush */
};

/* 0 or an errno. */
int mp_writer_init(struct mp_writer *writer, size_t limit, struct mp_counters *counters,
                   struct mp_tap *tap);
void mp_writer_done(struct mp_writer *writer);

struct mp_writer_start {
    int fd; /* non-blocking; taken on success */
    const struct mp_bell *on_failure;
    uint64_t connection; /* see mp_outbox_open */
};

/* 0 or an errno. `name` is that of the thread. */
int mp_writer_start(struct mp_writer *writer, const struct mp_writer_start *start,
                    const char *name);

/* As mp_outbox_push, and writes at once if nobody else does. Never blocks. */
mcpump_err mp_writer_send(struct mp_writer *writer, struct mp_frame *frame, bool held);

/* As mp_outbox_push; whoever flushes next writes it, with what else was gathered. True in
 * *ret_much: it is time for that. */
mcpump_err mp_writer_gather(struct mp_writer *writer, struct mp_frame *frame, bool held,
                            bool *ret_much);

/* Writes what was gathered, if anything was. Never blocks. */
void mp_writer_flush(struct mp_writer *writer);

/* As mp_outbox_withdraw, and writes the sequel. */
mcpump_sent mp_writer_withdraw(struct mp_writer *writer, struct mp_frame *frame,
                               struct mp_frame *sequel, bool *ret_sequel);

/* Refuses new frames; the thread goes on with what is there until `flush_until`, then closes the
 * pipe and ends. Does not wait for it. */
void mp_writer_stop(struct mp_writer *writer, mp_deadline flush_until);

#endif
