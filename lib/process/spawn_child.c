/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between clone and exec, in the child: async-signal-safe calls only, and of those only direct
 * system calls. The memory is the parent's, all of it: the child has its own stack, but shares even
 * errno, and the C library's or a sanitizer's wrappers would note in the parent's tables what holds
 * for the child alone (a closed fd, a signal's disposition). The sanitizers must not instrument
 * this file for the same reason. The fd table and the signal table are the child's own.
 */
#include "process/spawn_child.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__clang__) && __has_attribute(disable_sanitizer_instrumentation)
#define IN_CHILD __attribute__((disable_sanitizer_instrumentation))
#else
#define IN_CHILD __attribute__((no_sanitize("address", "thread", "undefined")))
#endif

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

#define REPORT_FD     3
#define MOST_FDS      (1 << 20) /* to try one by one */
#define EXEC_FAILED   127
#define DIRENTS_BYTES 1024
#define MOST_NICE     19
#define LEAST_NICE    (-20)

struct kernel_dirent {
    uint64_t inode;
    int64_t offset;
    unsigned short size;
    unsigned char type;
    char name[];
};

IN_CHILD static _Noreturn void leave(void)
{
    for (;;)
        syscall(SYS_exit_group, EXEC_FAILED);
}

/* Of the command and its guard: the command comes first, and what goes wrong there is the reason.
 */
IN_CHILD static _Noreturn void fail(struct mp_spawn_child *child, int report_fd, mcpump_stage stage)
{
    struct mp_spawn_report report = {{stage, errno}, 0};
    if (child->told.stage == MCPUMP_STAGE_NONE)
        child->told = report.error;
    if (report_fd >= 0)
        syscall(SYS_write, report_fd, &report, sizeof(report));
    leave();
}

/* An ignored signal would stay ignored in the command, and a handler must not run here. One by one,
 * since clone3 can take back handlers only, and to ask costs as much as to set. */
IN_CHILD static void reset_signals(void)
{
    /* Larger than the kernel's struct sigaction anywhere; all zero is SIG_DFL, no flags. */
    static const unsigned long by_default[16];
    for (int signal = 1; signal <= MP_KERNEL_SIGSET_BYTES * 8; signal++)
        syscall(SYS_rt_sigaction, signal, by_default, NULL, (size_t)MP_KERNEL_SIGSET_BYTES);
}

IN_CHILD static void unblock_signals(void)
{
    static const unsigned char none[MP_KERNEL_SIGSET_BYTES];
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, none, NULL, (size_t)MP_KERNEL_SIGSET_BYTES);
}

/* -1 for "." and "..". */
IN_CHILD static int fd_of_name(const char *name)
{
    int fd = 0;
    if (name[0] == '.')
        return -1;
    for (; *name != '\0'; name++)
        fd = fd * 10 + (*name - '0');
    return fd;
}

IN_CHILD static bool close_listed(int first)
{
    _Alignas(struct kernel_dirent) char entries[DIRENTS_BYTES];
    int directory =
        (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (directory < 0)
        return false;
    long size;
    while ((size = syscall(SYS_getdents64, directory, entries, sizeof(entries))) > 0) {
        for (long at = 0; at < size;) {
            const struct kernel_dirent *entry = (const void *)(entries + at);
            int fd = fd_of_name(entry->name);
            if (fd >= first && fd != directory)
                syscall(SYS_close, fd);
            at += entry->size;
        }
    }
    syscall(SYS_close, directory);
    return size == 0;
}

IN_CHILD static void close_up_to_limit(int first)
{
    uint64_t limit[2] = {MOST_FDS, MOST_FDS};
    syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, limit);
    for (int fd = first; fd < MOST_FDS && (uint64_t)fd < limit[0]; fd++)
        syscall(SYS_close, fd);
}

/* The host's fds that are not close-on-exec. If the exec closes them, that is after our parent has
 * been let go. A kernel before 5.11 does not mark them, one before 5.9 has no close_range, a chroot
 * may have no /proc. */
IN_CHILD static void close_from(int first)
{
    if (syscall(SYS_close_range, first, ~0U, CLOSE_RANGE_CLOEXEC) == 0 ||
        syscall(SYS_close_range, first, ~0U, 0) == 0 || close_listed(first))
        return;
    close_up_to_limit(first);
}

/* The three, then the report at the lowest place, so that one range holds all that must go. */
IN_CHILD static bool keep_only(const int stdio[3], int *report_fd)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (syscall(SYS_dup3, stdio[fd], fd, 0) < 0)
            return false;
    }
    if (*report_fd < 0) {
        close_from(REPORT_FD);
        return true;
    }
    if (*report_fd != REPORT_FD && syscall(SYS_dup3, *report_fd, REPORT_FD, O_CLOEXEC) < 0)
        return false;
    *report_fd = REPORT_FD;
    close_from(REPORT_FD + 1);
    return true;
}

