/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The params of the typed requests as text. Each adds one object to a buffer and returns NULL, or
 * what is wrong with what the host gave: a static phrase. Objects of the host go in byte for byte,
 * strings as JSON strings. Pure.
 */
#ifndef MP_MCP_PARAMS_H
#define MP_MCP_PARAMS_H

#include "base/buffer.h"
#include "mcpump/typed.h"

/* Of `tools/call` and `prompts/get`; `arguments` is the text of an object, or NULL. */
const char *mp_params_call(struct mp_buffer *params, const char *name, const char *arguments);

/* Of `resources/read`. */
const char *mp_params_read(struct mp_buffer *params, const char *uri);

/* Of `completion/complete`. */
const char *mp_params_complete(struct mp_buffer *params, const mcpump_completion *completion);

/* The protocol's own spelling of a log level, static; NULL: there is no such level. */
const char *mp_params_level(const char *level);

#endif
