/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small JSON reader for servers: it looks at text in place and builds nothing. Each object that
 * is looked into is checked against RFC 8259, UTF-8 included, so whoever picks the members of a
 * whole message has checked all of it. No recursion, no allocation, no state.
 */
#ifndef MCPUMP_DEMO_JSON_H
#define MCPUMP_DEMO_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_span {
    const char *bytes; /* NULL: absent; else the first byte of the value */
    size_t size;
};

enum json_type {
    JSON_ABSENT,
    JSON_OBJECT,
    JSON_ARRAY,
    JSON_STRING,
    JSON_NUMBER,
    JSON_OTHER, /* true, false, null */
};

enum json_type json_type(struct json_span value);

/*
 * Finds `count` members of an object in one pass; what is not there is absent, the last of two
 * equal keys counts. False when the text is not exactly one valid JSON object: nothing is returned
 * then.
 */
bool json_pick(struct json_span text, const char *const keys[], size_t count,
               struct json_span ret_values[]);

/* One member; absent also when the text is no object. */
struct json_span json_member(struct json_span object, const char *key);

/* Steps through an array: start with *at = NULL. False at its end, and at what is not valid. */
bool json_next(struct json_span array, const char **at, struct json_span *ret_element);

bool json_valid(struct json_span text);

/* Whether a value is this string, escapes decoded. */
bool json_is(struct json_span value, const char *text);

/* Writes a string's text, escapes decoded, to out, which has room for value.size bytes; returns
 * how many were written. They may hold a NUL. */
size_t json_decode(struct json_span value, char *out);

/* A number written as an integer within the bounds. */
bool json_integer(struct json_span value, int64_t min, int64_t max, int64_t *ret_integer);

/* Any finite number. */
bool json_number(struct json_span value, double *ret_number);

#endif
