/* SPDX-License-Identifier: Apache-2.0 */
/* mcpump-guard, and what becomes of servers when their host is killed. */
#include "process/guard.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "probe.h"
#include "process/process.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define GRACE_MS      50

TestSuite(guard, .timeout = 60);

/* -- processes that are not our children */

/* -1: it has gone already. */
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

static void expect_end(int pidfd, const char *name)
{
    if (pidfd < 0)
        return;
    cr_expect(test_wait_readable(pidfd), "%s: it lives on", name);
    syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
    close(pidfd);
}

static pid_t parent_of(pid_t pid)
{
    char path[32];
    int parent = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *stat = fopen(path, "re");
    cr_assert_not_null(stat, "%s", path);
    cr_assert_eq(fscanf(stat, "%*d (%*[^)]) %*c %d", &parent), 1);
    fclose(stat);
    return parent;
}

/* A number on a line of its own. */
static pid_t read_pid(int fd)
{
    char line[32];
    size_t size = 0;
    do {
        cr_assert_lt(size, sizeof(line));
        cr_assert(test_wait_readable(fd), "no number came");
        cr_assert_eq(read(fd, &line[size], 1), 1, "no number came");
    } while (line[size++] != '\n');
    return (pid_t)strtol(line, NULL, 10);
}

/* -- the news */

Test(guard, news_stay_readable_and_outlive_the_guard)
{
    int status = 0, signal = 0, none = -1, message[2] = {7, 0};
    struct mp_guard_fds fds;
    cr_assert_eq(mp_guard_fds_init(&fds), 0);
    cr_expect_eq(mp_guard_look(fds.ours, &status, &signal), MP_GUARD_SILENT);
    cr_assert_eq(send(fds.theirs, message, sizeof(message), 0), sizeof(message));
    for (int i = 0; i < 2; i++) {
        cr_expect_eq(mp_guard_look(fds.ours, &status, &signal), MP_GUARD_TOLD);
        cr_expect_eq(status, 7);
    }
    mp_guard_order(fds.ours, none, MP_GUARD_KILL); /* which it does not read any more */
    close(fds.theirs);
    fds.theirs = -1;
    cr_expect_eq(mp_guard_look(fds.ours, &status, &signal), MP_GUARD_TOLD);
    mp_guard_fds_done(&fds);
}

Test(guard, that_goes_without_a_word)
{
    int status = 1, signal = 2, none = -1;
    struct mp_guard_fds fds;
    cr_assert_eq(mp_guard_fds_init(&fds), 0);
    mp_guard_order(fds.ours, none, MP_GUARD_TERMINATE);
    close(fds.theirs);
    fds.theirs = -1;
    cr_expect_eq(mp_guard_look(fds.ours, &status, &signal), MP_GUARD_LOST);
    mp_guard_order(fds.ours, none, MP_GUARD_KILL); /* without SIGPIPE */
    cr_expect(status == 1 && signal == 2, "untouched");
    mp_guard_fds_done(&fds);
}

/* -- a server under a guard */

static struct mp_spawned child;
static struct mp_process process;
static int guard_fd;

static void start(const char *script)
{
    child = test_spawn_under(MCPUMP_ORPHANS_TREE, "sh", (const char *const[]){"-c", script, NULL});
    guard_fd = dup(child.pidfd);
    mp_process_init(&process, &child);
}

/* Takes leave of a server that has to be gone by now. */
static void expect_gone(const char *name)
{
    cr_expect(mp_process_is_gone(&process), "%s: something is left", name);
    cr_expect(waitid(P_ALL, 0, NULL, WEXITED | WNOHANG) == -1 && errno == ECHILD, "%s", name);
    close(guard_fd);
    mp_process_done(&process);
    test_close(&child);
}

