/* SPDX-License-Identifier: Apache-2.0 */
/* Spans in tables of test cases, and their comparison. */
#ifndef TEST_WIRE_SPAN_H
#define TEST_WIRE_SPAN_H

#include <string.h>

#include "wire/framer.h"

/* Of a string literal, which may hold NUL bytes. */
#define SPAN(literal)                                                                              \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }
#define ABSENT                                                                                     \
    {                                                                                              \
        NULL, 0                                                                                    \
    }

static inline struct mp_span span_of(const char *text)
{
    return (struct mp_span){text, strlen(text)};
}

/* Whether the span holds this text; NULL: whether it is absent. */
static inline bool span_is(struct mp_span span, const char *text)
{
    if (text == NULL)
        return span.bytes == NULL && span.size == 0;
    return span.bytes != NULL && span.size == strlen(text) &&
           memcmp(span.bytes, text, span.size) == 0;
}

#endif
