/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/member.h"

#include <string.h>

#include "wire/scan.h"

/* The text is valid: only a key can be missing, in an empty object. */
bool mp_member_find(struct mp_span object, const char *key, struct mp_span *ret_value)
{
    const char *end = object.bytes + object.size;
    const char *at = mp_scan_space(object.bytes, end);
    if (at == end || *at != '{')
        return false;
    size_t size, key_size = strlen(key);
    bool found = false;
    do {
        const char *name = mp_scan_space(at + 1, end);
        const char *value = mp_scan_key(name, end, &size);
        if (value == NULL)
            break;
        at = mp_scan_value(value, end, MP_JSON_MAX_DEPTH);
        if (size == key_size && memcmp(name + 1, key, size) == 0) {
            *ret_value = (struct mp_span){value, (size_t)(at - value)};
            found = true;
        }
        at = mp_scan_space(at, end);
    } while (*at == ',');
    return found;
}
