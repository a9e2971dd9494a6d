/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/outbox.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS 1000000

struct mp_buffer mp_frame_salvage(struct mp_frame *frame)
{
    struct mp_buffer bytes = MP_BUFFER_INIT;
    if (frame == NULL)
        return bytes;
    bytes.bytes = frame->bytes;
    bytes.capacity = frame->capacity;
    frame->bytes = NULL;
    return bytes;
}

struct mp_frame *mp_frame_remake(struct mp_frame *frame, struct mp_buffer *bytes, bool is_control)
{
    if (bytes->failed || (frame == NULL && (frame = malloc(sizeof(*frame))) == NULL)) {
        mp_buffer_done(bytes);
        free(frame);
        return NULL;
    }
    *frame = (struct mp_frame){.bytes = bytes->bytes,
                               .size = bytes->size,
                               .capacity = bytes->capacity,
                               .is_control = is_control};
    *bytes = (struct mp_buffer)MP_BUFFER_INIT;
    return frame;
}

struct mp_frame *mp_frame_new(struct mp_buffer *bytes, bool is_control)
{
    return mp_frame_remake(NULL, bytes, is_control);
}

void mp_frame_free(struct mp_frame *frame)
{
    if (frame == NULL)
        return;
    mp_frame_free(frame->sequel); /* a sequel has none */
    free(frame->bytes);
    free(frame);
}

void mp_outbox_init(struct mp_outbox *outbox, size_t limit)
{
    memset(outbox, 0, sizeof(*outbox));
    mp_mutex_init(&outbox->lock);
    mp_cond_init(&outbox->role_dropped);
    outbox->limit = limit;
}

static struct mp_queue *queue_of_locked(struct mp_outbox *outbox, const struct mp_frame *frame)
    MP_REQUIRES(&outbox->lock)
{
    return frame->is_control ? &outbox->control : &outbox->bulk;
}

static void append_locked(struct mp_outbox *outbox, struct mp_frame *frame)
    MP_REQUIRES(&outbox->lock)
{
    struct mp_queue *queue = queue_of_locked(outbox, frame);
    frame->prev = queue->last;
    frame->next = NULL;
    *(queue->last != NULL ? &queue->last->next : &queue->first) = frame;
    queue->last = frame;
    queue->bytes += frame->size;
    frame->queued = true;
}

/* Takes the frame out of its queue, and frees it unless its caller holds it. */
static void remove_locked(struct mp_outbox *outbox, struct mp_frame *frame)
    MP_REQUIRES(&outbox->lock)
{
    struct mp_queue *queue = queue_of_locked(outbox, frame);
    *(frame->prev != NULL ? &frame->prev->next : &queue->first) = frame->next;
    *(frame->next != NULL ? &frame->next->prev : &queue->last) = frame->prev;
    queue->bytes -= frame->size - frame->written;
    frame->queued = false;
    if (outbox->begun == frame)
        outbox->begun = NULL;
    if (!frame->held)
        mp_frame_free(frame);
}

static void remove_all_locked(struct mp_outbox *outbox) MP_REQUIRES(&outbox->lock)
{
    while (outbox->control.first != NULL)
        remove_locked(outbox, outbox->control.first);
    while (outbox->bulk.first != NULL)
        remove_locked(outbox, outbox->bulk.first);
}

void mp_outbox_done(struct mp_outbox *outbox)
{
    mp_mutex_lock(&outbox->lock);
    remove_all_locked(outbox);
    mp_mutex_unlock(&outbox->lock);
    mp_cond_done(&outbox->role_dropped);
    mp_mutex_done(&outbox->lock);
}

void mp_outbox_open(struct mp_outbox *outbox, uint64_t connection)
{
    mp_mutex_lock(&outbox->lock);
    outbox->accepting = true;
    outbox->connection = connection;
    outbox->role_taken = outbox->stalled = false;
    outbox->stalled_since_ns = 0;
    mp_mutex_unlock(&outbox->lock);
}

