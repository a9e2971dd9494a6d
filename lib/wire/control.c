/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/control.h"

#include <inttypes.h>
#include <string.h>

#include "wire/splice.h"

#define METHOD_NOT_FOUND -32601
#define NEUTRAL_REASON   "The client gave up on this request"

void mp_control_answer(struct mp_buffer *out, const struct mp_envelope *request)
{
    mp_buffer_add_text(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    mp_buffer_add(out, request->id.bytes, request->id.size);
    if (mp_envelope_is_method(request, "ping"))
        mp_buffer_add_text(out, ",\"result\":{}}\n");
    else
        mp_buffer_addf(out, ",\"error\":{\"code\":%d,\"message\":\"Method not found\"}}\n",
                       METHOD_NOT_FOUND);
}

void mp_control_cancelled(struct mp_buffer *out, uint64_t id, const char *reason)
{
    if (reason == NULL)
        reason = NEUTRAL_REASON;
    mp_buffer_addf(out,
                   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                   "\"params\":{\"requestId\":%" PRIu64 ",\"reason\":",
                   id);
    mp_splice_string(out, reason, strlen(reason));
    mp_buffer_add_text(out, "}}\n");
}
