/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests as text: method and params become a JSON-RPC message; in the modern era params._meta
 * gets what every request has to carry, without touching what the caller put there. Pure.
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

/* Adds the metadata of a modern request. As above. */
const char *mp_message_add_metadata(struct mp_message *message, const struct mp_client *client,
                                    const char *version);

struct mp_span mp_message_span(const struct mp_message *message);

#endif
