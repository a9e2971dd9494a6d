/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "process/process.h"
#include "support.h"

/* The child of a test: the process takes what is its own, the pipes stay here. */
static struct mp_spawned child;
static struct mp_process process;

/* What is asked of a process is answered alike with and without a guard. */
static const mcpump_orphans policies[] = {MCPUMP_ORPHANS_LEADER, MCPUMP_ORPHANS_TREE};
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

TestSuite(process, .timeout = 60);

static void start_under(mcpump_orphans orphans, const char *script)
{
    child = test_spawn_under(orphans, "sh", (const char *const[]){"-c", script, NULL});
    mp_process_init(&process, &child);
}

static void start(const char *script)
{
    start_under(MCPUMP_ORPHANS_LEADER, script);
}

static void close_stdin(void)
{
    close(child.stdin_fd);
    child.stdin_fd = -1;
}

/* Waits for the server's end. */
static bool await_exit(void)
{
    return test_wait_readable(mp_process_watch_fd(&process)) && mp_process_poll_exit(&process);
}

/* Waits until nothing is left. */
static bool await_gone(void)
{
    while (!mp_process_is_gone(&process)) {
        struct pollfd next = {.fd = mp_process_watch_fd(&process), .events = POLLIN};
        if (poll(&next, 1, next.fd < 0 ? 1 : TEST_PATIENCE_MS) == 0 && next.fd >= 0)
            return false;
    }
    return true;
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

Test(process, tells_how_it_ended)
{
    for (size_t i = 0; i < LENGTH(ends) * LENGTH(policies); i++) {
        const char *name = ends[i / LENGTH(policies)].name;
        start_under(policies[i % LENGTH(policies)], ends[i / LENGTH(policies)].script);
        cr_assert(await_exit(), "%s", name);
        cr_expect(process.exit.known, "%s", name);
        cr_expect(await_gone(), "%s", name);
        cr_expect(process.ended && process.reaped && process.exit.known, "%s", name);
        cr_expect_eq(process.exit.status, ends[i / LENGTH(policies)].status, "%s", name);
        cr_expect_eq(process.exit.signal, ends[i / LENGTH(policies)].signal, "%s", name);
        cr_expect(waitid(P_ALL, 0, NULL, WEXITED) == -1 && errno == ECHILD, "%s", name);
        cr_expect(mp_process_poll_exit(&process), "%s: still", name);
        stop_reading();
    }
}

Test(process, looking_does_not_reap)
{
    start("exit 7");
    cr_assert(await_exit());
    cr_expect_not(process.reaped);
    cr_expect_eq(kill(process.pid, 0), 0);
    cr_expect(mp_process_is_gone(&process));
    cr_expect(kill(process.pid, 0) == -1 && errno == ESRCH);
    stop_reading();
}

Test(process, lives_until_it_ends)
{
    for (size_t i = 0; i < LENGTH(policies); i++) {
        start_under(policies[i], "read line");
        cr_expect(mp_process_is_alive(&process));
        cr_expect_not(mp_process_poll_exit(&process));
        cr_expect_not(mp_process_is_gone(&process));
        cr_expect_not(process.ended || process.reaped || process.exit.known);
        cr_assert_eq(write(child.stdin_fd, "\n", 1), 1);
        cr_assert(test_wait_readable(mp_process_watch_fd(&process)));
        cr_expect_not(mp_process_is_alive(&process), "a zombie does not run");
        cr_expect(await_gone());
        cr_expect_not(mp_process_is_alive(&process));
        stop_reading();
    }
}

Test(process, the_host_reaps)
{
    start("exit 7");
    cr_assert_eq(waitpid(process.pid, NULL, 0), process.pid);
    cr_expect(mp_process_poll_exit(&process));
    cr_expect(process.reaped, "its pid is no longer ours");
    cr_expect_not(process.exit.known);
    cr_expect(mp_process_is_gone(&process));
    cr_expect_not(process.exit.known);
    stop_reading();
}

Test(process, the_host_reaps_what_was_seen)
{
    start("exit 7");
    cr_assert(await_exit());
    cr_assert_eq(waitpid(process.pid, NULL, 0), process.pid);
    cr_expect(mp_process_is_gone(&process));
    cr_expect(process.reaped && process.exit.known);
    cr_expect_eq(process.exit.status, 7);
    stop_reading();
}

Test(process, the_host_ignores_sigchld)
{
    signal(SIGCHLD, SIG_IGN);
    for (size_t i = 0; i < LENGTH(policies); i++) {
        start_under(policies[i], "read line; exit 7");
        cr_expect_not(mp_process_poll_exit(&process));
        cr_expect(mp_process_is_alive(&process));
        close_stdin();
        cr_assert(await_exit());
        cr_expect(await_gone());
        cr_expect(process.ended && process.reaped);
        /* A guard is a parent that asks. */
        cr_expect_eq(process.exit.known, policies[i] == MCPUMP_ORPHANS_TREE);
        cr_expect_eq(process.exit.status, policies[i] == MCPUMP_ORPHANS_TREE ? 7 : -1);
        stop_reading();
    }
}

static const struct {
    const char *name;
    void (*give)(struct mp_process *process);
    int signal;
} signals[] = {{"terminate", mp_process_terminate, SIGTERM}, {"kill", mp_process_kill, SIGKILL}};

Test(process, signals_reach_the_whole_group)
{
    char out[64];
    for (size_t i = 0; i < LENGTH(signals) * LENGTH(policies); i++) {
        size_t row = i / LENGTH(policies);
        start_under(policies[i % LENGTH(policies)], "sleep 1000 & echo started; wait");
        cr_assert(test_wait_readable(child.stdout_fd), "%s", signals[row].name);
        signals[row].give(&process);
        test_read_all(child.stdout_fd, out, sizeof(out)); /* its end: sleep is gone too */
        cr_expect(await_gone(), "%s", signals[row].name);
        cr_expect_eq(process.exit.signal, signals[row].signal, "%s", signals[row].name);
        stop_reading();
    }
}

Test(process, what_is_stopped_takes_signals_too)
{
    for (size_t i = 0; i < LENGTH(signals) * LENGTH(policies); i++) {
        size_t row = i / LENGTH(policies);
        start_under(policies[i % LENGTH(policies)], "kill -STOP $$; exit 3");
        signals[row].give(&process);
        cr_assert(await_exit(), "%s", signals[row].name);
        cr_expect(await_gone(), "%s", signals[row].name);
        stop_reading();
    }
}

Test(process, end_leaves_nothing)
{
    char out[64];
    for (size_t i = 0; i < LENGTH(policies); i++) {
        start_under(policies[i], "trap '' TERM; sleep 1000 & echo started; exit 4");
        cr_assert(test_wait_readable(child.stdout_fd));
        cr_expect(mp_process_end(&process));
        test_read_all(child.stdout_fd, out, sizeof(out));
        cr_expect(process.reaped);
        stop_reading();
    }
}

/* We adopt and reap the members that outlive the leader, so that the group is empty for certain. */
Test(process, a_group_outlives_its_leader)
{
    char out[64];
    cr_assert_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    start("sleep 1000 & exit 3");
    cr_assert(await_exit());
    cr_expect_not(mp_process_is_gone(&process));
    cr_expect_eq(process.exit.status, 3);
    cr_expect(process.reaped);
    cr_expect_not(process.group_gone);
    cr_expect_eq(mp_process_watch_fd(&process), -1, "nothing tells when a group is empty");

    mp_process_terminate(&process);
    test_read_all(child.stdout_fd, out, sizeof(out));
    cr_assert_gt(waitpid(-process.pid, NULL, 0), 0);
    cr_expect(mp_process_is_gone(&process));
    cr_expect(process.group_gone);
    mp_process_terminate(&process);
    stop_reading();
}

Test(process, a_number_that_was_free_once_is_left_alone)
{
    start("read line; exit 5");
    process.reaped = process.ended = process.group_gone = true; /* as if it were a stranger's */
    mp_process_kill(&process);
    cr_expect(mp_process_is_gone(&process));
    process.reaped = process.ended = false;
    close_stdin();
    cr_assert(await_exit());
    cr_expect(mp_process_is_gone(&process));
    cr_expect_eq(process.exit.status, 5, "ended by signal %d", process.exit.signal);
    stop_reading();
}

Test(process, none)
{
    process = MP_PROCESS_NONE;
    cr_expect_not(mp_process_is_alive(&process));
    cr_expect_not(mp_process_poll_exit(&process));
    cr_expect(mp_process_is_gone(&process));
    mp_process_terminate(&process);
    mp_process_kill(&process);
    cr_expect(mp_process_end(&process));
    cr_expect_eq(mp_process_watch_fd(&process), -1);
    mp_process_done(&process);
}
