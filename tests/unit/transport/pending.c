/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/pending.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "mcpump/run.h"

static void setup(struct mp_pending *pending)
{
    mp_pending_init(pending);
    mp_pending_accept(pending, true);
}

static struct mp_entry *enter(struct mp_pending *pending, uint64_t latch_count)
{
    struct mp_entry *entry = NULL;
    struct mp_registration registration = {.latch_count = latch_count};
    cr_assert_eq(mp_pending_register(pending, &registration, &entry), MCPUMP_OK);
    return entry;
}

static void leave(struct mp_pending *pending, struct mp_entry *entry)
{
    cr_assert(mp_pending_give_up(pending, entry));
    mp_pending_release(pending, entry);
}

Test(pending, refuses_until_it_accepts)
{
    struct mp_pending pending;
    struct mp_entry *entry = NULL;
    struct mp_registration registration = {.latch_count = 0};
    mp_pending_init(&pending);
    cr_assert_eq(mp_pending_register(&pending, &registration, &entry), MCPUMP_ERR_CLOSED);
    cr_assert_null(entry);
    mp_pending_done(&pending);
}

Test(pending, an_id_is_never_used_twice)
{
    struct mp_pending pending;
    setup(&pending);
    uint64_t last = 0;
    for (int i = 0; i < 1000; i++) {
        struct mp_entry *entry = enter(&pending, 0);
        cr_assert_gt(entry->id, last);
        last = entry->id;
        leave(&pending, entry);
    }
    mp_pending_done(&pending);
}

Test(pending, finds_each_of_many)
{
    enum { MANY = 5000 };
    static struct mp_entry *entries[MANY];
    struct mp_pending pending;
    enum mp_stray stray;
    setup(&pending);
    for (int i = 0; i < MANY; i++)
        entries[i] = enter(&pending, 0);
    cr_assert_eq(mp_pending_count(&pending), MANY);
    for (int i = MANY - 1; i >= 0; i--) {
        struct mp_entry *entry = mp_pending_take(&pending, entries[i]->id, &stray);
        cr_assert_eq(entry, entries[i], "entry %d", i);
        mp_pending_release(&pending, entry);
    }
    cr_assert_eq(mp_pending_count(&pending), 0);
    mp_pending_done(&pending);
}

Test(pending, tells_strays_apart)
{
    struct mp_pending pending;
    enum mp_stray stray;
    setup(&pending);
    struct mp_entry *given_up = enter(&pending, 0), *answered = enter(&pending, 0);
    uint64_t given_up_id = given_up->id, answered_id = answered->id;
    leave(&pending, given_up);
    mp_pending_release(&pending, mp_pending_take(&pending, answered_id, &stray));

    cr_assert_null(mp_pending_take(&pending, given_up_id, &stray));
    cr_assert_eq(stray, MP_STRAY_LATE);
    cr_assert_null(mp_pending_take(&pending, given_up_id, &stray));
    cr_assert_eq(stray, MP_STRAY_DUPLICATE, "a late reply is late once");
    cr_assert_null(mp_pending_take(&pending, answered_id, &stray));
    cr_assert_eq(stray, MP_STRAY_DUPLICATE);
    cr_assert_null(mp_pending_take(&pending, answered_id + 1, &stray));
    cr_assert_eq(stray, MP_STRAY_UNKNOWN);
    cr_assert_null(mp_pending_take(&pending, 0, &stray));
    mp_pending_done(&pending);
}

Test(pending, who_removes_completes)
{
    struct mp_pending pending;
    enum mp_stray stray;
    setup(&pending);
    struct mp_entry *entry = enter(&pending, 0);
    cr_assert_eq(mp_pending_take(&pending, entry->id, &stray), entry);
    cr_assert_not(mp_pending_give_up(&pending, entry), "the other has removed it");
    cr_assert_not(mp_entry_wait(entry, mp_now_ns()), "and has not completed it yet");
    mp_entry_complete(entry);
    cr_assert(mp_entry_wait(entry, MP_NEVER));
    mp_pending_release(&pending, entry);
    mp_pending_done(&pending);
}

Test(pending, an_interrupt_takes_those_that_began_before_it)
{
    struct mp_pending pending;
    struct mp_latch latch = {0};
    setup(&pending);
    struct mp_entry *before = enter(&pending, mp_latch_count(&latch));
    mp_latch_set(&latch);
    mp_latch_clear(&latch);
    struct mp_entry *after = enter(&pending, mp_latch_count(&latch));
    struct mp_entry *list = mp_pending_take_stopped(&pending, &latch);
    cr_assert_eq(list, before);
    cr_assert_null(list->next_removed);
    cr_assert_eq(list->err, MCPUMP_ERR_INTERRUPTED);
    mp_entry_complete_list(list);
    cr_assert(mp_entry_is_done(before));
    cr_assert_not(mp_entry_is_done(after));
    mp_pending_release(&pending, before);
    leave(&pending, after);
    mp_pending_done(&pending);
}

