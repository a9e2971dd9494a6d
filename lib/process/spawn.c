/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parent's side of a spawn: make everything ready, clone, read the child's report. It owns all
 * that it made until it hands it over; any thread, no lock.
 */
#include "process/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "process/command.h"
#include "process/environment.h"
#include "process/guard.h"
#include "process/pipe.h"
#include "process/spawn_child.h"

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x00001000
#endif

#define STACK_BYTES (8 * 1024) /* a child needs a quarter of it, a sanitized one too */
#define STACKS      2          /* of the command and of its guard */
#define GRACE_BYTES 24         /* a number of 64 bits as text */

/* The first three have the numbers of the child's fds. */
enum { PIPE_STDIN, PIPE_STDOUT, PIPE_STDERR, PIPE_REPORT, PIPES };

struct spawn {
    struct mp_spawn_guarded plan; /* without a guard, its command alone */
    char *path;
    const char **argv;
    char *stacks; /* of the heap, which the next spawn uses again; an own mapping costs more */
    int ours[PIPES];
    int theirs[PIPES];
    pid_t pid;       /* of the command */
    pid_t child_pid; /* of our child, the same or its guard */
    int pidfd;       /* of our child */
    /* -- with a guard */
    bool is_guarded;
    struct mp_guard_fds guard;
    const char *guard_argv[5];
    char guard_numbers[MP_PID_TEXT_BYTES + 2 * GRACE_BYTES];
};

/* What the first child has shown: that its memory is ours, so that it needs no pipe to report.
 * Relaxed: it guards no data; who sees it late makes one pipe more. */
static atomic_bool memory_is_shared;

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
    spawn->guard = MP_GUARD_FDS_NONE;
    spawn->pid = spawn->child_pid = -1;
    spawn->pidfd = -1;
}

static void spawn_done(struct spawn *spawn)
{
    for (int i = 0; i < PIPES; i++) {
        mp_fd_close(&spawn->ours[i]);
        mp_fd_close(&spawn->theirs[i]);
    }
    mp_guard_fds_done(&spawn->guard);
    mp_fd_close(&spawn->pidfd);
    free(spawn->stacks);
    free(spawn->argv);
    free(spawn->path);
}

/* The child's chdir decides; this look is for commands that are missed for want of their directory.
 */
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
    bool is_shared = atomic_load_explicit(&memory_is_shared, memory_order_relaxed);
    int pipes = is_shared ? PIPE_REPORT : PIPES;
    for (int i = 0; i < pipes; i++) {
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

/* execve does not write to them. */
static char *const *exec_list(const char **list)
{
    return (char *const *)(uintptr_t)list;
}

static void plan_command(struct spawn *spawn, const struct mp_spawn_request *request)
{
    spawn->plan.command = (struct mp_spawn_child){
        .path = spawn->path,
        .argv = exec_list(spawn->argv),
        .environment = request->environment,
        .cwd = request->cwd,
        .stdio = {spawn->theirs[0], spawn->theirs[1], spawn->theirs[2]},
        .report_fd = spawn->theirs[PIPE_REPORT],
        .new_session = request->new_session,
        .nice = request->nice,
        .rlimits = request->rlimits,
        .rlimit_count = request->rlimit_count,
        .orphans = request->orphans,
        .parent = getpid(),
    };
}

/* The look at the file is made before anything runs; the exec decides, when the command runs. */
static struct mp_spawn_error plan_guard(struct spawn *spawn, const struct mp_spawn_request *request)
{
    if (request->guard == NULL || access(request->guard, X_OK) != 0)
        return error_at(MCPUMP_STAGE_GUARD, request->guard != NULL ? errno : ENOENT);
    int err = mp_guard_fds_init(&spawn->guard);
    if (err != 0)
        return error_at(MCPUMP_STAGE_GUARD, err);
    char *pid = spawn->guard_numbers, *stdin_grace = pid + MP_PID_TEXT_BYTES,
         *term_grace = stdin_grace + GRACE_BYTES;
    snprintf(stdin_grace, GRACE_BYTES, "%" PRId64, request->stdin_grace_ms);
    snprintf(term_grace, GRACE_BYTES, "%" PRId64, request->term_grace_ms);
    const char *argv[] = {"mcpump-guard", pid, stdin_grace, term_grace, NULL};
    memcpy(spawn->guard_argv, argv, sizeof(argv));

    struct mp_spawn_guarded *plan = &spawn->plan;
    plan->command_stack = spawn->stacks + STACK_BYTES;
    plan->path = request->guard;
    plan->argv = exec_list(spawn->guard_argv);
    plan->command_pid = pid;
    plan->stdio[STDIN_FILENO] = spawn->guard.theirs;
    plan->stdio[STDOUT_FILENO] = spawn->guard.theirs;
    plan->stdio[STDERR_FILENO] = spawn->guard.host;
    spawn->is_guarded = true;
    return no_error;
}

static struct mp_spawn_error find_command(const struct mp_spawn_request *request, char **ret_path)
{
    int err = mp_command_find(request->command, mp_environment_get(request->environment, "PATH"),
                              request->cwd, ret_path);
    int directory_err = err != 0 ? directory_error(request->cwd) : 0;
    return directory_err != 0 ? error_at(MCPUMP_STAGE_DIRECTORY, directory_err)
                              : error_at(MCPUMP_STAGE_LOOKUP, err);
}

/* An exec says only that it failed: whether it is for want of a file that can be run is asked now.
 * A guard that cannot be had is a lesser reason, too. */
static struct mp_spawn_error explain(const struct mp_spawn_request *request,
                                     struct mp_spawn_error error)
{
    char *path = NULL;
    if (error.stage != MCPUMP_STAGE_EXEC && error.stage != MCPUMP_STAGE_GUARD)
        return error;
    struct mp_spawn_error found = find_command(request, &path);
    free(path);
    return found.stage != MCPUMP_STAGE_NONE ? found : error;
}

static struct mp_spawn_error prepare(struct spawn *spawn, const struct mp_spawn_request *request)
{
    int err = mp_command_path(request->command, request->cwd, &spawn->path);
    struct mp_spawn_error error = error_at(MCPUMP_STAGE_LOOKUP, err);
    if (err == 0 && spawn->path == NULL)
        error = find_command(request, &spawn->path);
    if (error.stage != MCPUMP_STAGE_NONE)
        return error;
    err = make_pipes(spawn);
    if (err != 0)
        return error_at(MCPUMP_STAGE_PIPES, err);
    spawn->argv = argv_new(request);
    spawn->stacks = malloc(STACKS * STACK_BYTES);
    if (spawn->argv == NULL || spawn->stacks == NULL)
        return error_at(MCPUMP_STAGE_FORK, ENOMEM);
    plan_command(spawn, request);
    return request->orphans == MCPUMP_ORPHANS_TREE ? plan_guard(spawn, request) : no_error;
}

/*
 * No signal may be taken while the child lives in our memory: a handler of the host would run in
 * the child too. By system call, because the C library leaves its own signals (cancellation,
 * setuid) out of every mask.
 */
static int run_child(struct spawn *spawn)
{
    unsigned char all[MP_KERNEL_SIGSET_BYTES], old[MP_KERNEL_SIGSET_BYTES];
    const int flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD;
    char *stack = spawn->stacks + STACKS * STACK_BYTES;
    memset(all, 0xFF, sizeof(all));
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, all, old, sizeof(all));
    if (spawn->is_guarded)
        spawn->child_pid = __clone(mp_spawn_guarded_run, stack, flags, &spawn->plan, &spawn->pidfd);
    else
        spawn->child_pid =
            __clone(mp_spawn_child_run, stack, flags, &spawn->plan.command, &spawn->pidfd);
    int err = spawn->child_pid < 0 ? errno : 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, old, NULL, sizeof(old));
    return err;
}