void mp_outbox_refuse(struct mp_outbox *outbox)
{
    mp_mutex_lock(&outbox->lock);
    outbox->accepting = false;
    mp_mutex_unlock(&outbox->lock);
}

static mcpump_err push_locked(struct mp_outbox *outbox, struct mp_frame *frame)
    MP_REQUIRES(&outbox->lock)
{
    const struct mp_queue *queue = queue_of_locked(outbox, frame);
    size_t limit = frame->is_control ? MP_CONTROL_BYTES : outbox->limit;
    bool is_late = frame->connection != 0 && frame->connection != outbox->connection;
    if (!outbox->accepting || is_late)
        return MCPUMP_ERR_CLOSED;
    if (frame->size > limit || queue->bytes > limit - frame->size)
        return MCPUMP_ERR_QUEUE_FULL;
    append_locked(outbox, frame);
    return MCPUMP_OK;
}

mcpump_err mp_outbox_push(struct mp_outbox *outbox, struct mp_frame *frame, bool held)
{
    mp_mutex_lock(&outbox->lock);
    frame->held = held;
    mcpump_err err = push_locked(outbox, frame);
    mp_mutex_unlock(&outbox->lock);
    return err;
}

/* What has become of a held frame that is to go: how much of it has left. */
static mcpump_sent judge_locked(const struct mp_outbox *outbox, const struct mp_frame *frame)
    MP_REQUIRES(&outbox->lock)
{
    (void)outbox;
    if (frame->written == frame->size)
        return MCPUMP_SENT;
    return frame->written > 0 || frame->in_batch ? MCPUMP_SENT_UNKNOWN : MCPUMP_NOT_SENT;
}

mcpump_sent mp_outbox_withdraw(struct mp_outbox *outbox, struct mp_frame *frame,
                               struct mp_frame *sequel, bool *ret_sequel)
{
    mp_mutex_lock(&outbox->lock);
    mcpump_sent sent = judge_locked(outbox, frame);
    bool used = false;
    frame->held = false;
    if (sequel != NULL) /* nor does the next server hear of what it was never asked */
        sequel->connection = frame->connection;
    if (frame->queued && sent == MCPUMP_SENT_UNKNOWN) {
        frame->withdrawn = true;
        frame->sequel = sequel;
        used = true;
    } else if (frame->queued) {
        remove_locked(outbox, frame);
    } else {
        mp_frame_free(frame);
        used = sequel != NULL && sent == MCPUMP_SENT && push_locked(outbox, sequel) == MCPUMP_OK;
    }
    mp_mutex_unlock(&outbox->lock);
    if (!used)
        mp_frame_free(sequel);
    *ret_sequel = used && sequel != NULL;
    return sent;
}

bool mp_outbox_release(struct mp_outbox *outbox, struct mp_frame *frame)
{
    mp_mutex_lock(&outbox->lock);
    frame->held = false;
    bool is_through = !frame->queued;
    mp_mutex_unlock(&outbox->lock);
    return is_through;
}

static bool has_frames_locked(const struct mp_outbox *outbox) MP_REQUIRES(&outbox->lock)
{
    return outbox->control.first != NULL || outbox->bulk.first != NULL;
}

bool mp_outbox_take_role(struct mp_outbox *outbox, bool is_writer_thread)
{
    mp_mutex_lock(&outbox->lock);
    bool taken =
        !outbox->role_taken && has_frames_locked(outbox) && (is_writer_thread || !outbox->stalled);
    if (taken) {
        outbox->role_taken = true;
        outbox->stalled = false;
    }
    mp_mutex_unlock(&outbox->lock);
    return taken;
}

static void add_to_batch_locked(struct mp_outbox *outbox, struct mp_batch *batch,
                                struct mp_frame *frame) MP_REQUIRES(&outbox->lock)
{
    (void)outbox;
    frame->in_batch = true;
    batch->frames[batch->count] = frame;
    batch->parts[batch->count] =
        (struct iovec){frame->bytes + frame->written, frame->size - frame->written};
    batch->count++;
}

