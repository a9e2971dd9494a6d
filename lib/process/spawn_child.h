/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a spawn that runs in the child; for spawn.c only. */
#ifndef MP_PROCESS_SPAWN_CHILD_H
#define MP_PROCESS_SPAWN_CHILD_H

#include <signal.h>
#include <stdbool.h>

/* The kernel's signal set is smaller than the C library's; all of its signals are numbered up to
 * its bits, also the two or three that the C library keeps for itself and refuses to handle. */
#define MP_KERNEL_SIGSET_BYTES (_NSIG / 8)

struct mp_spawn_child {
    const char *path;
    char *const *argv;
    char *const *environment;
    const char *cwd; /* NULL: stay */
    int stdio[3];    /* become 0, 1, 2; above 2 themselves */
    int report_fd;   /* above 2, close-on-exec; takes a struct mp_spawn_error if we fail */
    bool shared;     /* set by the child: the parent sees it, thus memory is shared */
};

/* For clone(2), with all signals blocked. Does not return. */
int mp_spawn_child_run(void *child);

#endif
