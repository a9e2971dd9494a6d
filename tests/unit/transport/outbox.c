/* SPDX-License-Identifier: Apache-2.0 */
/* The outbox without a pipe: a string takes what a write would, as many bytes as a test says. */
#include "transport/outbox.h"

#include <criterion/criterion.h>
#include <string.h>

#define LIMIT 100

struct wire {
    struct mp_outbox outbox;
    char text[4096];
    size_t size;
};

static void setup(struct wire *wire)
{
    memset(wire, 0, sizeof(*wire));
    mp_outbox_init(&wire->outbox, LIMIT);
    mp_outbox_open(&wire->outbox, 1);
}

static struct mp_frame *frame(const char *text, bool is_control)
{
    struct mp_buffer bytes = MP_BUFFER_INIT;
    mp_buffer_add_text(&bytes, text);
    return mp_frame_new(&bytes, is_control);
}

static struct mp_frame *push(struct wire *wire, const char *text, bool is_control, bool held)
{
    struct mp_frame *pushed = frame(text, is_control);
    cr_assert_eq(mp_outbox_push(&wire->outbox, pushed, held), MCPUMP_OK);
    return pushed;
}

static void copy_out(struct wire *wire, const struct mp_batch *batch, size_t bytes)
{
    for (int i = 0; i < batch->count && bytes > 0; i++) {
        size_t part = batch->parts[i].iov_len < bytes ? batch->parts[i].iov_len : bytes;
        memcpy(wire->text + wire->size, batch->parts[i].iov_base, part);
        wire->size += part;
        bytes -= part;
    }
}

/* One write of at most `most` bytes. */
static void write_some(struct wire *wire, size_t most)
{
    struct mp_batch batch;
    size_t all = 0;
    cr_assert(mp_outbox_take_role(&wire->outbox, true));
    cr_assert(mp_outbox_begin(&wire->outbox, &batch));
    for (int i = 0; i < batch.count; i++)
        all += batch.parts[i].iov_len;
    size_t written = all < most ? all : most;
    copy_out(wire, &batch, written);
    mp_outbox_settle(&wire->outbox, &batch, written, written < all);
    mp_outbox_drop_role(&wire->outbox);
}

static void expect(struct wire *wire, const char *text)
{
    cr_assert_str_eq(wire->text, text);
    mp_outbox_seize(&wire->outbox);
    mp_outbox_done(&wire->outbox);
}

Test(outbox, keeps_order_and_batches)
{
    struct wire wire;
    setup(&wire);
    push(&wire, "one ", false, false);
    push(&wire, "two ", false, false);
    push(&wire, "three", false, false);
    write_some(&wire, 100);
    cr_assert_eq(mp_outbox_bytes(&wire.outbox), 0);
    expect(&wire, "one two three");
}

Test(outbox, control_goes_ahead_but_not_into_a_frame)
{
    struct wire wire;
    setup(&wire);
    push(&wire, "begun ", false, false);
    push(&wire, "bulk ", false, false);
    write_some(&wire, 3);
    push(&wire, "control ", true, false);
    write_some(&wire, 100);
    expect(&wire, "begun control bulk ");
}

Test(outbox, any_cut_gives_whole_frames)
{
    for (size_t step = 1; step < 20; step++) {
        struct wire wire;
        setup(&wire);
        push(&wire, "alpha|", false, false);
        push(&wire, "beta|", false, false);
        push(&wire, "gamma|", false, false);
        while (mp_outbox_bytes(&wire.outbox) > 0)
            write_some(&wire, step);
        expect(&wire, "alpha|beta|gamma|");
    }
}

