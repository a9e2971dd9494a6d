/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strict JSON scanner. Every byte of every message goes through it: what stands in strings by
 * the vector (body.h), tokens one by one, in functions that the compiler merges into one loop.
 * Nesting is a stack of the brackets that are due.
 */
#include "wire/scan.h"

#include <assert.h>
#include <string.h>

#include "wire/body.h"

/* What is open around a value. */
struct nest {
    unsigned depth;
    char closers[MP_JSON_MAX_DEPTH]; /* a brace or a bracket for each level, up to depth */
};

static inline bool is_digit(const char *at, const char *end)
{
    return at < end && *at >= '0' && *at <= '9';
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* The size of the escape at the backslash; 0 when it is none. */
static size_t escape_size(const char *at, const char *end)
{
    if (end - at < 2)
        return 0;
    switch (at[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return 2;
    case 'u':
        return end - at >= 6 && is_hex(at[2]) && is_hex(at[3]) && is_hex(at[4]) && is_hex(at[5])
                   ? 6
                   : 0;
    default:
        return 0;
    }
}

const char *mp_scan_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    return at;
}

/* The static ones are merged into the loop; those of the header are not, in general. Most messages
 * have no space between tokens. */
static inline const char *scan_space(const char *at, const char *end)
{
    return at < end && (unsigned char)*at > ' ' ? at : mp_scan_space(at, end);
}

static inline const char *scan_string(const char *at, const char *end)
{
    for (;;) {
        at = mp_body_skip(at, end);
        if (at == end)
            return NULL;
        if (*at == '"')
            return at + 1;
        size_t size = *at == '\\' ? escape_size(at, end) : 0;
        if (size == 0)
            return NULL;
        at += size;
    }
}

const char *mp_scan_string(const char *at, const char *end)
{
    return scan_string(at, end);
}

static inline const char *skip_digits(const char *at, const char *end)
{
    while (is_digit(at, end))
        at++;
    return at;
}

static inline const char *scan_number(const char *at, const char *end)
{
    if (at < end && *at == '-')
        at++;
    if (!is_digit(at, end))
        return NULL;
    at = *at == '0' ? at + 1 : skip_digits(at, end);
    if (at < end && *at == '.') {
        if (!is_digit(++at, end))
            return NULL;
        at = skip_digits(at, end);
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-'))
            at++;
        if (!is_digit(at, end))
            return NULL;
        at = skip_digits(at, end);
    }
    return at;
}

const char *mp_scan_number(const char *at, const char *end)
{
    return scan_number(at, end);
}

const char *mp_scan_key(const char *at, const char *end, size_t *ret_size)
{
    if (at == end || *at != '"')
        return NULL;
    const char *behind = scan_string(at + 1, end);
    if (behind == NULL)
        return NULL;
    const char *colon = scan_space(behind, end);
    if (colon == end || *colon != ':')
        return NULL;
    *ret_size = (size_t)(behind - at) - 2;
    return scan_space(colon + 1, end);
}

static inline const char *scan_word(const char *at, const char *end, const char *word, size_t size)
{
    return (size_t)(end - at) >= size && memcmp(at, word, size) == 0 ? at + size : NULL;
}

static inline const char *scan_scalar(const char *at, const char *end)
{
    if (at == end)
        return NULL;
    switch (*at) {
    case '"':
        return scan_string(at + 1, end);
    case 't':
        return scan_word(at, end, "true", 4);
    case 'f':
        return scan_word(at, end, "false", 5);
    case 'n':
        return scan_word(at, end, "null", 4);
    default:
        return scan_number(at, end);
    }
}

static inline void nest_open(struct nest *nest, bool object)
{
    nest->closers[nest->depth++] = object ? '}' : ']';
}

static inline char nest_closer(const struct nest *nest)
{
    return nest->closers[nest->depth - 1];
}

/* From behind a value: closes what ends there, and steps over the comma before the next one. */
static inline const char *scan_after(struct nest *nest, const char *at, const char *end)
{
    while (nest->depth > 0) {
        at = scan_space(at, end);
        if (at == end)
            return NULL;
        if (*at == ',')
            return scan_space(at + 1, end);
        if (*at != nest_closer(nest))
            return NULL;
        nest->depth--;
        at++;
    }
    return at;
}

const char *mp_scan_value(const char *at, const char *end, unsigned max_depth)
{
    assert(max_depth <= MP_JSON_MAX_DEPTH);
    struct nest nest;
    nest.depth = 0;
    for (;;) {
        bool complete = true;
        if (at < end && (*at == '{' || *at == '[')) {
            if (nest.depth == max_depth)
                return NULL;
            nest_open(&nest, *at == '{');
            at = scan_space(at + 1, end);
            complete = at < end && *at == nest_closer(&nest);
        } else {
            at = scan_scalar(at, end);
        }
        if (at != NULL && complete)
            at = scan_after(&nest, at, end);
        if (at == NULL || nest.depth == 0)
            return at;
        size_t key_size;
        if (nest_closer(&nest) == '}')
            at = mp_scan_key(at, end, &key_size);
        if (at == NULL)
            return NULL;
    }
}
