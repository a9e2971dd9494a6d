/* SPDX-License-Identifier: Apache-2.0 */
/* Looking into JSON text that has been validated, without a tree: members of objects. */
#ifndef MP_WIRE_MEMBER_H
#define MP_WIRE_MEMBER_H

#include <stdbool.h>

#include "wire/framer.h"

/*
 * Finds the member of an object by its key as it is spelled (a server that escapes letters of a key
 * is not found); the last one, should it stand twice. `object` is one whole valid value; false when
 * it is no object or has no such member.
 */
bool mp_member_find(struct mp_span object, const char *key, struct mp_span *ret_value);

#endif
