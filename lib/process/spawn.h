/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting a child from a threaded host. Everything is made ready before; the child shares our
 * memory (CLONE_VM | CLONE_VFORK) and makes system calls only until it runs the command, so that
 * the size of the host costs nothing and no lock of another thread can be met.
 *
 * With MCPUMP_ORPHANS_TREE our child is a guard: it makes the command its child, in the same way
 * and by the same code, and then runs mcpump-guard (see guard.h).
 */
#ifndef MP_PROCESS_SPAWN_H
#define MP_PROCESS_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "mcpump/error.h"
#include "mcpump/options.h"

struct mp_spawn_request {
    const char *command;      /* argv[0]; looked up in the PATH of environment */
    char *const *args;        /* behind it, ended by NULL */
    char *const *environment; /* whole, ended by NULL */
    const char *cwd;          /* NULL: ours */
    bool new_session;         /* not only a process group */
    int nice;                 /* added to the niceness of the calling thread */
    const mcpump_rlimit *rlimits;
    size_t rlimit_count;
    /* But for NONE, the kernel kills the command when its parent dies. Without a guard that is the
     * calling *thread*: it must live as long as the command may. */
    mcpump_orphans orphans;
    /* -- for TREE */
    const char *guard; /* the path of mcpump-guard */
    int64_t stdin_grace_ms;
    int64_t term_grace_ms;
};

struct mp_spawned {
    pid_t pid;     /* of the command: leader of its own process group */
    int pidfd;     /* of our child: the command, or its guard */
    int stdin_fd;  /* we write; non-blocking, as are the others; the child's ends block */
    int stdout_fd; /* we read */
    int stderr_fd; /* we read */
    int guard_fd;  /* see guard.h; -1: there is none */
};

struct mp_spawn_error {
    mcpump_stage stage;
    int err; /* errno */
};

/*
 * 0, and all of *ret_spawned belongs to the caller; or -1, *ret_error says where and why, and
 * nothing is left: no process, no zombie, no fd. Blocks until the command runs or could not be run.
 */
int mp_spawn(const struct mp_spawn_request *request, struct mp_spawned *ret_spawned,
             struct mp_spawn_error *ret_error);

#endif
