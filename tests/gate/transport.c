/* SPDX-License-Identifier: Apache-2.0 */
/* What a call does between its bytes: the table of those that wait, the outbox, the reply. */
#include <string.h>

#include "hot_path.h"
#include "transport/outbox.h"
#include "transport/pending.h"
#include "transport/reply.h"

#define CALLS 16 /* at a time */

static struct mp_pending pending;
static struct mp_outbox outbox;
static struct mp_envelope envelope;

static const struct mp_span caller_id = {"\"a-17\"", 6};

static void start_pending(void)
{
    mp_pending_init(&pending);
    mp_pending_accept(&pending, true);
}

static void register_and_answer(void)
{
    struct mp_registration registration = {.caller_id = caller_id};
    struct mp_entry *entries[CALLS];
    enum mp_stray stray;
    for (int i = 0; i < CALLS; i++)
        MUST(mp_pending_register(&pending, &registration, &entries[i]) == MCPUMP_OK);
    for (int i = 0; i < CALLS; i++) {
        MUST(mp_pending_take(&pending, entries[i]->id, &stray) == entries[i]);
        mp_entry_complete(entries[i]);
    }
    for (int i = 0; i < CALLS; i++) {
        MUST(mp_entry_is_done(entries[i]));
        mp_pending_release(&pending, entries[i]);
    }
}

static void register_and_give_up(void)
{
    struct mp_registration registration = {.caller_id = caller_id};
    struct mp_entry *entry;
    MUST(mp_pending_register(&pending, &registration, &entry) == MCPUMP_OK);
    MUST(mp_pending_give_up(&pending, entry));
    mp_pending_release(&pending, entry);
}

static void stop_pending(void)
{
    mp_pending_done(&pending);
}

static void start_outbox(void)
{
    mp_outbox_init(&outbox, 1024 * 1024);
    mp_outbox_open(&outbox, 1);
}

static struct mp_frame *push_frame(void)
{
    struct mp_buffer bytes = MP_BUFFER_INIT;
    mp_buffer_add_text(&bytes, REQUEST "\n");
    struct mp_frame *frame = mp_frame_new(&bytes, false);
    MUST(frame != NULL && mp_outbox_push(&outbox, frame, true) == MCPUMP_OK);
    return frame;
}

/* One batch, written in full; the callers let go of their frames behind it. */
static void write_batch(int frame_count)
{
    struct mp_frame *frames[CALLS];
    struct mp_batch batch;
    size_t size = 0;
    for (int i = 0; i < frame_count; i++)
        frames[i] = push_frame();
    MUST(mp_outbox_take_role(&outbox, false));
    MUST(mp_outbox_begin(&outbox, &batch) && batch.count == frame_count);
    for (int i = 0; i < batch.count; i++)
        size += batch.parts[i].iov_len;
    mp_outbox_settle(&outbox, &batch, size, false);
    MUST(!mp_outbox_begin(&outbox, &batch));
    MUST(!mp_outbox_drop_role(&outbox));
    for (int i = 0; i < frame_count; i++)
        mp_outbox_release(&outbox, frames[i]);
    for (int i = 0; i < frame_count; i++)
        mp_frame_free(frames[i]);
}

static void write_one(void)
{
    write_batch(1);
}

static void write_many(void)
{
    write_batch(CALLS);
}

static void stop_outbox(void)
{
    mp_outbox_done(&outbox);
}

static const struct mp_span reply_line = {REPLY, sizeof(REPLY) - 1};

static void start_reply(void)
{
    mp_envelope_scan(reply_line, &envelope);
    MUST(envelope.kind == MP_KIND_RESULT);
}

static void make_reply(void)
{
    mcpump_reply *reply = mp_reply_new(reply_line, &envelope, caller_id);
    MUST(reply != NULL);
    mcpump_reply_free(reply);
}

const struct piece transport_pieces[] = {
    {"pending: 16 answered", start_pending, register_and_answer, stop_pending},
    {"pending: given up", start_pending, register_and_give_up, stop_pending},
    {"outbox: 1 frame", start_outbox, write_one, stop_outbox},
    {"outbox: 16 frames", start_outbox, write_many, stop_outbox},
    {"reply: make, free", start_reply, make_reply, NULL},
    {NULL, NULL, NULL, NULL},
};