Test(guard, the_server_is_as_without_it)
{
    static const char *const keys[] = {"fds",    "nonblocking", "args",   "env",  "SigBlk",
                                       "SigIgn", "SigCgt",      "SigPnd", "nice", "NOFILE",
                                       "CORE",   "cwd",         "sid",    NULL};
    struct mp_spawn_request request = plain_request(
        probe_path(), (char *[]){(char[]){"a b"}, (char[]){""}, NULL}, plain_environment, "/usr");
    request.orphans = MCPUMP_ORPHANS_NONE;
    json_object *without = probe_run(&request);
    request.orphans = MCPUMP_ORPHANS_TREE;
    struct mp_spawned spawned = test_spawn_request(&request);
    pid_t pid = spawned.pid;
    json_object *with = probe_read(&spawned);
    for (size_t i = 0; keys[i] != NULL; i++)
        cr_expect(json_object_equal(json_object_object_get(without, keys[i]),
                                    json_object_object_get(with, keys[i])),
                  "%s: %s", keys[i], probe_text(with, keys[i]));
    cr_expect_eq(probe_int(with, "pid"), pid);
    cr_expect_eq(probe_int(with, "pgid"), pid);
    json_object_put(without);
    json_object_put(with);
}

static void read_file(pid_t pid, const char *name, char *out, size_t capacity)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    cr_assert_geq(fd, 0);
    ssize_t size = read(fd, out, capacity - 1);
    cr_assert_geq(size, 0);
    out[size] = '\0';
    close(fd);
}

/* Nothing tells when it has left our directory: the test can only look. */
static bool has_directory(pid_t pid, const char *wanted)
{
    char path[64], directory[4096];
    snprintf(path, sizeof(path), "/proc/%d/cwd", (int)pid);
    for (time_t until = time(NULL) + 30; time(NULL) < until; sched_yield()) {
        ssize_t size = readlink(path, directory, sizeof(directory) - 1);
        directory[size > 0 ? size : 0] = '\0';
        if (strcmp(directory, wanted) == 0)
            return true;
    }
    return false;
}

Test(guard, keeps_nothing_of_ours_and_tells_its_name)
{
    char text[4096];
    start("read line; exit 3");
    pid_t guard = parent_of(process.pid);
    cr_expect(has_directory(guard, "/"));
    read_file(guard, "comm", text, sizeof(text));
    cr_expect_str_eq(text, "mcpump-guard\n");
    read_file(guard, "cmdline", text, sizeof(text));
    cr_expect_str_eq(text, "mcpump-guard");
    read_file(guard, "environ", text, sizeof(text));
    cr_expect_str_eq(text, "");
    cr_expect_eq(getpgid(guard), guard, "Ctrl-C does not reach it");
    cr_expect(mp_process_end(&process));
    expect_gone("");
}

/* Both for a host that watches and for one that has died. */
static const struct {
    const char *name;
    const char *script; /* tells the pid of one that must not be left */
} trees[] = {
    {"honours EOF", "echo $$; cat"},
    {"ignores EOF", "echo $$; cat; sleep 1000"},
    {"ignores EOF and TERM", "trap '' TERM; echo $$; while :; do sleep 1000; done"},
    {"is stopped", "echo $$; kill -STOP $$; sleep 1000"},
    {"a launcher waits", "sh -c 'echo $$; exec sleep 1000' & wait"},
    {"a launcher has gone", "sh -c 'echo $$; exec sleep 1000' & exit 0"},
    {"a session of its own", "setsid sh -c 'echo $$; exec sleep 1000' & cat"},
    {"forked twice, a session of its own",
     "(setsid sh -c 'trap \"\" TERM; echo $$; exec sleep 1000' &); cat"},
    {"the leader has gone, a session of its own is left",
     "(setsid sh -c 'echo $$; exec sleep 1000' >&1 &); exit 0"},
    {"deep", "setsid sh -c 'setsid sh -c \"setsid sh -c \\\"trap 1 TERM; echo \\$\\$; sleep 1000; "
             ":\\\"; :\"; :' & wait"},
};

Test(guard, ends_all_when_told_to)
{
    for (size_t i = 0; i < LENGTH(trees); i++) {
        start(trees[i].script);
        int last = open_pid(read_pid(child.stdout_fd));
        cr_expect(mp_process_end(&process), "%s", trees[i].name);
        expect_end(last, trees[i].name);
        expect_gone(trees[i].name);
    }
}

