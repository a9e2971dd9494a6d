/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two ways to stop calls. An *interrupt* stops a whole transport, a group of them, or all: a latch,
 * set until it is cleared. A *run* stops the calls that belong to one piece of work, on whatever
 * servers they are, and no others. A call says which of the two ended it: INTERRUPTED or CANCELLED.
 */
#ifndef MCPUMP_RUN_H
#define MCPUMP_RUN_H

#include <stdbool.h>

#include "error.h"
#include "export.h"
#include "transport.h"

MCPUMP_BEGIN_DECLS

/**
 * Makes a run. `parent`, which may be NULL: cancelling it cancels this one too; it may be freed
 * first. Returns new, to be freed with mcpump_run_free; NULL: no memory. Any thread.
 */
MCPUMP_API mcpump_run *mcpump_run_new(mcpump_run *parent);

/**
 * Cancels the calls of this run and of those below it, on every server: those in flight return with
 * CANCELLED, later ones fail at once, for good. No latch is touched. Any thread, any number of
 * times, before, during and after calls; async-signal-safe, errno kept.
 */
MCPUMP_API void mcpump_run_cancel(mcpump_run *run);

/** Whether it, or one above it, was cancelled. Any thread; async-signal-safe. */
MCPUMP_API bool mcpump_run_cancelled(const mcpump_run *run);

/** Frees the run. No call may be under it, no thread in it, nobody about to cancel it. NULL is
 * allowed. */
MCPUMP_API void mcpump_run_free(mcpump_run *run);

/** What mcpump_run_leave needs; on the stack of the thread. */
typedef struct mcpump_run_scope {
    mcpump_run *outer;
} mcpump_run_scope;

/**
 * From here on the calls of this thread belong to the run, unless their options name another; until
 * mcpump_run_leave with the same scope. Nests. NULL: to no run.
 */
MCPUMP_API void mcpump_run_enter(mcpump_run *run, mcpump_run_scope *ret_scope);
MCPUMP_API void mcpump_run_leave(const mcpump_run_scope *scope);

/** The run of this thread, or NULL. Borrowed. */
MCPUMP_API mcpump_run *mcpump_run_current(void);

/** A set of transports with one latch over them. */
typedef struct mcpump_group mcpump_group;

/** Returns new, to be freed with mcpump_group_free; NULL: no memory. */
MCPUMP_API mcpump_group *mcpump_group_new(void);

/** Frees the group; its members live on. Nobody may be about to interrupt it. NULL is allowed. */
MCPUMP_API void mcpump_group_free(mcpump_group *group);

/**
 * Makes the transport a member; while the group is interrupted, it is so too. It must leave before
 * it is freed. Errors: NO_MEMORY.
 */
MCPUMP_API mcpump_err mcpump_group_add(mcpump_group *group, mcpump_transport *transport);
MCPUMP_API void mcpump_group_remove(mcpump_group *group, mcpump_transport *transport);

/** Interrupts all members, and those that join, until it is cleared. Async-signal-safe. */
MCPUMP_API void mcpump_group_interrupt(mcpump_group *group);

/** Clears the group and all its members. Async-signal-safe. */
MCPUMP_API void mcpump_group_clear_interrupt(mcpump_group *group);

MCPUMP_API bool mcpump_group_is_interrupted(const mcpump_group *group);

/** Interrupts all transports that there are in this process. Async-signal-safe. */
MCPUMP_API void mcpump_interrupt_all(void);

/** Clears them all. Async-signal-safe. */
MCPUMP_API void mcpump_clear_interrupt_all(void);

MCPUMP_END_DECLS

#endif
