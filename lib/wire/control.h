/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The few messages that a connection writes on its own account. Each is one frame: one line with
 * its LF, valid against the schemas of both eras where it exists in them.
 */
#ifndef MP_WIRE_CONTROL_H
#define MP_WIRE_CONTROL_H

#include <stdint.h>

#include "base/buffer.h"
#include "wire/envelope.h"

/* Appends the answer to a request of the server that nobody else answers: an empty result to
 * `ping`, error -32601 to anything else; its id as it was spelled. */
void mp_control_answer(struct mp_buffer *out, const struct mp_envelope *request);

/* Appends `notifications/cancelled` for our request `id`. reason: NULL for the fixed neutral text.
 */
void mp_control_cancelled(struct mp_buffer *out, uint64_t id, const char *reason);

#endif
