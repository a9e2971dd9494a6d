/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hosts of every kind: what they do with their fds, signals, limits and forks costs us nothing, and
 * we change nothing of theirs. Criterion runs each test in a process of its own, which may be
 * spoiled. Hosts that ignore SIGCHLD or reap everything are in death.c, those that fork in fork.c.
 */
#include "raw.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A whole life; the call is large enough for the writer thread to have its part. */
static void live(const mcpump_transport_options *options, const char *name)
{
    static char params[300 * 1024];
    snprintf(params, sizeof(params), "{\"text\":\"%*s\"}", 250 * 1024, "");
    mcpump_transport *transport = raw_open(options);
    raw_expect(transport, name, "test/echo", "{\"a\":1}", "{\"a\":1}");
    raw_expect(transport, name, "test/stderr", "{\"text\":\"words\"}", "{}");
    raw_expect(transport, name, "test/echo", params, params);
    mcpump_failure_free(raw_times_out(transport, name, "test/drop", "{}", 1));
    mcpump_transport_free(transport);
}

/* -- a kernel that lacks a system call, for this process and its children */

static bool deny(long number)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {LENGTH(filter), filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* -- signals */

/* Of this thread; all of it is filled in, so that two can be compared as bytes. */
static sigset_t current_mask(void)
{
    sigset_t mask;
    memset(&mask, 0, sizeof(mask));
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    return mask;
}

static bool is_pending(int number)
{
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, number) == 1;
}

/* First with SIGPIPE at its default, then blocked with one of the host's that waits. */
static void expect_no_sigpipe(const char *name)
{
    sigset_t sigpipe, before = current_mask();
    signal(SIGPIPE, SIG_DFL);
    raw_write_to_closed_stdin(name);
    cr_expect_not(is_pending(SIGPIPE), "%s: a signal was left", name);
    sigemptyset(&sigpipe);
    sigaddset(&sigpipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &sigpipe, NULL);
    raw_write_to_closed_stdin(name);
    cr_expect_not(is_pending(SIGPIPE), "%s: a signal was left", name);
    raise(SIGPIPE);
    raw_write_to_closed_stdin(name);
    cr_expect(is_pending(SIGPIPE), "%s: the host's signal was taken", name);
    cr_expect_eq(sigtimedwait(&sigpipe, NULL, &(struct timespec){0, 0}), SIGPIPE);
    sigset_t after = current_mask();
    cr_expect_eq(sigismember(&after, SIGPIPE), 1, "%s: it is not blocked any more", name);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

TIDY_TEST(a_broken_pipe_raises_nothing)
{
    expect_no_sigpipe("as the kernel can");
}

/* What a kernel before 6.18 comes to. */
TIDY_TEST(a_broken_pipe_raises_nothing_on_an_older_kernel)
{
    if (!deny(SYS_pwritev2))
        cr_skip("no seccomp");
    expect_no_sigpipe("without the flag");
}

TIDY_TEST(all_signals_blocked_in_the_calling_thread)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    sigset_t before = current_mask(); /* without those that cannot be blocked */
    mcpump_transport_options options = raw_options(STRINGS("--ignore-eof"));
    options.stdin_grace_ms = 50;
    live(&options, "blocked"); /* SIGTERM has to end it */
    sigset_t after = current_mask();
    cr_expect_eq(memcmp(&before, &after, sizeof(before)), 0);
}

/* -- fds */

/* Each of the eight sets of closed ones. */
TIDY_TEST(fds_0_to_2_closed)
{
    mcpump_transport_options options = raw_options(NO_STRINGS);
    int kept[3];
    for (int fd = 0; fd < 3; fd++)
        kept[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 10);
    for (int set = 0; set < 8; set++) {
        options.stderr_sink = set % 2 == 0 ? MCPUMP_STDERR_INHERIT : MCPUMP_STDERR_FILE;
        options.stderr_file = "/dev/null";
        for (int fd = 0; fd < 3; fd++) {
            if (set & 1 << fd)
                close(fd);
        }
        mcpump_transport *transport = raw_open(&options);
        for (int fd = 0; fd < 3; fd++)
            cr_expect_eq(fcntl(fd, F_GETFD) < 0, (set & 1 << fd) != 0, "set %d: fd %d", set, fd);
        mcpump_transport_free(transport);
        live(&options, "closed fds");
        for (int fd = 0; fd < 3; fd++)
            cr_assert_eq(dup2(kept[fd], fd), fd);
    }
    for (int fd = 0; fd < 3; fd++)
        close(kept[fd]);
}

