/* SPDX-License-Identifier: Apache-2.0 */
/* What a result of the modern era is: its resultType. Pure; a look at either end for most. */
#ifndef MP_MCP_OUTCOME_H
#define MP_MCP_OUTCOME_H

#include "mcpump/reply.h"
#include "wire/framer.h"

enum mp_outcome {
    MP_OUTCOME_COMPLETE, /* or it does not say; also an error */
    MP_OUTCOME_INPUT_REQUIRED,
    MP_OUTCOME_UNKNOWN, /* *ret_type: JSON text, of any type */
};

enum mp_outcome mp_outcome_of(const mcpump_reply *reply, struct mp_span *ret_type);

#endif
