/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reply to a request: a result, or the server's error. It owns its bytes and never changes, so
 * that many threads may read it at once. All text is valid JSON in UTF-8, as the server wrote it
 * (numbers, escapes and the order of keys are kept), and ends with a NUL that is not counted.
 */
#ifndef MCPUMP_REPLY_H
#define MCPUMP_REPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "export.h"

MCPUMP_BEGIN_DECLS

typedef struct mcpump_reply mcpump_reply;

/**
 * The whole message, on one line, with the caller's own id. *ret_size, if not NULL, becomes its
 * size in bytes. Borrowed until the reply is freed.
 */
MCPUMP_API const char *mcpump_reply_text(const mcpump_reply *reply, size_t *ret_size);

/** Whether the server answered with an error. */
MCPUMP_API bool mcpump_reply_is_error(const mcpump_reply *reply);

/**
 * The value of `result`, or of `error` when it is one. Not terminated: *ret_size, which must not
 * be NULL, becomes its size in bytes. Borrowed until the reply is freed.
 */
MCPUMP_API const char *mcpump_reply_value(const mcpump_reply *reply, size_t *ret_size);

/** Frees the reply. NULL is allowed. */
MCPUMP_API void mcpump_reply_free(mcpump_reply *reply);

MCPUMP_END_DECLS

#endif
