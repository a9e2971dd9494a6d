/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a spawn that runs in the child; for spawn.c only. */
#ifndef MP_PROCESS_SPAWN_CHILD_H
#define MP_PROCESS_SPAWN_CHILD_H

#include <sched.h>
#include <signal.h>
#include <stdbool.h>

#include "process/spawn.h"

/* The kernel's signal set is smaller than the C library's; all of its signals are numbered up to
 * its bits, also the two or three that the C library keeps for itself and refuses to handle. */
#define MP_KERNEL_SIGSET_BYTES (_NSIG / 8)

/* ThreadSanitizer, if the host is built with it, takes every clone for a fork and gives up when
 * there are threads. It does not wrap glibc's other name for the function. */
#ifdef __GLIBC__
int __clone(int (*run)(void *), void *stack_top, int flags, void *arg, ...);
#else
#define __clone clone
#endif

struct mp_spawn_child {
    const char *path;
    char *const *argv;
    char *const *environment;
    const char *cwd; /* NULL: stay */
    int stdio[3];    /* become 0, 1, 2; above 2 themselves */
    int report_fd;   /* above 2, close-on-exec; takes struct mp_spawn_report; -1: there is none */
    bool new_session;
    int nice;
    const mcpump_rlimit *rlimits;
    size_t rlimit_count;
    mcpump_orphans orphans;
    pid_t parent; /* of the child */
    /* -- set by the child; the parent sees it where memory is shared */
    bool shared;                /* always set */
    struct mp_spawn_error told; /* the first that went wrong, here or in the guard */
};

/* A guard between us and the command. */
struct mp_spawn_guarded {
    struct mp_spawn_child command; /* the guard fills in its parent */
    char *command_stack;           /* top */
    const char *path;
    char *const *argv;
    char *command_pid; /* one of argv: takes the number, MP_PID_TEXT_BYTES */
    int stdio[3];      /* of the guard */
    pid_t told_pid;    /* set by the guard: the command's pid as it sees it */
};

#define MP_PID_TEXT_BYTES 12

/* For the pipe, where memory is not shared: what went wrong, or the command's pid as its guard sees
 * it. */
struct mp_spawn_report {
    struct mp_spawn_error error;
    pid_t pid; /* 0: see error */
};

/* For clone(2), with all signals blocked; they take a struct mp_spawn_child and a struct
 * mp_spawn_guarded. Neither returns. */
int mp_spawn_child_run(void *child);
int mp_spawn_guarded_run(void *guarded);

#endif
