/* SPDX-License-Identifier: Apache-2.0 */
/* The public look into replies. Pure; in the thread of whoever asks. */
#include "mcpump/result.h"

#include <string.h>

#include "mcp/tree.h"
#include "wire/envelope.h"
#include "wire/member.h"

static bool find(const mcpump_reply *reply, const char *key, struct mp_span *ret_value)
{
    struct mp_span value;
    value.bytes = mcpump_reply_value(reply, &value.size);
    return mp_member_find(value, key, ret_value);
}

static const char *give(bool found, struct mp_span span, size_t *ret_size)
{
    if (!found)
        return NULL;
    *ret_size = span.size;
    return span.bytes;
}

static mcpump_err give_text(struct mp_buffer *text, char **ret_text)
{
    char *taken = mp_buffer_take(text);
    if (taken == NULL)
        return MCPUMP_ERR_NO_MEMORY;
    *ret_text = taken;
    return MCPUMP_OK;
}

const char *mcpump_reply_member(const mcpump_reply *reply, const char *key, size_t *ret_size)
{
    struct mp_span value = {NULL, 0};
    bool found = find(reply, key, &value);
    return give(found, value, ret_size);
}

bool mcpump_reply_is_tool_error(const mcpump_reply *reply)
{
    struct mp_span value;
    return !mcpump_reply_is_error(reply) && find(reply, "isError", &value) && *value.bytes == 't';
}

static bool is_text_block(struct mp_span block, struct mp_span *ret_text)
{
    static const char type_text[] = "\"text\"";
    struct mp_span type;
    return mp_member_find(block, "type", &type) && type.size == sizeof(type_text) - 1 &&
           memcmp(type.bytes, type_text, type.size) == 0 &&
           mp_member_find(block, "text", ret_text) && *ret_text->bytes == '"';
}

mcpump_err mcpump_reply_content_text(const mcpump_reply *reply, char **ret_text)
{
    struct mp_buffer out = MP_BUFFER_INIT;
    struct mp_span blocks, block, text;
    bool is_first = true;
    if (!mcpump_reply_is_error(reply) && find(reply, "content", &blocks) && *blocks.bytes == '[') {
        /* What steps through a batch steps through any array. */
        for (const char *at = NULL; mp_batch_next(blocks, &at, &block);) {
            if (!is_text_block(block, &text))
                continue;
            mp_buffer_add_text(&out, is_first ? "" : "\n");
            mp_tree_add_string(&out, text);
            is_first = false;
        }
    }
    return give_text(&out, ret_text);
}

/* -- errors */

static bool find_in_error(const mcpump_reply *reply, const char *key, struct mp_span *ret_value)
{
    return mcpump_reply_is_error(reply) && find(reply, key, ret_value);
}

bool mcpump_reply_error_code(const mcpump_reply *reply, int64_t *ret_code)
{
    struct mp_span code;
    return find_in_error(reply, "code", &code) && mp_tree_integer(code, ret_code);
}

mcpump_err mcpump_reply_error_message(const mcpump_reply *reply, char **ret_message)
{
    struct mp_buffer out = MP_BUFFER_INIT;
    struct mp_span message;
    if (find_in_error(reply, "message", &message))
        mp_tree_add_string(&out, message);
    return give_text(&out, ret_message);
}

const char *mcpump_reply_error_data(const mcpump_reply *reply, size_t *ret_size)
{
    struct mp_span data = {NULL, 0};
    bool found = find_in_error(reply, "data", &data);
    return give(found, data, ret_size);
}
