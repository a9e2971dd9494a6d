/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

#define DIRENTS_BYTES 4096
/* The start of a stat file up to the parent: pid, a name of at most 64 bytes in parentheses, ... */
#define STAT_BYTES 256

struct kernel_dirent {
    uint64_t inode;
    int64_t offset;
    unsigned short size;
    unsigned char type;
    char name[];
};

/* 0: it has ended, or is not in our pid namespace. */
static pid_t parent_of(pid_t pid)
{
    char path[32], text[STAT_BYTES];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t size = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[size > 0 ? size : 0] = '\0';
    /* The name may hold anything, parentheses and spaces too: what counts is behind its last one.
     */
    const char *behind_name = strrchr(text, ')');
    int parent;
    return behind_name != NULL && sscanf(behind_name + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

static bool is_ours(pid_t pid)
{
    pid_t self = getpid();
    while (pid > 0 && pid != self)
        pid = parent_of(pid);
    return pid == self;
}

/* The pidfd comes first: if the number becomes another's, it is not that one that is signalled. */
static void signal_if_ours(pid_t pid, int first, int second)
{
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (pidfd < 0)
        return;
    if (is_ours(pid)) {
        syscall(SYS_pidfd_send_signal, pidfd, first, NULL, 0);
        if (second != 0)
            syscall(SYS_pidfd_send_signal, pidfd, second, NULL, 0);
    }
    close(pidfd);
}

bool tree_signal(int first, int second)
{
    _Alignas(struct kernel_dirent) char entries[DIRENTS_BYTES];
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (proc < 0)
        return false;
    long size;
    while ((size = syscall(SYS_getdents64, proc, entries, sizeof(entries))) > 0) {
        for (long at = 0; at < size;) {
            const struct kernel_dirent *entry = (const void *)(entries + at);
            pid_t pid = (pid_t)strtol(entry->name, NULL, 10); /* 0: not a process */
            if (pid > 0 && pid != getpid())
                signal_if_ours(pid, first, second);
            at += entry->size;
        }
    }
    close(proc);
    return size == 0;
}