Test(guard, tells_of_the_servers_end_and_stays_for_the_rest)
{
    start("(setsid sh -c 'echo $$; exec sleep 1000' &); read line; exit 9");
    int last = open_pid(read_pid(child.stdout_fd));
    close(child.stdin_fd);
    child.stdin_fd = -1;
    cr_assert(test_wait_readable(mp_process_watch_fd(&process)));
    cr_expect(mp_process_poll_exit(&process));
    cr_expect_eq(process.exit.status, 9);
    cr_expect_not(mp_process_is_alive(&process));
    cr_expect_not(mp_process_is_gone(&process));
    cr_expect(lives(last), "nobody has said that it should go");
    cr_expect_eq(mp_process_watch_fd(&process), process.pidfd);

    mp_process_terminate(&process);
    cr_expect(test_wait_readable(mp_process_watch_fd(&process)));
    expect_end(last, "the rest");
    expect_gone("");
}

/* Its guard adopts and reaps them, while it lives. */
Test(guard, leaves_no_zombies)
{
    char state[4096];
    start("(sh -c 'echo $$' &); cat");
    pid_t orphan = read_pid(child.stdout_fd);
    snprintf(state, sizeof(state), "/proc/%d", (int)orphan);
    time_t until = time(NULL) + 30;
    while (access(state, F_OK) == 0 && time(NULL) < until)
        sched_yield();
    cr_expect(access(state, F_OK) != 0, "a zombie is left");
    cr_expect(lives(process.pidfd));
    cr_expect(mp_process_end(&process));
    expect_gone("");
}

Test(guard, catches_what_flees)
{
    struct test_folder folder;
    char path[512];
    test_folder_init(&folder);
    /* Each is gone when it is found, and the next is in a session of its own. */
    test_folder_add(&folder, "flee", "#!/bin/sh\nsetsid \"$0\" & exit 0\n", 0755);
    test_folder_path(&folder, "flee", path, sizeof(path));
    char script[600];
    snprintf(script, sizeof(script), "%s & echo 1; cat", path);
    start(script);
    read_pid(child.stdout_fd);
    cr_expect(mp_process_end(&process));
    expect_gone("");
    test_folder_done(&folder);
}

/* -- its own end, and attempts at it */

Test(guard, is_deaf_to_signals)
{
    start("cat; exit 6");
    for (int signal = 1; signal <= SIGRTMAX; signal++) {
        if (signal != SIGKILL && signal != SIGSTOP)
            syscall(SYS_pidfd_send_signal, guard_fd, signal, NULL, 0);
    }
    cr_expect(lives(guard_fd));
    close(child.stdin_fd);
    child.stdin_fd = -1;
    cr_assert(test_wait_readable(mp_process_watch_fd(&process)));
    cr_expect(mp_process_poll_exit(&process));
    cr_expect_eq(process.exit.status, 6);
    cr_expect(mp_process_end(&process));
    expect_gone("");
}

Test(guard, stopped)
{
    start("trap '' TERM; cat; sleep 1000");
    syscall(SYS_pidfd_send_signal, guard_fd, SIGSTOP, NULL, 0);
    cr_expect(mp_process_end(&process));
    expect_gone("");
}

Test(guard, killed)
{
    char out[64];
    start("sleep 1000 & echo $!; wait");
    int member = open_pid(read_pid(child.stdout_fd)), server = open_pid(process.pid);
    syscall(SYS_pidfd_send_signal, guard_fd, SIGKILL, NULL, 0);
    cr_assert(test_wait_readable(mp_process_watch_fd(&process)));
    cr_expect(mp_process_poll_exit(&process));
    cr_expect_not(process.exit.known);
    expect_end(server, "the kernel ends the server");
    cr_expect(lives(member));
    cr_expect(mp_process_end(&process), "the group is ended without it");
    test_read_all(child.stdout_fd, out, sizeof(out));
    expect_end(member, "a member of the group");
    expect_gone("");
}

static const struct {
    const char *name, *path; /* '@' in front: in the folder */
    int err;                 /* 0: it runs */
} wrong_guards[] = {
    {"none", NULL, ENOENT},
    {"missing", "@/missing", ENOENT},
    {"not executable", "@/plain", EACCES},
    {"no program", "@/script", ENOEXEC},
    {"missing interpreter", "@/lost", ENOENT},
    {"another program", "/bin/true", 0},
};