/* What the child has to say, until its exec or exit ends the pipe. */
static void read_reports(struct spawn *spawn)
{
    struct mp_spawn_child *command = &spawn->plan.command;
    struct pollfd pipe = {.fd = spawn->ours[PIPE_REPORT], .events = POLLIN};
    mp_fd_close(&spawn->theirs[PIPE_REPORT]);
    for (;;) {
        struct mp_spawn_report report;
        ssize_t size = read(pipe.fd, &report, sizeof(report));
        if (size == 0)
            return;
        if (size != sizeof(report))
            poll(&pipe, 1, -1);
        else if (report.pid != 0)
            spawn->plan.told_pid = report.pid;
        else if (command->told.stage == MCPUMP_STAGE_NONE)
            command->told = report.error;
    }
}

/*
 * Because of CLONE_VFORK the child has run the command, or ended, before we are here: what it had
 * to say stands in our memory. Under valgrind and other emulators the clone is a plain fork: our
 * memory does not show the child's flag, and we wait for the end of the pipe, which is there as no
 * child before has shown it. A child that was killed before it could show it has no more to say.
 */
static struct mp_spawn_error reported(struct spawn *spawn)
{
    if (spawn->plan.command.shared)
        atomic_store_explicit(&memory_is_shared, true, memory_order_relaxed);
    else if (spawn->ours[PIPE_REPORT] >= 0)
        read_reports(spawn);
    if (spawn->is_guarded)
        spawn->pid = spawn->plan.told_pid;
    return spawn->plan.command.told;
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
    if (!spawn->is_guarded)
        spawn->pid = spawn->child_pid;
    struct mp_spawn_error error = reported(spawn);
    if (error.stage == MCPUMP_STAGE_NONE && spawn->pid <= 0)
        error = error_at(MCPUMP_STAGE_GUARD, ECHILD); /* it was killed on its way */
    if (error.stage != MCPUMP_STAGE_NONE) {
        reap(spawn->child_pid);
        return error;
    }
    errno = ENOSYS; /* a kernel that ignored CLONE_PIDFD */
    spawn->pidfd = mp_fd_above_stdio(spawn->pidfd);
    if (spawn->pidfd < 0) {
        error = error_at(MCPUMP_STAGE_FORK, errno);
        kill(spawn->child_pid, SIGKILL);
        reap(spawn->child_pid);
    }
    return error;
}

/* Takes it out of those that are closed here. */
static int given(int *fd)
{
    int taken = *fd;
    *fd = -1;
    return taken;
}

static void hand_over(struct spawn *spawn, struct mp_spawned *ret_spawned)
{
    *ret_spawned = (struct mp_spawned){
        .pid = spawn->pid,
        .pidfd = given(&spawn->pidfd),
        .stdin_fd = given(&spawn->ours[PIPE_STDIN]),
        .stdout_fd = given(&spawn->ours[PIPE_STDOUT]),
        .stderr_fd = given(&spawn->ours[PIPE_STDERR]),
        .guard_fd = given(&spawn->guard.ours),
    };
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
        *ret_error = explain(request, error);
    spawn_done(&spawn);
    pthread_setcancelstate(cancel_state, NULL);
    errno = saved;
    return ok ? 0 : -1;
}
