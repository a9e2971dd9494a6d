/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be read out of a reply, without a tree. Each function looks for its part when it is
 * called, and keeps nothing. Keys count as they are spelled: those of a server that escapes letters
 * in them are not found. Any thread; many may read one reply at once.
 */
#ifndef MCPUMP_RESULT_H
#define MCPUMP_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "export.h"
#include "reply.h"

MCPUMP_BEGIN_DECLS

/**
 * A member of the result, or of the error, by its key: `structuredContent`, `contents`, `messages`,
 * `completion`, `_meta` and so on. JSON text, borrowed until the reply is freed; not terminated:
 * *ret_size, which must not be NULL, becomes its size in bytes. NULL: it has no such member, or is
 * no object; *ret_size is untouched then.
 */
MCPUMP_API const char *mcpump_reply_member(const mcpump_reply *reply, const char *key,
                                           size_t *ret_size);

/** Whether a tool failed and says so in its result (`isError`). A reply that is the server's error
 * is none of these. */
MCPUMP_API bool mcpump_reply_is_tool_error(const mcpump_reply *reply);

/**
 * The text of a result: that of the blocks of type `text` in `content`, in their order, each but
 * the last ended by LF. *ret_text is new, plain UTF-8, NUL-terminated (U+0000 within it becomes
 * U+FFFD), "" when there is none; the caller frees it with mcpump_text_free. Errors: NO_MEMORY.
 */
MCPUMP_API mcpump_err mcpump_reply_content_text(const mcpump_reply *reply, char **ret_text);

/** The code of the server's error. False: it is none, or has no number there. A number beyond 64
 * bits is cut to what fits. */
MCPUMP_API bool mcpump_reply_error_code(const mcpump_reply *reply, int64_t *ret_code);

/** The message of the server's error, as for mcpump_reply_content_text. "": it is none, or has
 * none. It may hold line breaks and control characters. */
MCPUMP_API mcpump_err mcpump_reply_error_message(const mcpump_reply *reply, char **ret_message);

/** The data of the server's error, any JSON text; as for mcpump_reply_member. */
MCPUMP_API const char *mcpump_reply_error_data(const mcpump_reply *reply, size_t *ret_size);

MCPUMP_END_DECLS

#endif