/* Not close-on-exec, as a careless host has them; the server has three. */
static void live_with_fds(int count, const char *name)
{
    int *fds = calloc((size_t)count, sizeof(*fds));
    for (int i = 0; i < count; i++)
        cr_assert_geq(fds[i] = open("/dev/null", O_RDONLY), 0, "%s", name);
    mcpump_transport_options options = raw_options(NO_STRINGS);
    mcpump_transport *transport = raw_open(&options);
    raw_expect(transport, name, "test/echo", "{}", "{}");
    char path[64];
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)mcpump_transport_pid(transport),
                 fds[i]);
        if (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            cr_expect(false, "%s: the server has fd %d", name, fds[i]);
    }
    mcpump_transport_free(transport);
    live(&options, name);
    for (int i = 0; i < count; i++)
        close(fds[i]);
    free(fds);
}

/* As far as we may, up to what is wanted. */
static void raise_limit(rlim_t wanted)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    struct rlimit high = {wanted, wanted > limit.rlim_max ? wanted : limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &high) == 0)
        return;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

TIDY_TEST(thousands_of_fds_and_a_limit_of_a_million)
{
    raise_limit(1000000);
    live_with_fds(5000, "thousands");
}

/* Before 5.9 they are closed one by one, out of /proc. */
TIDY_TEST(thousands_of_fds_on_an_older_kernel)
{
    raise_limit(1000000);
    if (!deny(SYS_close_range))
        cr_skip("no seccomp");
    live_with_fds(2000, "thousands, without close_range");
}

/* The lowest fd that is free, with all below it in use. */
static int first_free_fd(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(fd);
    return fd;
}

static bool is_refusal(mcpump_err err, const mcpump_failure *failure, int sys_errno)
{
    return (err == MCPUMP_ERR_SPAWN || err == MCPUMP_ERR_SYSTEM) &&
           mcpump_failure_errno(failure) == sys_errno;
}

/* With so many fds to be had; whether that was enough. */
static bool open_with_fds(const mcpump_transport_options *options, int count)
{
    struct rlimit before, low;
    mcpump_transport *transport = NULL;
    mcpump_failure *failure = NULL;
    struct test_resources resources = test_resources();
    getrlimit(RLIMIT_NOFILE, &before);
    low = (struct rlimit){(rlim_t)(first_free_fd() + count), before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &low);
    mcpump_err err = mcpump_transport_new(options, &transport, &failure);
    bool is_made = err == MCPUMP_OK;
    if (is_made)
        err = mcpump_transport_open(transport, &failure);
    setrlimit(RLIMIT_NOFILE, &before);
    cr_expect(err == MCPUMP_OK || is_refusal(err, failure, EMFILE), "%d fds: %s", count,
              mcpump_failure_message(failure));
    if (err != MCPUMP_OK)
        test_expect_part(mcpump_failure_message(failure), "Too many open files", "EMFILE");
    mcpump_failure_free(failure);
    if (is_made && err != MCPUMP_OK) {
        cr_expect_not(test_has_children(), "%d fds: a child is left", count);
        cr_assert_eq(mcpump_transport_open(transport, NULL), MCPUMP_OK, "%d fds", count);
    }
    if (is_made)
        raw_expect(transport, "few fds", "test/echo", "{}", "{}");
    mcpump_transport_free(transport);
    EXPECT_NOTHING_LEFT(resources, "few fds");
    return err == MCPUMP_OK;
}

