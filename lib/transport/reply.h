/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a reply. */
#ifndef MP_TRANSPORT_REPLY_H
#define MP_TRANSPORT_REPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "mcpump/reply.h"
#include "wire/envelope.h"

struct mcpump_reply {
    char *text; /* NUL-terminated */
    size_t size;
    struct mp_span value; /* within text */
    bool is_error;
};

/* Returns new: the message with the caller's id in place of ours. NULL: no memory. */
mcpump_reply *mp_reply_new(struct mp_span line, const struct mp_envelope *envelope,
                           struct mp_span caller_id);

#endif
