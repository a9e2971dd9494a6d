/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON text as json-c trees, and strings of it decoded. For the thread that asks; never for the
 * reader. The text has been validated, so that what fails here is memory, or json-c.
 */
#ifndef MP_MCP_TREE_H
#define MP_MCP_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "mcpump/error.h"
#include "wire/framer.h"

struct json_object;

/* Returns new; NULL stands for `null` too. Errors: NO_MEMORY, INVALID_REPLY (json-c refuses it). */
mcpump_err mp_tree_parse(struct mp_span text, struct json_object **ret_tree);

/* The tree as text, which stays with the tree until it is changed. NULL: no memory. */
const char *mp_tree_write(struct json_object *tree);

/* Adds what a JSON string stands for, as UTF-8; U+0000 becomes U+FFFD, so that the text has no end
 * within. False: it is no string, or no memory (buffer->failed). */
bool mp_tree_add_string(struct mp_buffer *buffer, struct mp_span string);

/* The number, cut to what fits, a fraction dropped. False: it is no number. */
bool mp_tree_integer(struct mp_span number, int64_t *ret_integer);

#endif