Test(outbox, is_bounded_and_refuses)
{
    struct wire wire;
    char large[LIMIT + 2];
    setup(&wire);
    memset(large, 'x', sizeof(large));
    large[LIMIT + 1] = '\0';
    struct mp_frame *too_large = frame(large, false);
    cr_assert_eq(mp_outbox_push(&wire.outbox, too_large, false), MCPUMP_ERR_QUEUE_FULL);
    mp_frame_free(too_large);
    large[LIMIT] = '\0';
    push(&wire, large, false, false);
    struct mp_frame *one_more = frame("x", false);
    cr_assert_eq(mp_outbox_push(&wire.outbox, one_more, false), MCPUMP_ERR_QUEUE_FULL);
    push(&wire, "control has its own limit", true, false);
    mp_outbox_refuse(&wire.outbox);
    cr_assert_eq(mp_outbox_push(&wire.outbox, one_more, false), MCPUMP_ERR_CLOSED);
    mp_frame_free(one_more);
    expect(&wire, "");
}

Test(outbox, control_is_bounded_too)
{
    struct wire wire;
    setup(&wire);
    mcpump_err err = MCPUMP_OK;
    size_t pushed = 0;
    while (err == MCPUMP_OK) {
        struct mp_frame *answer = frame("0123456789012345678901234567890123456789", true);
        err = mp_outbox_push(&wire.outbox, answer, false);
        pushed += err == MCPUMP_OK;
        if (err != MCPUMP_OK)
            mp_frame_free(answer);
    }
    cr_assert_eq(err, MCPUMP_ERR_QUEUE_FULL);
    cr_assert_eq(pushed, MP_CONTROL_BYTES / 40);
    expect(&wire, "");
}

Test(outbox, an_unsent_frame_is_taken_out)
{
    struct wire wire;
    bool told;
    setup(&wire);
    push(&wire, "stays ", false, false);
    struct mp_frame *mine = push(&wire, "goes ", false, true);
    cr_assert_eq(mp_outbox_withdraw(&wire.outbox, mine, frame("cancel", true), &told),
                 MCPUMP_NOT_SENT);
    cr_assert_not(told);
    write_some(&wire, 100);
    expect(&wire, "stays ");
}

Test(outbox, a_sent_frame_gets_its_sequel)
{
    struct wire wire;
    bool told;
    setup(&wire);
    struct mp_frame *mine = push(&wire, "request ", false, true);
    write_some(&wire, 100);
    cr_assert_eq(mp_outbox_withdraw(&wire.outbox, mine, frame("cancel", true), &told), MCPUMP_SENT);
    cr_assert(told);
    write_some(&wire, 100);
    expect(&wire, "request cancel");
}

Test(outbox, a_half_written_frame_is_finished_first)
{
    struct wire wire;
    bool told;
    setup(&wire);
    struct mp_frame *mine = push(&wire, "request ", false, true);
    push(&wire, "other ", false, false);
    write_some(&wire, 3);
    cr_assert_eq(mp_outbox_withdraw(&wire.outbox, mine, frame("cancel ", true), &told),
                 MCPUMP_SENT_UNKNOWN);
    cr_assert(told);
    while (mp_outbox_bytes(&wire.outbox) > 0)
        write_some(&wire, 100);
    expect(&wire, "request cancel other ");
}

/* Withdrawn between begin and settle; `written` bytes had left in the end. */
static void withdraw_in_batch(size_t written, const char *text)
{
    struct wire wire;
    struct mp_batch batch;
    bool told;
    setup(&wire);
    struct mp_frame *mine = push(&wire, "request ", false, true);
    cr_assert(mp_outbox_take_role(&wire.outbox, false));
    cr_assert(mp_outbox_begin(&wire.outbox, &batch));
    cr_assert_eq(mp_outbox_withdraw(&wire.outbox, mine, frame("cancel", true), &told),
                 MCPUMP_SENT_UNKNOWN);
    copy_out(&wire, &batch, written);
    mp_outbox_settle(&wire.outbox, &batch, written, written < 8);
    mp_outbox_drop_role(&wire.outbox);
    while (mp_outbox_bytes(&wire.outbox) > 0)
        write_some(&wire, 100);
    expect(&wire, text);
}