IN_CHILD static bool change_nice(int by)
{
    if (by == 0)
        return true;
    /* The system call returns 20 less the niceness, so that no result is negative. */
    long now = syscall(SYS_getpriority, PRIO_PROCESS, 0);
    if (now < 0)
        return false;
    long wanted = MOST_NICE + 1 - now + by;
    if (wanted > MOST_NICE)
        wanted = MOST_NICE;
    if (wanted < LEAST_NICE)
        wanted = LEAST_NICE;
    return syscall(SYS_setpriority, PRIO_PROCESS, 0, wanted) == 0;
}

IN_CHILD static bool set_limits(const struct mp_spawn_child *child)
{
    for (size_t i = 0; i < child->rlimit_count; i++) {
        const mcpump_rlimit *given = &child->rlimits[i];
        uint64_t limit[2] = {given->soft, given->hard};
        if (syscall(SYS_prlimit64, 0, given->resource, limit, NULL) != 0)
            return false;
    }
    return true;
}

/* From here on the kernel kills us when our parent dies. If it died before, nobody will: then we
 * have another by now. A parent outside of our pid namespace is 0, dead or alive. */
IN_CHILD static bool tie_to_parent(const struct mp_spawn_child *child)
{
    if (child->orphans == MCPUMP_ORPHANS_NONE)
        return true;
    if (syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0)
        return child->orphans == MCPUMP_ORPHANS_DEFAULT;
    pid_t parent = (pid_t)syscall(SYS_getppid);
    if (parent != child->parent && parent != 0)
        leave();
    return true;
}

IN_CHILD int mp_spawn_child_run(void *arg)
{
    struct mp_spawn_child *child = arg;
    int report_fd = child->report_fd;
    child->shared = true;

    reset_signals();
    if (syscall(child->new_session ? SYS_setsid : SYS_setpgid, 0, 0) < 0)
        fail(child, report_fd, MCPUMP_STAGE_GROUP);
    if (child->cwd != NULL && syscall(SYS_chdir, child->cwd) != 0)
        fail(child, report_fd, MCPUMP_STAGE_DIRECTORY);
    if (!keep_only(child->stdio, &report_fd))
        fail(child, report_fd, MCPUMP_STAGE_STDIO);
    if (!change_nice(child->nice) || !set_limits(child) || !tie_to_parent(child))
        fail(child, report_fd, MCPUMP_STAGE_LIMITS);

    unblock_signals();
    syscall(SYS_execve, child->path, child->argv, child->environment);
    fail(child, report_fd, MCPUMP_STAGE_EXEC);
}

IN_CHILD static void put_number(char *out, pid_t number)
{
    char digits[MP_PID_TEXT_BYTES];
    int count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (count > 0)
        *out++ = digits[--count];
    *out = '\0';
}

IN_CHILD static void tell_pid(struct mp_spawn_guarded *guarded, pid_t pid)
{
    struct mp_spawn_report started = {{MCPUMP_STAGE_NONE, 0}, pid};
    guarded->told_pid = pid;
    if (guarded->command.report_fd >= 0)
        syscall(SYS_write, guarded->command.report_fd, &started, sizeof(started));
}

/*
 * We are to be the guard: first the command, from here, since the memory holds all that it needs;
 * then mcpump-guard, which keeps the child, the role of subreaper and the blocked signals, and gets
 * nothing of the command's arguments and environment. If the command failed it has said so, and the
 * guard finds no child and ends.
 */
IN_CHILD int mp_spawn_guarded_run(void *arg)
{
    static char *const no_environment[] = {NULL};
    struct mp_spawn_guarded *guarded = arg;
    struct mp_spawn_child *command = &guarded->command;
    int report_fd = command->report_fd;
    command->shared = true;

    reset_signals();
    if (syscall(SYS_setpgid, 0, 0) != 0)
        fail(command, report_fd, MCPUMP_STAGE_GROUP);
    if (syscall(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
        fail(command, report_fd, MCPUMP_STAGE_GUARD);
    command->parent = (pid_t)syscall(SYS_getpid);
    pid_t pid = __clone(mp_spawn_child_run, guarded->command_stack,
                        CLONE_VM | CLONE_VFORK | SIGCHLD, command);
    if (pid < 0)
        fail(command, report_fd, MCPUMP_STAGE_FORK);
    tell_pid(guarded, pid);
    put_number(guarded->command_pid, pid);

    if (keep_only(guarded->stdio, &report_fd))
        syscall(SYS_execve, guarded->path, guarded->argv, no_environment);
    int err = errno;
    syscall(SYS_kill, -pid, SIGKILL);
    syscall(SYS_wait4, pid, NULL, 0, NULL);
    errno = err;
    fail(command, report_fd, MCPUMP_STAGE_GUARD);
}
