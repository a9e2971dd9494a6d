/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is left of a server and its descendants when its host closes, and when its host is killed,
 * under each orphan policy. The processes are watched by pidfds that are opened while they live.
 * With a guard nothing is left, ever; what a weaker policy leaves is expected where it is certain,
 * once what that policy does has been seen to have happened.
 */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE "100"

extern char **environ;

enum left { GONE, LEFT, EITHER };

/* The default is LEADER. */
enum { POLICIES = MCPUMP_ORPHANS_TREE + 1 };

#define ALL_GONE                                                                                   \
    {                                                                                              \
        GONE, GONE, GONE, GONE                                                                     \
    }

static const struct kind {
    const char *name;
    const char *switches[4]; /* of the fake server, beside --log */
    const char *script;      /* run instead, with the log and the fake server */
    bool is_stopped;
    bool has_grandchild;
    /* What is left of the innermost process; of the others nothing if that is gone. */
    enum left closed[POLICIES], killed[POLICIES]; /* default, none, leader, tree */
} kinds[] = {
    {.name = "honours EOF", .closed = ALL_GONE, .killed = ALL_GONE},
    {.name = "ignores EOF",
     .switches = {"--ignore-eof"},
     .closed = ALL_GONE,
     .killed = {GONE, LEFT, GONE, GONE}},
    {.name = "ignores EOF and TERM",
     .switches = {"--ignore-eof", "--ignore-term"},
     .closed = ALL_GONE,
     .killed = {GONE, LEFT, GONE, GONE}},
    /* Without a parent in its session the kernel wakes it with SIGHUP. */
    {.name = "stopped",
     .is_stopped = true,
     .closed = ALL_GONE,
     .killed = {GONE, EITHER, GONE, GONE}},
    {.name = "launcher and server",
     .switches = {"--launcher", "--ignore-eof"},
     .closed = ALL_GONE,
     .killed = {LEFT, LEFT, LEFT, GONE}},
    /* Its end ends the connection: the host, while it lives, is stopping the server already. */
    {.name = "launcher exits first",
     .switches = {"--launcher-exits-first", "--ignore-eof", "--ignore-term"},
     .closed = ALL_GONE,
     .killed = {EITHER, EITHER, EITHER, GONE}},
    {.name = "forked twice, in a session of its own",
     .script = "(setsid sh -c 'trap \"\" TERM; echo grandchild $$ >>\"$0\"; exec sleep 120' \"$1\" "
               "</dev/null >/dev/null 2>&1 &); exec \"$2\" --log \"$1\"",
     .has_grandchild = true,
     .closed = {LEFT, LEFT, LEFT, GONE},
     .killed = {LEFT, LEFT, LEFT, GONE}},
};

/* -- the host and what comes from it */

struct host {
    pid_t pid;
    int in, out;   /* its stdin and stdout */
    int leader;    /* pidfds: what it has started, -1: gone already ... */
    int child;     /* ... or the guard of that ... */
    int server;    /* ... the fake server ... */
    int innermost; /* ... and the one that lives longest */
    pid_t to_stop;
    struct test_folder folder;
};

static int open_pid(pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    cr_assert(fd >= 0 || errno == ESRCH, "process %d: %s", (int)pid, strerror(errno));
    return fd;
}

static bool lives(int pidfd)
{
    struct pollfd end = {.fd = pidfd, .events = POLLIN};
    return pidfd >= 0 && poll(&end, 1, 0) == 0;
}

static bool await_end(int pidfd)
{
    struct pollfd end = {.fd = pidfd, .events = POLLIN};
    return pidfd < 0 || poll(&end, 1, TEST_PATIENCE_MS) == 1;
}

static pid_t parent_of(pid_t pid)
{
    char path[32];
    int parent = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *stat = fopen(path, "re");
    if (stat == NULL || fscanf(stat, "%*d (%*[^)]) %*c %d", &parent) != 1)
        parent = 0;
    if (stat != NULL)
        fclose(stat);
    return parent;
}