/* One after the other is missing. */
TIDY_TEST(no_fd_is_left)
{
    mcpump_transport_options options = raw_options(NO_STRINGS);
    options.stderr_sink = MCPUMP_STDERR_FILE;
    options.stderr_file = "/dev/null";
    static const mcpump_orphans policies[] = {MCPUMP_ORPHANS_DEFAULT, MCPUMP_ORPHANS_TREE};
    options.guard_path = getenv("MCPUMP_GUARD");
    while (fcntl(first_free_fd() + 1, F_GETFD) >= 0) /* close the gaps */
        cr_assert_geq(fcntl(0, F_DUPFD_CLOEXEC, 0), 0);
    for (size_t i = 0; i < (options.guard_path != NULL ? LENGTH(policies) : 1); i++) {
        int count = 0;
        options.orphans = policies[i];
        while (!open_with_fds(&options, count) && count < 64)
            count++;
        cr_expect_geq(count, 10, "%d were enough", count);
        cr_expect_lt(count, 64, "not even 64 are enough");
    }
}

/* -- processes and threads */

/* Root may have any number of them. */
static bool become_nobody(void)
{
    const uid_t nobody = 65534;
    return geteuid() != 0 ||
           (setgroups(0, NULL) == 0 && setresgid(nobody, nobody, nobody) == 0 &&
            setresuid(nobody, nobody, nobody) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0);
}

/* cat, since nobody may be unable to reach the fake server. */
static bool open_with_processes(rlim_t count)
{
    struct rlimit before, low;
    mcpump_transport_options options = raw_options(NO_STRINGS);
    mcpump_transport *transport = NULL;
    mcpump_failure *failure = NULL;
    options.command = "cat";
    cr_assert_eq(mcpump_transport_new(&options, &transport, NULL), MCPUMP_OK);
    getrlimit(RLIMIT_NPROC, &before);
    low = (struct rlimit){count, before.rlim_max};
    setrlimit(RLIMIT_NPROC, &low);
    mcpump_err err = mcpump_transport_open(transport, &failure);
    setrlimit(RLIMIT_NPROC, &before);
    cr_expect(err == MCPUMP_OK || is_refusal(err, failure, EAGAIN), "%d: %s", (int)count,
              mcpump_failure_message(failure));
    if (err != MCPUMP_OK) {
        mcpump_stage stage = mcpump_failure_stage(failure);
        cr_expect(stage == MCPUMP_STAGE_FORK || stage == MCPUMP_STAGE_THREADS, "%d: %s", (int)count,
                  mcpump_failure_message(failure));
        cr_expect_not(test_has_children(), "%d: a child is left", (int)count);
        cr_assert_eq(mcpump_transport_open(transport, NULL), MCPUMP_OK, "%d: again", (int)count);
    }
    mcpump_failure_free(failure);
    mcpump_transport_free(transport);
    return err == MCPUMP_OK;
}

/* Others of that user are counted too, so that the first that succeeds may be any number. */
TIDY_TEST(no_process_is_left)
{
    if (!become_nobody())
        cr_skip("cannot become nobody");
    rlim_t count = 1;
    int refused = 0;
    for (; !open_with_processes(count) && count<100000; count += refused> 16 ? 100 : 1)
        refused++;
    cr_expect_geq(refused, 3, "%d", refused); /* of three threads and a process */
}

/* -- what is the process's, and not ours */

struct process_state {
    struct sigaction actions[65];
    sigset_t mask;
    struct rlimit limits[RLIM_NLIMITS];
    mode_t umask;
    int nice, pdeathsig, subreaper, dumpable;
    pid_t group, session;
    char cwd[1024];
    char **environment;
    uint64_t environment_hash;
};

static uint64_t hash_environment(void)
{
    uint64_t hash = 14695981039346656037U;
    for (char **entry = environ; *entry != NULL; entry++) {
        for (const char *at = *entry; *at != '\0'; at++)
            hash = (hash ^ (unsigned char)*at) * 1099511628211U;
    }
    return hash;
}

static void take_state(struct process_state *state)
{
    memset(state, 0, sizeof(*state));
    for (int number = 1; number < (int)LENGTH(state->actions); number++)
        sigaction(number, NULL, &state->actions[number]);
    state->mask = current_mask();
    for (int i = 0; i < RLIM_NLIMITS; i++)
        getrlimit((__rlimit_resource_t)i, &state->limits[i]);
    state->umask = umask(0);
    umask(state->umask);
    state->nice = getpriority(PRIO_PROCESS, 0);
    prctl(PR_GET_PDEATHSIG, &state->pdeathsig);
    prctl(PR_GET_CHILD_SUBREAPER, &state->subreaper);
    state->dumpable = prctl(PR_GET_DUMPABLE);
    state->group = getpgrp();
    state->session = getsid(0);
    cr_assert_not_null(getcwd(state->cwd, sizeof(state->cwd)));
    state->environment = environ;
    state->environment_hash = hash_environment();
}

