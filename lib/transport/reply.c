/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/reply.h"

#include <stdlib.h>

#include "wire/splice.h"

/* The text stands; where in the line the value was, it still is, but for the length of an id that
 * stands before it. */
static void describe(mcpump_reply *reply, struct mp_span line, const struct mp_envelope *envelope,
                     struct mp_span caller_id)
{
    size_t at = (size_t)(envelope->value.bytes - line.bytes);
    if (envelope->value.bytes > envelope->id.bytes)
        at += caller_id.size - envelope->id.size;
    reply->size = line.size - envelope->id.size + caller_id.size;
    reply->value = (struct mp_span){reply->text + at, envelope->value.size};
    reply->is_error = envelope->kind == MP_KIND_ERROR;
}

mcpump_reply *mp_reply_new(struct mp_span line, const struct mp_envelope *envelope,
                           struct mp_span caller_id)
{
    size_t size = line.size - envelope->id.size + caller_id.size;
    mcpump_reply *reply = malloc(sizeof(*reply) + size + 1);
    if (reply == NULL)
        return NULL;
    mp_splice_to(reply->copy, line, envelope->id, caller_id);
    reply->copy[size] = '\0';
    reply->text = reply->copy;
    reply->block = NULL;
    describe(reply, line, envelope, caller_id);
    return reply;
}

mcpump_reply *mp_reply_move(struct mp_taken taken, const struct mp_envelope *envelope,
                            struct mp_span caller_id)
{
    struct mp_span memory = {taken.block, taken.size}, text;
    mcpump_reply *reply = malloc(sizeof(*reply));
    if (reply == NULL || !mp_splice_in_place(memory, taken.line, envelope->id, caller_id, &text)) {
        free(reply);
        reply = mp_reply_new(taken.line, envelope, caller_id);
        free(taken.block);
        return reply;
    }
    taken.block[text.bytes - taken.block + (ptrdiff_t)text.size] = '\0';
    reply->block = taken.block;
    reply->text = text.bytes;
    describe(reply, taken.line, envelope, caller_id);
    return reply;
}

const char *mcpump_reply_text(const mcpump_reply *reply, size_t *ret_size)
{
    if (ret_size != NULL)
        *ret_size = reply->size;
    return reply->text;
}

bool mcpump_reply_is_error(const mcpump_reply *reply)
{
    return reply->is_error;
}

const char *mcpump_reply_value(const mcpump_reply *reply, size_t *ret_size)
{
    *ret_size = reply->value.size;
    return reply->value.bytes;
}

void mcpump_reply_free(mcpump_reply *reply)
{
    if (reply == NULL)
        return;
    free(reply->block);
    free(reply);
}
