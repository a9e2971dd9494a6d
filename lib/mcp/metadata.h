/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests as text: method and params become a JSON-RPC message; params._meta gets what a request
 * of the modern era has to carry, and the trace of the call in both eras, without touching what the
 * caller put there. Pure.
 */
#ifndef MP_MCP_METADATA_H
#define MP_MCP_METADATA_H

#include <stdbool.h>

#include "base/buffer.h"
#include "wire/envelope.h"

/* What the client says about itself; immutable once made. */
struct mp_client {
    char *info;               /* the text of an Implementation object */
    const char *capabilities; /* the text of a ClientCapabilities object */
};

/* NULL name or version: those of the library. False: no memory. */
bool mp_client_init(struct mp_client *client, const char *name, const char *version);
void mp_client_done(struct mp_client *client);

/* The trace that a call belongs to; each may be NULL. Borrowed from the options of the call. */
struct mp_trace {
    const char *traceparent, *tracestate, *baggage;
};

static inline bool mp_trace_is_empty(const struct mp_trace *trace)
{
    return trace->traceparent == NULL && trace->tracestate == NULL && trace->baggage == NULL;
}

/* NULL, or what is wrong: a static phrase, and *ret_name, the member that it is about. */
const char *mp_trace_check(const struct mp_trace *trace, const char **ret_name);

/* What params._meta of a request is to carry, where the caller has not put it there. */
struct mp_metadata {
    const struct mp_client *client; /* NULL, as the next two: a legacy request has no need of it */
    const char *version;
    const char *log_level; /* NULL: none */
    struct mp_trace trace;
};

/* A message as text, with its envelope, whose spans point into it. */
struct mp_message {
    struct mp_buffer text;
    struct mp_envelope envelope;
};

/*
 * Makes a request (or a notification) of `method` with `params`, the text of an object or NULL.
 * NULL, or why it could not be: a static phrase; "out of memory" when text.failed. Free it with
 * mp_message_done in any case.
 */
const char *mp_message_init(struct mp_message *message, const char *method, const char *params,
                            bool is_notification);
void mp_message_done(struct mp_message *message);

/* Adds metadata. As above. Of the envelope, only kind, id and method are kept up to date. */
const char *mp_message_add_metadata(struct mp_message *message, const struct mp_metadata *metadata);

struct mp_span mp_message_span(const struct mp_message *message);

#endif
