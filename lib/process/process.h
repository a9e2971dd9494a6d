/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server as a process: its pid, the process group that it leads, and our child, which is the
 * server itself or the guard that stands between us and it. Our child is waited for by pidfd (Linux
 * 5.4), so that a host that reaps everything, and then gets the same pid for a child of its own,
 * loses nothing to us. Whoever uses this need not know whether there is a guard. No lock: one
 * thread at a time, but for mp_process_is_alive.
 */
#ifndef MP_PROCESS_PROCESS_H
#define MP_PROCESS_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "process/spawn.h"

/* How a process ended. */
struct mp_exit {
    bool known; /* false: it lives, or the host reaped it, or ignores SIGCHLD */
    int status; /* exit status, -1 if a signal ended it */
    int signal; /* the signal that ended it, else 0 */
};

struct mp_process {
    pid_t pid;   /* of the server; -1: none */
    int pidfd;   /* of our child */
    bool ended;  /* the server has been seen to have ended */
    bool reaped; /* our child, by us or by the host: it has ended */
    /* The group has been seen to be dead, or is out of our sight: its number may be another's. */
    bool group_gone;
    struct mp_exit exit;
    int guard_fd; /* -1: there is no guard */
};

#define MP_PROCESS_NONE                                                                            \
    ((struct mp_process){.pid = -1, .pidfd = -1, .guard_fd = -1, .exit = {false, -1, 0}})

/* Takes the pidfd and the fd of the guard out of *spawned. */
void mp_process_init(struct mp_process *process, struct mp_spawned *spawned);

/* Closes the fds. The process must be gone, or never have been, or be given up. */
void mp_process_done(struct mp_process *process);

/* Whether the server runs: a zombie does not. Any thread, between init and done. */
bool mp_process_is_alive(const struct mp_process *process);

/*
 * What to poll for the next event: readable once the server has ended; after that, once its guard
 * has. -1: nothing tells what comes next, it must be looked for from time to time.
 */
int mp_process_watch_fd(const struct mp_process *process);

/* Looks, without reaping and without waiting, whether the server has ended; fills in `exit`. */
bool mp_process_poll_exit(struct mp_process *process);

/* Reaps our child if it has ended. Whether nothing is left: neither the server nor a member of its
 * group, and with a guard none of its descendants. */
bool mp_process_is_gone(struct mp_process *process);

/*
 * SIGTERM, and SIGCONT since a stopped process takes nothing else; SIGKILL: to the group, by a
 * guard to all descendants. The group is signalled by number: before the server is reaped its pid
 * cannot be another's; afterwards the number stays taken as long as the group has a member, and the
 * signal is sent only right after a look that found one, never again after one that found none.
 */
void mp_process_terminate(struct mp_process *process);
void mp_process_kill(struct mp_process *process);

/* Kills, and waits until nothing is left: at most MP_PROCESS_KILL_MS, as only a process in
 * uninterruptible sleep outlives SIGKILL for long. Whether nothing is. */
#define MP_PROCESS_KILL_MS 5000
bool mp_process_end(struct mp_process *process);

#endif
