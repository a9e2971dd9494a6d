/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sync.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

struct meeting {
    struct mp_mutex lock;
    struct mp_cond cond;
    bool arrived; /* protected by lock */
    sigset_t mask;
    char name[16];
};

static void arrive(void *arg)
{
    struct meeting *meeting = arg;
    pthread_sigmask(SIG_SETMASK, NULL, &meeting->mask);
    pthread_getname_np(pthread_self(), meeting->name, sizeof(meeting->name));
    mp_mutex_lock(&meeting->lock);
    meeting->arrived = true;
    mp_mutex_unlock(&meeting->lock);
    mp_cond_signal(&meeting->cond);
}

static void meeting_init(struct meeting *meeting)
{
    *meeting = (struct meeting){.arrived = false};
    mp_mutex_init(&meeting->lock);
    mp_cond_init(&meeting->cond);
}

static void meeting_done(struct meeting *meeting)
{
    mp_cond_done(&meeting->cond);
    mp_mutex_done(&meeting->lock);
}

static void meet_with(mp_deadline deadline)
{
    struct meeting meeting;
    struct mp_thread thread = {.running = false};
    meeting_init(&meeting);
    cr_assert_eq(mp_thread_start(&thread, "mcp-r:a long display name", arrive, &meeting), 0);
    mp_mutex_lock(&meeting.lock);
    while (!meeting.arrived)
        cr_assert(mp_cond_wait(&meeting.cond, &meeting.lock, deadline) || meeting.arrived);
    mp_mutex_unlock(&meeting.lock);
    mp_thread_join(&thread);
    cr_expect(!thread.running);
    mp_thread_join(&thread);
    cr_expect_str_eq(meeting.name, "mcp-r:a long di", "cut to 15 bytes");
    cr_expect(sigismember(&meeting.mask, SIGINT) && sigismember(&meeting.mask, SIGCHLD) &&
              sigismember(&meeting.mask, SIGPIPE));
    meeting_done(&meeting);
}

Test(sync, a_thread_is_met, .timeout = 60)
{
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    meet_with(MP_NEVER);
    meet_with(mp_deadline_after_ms(30000));
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int number = 1; number < NSIG; number++)
        cr_expect_eq(sigismember(&after, number), sigismember(&before, number),
                     "signal %d: the starter's mask is as it was", number);
}

/* Never early; spurious wake-ups are what the loop is for. */
Test(sync, a_wait_ends_at_its_deadline, .timeout = 60)
{
    struct meeting meeting;
    meeting_init(&meeting);
    mp_deadline deadline = mp_deadline_after_ms(20);
    mp_mutex_lock(&meeting.lock);
    while (mp_cond_wait(&meeting.cond, &meeting.lock, deadline)) {
    }
    cr_expect(mp_deadline_passed(deadline));
    cr_expect(!mp_cond_wait(&meeting.cond, &meeting.lock, 0), "a deadline long ago");
    mp_mutex_unlock(&meeting.lock);
    meeting_done(&meeting);
}

Test(sync, a_thread_that_never_started_is_joined)
{
    struct mp_thread thread = {.running = false};
    mp_thread_join(&thread);
    cr_expect(!thread.running);
}
