/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a reply: a copy of the message in one allocation, or the memory that it was read
 * to. */
#ifndef MP_TRANSPORT_REPLY_H
#define MP_TRANSPORT_REPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "mcpump/reply.h"
#include "wire/envelope.h"

struct mcpump_reply {
    const char *text; /* NUL-terminated; in `copy`, or in `block` */
    size_t size;
    struct mp_span value; /* within text */
    bool is_error;
    char *block; /* owned; NULL: none */
    char copy[];
};

/* Returns new: the message with the caller's id in place of ours. NULL: no memory. */
mcpump_reply *mp_reply_new(struct mp_span line, const struct mp_envelope *envelope,
                           struct mp_span caller_id);

/* The same of a line that was taken from the framer; takes its memory in any case. */
mcpump_reply *mp_reply_move(struct mp_taken taken, const struct mp_envelope *envelope,
                            struct mp_span caller_id);

#endif