static void expect_same_state(const struct process_state *before, const char *name)
{
    struct process_state now;
    take_state(&now);
    for (int number = 1; number < (int)LENGTH(now.actions); number++)
        cr_expect(now.actions[number].sa_handler == before->actions[number].sa_handler &&
                      now.actions[number].sa_flags == before->actions[number].sa_flags,
                  "%s: signal %d", name, number);
    cr_expect_eq(memcmp(&now.mask, &before->mask, sizeof(now.mask)), 0, "%s: mask", name);
    cr_expect_eq(memcmp(now.limits, before->limits, sizeof(now.limits)), 0, "%s: limits", name);
    cr_expect_eq(now.umask, before->umask, "%s: umask", name);
    cr_expect_eq(now.nice, before->nice, "%s: niceness", name);
    cr_expect_eq(now.pdeathsig, before->pdeathsig, "%s: parent-death signal", name);
    cr_expect_eq(now.subreaper, before->subreaper, "%s: subreaper", name);
    cr_expect_eq(now.dumpable, before->dumpable, "%s: dumpable", name);
    cr_expect_eq(now.group, before->group, "%s: process group", name);
    cr_expect_eq(now.session, before->session, "%s: session", name);
    cr_expect_str_eq(now.cwd, before->cwd, "%s: working directory", name);
    cr_expect(now.environment == before->environment, "%s: environ", name);
    cr_expect_eq(now.environment_hash, before->environment_hash, "%s: environment", name);
}

static void on_signal(int number)
{
    (void)number;
}

/* A host with everything other than usual. */
static void be_peculiar(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_NODEFER};
    sigset_t some;
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGCHLD, &action, NULL);
    signal(SIGHUP, SIG_IGN);
    sigemptyset(&some);
    sigaddset(&some, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &some, NULL);
    umask(0123);
    setenv("PECULIAR", "1", 1);
    setpriority(PRIO_PROCESS, 0, 3);
    cr_assert_eq(chdir("/tmp"), 0);
}

TIDY_TEST(nothing_of_the_process_is_changed)
{
    static const mcpump_orphans policies[] = {MCPUMP_ORPHANS_DEFAULT, MCPUMP_ORPHANS_NONE,
                                              MCPUMP_ORPHANS_LEADER, MCPUMP_ORPHANS_TREE};
    const mcpump_rlimit limits[] = {{RLIMIT_CORE, 0, 0}, {RLIMIT_NOFILE, 100, 200}};
    mcpump_transport_options options = raw_options(NO_STRINGS);
    struct process_state before;
    options.cwd = "/";
    options.env = STRINGS("PECULIAR=2");
    options.nice = 5;
    options.rlimits = limits;
    options.rlimit_count = LENGTH(limits);
    options.new_session = true;
    options.guard_path = getenv("MCPUMP_GUARD");
    be_peculiar();
    take_state(&before);
    for (size_t i = 0; i < LENGTH(policies); i++) {
        if (policies[i] == MCPUMP_ORPHANS_TREE && options.guard_path == NULL)
            continue;
        options.orphans = policies[i];
        mcpump_transport *transport = raw_open(&options);
        raw_expect(transport, "during", "test/echo", "{}", "{}");
        expect_same_state(&before, "during");
        mcpump_transport_free(transport);
        live(&options, "a life");
        expect_same_state(&before, "after");
    }
    options.command = "no-such-program";
    mcpump_transport *transport = NULL;
    cr_assert_eq(mcpump_transport_new(&options, &transport, NULL), MCPUMP_OK);
    cr_expect_eq(mcpump_transport_open(transport, NULL), MCPUMP_ERR_SPAWN);
    mcpump_transport_free(transport);
    expect_same_state(&before, "after a failure");
}
