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
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/spawn.h"

#if defined(__clang__) && __has_attribute(disable_sanitizer_instrumentation)
#define IN_CHILD __attribute__((disable_sanitizer_instrumentation))
#else
#define IN_CHILD __attribute__((no_sanitize("address", "thread", "undefined")))
#endif

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#define REPORT_FD     3
#define MOST_FDS      (1 << 20) /* to try one by one */
#define EXEC_FAILED   127
#define DIRENTS_BYTES 1024

struct kernel_dirent {
    uint64_t inode;
    int64_t offset;
    unsigned short size;
    unsigned char type;
    char name[];
};

IN_CHILD static _Noreturn void fail(int report_fd, mcpump_stage stage)
{
    struct mp_spawn_error error = {stage, errno};
    syscall(SYS_write, report_fd, &error, sizeof(error));
    for (;;)
        syscall(SYS_exit_group, EXEC_FAILED);
}

/* An ignored signal would stay ignored in the command, and a handler must not run here. */
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

/* The host's fds that are not close-on-exec. A kernel before 5.9 has no close_range, a chroot may
 * have no /proc. */
IN_CHILD static void close_from(int first)
{
    if (syscall(SYS_close_range, first, ~0U, 0) == 0 || close_listed(first))
        return;
    close_up_to_limit(first);
}

IN_CHILD int mp_spawn_child_run(void *arg)
{
    struct mp_spawn_child *child = arg;
    int report_fd = child->report_fd;
    child->shared = true;

    reset_signals();
    if (syscall(SYS_setpgid, 0, 0) != 0)
        fail(report_fd, MCPUMP_STAGE_GROUP);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (syscall(SYS_dup3, child->stdio[fd], fd, 0) < 0)
            fail(report_fd, MCPUMP_STAGE_STDIO);
    }
    if (child->cwd != NULL && syscall(SYS_chdir, child->cwd) != 0)
        fail(report_fd, MCPUMP_STAGE_DIRECTORY);

    /* To the lowest place, so that one range holds all that must go. */
    if (report_fd != REPORT_FD && syscall(SYS_dup3, report_fd, REPORT_FD, O_CLOEXEC) < 0)
        fail(report_fd, MCPUMP_STAGE_STDIO);
    close_from(REPORT_FD + 1);

    unblock_signals();
    syscall(SYS_execve, child->path, child->argv, child->environment);
    fail(REPORT_FD, MCPUMP_STAGE_EXEC);
}
