/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "process/process.h"
#include "support.h"

/* The child of a test: the process takes the pidfd, the pipes stay here. */
static struct mp_spawned child;
static struct mp_process process;

static void start(const char *script)
{
    child = test_spawn_shell(script);
    mp_process_init(&process, child.pid, child.pidfd);
    child.pidfd = -1;
}

static void stop_reading(void)
{
    mp_process_done(&process);
    test_close(&child);
}

static const struct {
    const char *name, *script;
    int status, signal;
} ends[] = {
    {"success", "exit 0", 0, 0},
    {"status", "exit 7", 7, 0},
    {"large status", "exit 255", 255, 0},
    {"signal", "kill -TERM $$", -1, SIGTERM},
    {"kill", "kill -KILL $$", -1, SIGKILL},
};

Test(process, tells_how_it_ended_before_and_after_the_reaping)
{
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        start(ends[i].script);
        cr_assert(test_wait_readable(process.pidfd), "%s", ends[i].name);
        cr_expect(mp_process_poll_exit(&process), "%s", ends[i].name);
        cr_expect_not(process.reaped);
        cr_expect_eq(kill(process.pid, 0), 0, "%s: looking must not reap", ends[i].name);
        mp_process_reap(&process);
        cr_expect(process.ended && process.reaped && process.exit.known, "%s", ends[i].name);
        cr_expect_eq(process.exit.status, ends[i].status, "%s", ends[i].name);
        cr_expect_eq(process.exit.signal, ends[i].signal, "%s", ends[i].name);
        cr_expect(waitid(P_PID, (id_t)process.pid, NULL, WEXITED) == -1 && errno == ECHILD);
        cr_expect(mp_process_poll_exit(&process), "still");
        stop_reading();
    }
}

Test(process, lives_until_it_ends)
{
    start("read line");
    cr_expect(mp_process_is_alive(process.pidfd));
    cr_expect_not(mp_process_poll_exit(&process));
    mp_process_reap(&process);
    cr_expect_not(process.ended || process.reaped || process.exit.known);
    cr_assert_eq(write(child.stdin_fd, "\n", 1), 1);
    cr_assert(test_wait_readable(process.pidfd));
    cr_expect_not(mp_process_is_alive(process.pidfd), "a zombie does not run");
    mp_process_reap(&process);
    cr_expect_not(mp_process_is_alive(process.pidfd));
    stop_reading();
    cr_expect_not(mp_process_is_alive(-1));
}

Test(process, the_host_reaps)
{
    start("exit 7");
    cr_assert_eq(waitpid(process.pid, NULL, 0), process.pid);
    cr_expect(mp_process_poll_exit(&process));
    cr_expect(process.reaped, "its pid is no longer ours");
    cr_expect_not(process.exit.known);
    mp_process_reap(&process);
    cr_expect_not(process.exit.known);
    stop_reading();
}

Test(process, the_host_reaps_what_was_seen)
{
    start("exit 7");
    cr_assert(test_wait_readable(process.pidfd));
    cr_expect(mp_process_poll_exit(&process));
    cr_assert_eq(waitpid(process.pid, NULL, 0), process.pid);
    mp_process_reap(&process);
    cr_expect(process.reaped && process.exit.known);
    cr_expect_eq(process.exit.status, 7);
    stop_reading();
}

Test(process, the_host_ignores_sigchld)
{
    signal(SIGCHLD, SIG_IGN);
    start("read line; exit 7");
    cr_expect_not(mp_process_poll_exit(&process));
    cr_expect(mp_process_is_alive(process.pidfd));
    close(child.stdin_fd);
    child.stdin_fd = -1;
    cr_assert(test_wait_readable(process.pidfd));
    mp_process_reap(&process);
    cr_expect(process.ended && process.reaped);
    cr_expect_not(process.exit.known);
    cr_expect_eq(process.exit.status, -1);
    stop_reading();
}

Test(process, signals_reach_the_whole_group)
{
    char out[64];
    start("sleep 1000 & echo started; wait");
    cr_assert(test_wait_readable(child.stdout_fd));
    mp_process_signal_group(&process, SIGKILL);
    test_read_all(child.stdout_fd, out, sizeof(out)); /* its end: sleep is gone too */
    cr_assert(test_wait_readable(process.pidfd));
    mp_process_reap(&process);
    cr_expect_eq(process.exit.signal, SIGKILL);
    stop_reading();
}

/* We adopt and reap the members that outlive the leader, so that the group is empty for certain. */
Test(process, a_group_outlives_its_leader)
{
    char out[64];
    cr_assert_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    start("sleep 1000 & exit 3");
    cr_assert(test_wait_readable(process.pidfd));
    mp_process_reap(&process);
    cr_expect_eq(process.exit.status, 3);
    cr_expect(mp_process_group_is_left(&process));
    cr_expect_not(process.group_gone);

    mp_process_signal_group(&process, SIGTERM);
    test_read_all(child.stdout_fd, out, sizeof(out));
    cr_assert_gt(waitpid(-process.pid, NULL, 0), 0);
    cr_expect_not(mp_process_group_is_left(&process));
    cr_expect(process.group_gone);
    mp_process_signal_group(&process, SIGTERM);
    stop_reading();
}

Test(process, a_number_that_was_free_once_is_left_alone)
{
    start("read line; exit 5");
    process.reaped = process.group_gone = true; /* as if it were a stranger's */
    mp_process_signal_group(&process, SIGKILL);
    cr_expect_not(mp_process_group_is_left(&process));
    process.reaped = false;
    close(child.stdin_fd);
    child.stdin_fd = -1;
    cr_assert(test_wait_readable(process.pidfd));
    mp_process_reap(&process);
    cr_expect_eq(process.exit.status, 5, "ended by signal %d", process.exit.signal);
    stop_reading();
}

Test(process, none)
{
    mp_process_init(&process, -1, -1);
    cr_expect_not(mp_process_poll_exit(&process));
    mp_process_reap(&process);
    mp_process_signal_group(&process, SIGKILL);
    cr_expect_not(mp_process_group_is_left(&process));
    mp_process_done(&process);
}
