/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our side of mcpump-guard (tools/guard), the parent and subreaper of a server and of all that
 * comes from it. A pair of sockets joins us. On it we give orders, and its end means that we are
 * dead; the guard tells once how the server has ended. That message is never taken out: from the
 * server's end on our socket is readable for ever, like a pidfd.
 *
 * The guard starts with: its socket as 0 and as 1, a pidfd of ours as 2 (a copy of our socket may
 * live on in a fork of ours), all signals blocked, the server as its child, itself a subreaper; its
 * arguments are the server's pid and the two graces in milliseconds. It ends with 0 when it has no
 * child left.
 */
#ifndef MP_PROCESS_GUARD_H
#define MP_PROCESS_GUARD_H

/* The fds of a guard that is being made. */
struct mp_guard_fds {
    int ours, theirs; /* the two sockets */
    int host;         /* a pidfd of this process */
};
#define MP_GUARD_FDS_NONE ((struct mp_guard_fds){-1, -1, -1})

/* 0 or an errno. All fds are above 2 and close-on-exec; on failure the struct is for done. */
int mp_guard_fds_init(struct mp_guard_fds *fds);
void mp_guard_fds_done(struct mp_guard_fds *fds);

enum mp_guard_order {
    MP_GUARD_TERMINATE = 'T', /* SIGTERM and SIGCONT to the server, its group, all descendants */
    MP_GUARD_KILL = 'K',      /* SIGKILL to them, until none is left */
};

/* Gives an order; wakes the guard if somebody has stopped it. */
void mp_guard_order(int guard_fd, int guard_pidfd, enum mp_guard_order order);

/* What the guard has told about the server's end. */
enum mp_guard_news {
    MP_GUARD_SILENT, /* it lives */
    MP_GUARD_TOLD,   /* it has ended, see the results */
    MP_GUARD_LOST,   /* the guard has gone without a word; the kernel has killed the server then */
};

/* Looks, without waiting. *ret_status: exit status, -1 if a signal ended it; *ret_signal: that, or
 * 0. */
enum mp_guard_news mp_guard_look(int guard_fd, int *ret_status, int *ret_signal);

#endif
