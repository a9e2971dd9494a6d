/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens on the servers of a manager without being asked for: changes of state,
 * notifications, requests that a server makes, lines of stderr. A manager queues events; the host
 * takes them out with mcpump_manager_next_event (manager.h). An event owns what it tells and never
 * changes.
 */
#ifndef MCPUMP_EVENT_H
#define MCPUMP_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "export.h"
#include "failure.h"
#include "server.h"

MCPUMP_BEGIN_DECLS

typedef struct mcpump_event mcpump_event;

/** Kinds of events; as bits of `events` in the options of a manager, what is queued at all. */
typedef enum mcpump_event_kind {
    MCPUMP_EVENT_STATE = 1,        /**< A server changed its state. Never dropped. */
    MCPUMP_EVENT_NOTIFICATION = 2, /**< When the queue is full, the oldest is dropped. */
    MCPUMP_EVENT_REQUEST = 4,      /**< Of a legacy server, to be answered. Never dropped. */
    MCPUMP_EVENT_STDERR = 8,       /**< One labelled line. Dropped as notifications are. */
} mcpump_event_kind;

MCPUMP_API mcpump_event_kind mcpump_event_get_kind(const mcpump_event *event);

/** The name of the server in its manager. All texts are borrowed until the event is freed. */
MCPUMP_API const char *mcpump_event_server(const mcpump_event *event);

/** The connection it belongs to, as in mcpump_server_status. */
MCPUMP_API uint64_t mcpump_event_generation(const mcpump_event *event);

/** How many events were dropped from the queue just before this one. */
MCPUMP_API uint64_t mcpump_event_dropped(const mcpump_event *event);

/** STATE: the new state and the one before it. */
MCPUMP_API mcpump_server_state mcpump_event_state(const mcpump_event *event);
MCPUMP_API mcpump_server_state mcpump_event_previous_state(const mcpump_event *event);

/** STATE: why the server is down, or NULL when nothing failed. */
MCPUMP_API const mcpump_failure *mcpump_event_failure(const mcpump_event *event);

/** NOTIFICATION and REQUEST: the method, as it was spelled, else "". */
MCPUMP_API const char *mcpump_event_method(const mcpump_event *event);

/** NOTIFICATION and REQUEST: the whole message, one line; STDERR: the line; else "". Ends with a
 * NUL that is not counted; *ret_size, if not NULL, becomes its size in bytes. */
MCPUMP_API const char *mcpump_event_text(const mcpump_event *event, size_t *ret_size);

/** NOTIFICATION and REQUEST: the text of `params`, not terminated; NULL and 0 when there are none.
 */
MCPUMP_API const char *mcpump_event_params(const mcpump_event *event, size_t *ret_size);

/** NOTIFICATION: the subscription it belongs to (the JSON text of the id in `_meta`), else "". */
MCPUMP_API const char *mcpump_event_subscription(const mcpump_event *event);

/**
 * Answers a REQUEST: with `result`, the text of a JSON value, or, when that is NULL, with an error
 * of `code` and `message`. Borrowed until it returns. Once: the second answer, one after the
 * deadline of the request (it was answered with -32601 then), and one whose connection is gone fail
 * with NOT_OPEN. Any thread; does not wait for the server. Errors: INVALID_ARGUMENT (an event of
 * another kind, neither a result nor a message), INVALID_REQUEST (the result is not one JSON
 * value), NOT_OPEN, QUEUE_FULL and NO_MEMORY (it can be answered again). Source: MCP 2025-11-25
 * client features.
 */
MCPUMP_API mcpump_err mcpump_event_respond(mcpump_event *event, const char *result, int code,
                                           const char *message);

/** Frees the event. A REQUEST that was not answered is answered with -32601. NULL is allowed. */
MCPUMP_API void mcpump_event_free(mcpump_event *event);

MCPUMP_END_DECLS

#endif
