/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON as people write it: the text is checked once, with the place of what is wrong, and then
 * walked where it stands; no tree. Keys and values are spans of the text. Comments and commas in
 * front of a closing bracket are allowed. Nothing here allocates, keeps or shows a value.
 */
#ifndef MP_CONFIG_JSON_H
#define MP_CONFIG_JSON_H

#include <stdint.h>

#include "wire/framer.h"

/* Where a text is wrong, and why: a static phrase. */
struct mp_json_fault {
    const char *at;
    const char *why;
};

/* Makes strict JSON of the text: a byte order mark, comments and needless commas become spaces, so
 * that all else stays in its place and on its line. False: it is not valid. */
bool mp_json_check(char *text, size_t size, struct mp_json_fault *ret_fault);

/* Steps through the members of an object, or the elements of an array, that was checked. */
struct mp_json_walk {
    const char *at;
    const char *end;
    bool in_object;
};

void mp_json_enter(struct mp_json_walk *walk, struct mp_span value);

/* False at the end. *ret_key is the string with its quotes; absent in an array. */
bool mp_json_next(struct mp_json_walk *walk, struct mp_span *ret_key, struct mp_span *ret_value);

/* The whole value of a text that was checked. */
struct mp_span mp_json_root(const char *text, size_t size);

/* '{', '[', '"', 't', 'f', 'n', or '0' for a number. */
char mp_json_type(struct mp_span value);

/* "a string" and the like. Static. */
const char *mp_json_type_name(struct mp_span value);

/* Decodes a string (a span with its quotes) to `out`, NUL-terminated. NULL, or why it could not be
 * ("is too long"): a static phrase; `out` has what came before. */
const char *mp_json_text(struct mp_span string, char *out, size_t capacity);

/* Whether the string is this ASCII text, without looking at escapes. */
bool mp_json_is(struct mp_span string, const char *text);

/* The largest number that is told from its neighbours. */
#define MP_JSON_MOST (((int64_t)1 << 53) - 1)

/* A whole number, in whatever spelling (1500, 1.5e3), from -MP_JSON_MOST to MP_JSON_MOST. */
bool mp_json_number(struct mp_span number, int64_t *ret_value);

#endif