static struct mp_entry *enter_run(struct mp_pending *pending, const mcpump_run *run)
{
    struct mp_entry *entry = NULL;
    struct mp_registration registration = {.run = run};
    cr_assert_eq(mp_pending_register(pending, &registration, &entry), MCPUMP_OK);
    return entry;
}

Test(pending, a_cancelled_run_takes_its_own)
{
    struct mp_pending pending;
    struct mp_latch latch = {0};
    mcpump_run *parent = mcpump_run_new(NULL), *child = mcpump_run_new(parent);
    mcpump_run *other = mcpump_run_new(NULL);
    setup(&pending);
    struct mp_entry *ours = enter_run(&pending, child), *theirs = enter_run(&pending, other);
    struct mp_entry *nobodys = enter_run(&pending, NULL);
    cr_assert_null(mp_pending_take_stopped(&pending, &latch));
    mcpump_run_cancel(parent);
    struct mp_entry *list = mp_pending_take_stopped(&pending, &latch);
    cr_assert_eq(list, ours);
    cr_assert_null(list->next_removed);
    cr_assert_eq(list->err, MCPUMP_ERR_CANCELLED);
    mp_pending_release(&pending, ours);
    leave(&pending, theirs);
    leave(&pending, nobodys);
    mp_pending_done(&pending);
    mcpump_run_free(parent);
    mcpump_run_free(child);
    mcpump_run_free(other);
}

Test(pending, an_interrupt_goes_before_a_cancellation)
{
    struct mp_pending pending;
    struct mp_latch latch = {0};
    mcpump_run *run = mcpump_run_new(NULL);
    setup(&pending);
    struct mp_entry *entry = enter_run(&pending, run);
    mcpump_run_cancel(run);
    mp_latch_set(&latch);
    cr_assert_eq(mp_pending_take_stopped(&pending, &latch), entry);
    cr_assert_eq(entry->err, MCPUMP_ERR_INTERRUPTED);
    mp_pending_release(&pending, entry);
    mp_pending_done(&pending);
    mcpump_run_free(run);
}

Test(pending, the_end_takes_all)
{
    struct mp_pending pending;
    setup(&pending);
    for (int i = 0; i < 100; i++)
        enter(&pending, 0);
    int taken = 0;
    struct mp_entry *next;
    for (struct mp_entry *entry = mp_pending_take_all(&pending); entry != NULL; entry = next) {
        next = entry->next_removed;
        cr_assert_eq(entry->err, MCPUMP_ERR_CLOSED);
        mp_pending_release(&pending, entry);
        taken++;
    }
    cr_assert_eq(taken, 100);
    mp_pending_done(&pending);
}

static struct mp_entry *enter_until(struct mp_pending *pending, mp_deadline deadline)
{
    struct mp_entry *entry = NULL;
    struct mp_registration registration = {.deadline = deadline};
    cr_assert_eq(mp_pending_register(pending, &registration, &entry), MCPUMP_OK);
    return entry;
}

Test(pending, the_watcher_is_woken_for_an_earlier_deadline_only)
{
    struct mp_pending pending;
    mp_deadline soon = mp_deadline_after_ms(60000);
    setup(&pending);
    cr_expect_eq(mp_pending_alarm(&pending), MP_NEVER);
    struct mp_entry *never = enter_until(&pending, MP_NEVER),
                    *late = enter_until(&pending, soon + 1), *first = enter_until(&pending, soon);
    cr_expect_not(mp_pending_set_alarm(&pending, never));
    cr_expect(mp_pending_set_alarm(&pending, late));
    cr_expect_not(mp_pending_set_alarm(&pending, late));
    cr_expect(mp_pending_set_alarm(&pending, first));
    cr_expect_not(mp_pending_set_alarm(&pending, late));
    cr_expect_eq(mp_pending_alarm(&pending), soon);
    cr_expect_null(mp_pending_take_late(&pending), "it is not the time");
    leave(&pending, never);
    leave(&pending, late);
    leave(&pending, first);
    mp_pending_done(&pending);
}

Test(pending, the_late_ones_are_taken)
{
    struct mp_pending pending;
    mp_deadline now = mp_now_ns(), later = mp_deadline_after_ms(60000);
    setup(&pending);
    struct mp_entry *stays = enter_until(&pending, later), *goes = enter_until(&pending, now);
    cr_expect_null(mp_pending_take_late(&pending), "nobody sleeps");
    cr_expect(mp_pending_set_alarm(&pending, goes));
    struct mp_entry *list = mp_pending_take_late(&pending);
    cr_expect_eq(list, goes);
    cr_expect_null(list->next_removed);
    cr_expect_eq(list->err, MCPUMP_ERR_TIMEOUT);
    cr_expect_eq(mp_pending_alarm(&pending), later, "of what is left");
    mp_entry_complete_list(list);
    mp_pending_release(&pending, goes);
    leave(&pending, stays);
    mp_pending_done(&pending);
}
