/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parent's side of a spawn: make everything ready, clone, read the child's report. It owns all
 * that it made until it hands it over; any thread, no lock.
 */
#include "process/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "process/command.h"
#include "process/environment.h"
#include "process/pipe.h"
#include "process/spawn_child.h"

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x00001000
#endif

/* ThreadSanitizer, if the host is built with it, takes every clone for a fork and gives up when
 * there are threads. It does not wrap glibc's other name for the function. */
#ifdef __GLIBC__
int __clone(int (*run)(void *), void *stack_top, int flags, void *arg, ...);
#else
#define __clone clone
#endif

#define STACK_BYTES (64 * 1024) /* many times what the child needs */

/* The first three have the numbers of the child's fds. */
enum { PIPE_STDIN, PIPE_STDOUT, PIPE_STDERR, PIPE_REPORT, PIPES };

struct spawn {
    struct mp_spawn_child child;
    char *path;
    const char **argv;
    char *stack; /* NULL: none */
    int ours[PIPES];
    int theirs[PIPES];
    pid_t pid;
    int pidfd;
};

static const struct mp_spawn_error no_error = {MCPUMP_STAGE_NONE, 0};

static struct mp_spawn_error error_at(mcpump_stage stage, int err)
{
    return err == 0 ? no_error : (struct mp_spawn_error){stage, err};
}

static void spawn_init(struct spawn *spawn)
{
    memset(spawn, 0, sizeof(*spawn));
    for (int i = 0; i < PIPES; i++)
        spawn->ours[i] = spawn->theirs[i] = -1;
    spawn->pid = -1;
    spawn->pidfd = -1;
}

static void spawn_done(struct spawn *spawn)
{
    for (int i = 0; i < PIPES; i++) {
        mp_fd_close(&spawn->ours[i]);
        mp_fd_close(&spawn->theirs[i]);
    }
    mp_fd_close(&spawn->pidfd);
    if (spawn->stack != NULL)
        munmap(spawn->stack, STACK_BYTES);
    free(spawn->argv);
    free(spawn->path);
}

/* The child's chdir decides; this look beforehand is for relative commands, which would be missed
 * for want of their directory. */
static int directory_error(const char *cwd)
{
    struct stat status;
    if (cwd == NULL)
        return 0;
    if (stat(cwd, &status) != 0)
        return errno;
    if (!S_ISDIR(status.st_mode))
        return ENOTDIR;
    return faccessat(AT_FDCWD, cwd, X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

static const char **argv_new(const struct mp_spawn_request *request)
{
    size_t args = 0;
    while (request->args[args] != NULL)
        args++;
    const char **argv = calloc(args + 2, sizeof(*argv));
    if (argv == NULL)
        return NULL;
    argv[0] = request->command;
    for (size_t i = 0; i < args; i++)
        argv[i + 1] = request->args[i];
    return argv;
}

static int make_pipes(struct spawn *spawn)
{
    for (int i = 0; i < PIPES; i++) {
        int ends[2];
        int err = mp_pipe(ends);
        if (err != 0)
            return err;
        int our_end = i == PIPE_STDIN ? MP_PIPE_WRITE : MP_PIPE_READ;
        spawn->ours[i] = ends[our_end];
        spawn->theirs[i] = ends[!our_end];
        /* The ends are two open files: the child's stays blocking. */
        err = mp_pipe_set_nonblocking(spawn->ours[i]);
        if (err != 0)
            return err;
    }
    return 0;
}

static int make_stack(struct spawn *spawn)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE;
    void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (stack == MAP_FAILED)
        return errno;
    spawn->stack = stack;
    return 0;
}

static struct mp_spawn_error prepare(struct spawn *spawn, const struct mp_spawn_request *request)
{
    int err = directory_error(request->cwd);
    if (err != 0)
        return error_at(MCPUMP_STAGE_DIRECTORY, err);
    err = mp_command_find(request->command, mp_environment_get(request->environment, "PATH"),
                          request->cwd, &spawn->path);
    if (err != 0)
        return error_at(MCPUMP_STAGE_LOOKUP, err);
    err = make_pipes(spawn);
    if (err != 0)
        return error_at(MCPUMP_STAGE_PIPES, err);
    spawn->argv = argv_new(request);
    err = spawn->argv != NULL ? make_stack(spawn) : ENOMEM;
    if (err != 0)
        return error_at(MCPUMP_STAGE_FORK, err);

    spawn->child = (struct mp_spawn_child){
        .path = spawn->path,
        .argv = (char *const *)(uintptr_t)spawn->argv, /* execve does not write to them */
        .environment = request->environment,
        .cwd = request->cwd,
        .stdio = {spawn->theirs[0], spawn->theirs[1], spawn->theirs[2]},
        .report_fd = spawn->theirs[PIPE_REPORT],
    };
    return no_error;
}

/*
 * No signal may be taken while the child lives in our memory: a handler of the host would run in
 * the child too. By system call, because the C library leaves its own signals (cancellation,
 * setuid) out of every mask.
 */
static int run_child(struct spawn *spawn)
{
    unsigned char all[MP_KERNEL_SIGSET_BYTES], old[MP_KERNEL_SIGSET_BYTES];
    memset(all, 0xFF, sizeof(all));
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, all, old, sizeof(all));
    spawn->pid =
        __clone(mp_spawn_child_run, spawn->stack + STACK_BYTES,
                CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &spawn->child, &spawn->pidfd);
    int err = spawn->pid < 0 ? errno : 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, old, NULL, sizeof(old));
    return err;
}

