/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our ids on the wire: positive integers below 2^53, so that they survive a peer that keeps numbers
 * as doubles.
 */
#ifndef MP_WIRE_MESSAGE_ID_H
#define MP_WIRE_MESSAGE_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/framer.h"

#define MP_MESSAGE_ID_MAX  (((uint64_t)1 << 53) - 1)
#define MP_MESSAGE_ID_SIZE 20 /* enough for the digits and a NUL */

/* The decimal digits of id, NUL-terminated; returns their number. */
size_t mp_message_id_text(uint64_t id, char out[MP_MESSAGE_ID_SIZE]);

/*
 * Reads the id of a reply: an integer, an integral number in any JSON spelling (7, 7.0, 70e-1), or
 * a string that holds the plain decimal digits ("7"). Anything else, zero and numbers above the
 * maximum are not ours: false.
 */
bool mp_message_id_parse(struct mp_span id, uint64_t *ret_id);

#endif
