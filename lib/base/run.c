/* SPDX-License-Identifier: Apache-2.0 */
#include "base/run.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/board.h"
#include "mcpump/run.h"

struct mcpump_run {
    mcpump_run *parent;    /* immutable; NULL: none */
    atomic_int references; /* its maker's, and one a child */
    /* Sequentially consistent: a canceller stores, then rings; a waiter joins, then loads. */
    atomic_bool cancelled;
    struct mp_board bells;
};

static _Thread_local mcpump_run *current;

static void unref(mcpump_run *run)
{
    while (run != NULL && atomic_fetch_sub(&run->references, 1) == 1) {
        mcpump_run *parent = run->parent;
        mp_board_done(&run->bells);
        free(run);
        run = parent;
    }
}

mcpump_run *mcpump_run_new(mcpump_run *parent)
{
    mcpump_run *run = calloc(1, sizeof(*run));
    if (run == NULL)
        return NULL;
    if (parent != NULL)
        atomic_fetch_add(&parent->references, 1);
    run->parent = parent;
    atomic_init(&run->references, 1);
    mp_board_init(&run->bells);
    return run;
}

void mcpump_run_free(mcpump_run *run)
{
    unref(run);
}

static void ring(void *bell)
{
    mp_bell_ring(bell);
}

void mcpump_run_cancel(mcpump_run *run)
{
    atomic_store(&run->cancelled, true);
    mp_board_visit(&run->bells, ring);
}

bool mp_run_is_cancelled(const mcpump_run *run)
{
    while (run != NULL && !atomic_load(&run->cancelled))
        run = run->parent;
    return run != NULL;
}

bool mcpump_run_cancelled(const mcpump_run *run)
{
    return mp_run_is_cancelled(run);
}

bool mp_run_join(mcpump_run *run, struct mp_bell *bell)
{
    for (mcpump_run *each = run; each != NULL; each = each->parent) {
        if (mp_board_join(&each->bells, bell))
            continue;
        for (mcpump_run *joined = run; joined != each; joined = joined->parent)
            mp_board_leave(&joined->bells, bell);
        return false;
    }
    return true;
}

void mp_run_leave(mcpump_run *run, struct mp_bell *bell)
{
    for (; run != NULL; run = run->parent)
        mp_board_leave(&run->bells, bell);
}

void mcpump_run_enter(mcpump_run *run, mcpump_run_scope *ret_scope)
{
    ret_scope->outer = current;
    current = run;
}

void mcpump_run_leave(const mcpump_run_scope *scope)
{
    current = scope->outer;
}

mcpump_run *mcpump_run_current(void)
{
    return current;
}
