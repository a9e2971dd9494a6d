/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a run: a flag, the run above it, and the bells of those who wait for calls that
 * belong to it.
 */
#ifndef MP_BASE_RUN_H
#define MP_BASE_RUN_H

#include <stdbool.h>

#include "base/bell.h"
#include "mcpump/call.h"

/* NULL: false. Async-signal-safe. */
bool mp_run_is_cancelled(const mcpump_run *run);

/*
 * Lets a cancellation of the run, or of one above it, ring the bell from now on; whoever hears it
 * asks mp_run_is_cancelled. Join first, then look: a cancellation is either rung or seen. NULL run:
 * nothing. False: no memory.
 */
bool mp_run_join(mcpump_run *run, struct mp_bell *bell);
/* Once for each join. The bell is not rung by this run any more, then. */
void mp_run_leave(mcpump_run *run, struct mp_bell *bell);

#endif