/*
 * Because of CLONE_VFORK the child has run the command, or ended, before we are here: what it had
 * to report is in the pipe, and a read that does not block is the last word, even if another thread
 * of the host has just forked and keeps a copy of the write end. Under valgrind and other emulators
 * the clone is a plain fork: our memory does not show the child's flag, and we wait for the report
 * or the end of the pipe.
 */
static struct mp_spawn_error read_report(struct spawn *spawn)
{
    mp_fd_close(&spawn->theirs[PIPE_REPORT]);
    struct pollfd report = {.fd = spawn->ours[PIPE_REPORT], .events = POLLIN};
    while (!spawn->child.shared && poll(&report, 1, -1) < 0 && errno == EINTR) {
    }
    struct mp_spawn_error error;
    return read(report.fd, &error, sizeof(error)) == sizeof(error) ? error : no_error;
}

static void reap(pid_t pid)
{
    siginfo_t info;
    while (waitid(P_PID, (id_t)pid, &info, WEXITED) != 0 && errno == EINTR) {
    }
}

static struct mp_spawn_error start(struct spawn *spawn)
{
    int err = run_child(spawn);
    if (err != 0)
        return error_at(MCPUMP_STAGE_FORK, err);
    struct mp_spawn_error error = read_report(spawn);
    if (error.stage != MCPUMP_STAGE_NONE) {
        reap(spawn->pid);
        return error;
    }
    errno = ENOSYS; /* a kernel that ignored CLONE_PIDFD */
    spawn->pidfd = mp_fd_above_stdio(spawn->pidfd);
    if (spawn->pidfd < 0) {
        error = error_at(MCPUMP_STAGE_FORK, errno);
        kill(spawn->pid, SIGKILL);
        reap(spawn->pid);
    }
    return error;
}

static void hand_over(struct spawn *spawn, struct mp_spawned *ret_spawned)
{
    *ret_spawned = (struct mp_spawned){
        .pid = spawn->pid,
        .pidfd = spawn->pidfd,
        .stdin_fd = spawn->ours[PIPE_STDIN],
        .stdout_fd = spawn->ours[PIPE_STDOUT],
        .stderr_fd = spawn->ours[PIPE_STDERR],
    };
    spawn->pidfd = -1;
    for (int i = PIPE_STDIN; i <= PIPE_STDERR; i++)
        spawn->ours[i] = -1;
}

int mp_spawn(const struct mp_spawn_request *request, struct mp_spawned *ret_spawned,
             struct mp_spawn_error *ret_error)
{
    /* A thread that is cancelled half-way would leave a process and its fds behind. */
    int cancel_state, saved = errno;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    struct spawn spawn;
    spawn_init(&spawn);
    struct mp_spawn_error error = prepare(&spawn, request);
    if (error.stage == MCPUMP_STAGE_NONE)
        error = start(&spawn);
    bool ok = error.stage == MCPUMP_STAGE_NONE;
    if (ok)
        hand_over(&spawn, ret_spawned);
    else
        *ret_error = error;
    spawn_done(&spawn);
    pthread_setcancelstate(cancel_state, NULL);
    errno = saved;
    return ok ? 0 : -1;
}
