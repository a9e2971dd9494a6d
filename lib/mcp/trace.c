/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the trace of a call is one: https://www.w3.org/TR/trace-context/ and its baggage. */
#include <string.h>

#include "base/text.h"
#include "mcp/metadata.h"

/* "00-" trace id "-" parent id "-" flags; a later version may go on after another dash. */
#define TRACE_ID_AT      3
#define TRACE_ID_SIZE    32
#define PARENT_ID_AT     36
#define PARENT_ID_SIZE   16
#define FLAGS_AT         53
#define TRACEPARENT_SIZE 55

/* Capital letters are not allowed there. */
static bool is_hex(const char *text, size_t size)
{
    return strspn(text, "0123456789abcdef") >= size;
}

static bool is_zero(const char *text, size_t size)
{
    return strspn(text, "0") >= size;
}

static bool is_traceparent(const char *text)
{
    size_t size = strlen(text);
    if (size < TRACEPARENT_SIZE || text[TRACE_ID_AT - 1] != '-' || text[PARENT_ID_AT - 1] != '-' ||
        text[FLAGS_AT - 1] != '-')
        return false;
    if (!is_hex(text, 2) || !is_hex(text + TRACE_ID_AT, TRACE_ID_SIZE) ||
        !is_hex(text + PARENT_ID_AT, PARENT_ID_SIZE) || !is_hex(text + FLAGS_AT, 2))
        return false;
    if (is_zero(text + TRACE_ID_AT, TRACE_ID_SIZE) || is_zero(text + PARENT_ID_AT, PARENT_ID_SIZE))
        return false;
    if (strncmp(text, "ff", 2) == 0)
        return false;
    if (size == TRACEPARENT_SIZE)
        return true;
    return strncmp(text, "00", 2) != 0 && text[TRACEPARENT_SIZE] == '-';
}

/* Below U+0020, DEL, and U+0080 to U+009F. */
static bool is_control(const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    return bytes[0] < 0x20 || bytes[0] == 0x7F || (bytes[0] == 0xC2 && bytes[1] < 0xA0);
}

/* Valid UTF-8 without control characters. */
static bool is_plain(const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        size_t size = mp_text_utf8_size(text, left);
        if (size == 0 || is_control(text))
            return false;
        text += size;
        left -= size;
    }
    return true;
}

const char *mp_trace_check(const struct mp_trace *trace, const char **ret_name)
{
    const char *not_plain = "it is not UTF-8 without control characters";
    if (trace->traceparent != NULL) {
        *ret_name = "traceparent";
        if (!is_plain(trace->traceparent))
            return not_plain;
        if (!is_traceparent(trace->traceparent))
            return "it is not of the form VERSION-TRACEID-PARENTID-FLAGS";
    }
    *ret_name = "tracestate";
    if (trace->tracestate != NULL && !is_plain(trace->tracestate))
        return not_plain;
    *ret_name = "baggage";
    if (trace->baggage != NULL && !is_plain(trace->baggage))
        return not_plain;
    return NULL;
}
