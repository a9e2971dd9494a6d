/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outbox: frames that wait to be written, in order, within a limit of bytes. Control frames
 * (cancellations, answers to the server) go ahead of the others, but never into the middle of a
 * frame that has been begun.
 *
 * Writing is a role that one thread has at a time: mp_outbox_take_role, then rounds of
 * mp_outbox_begin, a write without any lock, mp_outbox_settle, then mp_outbox_drop_role. A caller
 * who gives up withdraws its frame at any moment of this.
 */
#ifndef MP_TRANSPORT_OUTBOX_H
#define MP_TRANSPORT_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/buffer.h"
#include "base/sync.h"
#include "mcpump/error.h"

struct mp_frame {
    /* -- immutable */
    char *bytes;
    size_t size, capacity;
    bool is_control;
    /* -- who has the role */
    bool shown; /* to the tap */
    /* -- protected by mp_outbox.lock */
    struct mp_frame *prev, *next; /* in its queue */
    size_t written;
    bool queued;
    bool in_batch;       /* a write of it is under way */
    bool withdrawn;      /* drop it if not one byte was written */
    bool held;           /* its caller has yet to release it */
    uint64_t connection; /* the only one that it may go out on; 0: any. Set before it is pushed */
    int64_t *written_ns; /* where its caller, while it holds it, wants the time; NULL: nowhere */
    struct mp_frame *sequel; /* owned; queued as control once this is written in full */
};

struct mp_queue {
    struct mp_frame *first, *last;
    size_t bytes; /* not yet written */
};

#define MP_BATCH_FRAMES 64

/* What one write takes; on the stack of the thread that has the role. */
struct mp_batch {
    struct mp_frame *frames[MP_BATCH_FRAMES];
    struct iovec parts[MP_BATCH_FRAMES];
    int count;
};

/* Beyond so many bytes of waiting control frames, the server does not read: see mp_outbox_push. */
#define MP_CONTROL_BYTES (1024 * 1024)

struct mp_outbox {
    struct mp_mutex lock;
    struct mp_cond role_dropped;
    size_t limit; /* immutable */
    /* -- protected by lock */
    bool accepting;
    uint64_t connection;
    bool role_taken;
    bool stalled; /* the pipe is full: only the writer thread, who waits for it, takes the role */
    int64_t stalled_since_ns; /* 0, or when the pipe last took a byte, if it is full */
    struct mp_frame *begun;   /* written in part: it comes first */
    struct mp_queue control, bulk;
};

/* Takes the bytes of the buffer. NULL: no memory (also when the buffer had failed). */
struct mp_frame *mp_frame_new(struct mp_buffer *bytes, bool is_control);
void mp_frame_free(struct mp_frame *frame);

/* The memory of a frame that is in no outbox, as an empty buffer, and the frame made anew: `frame`
 * may be NULL in both. On failure it is freed. */
struct mp_buffer mp_frame_salvage(struct mp_frame *frame);
struct mp_frame *mp_frame_remake(struct mp_frame *frame, struct mp_buffer *bytes, bool is_control);

void mp_outbox_init(struct mp_outbox *outbox, size_t limit);
void mp_outbox_done(struct mp_outbox *outbox);

/* For a new pipe, that of the connection of this number. */
void mp_outbox_open(struct mp_outbox *outbox, uint64_t connection);

/* Refuses new frames; those that are in stay. */
void mp_outbox_refuse(struct mp_outbox *outbox);

/*
 * Takes the frame on success. `held`: the caller keeps looking at it and releases it later with
 * mp_outbox_release. Errors: CLOSED (refusing, or for another connection); QUEUE_FULL.
 */
mcpump_err mp_outbox_push(struct mp_outbox *outbox, struct mp_frame *frame, bool held);

/*
 * The caller of a frame is through with it. Returns whether it has left. Still waiting: it is taken
 * out. `sequel` (may be NULL; taken) is queued as a control frame if the frame was written, or once
 * it is; *ret_sequel tells if it was or will be, else it is freed.
 */
mcpump_sent mp_outbox_withdraw(struct mp_outbox *outbox, struct mp_frame *frame,
                               struct mp_frame *sequel, bool *ret_sequel);

/* The caller of a frame that needs no withdrawal, since it was answered, lets go of it. True: it is
 * the caller's again; else the outbox still has it, and frees it. */
bool mp_outbox_release(struct mp_outbox *outbox, struct mp_frame *frame);

/* True: the caller has the role. Only with frames to write, and, but for the writer thread, only
 * when the pipe is not known to be full. */
bool mp_outbox_take_role(struct mp_outbox *outbox, bool is_writer_thread);

/* Fills the batch; false: nothing to write. With the role. */
bool mp_outbox_begin(struct mp_outbox *outbox, struct mp_batch *batch);

/* So many bytes of the batch were written; `stalled`: the pipe took no more. With the role. */
void mp_outbox_settle(struct mp_outbox *outbox, const struct mp_batch *batch, size_t written,
                      bool stalled);

/* Gives the role back. True: there are frames left, and the writer thread is to see to them. */
bool mp_outbox_drop_role(struct mp_outbox *outbox);

/* Waits until nobody has the role, and takes it for good: nothing is written any more. Who drops
 * the role wakes this. Frames that are left are dropped. */
void mp_outbox_seize(struct mp_outbox *outbox);

/* Bytes that wait. */
size_t mp_outbox_bytes(struct mp_outbox *outbox);

/* How long the pipe has been full and taken nothing; 0 when it is not. */
uint64_t mp_outbox_stalled_ms(struct mp_outbox *outbox);

#endif
