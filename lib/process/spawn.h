/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting a child from a threaded host. Everything is made ready before; the child shares our
 * memory (CLONE_VM | CLONE_VFORK) and makes system calls only until it runs the command, so that
 * the size of the host costs nothing and no lock of another thread can be met.
 */
#ifndef MP_PROCESS_SPAWN_H
#define MP_PROCESS_SPAWN_H

#include <sys/types.h>

#include "mcpump/error.h"

struct mp_spawn_request {
    const char *command;      /* argv[0]; looked up in the PATH of environment */
    char *const *args;        /* behind it, ended by NULL */
    char *const *environment; /* whole, ended by NULL */
    const char *cwd;          /* NULL: ours */
};

struct mp_spawned {
    pid_t pid; /* leader of its own process group */
    int pidfd;
    int stdin_fd;  /* we write; non-blocking, as are the others; the child's ends block */
    int stdout_fd; /* we read */
    int stderr_fd; /* we read */
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