/* The child of the host that is an ancestor of the process, or the process. 0: none any more. */
static pid_t find_child(pid_t host, pid_t pid)
{
    pid_t parent;
    while (pid > 0 && (parent = parent_of(pid)) != host)
        pid = parent;
    return pid;
}

static const char *from_environment(const char *name)
{
    const char *path = getenv(name);
    cr_assert_not_null(path, "%s is not set; meson test sets it", name);
    return path;
}

static pid_t run(const char *const *words, int in, int out)
{
    pid_t pid;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    char *const *argv = (char *const *)(uintptr_t)words;
    cr_assert_eq(posix_spawn(&pid, words[0], &actions, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

static void start_program(struct host *host, const struct kind *kind, mcpump_orphans policy)
{
    char number[2] = {(char)('0' + policy), '\0'};
    const char *words[16] = {from_environment("MCPUMP_HOST"), number,
                             from_environment("MCPUMP_GUARD"), GRACE};
    size_t count = 4;
    const char *const plain[] = {test_fake_server(), "--log", host->folder.log};
    const char *const shell[] = {
        "sh", "-c", kind->script, "sh", host->folder.log, test_fake_server()};
    size_t command_words = kind->script != NULL ? LENGTH(shell) : LENGTH(plain);
    for (size_t i = 0; i < command_words; i++)
        words[count++] = kind->script != NULL ? shell[i] : plain[i];
    for (size_t i = 0; i < LENGTH(kind->switches) && kind->switches[i] != NULL; i++)
        words[count++] = kind->switches[i];
    int in[2], out[2];
    cr_assert(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    host->pid = run(words, in[0], out[1]);
    close(in[0]);
    close(out[1]);
    host->in = in[1];
    host->out = out[0];
}

/* The number in the line that the host writes. */
static pid_t read_leader(const struct host *host, const char *name)
{
    char line[64] = "";
    size_t size = 0;
    while (strchr(line, '\n') == NULL) {
        struct pollfd out = {.fd = host->out, .events = POLLIN};
        cr_assert_eq(poll(&out, 1, TEST_PATIENCE_MS), 1, "%s: the host does not open", name);
        ssize_t n = read(host->out, line + size, sizeof(line) - 1 - size);
        cr_assert_gt(n, 0, "%s: the host does not open", name);
        size += (size_t)n;
        line[size] = '\0';
    }
    cr_assert_eq(strncmp(line, "open ", 5), 0, "%s: %s", name, line);
    return (pid_t)strtol(line + 5, NULL, 10);
}

static struct host start(const struct kind *kind, mcpump_orphans policy, const char *name)
{
    struct host host;
    test_folder_init(&host.folder);
    start_program(&host, kind, policy);
    pid_t leader = read_leader(&host, name);
    test_await_lines(host.folder.log, "start ", 1);
    host.to_stop = (pid_t)test_number_in_log(host.folder.log, "start ");
    pid_t innermost = host.to_stop;
    if (kind->has_grandchild) {
        test_await_lines(host.folder.log, "grandchild ", 1);
        innermost = (pid_t)test_number_in_log(host.folder.log, "grandchild ");
    }
    pid_t child = find_child(host.pid, host.to_stop);
    host.leader = open_pid(leader);
    host.child = child > 0 ? open_pid(child) : -1;
    host.server = open_pid(host.to_stop);
    host.innermost = open_pid(innermost);
    if (kind->is_stopped)
        kill(host.to_stop, SIGSTOP);
    return host;
}

static void done(struct host *host)
{
    int fds[] = {host->in, host->out, host->leader, host->child, host->server, host->innermost};
    int left[] = {host->innermost, host->server, host->leader};
    for (size_t i = 0; i < LENGTH(left); i++) {
        if (left[i] >= 0)
            syscall(SYS_pidfd_send_signal, left[i], SIGKILL, NULL, 0);
    }
    for (size_t i = 0; i < LENGTH(fds); i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
    test_folder_done(&host->folder);
}

/* -- what is left */

static void expect_left(const struct host *host, enum left wanted, const char *name)
{
    if (wanted == LEFT)
        cr_expect(lives(host->innermost), "%s: it is gone, and nobody should have ended it", name);
    if (wanted != GONE)
        return;
    cr_expect_not(lives(host->leader), "%s: what was started is left", name);
    cr_expect_not(lives(host->server), "%s: the server is left", name);
    cr_expect_not(lives(host->innermost), "%s: the innermost process is left", name);
    cr_expect_not(lives(host->child), "%s: the guard is left", name);
}

/* When it has closed, all has happened. */
static void expect_after_close(const struct kind *kind, mcpump_orphans policy, const char *name)
{
    int status;
    struct host host = start(kind, policy, name);
    close(host.in);
    host.in = -1;
    cr_assert_eq(waitpid(host.pid, &status, 0), host.pid);
    cr_expect_eq(status, 0, "%s: the host ended with %x", name, (unsigned)status);
    expect_left(&host, kind->closed[policy], name);
    done(&host);
}

/* Waits for what the death of the host brings about, as far as the policy reaches. */
static void await_effects(const struct host *host, const struct kind *kind, mcpump_orphans policy)
{
    enum left wanted = kind->killed[policy];
    if (wanted == GONE) {
        cr_expect(await_end(host->child), "%s", kind->name);
        cr_expect(await_end(host->leader), "%s", kind->name);
        cr_expect(await_end(host->server), "%s", kind->name);
        cr_expect(await_end(host->innermost), "%s", kind->name);
    } else if (wanted == LEFT && kind->has_grandchild) {
        cr_expect(await_end(host->server), "%s", kind->name);
    } else if (wanted == LEFT) {
        if (policy != MCPUMP_ORPHANS_NONE)
            cr_expect(await_end(host->leader), "%s", kind->name);
        test_await_lines(host->folder.log, "eof", 1);
    }
}

static void expect_after_kill(const struct kind *kind, mcpump_orphans policy, const char *name)
{
    struct host host = start(kind, policy, name);
    kill(host.pid, SIGKILL);
    cr_assert_eq(waitpid(host.pid, NULL, 0), host.pid);
    await_effects(&host, kind, policy);
    expect_left(&host, kind->killed[policy], name);
    done(&host);
}

static void for_all_kinds(mcpump_orphans policy,
                          void (*expect)(const struct kind *, mcpump_orphans, const char *))
{
    struct test_resources before = test_resources();
    for (size_t i = 0; i < LENGTH(kinds); i++) {
        char name[96];
        snprintf(name, sizeof(name), "%s, policy %d", kinds[i].name, (int)policy);
        expect(&kinds[i], policy, name);
        EXPECT_NOTHING_LEFT(before, name);
    }
}

TestSuite(orphans, .timeout = 110);

Test(orphans, closed_default)
{
    for_all_kinds(MCPUMP_ORPHANS_DEFAULT, expect_after_close);
}

Test(orphans, closed_none)
{
    for_all_kinds(MCPUMP_ORPHANS_NONE, expect_after_close);
}

Test(orphans, closed_leader)
{
    for_all_kinds(MCPUMP_ORPHANS_LEADER, expect_after_close);
}

Test(orphans, closed_tree)
{
    for_all_kinds(MCPUMP_ORPHANS_TREE, expect_after_close);
}

Test(orphans, killed_default)
{
    for_all_kinds(MCPUMP_ORPHANS_DEFAULT, expect_after_kill);
}

Test(orphans, killed_none)
{
    for_all_kinds(MCPUMP_ORPHANS_NONE, expect_after_kill);
}

Test(orphans, killed_leader)
{
    for_all_kinds(MCPUMP_ORPHANS_LEADER, expect_after_kill);
}

Test(orphans, killed_tree)
{
    for_all_kinds(MCPUMP_ORPHANS_TREE, expect_after_kill);
}
