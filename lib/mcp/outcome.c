/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/outcome.h"

#include <string.h>

#include "wire/member.h"

#define COMPLETE "\"resultType\":\"complete\""

static bool is_text(struct mp_span span, const char *text)
{
    return span.size == strlen(text) && memcmp(span.bytes, text, span.size) == 0;
}

/*
 * Whether the result ends with the usual words, in which case a large one need not be searched. The
 * brace closes the result, so the quote before it ends a string; that string is "complete" alone,
 * since the quote that begins it has a colon in front, and no backslash; and so on.
 */
static bool ends_as_complete(struct mp_span result)
{
    static const char after_others[] = "," COMPLETE "}", alone[] = "{" COMPLETE "}";
    size_t size = sizeof(alone) - 1;
    if (result.size < size)
        return false;
    const char *end = result.bytes + result.size - size;
    return memcmp(end, after_others, size) == 0 || memcmp(end, alone, size) == 0;
}

/* The same at the other end. */
static bool begins_as_complete(struct mp_span result)
{
    static const char before_others[] = "{" COMPLETE ",";
    size_t size = sizeof(before_others) - 1;
    return result.size >= size && memcmp(result.bytes, before_others, size) == 0;
}

enum mp_outcome mp_outcome_of(const mcpump_reply *reply, struct mp_span *ret_type)
{
    struct mp_span result, type;
    result.bytes = mcpump_reply_value(reply, &result.size);
    if (mcpump_reply_is_error(reply) || ends_as_complete(result) || begins_as_complete(result) ||
        !mp_member_find(result, "resultType", &type) || is_text(type, "\"complete\""))
        return MP_OUTCOME_COMPLETE;
    if (is_text(type, "\"input_required\""))
        return MP_OUTCOME_INPUT_REQUIRED;
    *ret_type = type;
    return MP_OUTCOME_UNKNOWN;
}