static void expect_wrong(size_t row, const char *folder)
{
    char path[512] = "";
    const char *name = wrong_guards[row].name, *given = wrong_guards[row].path;
    if (given != NULL)
        snprintf(path, sizeof(path), "%s%s", given[0] == '@' ? folder : "",
                 given + (given[0] == '@'));
    struct mp_spawn_request request =
        plain_request("sleep", (char *[]){(char[]){"1000"}, NULL}, plain_environment, NULL);
    request.orphans = MCPUMP_ORPHANS_TREE;
    request.guard = given != NULL ? path : NULL;
    struct mp_spawn_error error = {MCPUMP_STAGE_NONE, 0};
    int result = mp_spawn(&request, &child, &error);
    cr_expect_eq(result, wrong_guards[row].err != 0 ? -1 : 0, "%s", name);
    cr_expect_eq(error.err, wrong_guards[row].err, "%s: %s", name, strerror(error.err));
    if (result != 0) {
        cr_expect_eq(error.stage, MCPUMP_STAGE_GUARD, "%s", name);
        return;
    }
    mp_process_init(&process, &child);
    cr_expect(test_wait_readable(mp_process_watch_fd(&process)), "%s", name);
    cr_expect(mp_process_end(&process), "%s", name);
    mp_process_done(&process);
    test_close(&child);
}

Test(guard, wrong_guards_leave_nothing)
{
    struct test_folder folder;
    test_folder_init(&folder);
    test_folder_add(&folder, "plain", "x", 0644);
    test_folder_add(&folder, "script", "x", 0755);
    test_folder_add(&folder, "lost", "#!/none/such\n", 0755);
    /* What a failed guard has started would become our child. */
    cr_assert_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    int fds = test_count_fds();
    for (size_t i = 0; i < LENGTH(wrong_guards); i++) {
        expect_wrong(i, folder.path);
        cr_expect_eq(test_count_fds(), fds, "%s", wrong_guards[i].name);
        if (wrong_guards[i].err != 0)
            cr_expect(waitid(P_ALL, 0, NULL, WEXITED | WNOHANG) == -1 && errno == ECHILD, "%s",
                      wrong_guards[i].name);
    }
    test_folder_done(&folder);
}

/* -- a host that is killed */

struct host {
    pid_t pid;
    pid_t server_pid;
    int server; /* a pidfd */
    int guard;  /* a pidfd, -1: none */
    int out;    /* stdout of the server */
    pid_t keeper;
};

struct host_report {
    pid_t server, child, keeper;
};

static pid_t only_child(void)
{
    int pid = 0;
    FILE *children = fopen("/proc/thread-self/children", "re");
    if (children == NULL || fscanf(children, "%d", &pid) != 1)
        _exit(1);
    fclose(children);
    return pid;
}

/* In the forked child, which must not use Criterion. What the server writes goes to the test. */
static _Noreturn void run_host(int report_fd, mcpump_orphans orphans, const char *script,
                               bool has_keeper)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* not to outlive a test that failed */
    struct mp_spawn_request request =
        plain_request("sh", (char *const[]){(char[]){"-c"}, (char *)(uintptr_t)script, NULL},
                      plain_environment, NULL);
    request.orphans = orphans;
    request.stdin_grace_ms = request.term_grace_ms = GRACE_MS;
    struct mp_spawned spawned;
    struct mp_spawn_error error;
    if (mp_spawn(&request, &spawned, &error) != 0)
        _exit(1);
    struct host_report report = {spawned.pid, only_child(), 0};
    if (has_keeper) {
        report.keeper = fork();
        if (report.keeper == 0)
            alarm(120);
        while (report.keeper == 0)
            pause();
    }
    if (write(report_fd, &report, sizeof(report)) < 0)
        _exit(1);
    for (;;) {
        char byte;
        if (poll(&(struct pollfd){spawned.stdout_fd, POLLIN, 0}, 1, -1) < 0 ||
            read(spawned.stdout_fd, &byte, 1) != 1 || write(report_fd, &byte, 1) != 1)
            pause();
    }
}