bool mp_outbox_begin(struct mp_outbox *outbox, struct mp_batch *batch)
{
    batch->count = 0;
    mp_mutex_lock(&outbox->lock);
    if (outbox->begun != NULL)
        add_to_batch_locked(outbox, batch, outbox->begun);
    /* A sequel is queued when its frame is through, and goes ahead of what would else be in this
     * batch. */
    bool has_sequel = outbox->begun != NULL && outbox->begun->sequel != NULL;
    struct mp_frame *firsts[] = {outbox->control.first, outbox->bulk.first};
    for (size_t i = 0; !has_sequel && i < sizeof(firsts) / sizeof(*firsts); i++) {
        for (struct mp_frame *frame = firsts[i]; frame != NULL && batch->count < MP_BATCH_FRAMES;
             frame = frame->next) {
            if (frame != outbox->begun)
                add_to_batch_locked(outbox, batch, frame);
        }
    }
    mp_mutex_unlock(&outbox->lock);
    return batch->count > 0;
}

/* One frame of the batch has taken `part` more bytes. */
static void settle_frame_locked(struct mp_outbox *outbox, struct mp_frame *frame, size_t part)
    MP_REQUIRES(&outbox->lock)
{
    frame->in_batch = false;
    frame->written += part;
    queue_of_locked(outbox, frame)->bytes -= part;
    if (frame->written == frame->size) {
        struct mp_frame *sequel = frame->sequel;
        frame->sequel = NULL;
        if (frame->held && frame->written_ns != NULL)
            *frame->written_ns = mp_now_ns();
        remove_locked(outbox, frame);
        if (sequel != NULL && push_locked(outbox, sequel) != MCPUMP_OK)
            mp_frame_free(sequel);
    } else if (frame->written > 0) {
        outbox->begun = frame;
    } else if (frame->withdrawn) {
        remove_locked(outbox, frame);
    }
}

void mp_outbox_settle(struct mp_outbox *outbox, const struct mp_batch *batch, size_t written,
                      bool stalled)
{
    mp_mutex_lock(&outbox->lock);
    if (!stalled)
        outbox->stalled_since_ns = 0;
    else if (written > 0 || outbox->stalled_since_ns == 0)
        outbox->stalled_since_ns = mp_now_ns();
    for (int i = 0; i < batch->count; i++) {
        size_t size = batch->parts[i].iov_len;
        size_t part = written < size ? written : size;
        written -= part;
        settle_frame_locked(outbox, batch->frames[i], part);
    }
    outbox->stalled = stalled;
    mp_mutex_unlock(&outbox->lock);
}

bool mp_outbox_drop_role(struct mp_outbox *outbox)
{
    mp_mutex_lock(&outbox->lock);
    bool left = has_frames_locked(outbox);
    outbox->role_taken = false;
    mp_cond_broadcast(&outbox->role_dropped);
    mp_mutex_unlock(&outbox->lock);
    return left;
}

void mp_outbox_seize(struct mp_outbox *outbox)
{
    mp_mutex_lock(&outbox->lock);
    while (outbox->role_taken)
        mp_cond_wait(&outbox->role_dropped, &outbox->lock, MP_NEVER);
    outbox->role_taken = true;
    outbox->accepting = false;
    remove_all_locked(outbox);
    mp_mutex_unlock(&outbox->lock);
}

size_t mp_outbox_bytes(struct mp_outbox *outbox)
{
    mp_mutex_lock(&outbox->lock);
    size_t bytes = outbox->control.bytes + outbox->bulk.bytes;
    mp_mutex_unlock(&outbox->lock);
    return bytes;
}

uint64_t mp_outbox_stalled_ms(struct mp_outbox *outbox)
{
    mp_mutex_lock(&outbox->lock);
    int64_t since = outbox->stalled_since_ns;
    mp_mutex_unlock(&outbox->lock);
    return since != 0 ? (uint64_t)(mp_now_ns() - since) / NS_PER_MS : 0;
}
