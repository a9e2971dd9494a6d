/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stop ladder as data: what to do next to a server that has to go, and how long to wait for it
 * to end by itself. Pure: the caller acts, waits and reports.
 */
#ifndef MP_PROCESS_LADDER_H
#define MP_PROCESS_LADDER_H

#include <stdbool.h>

#include "base/clock.h"

enum mp_ladder_action {
    MP_LADDER_CLOSE_STDIN, /* then wait stdin_grace */
    MP_LADDER_TERMINATE,   /* SIGTERM and SIGCONT to the group, then wait term_grace */
    MP_LADDER_KILL,        /* SIGKILL to the group, then wait until it is gone */
    MP_LADDER_ACTIONS,
};

struct mp_ladder {
    int64_t grace_ms[MP_LADDER_ACTIONS]; /* the wait behind each action; that of KILL is bounded */
    int next;                            /* the action that comes next */
    mp_deadline until;                   /* when it is due */
};

void mp_ladder_init(struct mp_ladder *ladder, int64_t stdin_grace_ms, int64_t term_grace_ms);

/*
 * What is due at `now`: an action, from then on its grace runs; or MP_LADDER_ACTIONS: nothing
 * before ladder->until. The first action is due at once.
 */
enum mp_ladder_action mp_ladder_step(struct mp_ladder *ladder, mp_deadline now);

/* The rest of all waits is over: KILL is due next. */
void mp_ladder_escalate(struct mp_ladder *ladder);

/* KILL was done and its wait is over: give up waiting (a process in uninterruptible sleep). */
bool mp_ladder_is_over(const struct mp_ladder *ladder, mp_deadline now);

#endif