static struct host start_host(mcpump_orphans orphans, const char *script, bool has_keeper)
{
    int ends[2];
    struct host_report report;
    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    test_guard_path();
    struct host host = {.pid = fork(), .guard = -1, .out = ends[0]};
    if (host.pid == 0)
        run_host(ends[1], orphans, script, has_keeper);
    close(ends[1]);
    cr_assert_eq(read(host.out, &report, sizeof(report)), sizeof(report));
    host.server_pid = report.server;
    host.server = open_pid(report.server);
    if (orphans == MCPUMP_ORPHANS_TREE)
        host.guard = open_pid(report.child);
    host.keeper = report.keeper;
    return host;
}

static void kill_host(const struct host *host)
{
    kill(host->pid, SIGKILL);
    cr_assert_eq(waitpid(host->pid, NULL, 0), host->pid);
}

Test(guard, ends_all_when_the_host_is_killed)
{
    for (size_t i = 0; i < LENGTH(trees); i++) {
        struct host host = start_host(MCPUMP_ORPHANS_TREE, trees[i].script, false);
        int last = open_pid(read_pid(host.out));
        kill_host(&host);
        expect_end(host.guard, trees[i].name);
        cr_expect_not(lives(host.server), "%s", trees[i].name);
        cr_expect_not(lives(last), "%s", trees[i].name);
        expect_end(host.server, trees[i].name);
        expect_end(last, trees[i].name);
        close(host.out);
    }
}

/* A fork of the host that lives on holds stdin and socket open. */
Test(guard, is_not_misled_by_copies_of_its_socket)
{
    struct host host = start_host(MCPUMP_ORPHANS_TREE, "echo $$; cat; sleep 1000", true);
    read_pid(host.out);
    int keeper = open_pid(host.keeper);
    kill_host(&host);
    expect_end(host.guard, "guard");
    expect_end(host.server, "server");
    cr_expect(lives(keeper));
    kill(host.keeper, SIGKILL);
    expect_end(keeper, "keeper");
    close(host.out);
}

/* The server takes its time after the end of its stdin, and is given it. */
Test(guard, gives_the_graces)
{
    struct host host =
        start_host(MCPUMP_ORPHANS_TREE,
                   "trap 'exit 0' TERM; echo $$; cat; while :; do sleep 0.01; done", false);
    read_pid(host.out);
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    kill_host(&host);
    cr_expect(test_wait_readable(host.server));
    clock_gettime(CLOCK_MONOTONIC, &after);
    int64_t took_ms =
        (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000;
    cr_expect_geq(took_ms, GRACE_MS - 1, "%lld ms", (long long)took_ms);
    expect_end(host.guard, "guard");
    expect_end(host.server, "server");
    close(host.out);
}

Test(guard, without_one_the_kernel_ends_the_leader)
{
    static const mcpump_orphans policies[] = {MCPUMP_ORPHANS_DEFAULT, MCPUMP_ORPHANS_LEADER};
    for (size_t i = 0; i < LENGTH(policies); i++) {
        struct host host = start_host(
            policies[i], "trap '' TERM; sh -c 'echo $$; exec sleep 1000' & while :; do wait; done",
            false);
        int member = open_pid(read_pid(host.out));
        kill_host(&host);
        cr_expect(test_wait_readable(host.server));
        cr_expect(lives(member), "its children are out of reach");
        syscall(SYS_pidfd_send_signal, member, SIGKILL, NULL, 0);
        expect_end(member, "member");
        expect_end(host.server, "leader");
        close(host.out);
    }
}

static bool runs(pid_t pid, const char *wanted)
{
    char name[32];
    for (time_t until = time(NULL) + 30; time(NULL) < until; sched_yield()) {
        read_file(pid, "comm", name, sizeof(name));
        if (strcmp(name, wanted) == 0)
            return true;
    }
    return false;
}

Test(guard, with_no_policy_the_leader_lives_on)
{
    struct host host = start_host(MCPUMP_ORPHANS_NONE, "cat; exec sleep 1000", false);
    kill_host(&host);
    cr_expect(runs(host.server_pid, "sleep\n"), "it has seen the end of its stdin");
    cr_expect(lives(host.server));
    syscall(SYS_pidfd_send_signal, host.server, SIGKILL, NULL, 0);
    expect_end(host.server, "leader");
    close(host.out);
}
