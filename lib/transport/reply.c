/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/reply.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "wire/splice.h"

mcpump_reply *mp_reply_new(struct mp_span line, const struct mp_envelope *envelope,
                           struct mp_span caller_id)
{
    struct mp_buffer text = MP_BUFFER_INIT;
    mcpump_reply *reply = malloc(sizeof(*reply));
    if (reply == NULL || !mp_buffer_reserve(&text, line.size - envelope->id.size + caller_id.size))
        goto fail;
    mp_splice(&text, line, envelope->id, caller_id);

    size_t at = (size_t)(envelope->value.bytes - line.bytes);
    if (envelope->value.bytes > envelope->id.bytes)
        at += caller_id.size - envelope->id.size;
    reply->size = text.size;
    reply->text = mp_buffer_take(&text);
    reply->value = (struct mp_span){reply->text + at, envelope->value.size};
    reply->is_error = envelope->kind == MP_KIND_ERROR;
    return reply;

fail:
    mp_buffer_done(&text);
    free(reply);
    return NULL;
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
    free(reply->text);
    free(reply);
}
