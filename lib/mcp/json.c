/* SPDX-License-Identifier: Apache-2.0 */
/* Replies and texts as trees, in the thread of whoever asks. */
#include "mcpump/json.h"

#include <string.h>

#include "mcp/tree.h"
#include "wire/scan.h"

mcpump_err mcpump_reply_json(const mcpump_reply *reply, struct json_object **ret_value)
{
    struct mp_span value;
    if (reply == NULL || ret_value == NULL)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    value.bytes = mcpump_reply_value(reply, &value.size);
    return mp_tree_parse(value, ret_value);
}

mcpump_err mcpump_text_json(const char *text, struct json_object **ret_value)
{
    if (text == NULL || ret_value == NULL)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    const char *end = text + strlen(text);
    const char *start = mp_scan_space(text, end);
    const char *behind = start < end ? mp_scan_value(start, end, MP_JSON_MAX_DEPTH) : NULL;
    if (behind == NULL || mp_scan_space(behind, end) != end)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    return mp_tree_parse((struct mp_span){start, (size_t)(behind - start)}, ret_value);
}
