/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A manager: a named set of servers. It starts them in parallel, but not all at once, tells where
 * each of them is, queues what happens on them, interrupts all, and shuts all down under one
 * deadline.
 *
 * In a forked child, those that return an error fail with FORKED.
 *
 * Threads: every function may be called from any thread at any time between new and free, and none
 * from a log or stderr function.
 */
#ifndef MCPUMP_MANAGER_H
#define MCPUMP_MANAGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config.h"
#include "error.h"
#include "event.h"
#include "export.h"
#include "failure.h"
#include "server.h"

MCPUMP_BEGIN_DECLS

typedef struct mcpump_manager mcpump_manager;

/** Start from MCPUMP_MANAGER_OPTIONS_INIT. NULL in place of the options means all defaults. */
typedef struct mcpump_manager_options {
    size_t size;                 /**< sizeof(mcpump_manager_options) */
    int64_t max_parallel_starts; /**< Connects at one time; the others wait. 0: 4. */
    /** Bits of mcpump_event_kind that are queued. 0: STATE and NOTIFICATION; MCPUMP_ZERO: none.
     * Without REQUEST, the requests of servers are answered with -32601 at once. */
    int events;
    size_t max_events;          /**< In the queue. 0: 1024. */
    size_t max_event_bytes;     /**< 0: 4 MiB. */
    int64_t request_timeout_ms; /**< How long a REQUEST may stay unanswered. 0: 30000. */
} mcpump_manager_options;

#define MCPUMP_MANAGER_OPTIONS_INIT                                                                \
    {                                                                                              \
        .size = sizeof(mcpump_manager_options)                                                     \
    }

/** Makes a manager without servers. *ret_manager is new, to be freed with mcpump_manager_free.
 * Errors: INVALID_ARGUMENT, NO_MEMORY, SYSTEM. */
MCPUMP_API mcpump_err mcpump_manager_new(const mcpump_manager_options *options,
                                         mcpump_manager **ret_manager,
                                         mcpump_failure **ret_failure);

/** Shuts down with the graces of the servers, if that was not done, and frees. Servers that
 * mcpump_manager_find has given are stopped too, and stay to be freed. NULL is allowed. */
MCPUMP_API void mcpump_manager_free(mcpump_manager *manager);

/* -- the set */

/**
 * Adds a server under a name that is new; it is started by the first call, or at once when `eager`.
 * Borrows until it returns. Without a display name of its own, the name is its label. Errors:
 * INVALID_ARGUMENT (also: the name is taken or empty), NOT_OPEN (the manager was shut down),
 * NO_MEMORY, SYSTEM.
 */
MCPUMP_API mcpump_err mcpump_manager_add(mcpump_manager *manager, const char *name,
                                         const mcpump_server_options *options, bool eager,
                                         mcpump_failure **ret_failure);

/** Takes a server out and stops it; calls on it fail. Blocks for its graces. Errors:
 * INVALID_ARGUMENT (no such name). */
MCPUMP_API mcpump_err mcpump_manager_remove(mcpump_manager *manager, const char *name,
                                            mcpump_failure **ret_failure);

/** Puts another server in the place of one, which is stopped first; its state does not carry over.
 * Errors as for add and remove; on failure the old one stays as it was. */
MCPUMP_API mcpump_err mcpump_manager_replace(mcpump_manager *manager, const char *name,
                                             const mcpump_server_options *options, bool eager,
                                             mcpump_failure **ret_failure);

/**
 * Makes the set what the configuration says: servers that are not in it are removed, new ones
 * added, changed ones replaced, and those that are the same are left alone, with their connections.
 * Disabled and unsupported entries are none. Blocks for the graces of what is stopped, side by
 * side. Errors: INVALID_ARGUMENT (an entry is not valid: nothing is changed), NOT_OPEN, NO_MEMORY,
 * SYSTEM.
 */
MCPUMP_API mcpump_err mcpump_manager_apply(mcpump_manager *manager, const mcpump_config *config,
                                           mcpump_failure **ret_failure);

/** The server of that name: a new reference, to be given back with mcpump_server_free; it stays
 * valid when the server is removed, and then answers NOT_OPEN. NULL: no such name. */
MCPUMP_API mcpump_server *mcpump_manager_find(mcpump_manager *manager, const char *name);

/** The status of one of the servers. */
typedef struct mcpump_manager_entry {
    char *name;
    mcpump_server_status status;
} mcpump_manager_entry;

/** All servers in the order in which they were added. *ret_entries is new, to be freed with
 * mcpump_manager_entries_free. Errors: NO_MEMORY. */
MCPUMP_API mcpump_err mcpump_manager_status(mcpump_manager *manager,
                                            mcpump_manager_entry **ret_entries, size_t *ret_count);
MCPUMP_API void mcpump_manager_entries_free(mcpump_manager_entry *entries, size_t count);

/* -- all at once */

/** The latch over all servers, also those that are added: as mcpump_server_interrupt for each.
 * mcpump_manager_next_event returns too. Async-signal-safe. */
MCPUMP_API void mcpump_manager_interrupt(mcpump_manager *manager);
MCPUMP_API void mcpump_manager_clear_interrupt(mcpump_manager *manager);
MCPUMP_API bool mcpump_manager_is_interrupted(const mcpump_manager *manager);

/**
 * Stops all servers side by side, for good: nothing is started afterwards. Blocks as long as the
 * slowest takes, at most timeout_ms (MCPUMP_FOREVER: as long as the graces take), then those that
 * are left are killed. Events can still be taken out. A second one from another thread makes the
 * first hurry. Errors: TIMEOUT (some had to be killed).
 */
MCPUMP_API mcpump_err mcpump_manager_shutdown(mcpump_manager *manager, int64_t timeout_ms);

/* -- events */

/**
 * Takes the oldest event out of the queue. *ret_event is new, to be freed with mcpump_event_free.
 * Blocks at most timeout_ms (0: polls; MCPUMP_FOREVER). Errors: TIMEOUT, INTERRUPTED (the latch is
 * set and the queue empty), CLOSED (shut down, and the queue is empty).
 */
MCPUMP_API mcpump_err mcpump_manager_next_event(mcpump_manager *manager, int64_t timeout_ms,
                                                mcpump_event **ret_event);

/**
 * A descriptor that is readable while mcpump_manager_next_event would not block, for poll, epoll
 * and the like. Not to be read, written or closed; valid until the manager is freed.
 */
MCPUMP_API int mcpump_manager_event_fd(const mcpump_manager *manager);

MCPUMP_END_DECLS

#endif
