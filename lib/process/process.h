/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child process: its pid, its pidfd (readable once it has ended), and the process group that it
 * leads. It is waited for by pidfd (Linux 5.4), so that a host that reaps everything, and then gets
 * the same pid for a child of its own, loses nothing to us. No lock: one thread at a time, but for
 * mp_process_is_alive.
 */
#ifndef MP_PROCESS_PROCESS_H
#define MP_PROCESS_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* How a process ended. */
struct mp_exit {
    bool known; /* false: it lives, or the host reaped it, or ignores SIGCHLD */
    int status; /* exit status, -1 if a signal ended it */
    int signal; /* the signal that ended it, else 0 */
};

struct mp_process {
    pid_t pid; /* -1: none */
    int pidfd;
    bool ended;      /* the leader has been seen to have ended */
    bool reaped;     /* by us or by the host: its pid must not be signalled any more as a process */
    bool group_gone; /* the group has been seen to be dead: its number may be another's */
    struct mp_exit exit;
};

/* Takes the pidfd. */
void mp_process_init(struct mp_process *process, pid_t pid, int pidfd);

/* Closes the pidfd. The process must be reaped, or never have been. */
void mp_process_done(struct mp_process *process);

/* Whether the leader runs: a zombie does not. Asks the pidfd; any thread while it is open. */
bool mp_process_is_alive(int pidfd);

/* Looks, without reaping and without waiting, whether the leader has ended; fills in `exit`. */
bool mp_process_poll_exit(struct mp_process *process);

/* Reaps the leader if it has ended. */
void mp_process_reap(struct mp_process *process);

/*
 * Sends a signal to the group. Before the leader is reaped its pid cannot be another's; afterwards
 * the group's number stays taken as long as it has a member, and the signal is sent only right
 * after a look that found one, and never again after a look that found none.
 */
void mp_process_signal_group(struct mp_process *process, int signal);

/* Whether the group has living members beside a leader that has been reaped. Only after that. */
bool mp_process_group_is_left(struct mp_process *process);

#endif
