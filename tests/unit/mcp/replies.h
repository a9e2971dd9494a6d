/* SPDX-License-Identifier: Apache-2.0 */
/* Replies out of text, for tests. */
#ifndef TEST_MCP_REPLIES_H
#define TEST_MCP_REPLIES_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "transport/reply.h"

/* `member` is `"result":...` or `"error":...`. New. */
static inline mcpump_reply *reply_of(const char *member)
{
    char text[4096];
    int size = snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":1,%s}", member);
    cr_assert_lt((size_t)size, sizeof(text));
    struct mp_span line = {text, (size_t)size};
    struct mp_envelope envelope;
    mp_envelope_scan(line, &envelope);
    cr_assert(envelope.kind == MP_KIND_RESULT || envelope.kind == MP_KIND_ERROR, "%s", member);
    return mp_reply_new(line, &envelope, envelope.id);
}

#endif
