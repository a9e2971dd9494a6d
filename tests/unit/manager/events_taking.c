/* SPDX-License-Identifier: Apache-2.0 */
/* Taking events: waiting for them, the fd, the latch, the end. */
#include "manager/events.h"

#include <pthread.h>

#include "queue.h"

Test(events, the_fd_is_readable_while_a_take_would_not_block)
{
    struct stage stage;
    setup(&stage, 10, PLENTY);
    cr_expect_not(is_readable(&stage));
    notify_number(&stage, 1);
    notify_number(&stage, 2);
    cr_expect(is_readable(&stage));
    expect_params(&stage, "[1]", 0);
    cr_expect(is_readable(&stage));
    expect_params(&stage, "[2]", 0);
    cr_expect_not(is_readable(&stage));
    expect_empty(&stage);
    cr_expect_not(is_readable(&stage));
    mp_events_interrupt(stage.events);
    cr_expect(is_readable(&stage));
    notify_number(&stage, 3);
    mp_events_clear_interrupt(stage.events);
    cr_expect(is_readable(&stage));
    mp_events_interrupt(stage.events);
    expect_params(&stage, "[3]", 0);
    cr_expect(is_readable(&stage));
    mp_events_clear_interrupt(stage.events);
    cr_expect_not(is_readable(&stage));
    mp_events_close(stage.events);
    cr_expect(is_readable(&stage));
    teardown(&stage);
}

Test(events, while_interrupted_what_is_there_can_be_taken)
{
    struct stage stage;
    mcpump_event *event = NULL;
    setup(&stage, 10, PLENTY);
    notify_number(&stage, 1);
    mp_events_interrupt(stage.events);
    expect_params(&stage, "[1]", 0);
    cr_expect_eq(mp_events_take(stage.events, MP_NEVER, &event), MCPUMP_ERR_INTERRUPTED);
    notify_number(&stage, 2);
    expect_params(&stage, "[2]", 0);
    mp_events_clear_interrupt(stage.events);
    expect_empty(&stage);
    teardown(&stage);
}

Test(events, closed_it_takes_nothing_and_gives_what_it_has)
{
    struct stage stage;
    mcpump_event *event = NULL;
    setup(&stage, 10, PLENTY);
    give_transports(&stage);
    notify_number(&stage, 1);
    mp_events_close(stage.events);
    notify_number(&stage, 2);
    say(&stage, 0, "late");
    state(&stage, 0, IDLE, READY);
    cr_expect_null(request(&stage, 0, REQUEST));
    expect_params(&stage, "[1]", 0);
    cr_expect_eq(mp_events_take(stage.events, MP_NEVER, &event), MCPUMP_ERR_CLOSED);
    mp_events_interrupt(stage.events);
    cr_expect_eq(mp_events_take(stage.events, MP_NEVER, &event), MCPUMP_ERR_CLOSED, "the stronger");
    take_transports(&stage);
    teardown(&stage);
}

Test(events, a_take_waits_for_its_deadline)
{
    struct stage stage;
    mcpump_event *event = NULL;
    setup(&stage, 10, PLENTY);
    mp_deadline until = mp_deadline_after_ms(30);
    cr_expect_eq(mp_events_take(stage.events, until, &event), MCPUMP_ERR_TIMEOUT);
    cr_expect(mp_deadline_passed(until));
    teardown(&stage);
}

struct taker {
    struct stage *stage;
    pthread_t thread;
    mcpump_err err;
    size_t taken;
};

static void *take_until_an_error(void *arg)
{
    struct taker *taker = arg;
    mcpump_event *event;
    while ((taker->err = mp_events_take(taker->stage->events, MP_NEVER, &event)) == MCPUMP_OK) {
        taker->taken++;
        mcpump_event_free(event);
    }
    return NULL;
}

static void start_takers(struct stage *stage, struct taker *takers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        takers[i] = (struct taker){.stage = stage};
        cr_assert_eq(pthread_create(&takers[i].thread, NULL, take_until_an_error, &takers[i]), 0);
    }
}

static size_t join_takers(struct taker *takers, size_t count, mcpump_err wanted)
{
    size_t taken = 0;
    for (size_t i = 0; i < count; i++) {
        pthread_join(takers[i].thread, NULL);
        cr_expect_eq(takers[i].err, wanted, "%zu: %s", i, mcpump_err_name(takers[i].err));
        taken += takers[i].taken;
    }
    return taken;
}

static void await_sleepers(struct stage *stage, size_t count)
{
    size_t found = 0;
    while (found < count) {
        found = 0;
        mp_mutex_lock(&stage->events->takers.lock);
        for (struct mp_board_chunk *chunk = &stage->events->takers.first; chunk != NULL;
             chunk = atomic_load(&chunk->next)) {
            for (size_t i = 0; i < MP_BOARD_CHUNK; i++)
                found += atomic_load(&chunk->members[i]) != NULL;
        }
        mp_mutex_unlock(&stage->events->takers.lock);
    }
}

/* More than the first chunk of the board holds. */
Test(events, an_interrupt_that_is_cleared_at_once_is_heard_by_all)
{
    struct stage stage;
    struct taker takers[12];
    setup(&stage, 10, PLENTY);
    for (int round = 0; round < 50; round++) {
        start_takers(&stage, takers, LENGTH(takers));
        await_sleepers(&stage, LENGTH(takers));
        mp_events_interrupt(stage.events);
        mp_events_clear_interrupt(stage.events);
        join_takers(takers, LENGTH(takers), MCPUMP_ERR_INTERRUPTED);
    }
    cr_expect_not(is_readable(&stage));
    teardown(&stage);
}

Test(events, many_takers_share_all_events)
{
    enum { POSTED = 20000 };
    struct stage stage;
    struct taker takers[4];
    setup(&stage, POSTED, PLENTY);
    start_takers(&stage, takers, LENGTH(takers));
    for (int i = 0; i < POSTED; i++)
        notify_number(&stage, i);
    mp_events_close(stage.events);
    cr_expect_eq(join_takers(takers, LENGTH(takers), MCPUMP_ERR_CLOSED), POSTED);
    teardown(&stage);
}