Test(outbox, withdrawn_while_a_write_is_under_way)
{
    withdraw_in_batch(0, "");
    withdraw_in_batch(1, "request cancel");
    withdraw_in_batch(8, "request cancel");
}

Test(outbox, the_role_is_exclusive)
{
    struct wire wire;
    setup(&wire);
    cr_assert_not(mp_outbox_take_role(&wire.outbox, true), "nothing to write");
    push(&wire, "x", false, false);
    cr_assert(mp_outbox_take_role(&wire.outbox, false));
    cr_assert_not(mp_outbox_take_role(&wire.outbox, true));
    cr_assert(mp_outbox_drop_role(&wire.outbox), "a frame is left");
    expect(&wire, "");
}

Test(outbox, a_full_pipe_is_the_writer_threads)
{
    struct wire wire;
    setup(&wire);
    push(&wire, "xyz", false, false);
    write_some(&wire, 1);
    cr_assert_not(mp_outbox_take_role(&wire.outbox, false));
    write_some(&wire, 100);
    expect(&wire, "xyz");
}

Test(outbox, seizing_drops_what_is_left)
{
    struct wire wire;
    bool told;
    setup(&wire);
    struct mp_frame *unsent = push(&wire, "unsent", false, true);
    mp_outbox_seize(&wire.outbox);
    cr_assert_eq(mp_outbox_bytes(&wire.outbox), 0);
    cr_assert_eq(mp_outbox_withdraw(&wire.outbox, unsent, NULL, &told), MCPUMP_NOT_SENT);
    cr_assert_not(mp_outbox_take_role(&wire.outbox, true));
    mp_outbox_done(&wire.outbox);
}

/* Made for one connection, pushed into the next: its caller was held up in between. */
Test(outbox, a_frame_goes_out_on_its_own_connection_only)
{
    struct wire wire;
    setup(&wire);
    struct mp_frame *late = frame("late\n", false), *own = frame("own\n", false);
    late->connection = own->connection = 1;
    cr_expect_eq(mp_outbox_push(&wire.outbox, own, false), MCPUMP_OK);
    mp_outbox_refuse(&wire.outbox);
    mp_outbox_seize(&wire.outbox);
    mp_outbox_open(&wire.outbox, 2);
    cr_expect_eq(mp_outbox_push(&wire.outbox, late, false), MCPUMP_ERR_CLOSED);
    mp_frame_free(late);
    struct mp_frame *next = frame("next\n", false);
    next->connection = 2;
    cr_expect_eq(mp_outbox_push(&wire.outbox, next, false), MCPUMP_OK);
    push(&wire, "any\n", false, false);
    cr_expect_eq(mp_outbox_bytes(&wire.outbox), strlen("next\nany\n"));
    mp_outbox_done(&wire.outbox);
}

/* Nor does what follows a frame that was written. */
Test(outbox, a_sequel_goes_out_on_the_connection_of_its_frame_only)
{
    for (uint64_t second = 1; second <= 2; second++) {
        struct wire wire;
        struct mp_batch batch;
        bool is_told;
        setup(&wire);
        struct mp_frame *asked = frame("asked\n", false);
        asked->connection = 1;
        cr_assert_eq(mp_outbox_push(&wire.outbox, asked, true), MCPUMP_OK);
        cr_assert(mp_outbox_take_role(&wire.outbox, false));
        cr_assert(mp_outbox_begin(&wire.outbox, &batch));
        mp_outbox_settle(&wire.outbox, &batch, strlen("asked\n"), false);
        cr_assert_not(mp_outbox_drop_role(&wire.outbox));
        mp_outbox_refuse(&wire.outbox);
        mp_outbox_seize(&wire.outbox);
        mp_outbox_open(&wire.outbox, second);
        struct mp_frame *sequel = frame("never mind\n", true);
        cr_expect_eq(mp_outbox_withdraw(&wire.outbox, asked, sequel, &is_told), MCPUMP_SENT);
        cr_expect_eq(is_told, second == 1);
        mp_outbox_done(&wire.outbox);
    }
}
