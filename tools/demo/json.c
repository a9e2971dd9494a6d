/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH   128
#define MAX_TEXT    256 /* the longest string, as it stands in the text, that json_is compares */
#define MAX_NUMBER  64  /* the longest number that is given a value */
#define REPLACEMENT 0xFFFD
#define IS_HIGH(u)  ((u) >= 0xD800 && (u) < 0xDC00)
#define IS_LOW(u)   ((u) >= 0xDC00 && (u) < 0xE000)

/* Every skip_ function returns the position behind what it read, or NULL when that is not valid. */

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    return at;
}

static const char *skip_utf8(const char *at, const char *end)
{
    const unsigned char *b = (const unsigned char *)at;
    size_t left = (size_t)(end - at);
    size_t size = b[0] >= 0xF0 ? 4 : b[0] >= 0xE0 ? 3 : 2;
    if (b[0] < 0xC2 || b[0] > 0xF4 || left < size)
        return NULL;
    /* Overlong forms, surrogates and what lies above U+10FFFF show in the second byte. */
    unsigned low = b[0] == 0xE0 ? 0xA0 : b[0] == 0xF0 ? 0x90 : 0x80;
    unsigned high = b[0] == 0xED ? 0x9F : b[0] == 0xF4 ? 0x8F : 0xBF;
    if (b[1] < low || b[1] > high)
        return NULL;
    for (size_t i = 2; i < size; i++) {
        if ((b[i] & 0xC0) != 0x80)
            return NULL;
    }
    return at + size;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* `at` is behind the backslash. */
static const char *skip_escape(const char *at, const char *end)
{
    if (at == end)
        return NULL;
    if (*at != 'u')
        return strchr("\"\\/bfnrt", *at) != NULL && *at != '\0' ? at + 1 : NULL;
    if (end - at < 5)
        return NULL;
    for (int i = 1; i <= 4; i++) {
        if (hex_digit(at[i]) < 0)
            return NULL;
    }
    return at + 5;
}

static const char *skip_string(const char *at, const char *end)
{
    if (at == end || *at++ != '"')
        return NULL;
    while (at != NULL && at < end) {
        unsigned char c = (unsigned char)*at;
        if (c == '"')
            return at + 1;
        if (c < 0x20)
            return NULL;
        if (c == '\\')
            at = skip_escape(at + 1, end);
        else
            at = c < 0x80 ? at + 1 : skip_utf8(at, end);
    }
    return NULL;
}

static const char *skip_digits(const char *at, const char *end)
{
    const char *start = at;
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at > start ? at : NULL;
}

static const char *skip_number(const char *at, const char *end)
{
    if (at < end && *at == '-')
        at++;
    at = at < end && *at == '0' ? at + 1 : skip_digits(at, end);
    if (at != NULL && at < end && *at == '.')
        at = skip_digits(at + 1, end);
    if (at == NULL || at == end || (*at != 'e' && *at != 'E'))
        return at;
    at++;
    if (at < end && (*at == '+' || *at == '-'))
        at++;
    return skip_digits(at, end);
}

static const char *skip_word(const char *at, const char *end, const char *word)
{
    size_t size = strlen(word);
    return (size_t)(end - at) >= size && memcmp(at, word, size) == 0 ? at + size : NULL;
}

static const char *skip_scalar(const char *at, const char *end)
{
    switch (*at) {
    case '"':
        return skip_string(at, end);
    case 't':
        return skip_word(at, end, "true");
    case 'f':
        return skip_word(at, end, "false");
    case 'n':
        return skip_word(at, end, "null");
    default:
        return skip_number(at, end);
    }
}

/* A member's key and its colon. */
static const char *skip_key(const char *at, const char *end)
{
    at = skip_string(skip_space(at, end), end);
    if (at == NULL)
        return NULL;
    at = skip_space(at, end);
    return at < end && *at == ':' ? at + 1 : NULL;
}

/* Behind a value within containers: closes those that end here, or steps to the next value. */
static const char *skip_after(const char *at, const char *end, const char *closers, unsigned *depth)
{
    while (*depth > 0) {
        char closer = closers[*depth - 1];
        at = skip_space(at, end);
        if (at == end)
            return NULL;
        if (*at == ',')
            return closer == '}' ? skip_key(at + 1, end) : at + 1;
        if (*at++ != closer)
            return NULL;
        (*depth)--;
    }
    return at;
}

static const char *skip_value(const char *at, const char *end)
{
    char closers[MAX_DEPTH];
    unsigned depth = 0;
    do {
        at = skip_space(at, end);
        if (at == end)
            return NULL;
        if (*at != '{' && *at != '[') {
            at = skip_scalar(at, end);
        } else {
            char closer = *at == '{' ? '}' : ']';
            at = skip_space(at + 1, end);
            if (at == end || *at != closer) {
                if (depth == MAX_DEPTH)
                    return NULL;
                closers[depth++] = closer;
                at = closer == '}' ? skip_key(at, end) : at;
                continue;
            }
            at++;
        }
        at = at != NULL ? skip_after(at, end, closers, &depth) : NULL;
    } while (at != NULL && depth > 0);
    return at;
}

enum json_type json_type(struct json_span value)
{
    if (value.bytes == NULL)
        return JSON_ABSENT;
    switch (value.bytes[0]) {
    case '{':
        return JSON_OBJECT;
    case '[':
        return JSON_ARRAY;
    case '"':
        return JSON_STRING;
    case 't':
    case 'f':
    case 'n':
        return JSON_OTHER;
    default:
        return JSON_NUMBER;
    }
}

/* One member from *at, which stands behind the opening brace or a comma, to behind its value. */
static bool step_member(const char **at, const char *end, struct json_span *ret_key,
                        struct json_span *ret_value)
{
    const char *key = skip_space(*at, end);
    const char *key_end = skip_string(key, end);
    const char *value = key_end != NULL ? skip_key(key, end) : NULL;
    if (value == NULL)
        return false;
    value = skip_space(value, end);
    const char *value_end = skip_value(value, end);
    if (value_end == NULL)
        return false;
    *ret_key = (struct json_span){key, (size_t)(key_end - key)};
    *ret_value = (struct json_span){value, (size_t)(value_end - value)};
    *at = skip_space(value_end, end);
    return true;
}

bool json_pick(struct json_span text, const char *const keys[], size_t count,
               struct json_span ret_values[])
{
    const char *end = text.bytes + text.size;
    const char *at = text.bytes != NULL ? skip_space(text.bytes, end) : NULL;
    for (size_t i = 0; i < count; i++)
        ret_values[i] = (struct json_span){NULL, 0};
    if (at == NULL || at == end || *at++ != '{')
        return false;
    at = skip_space(at, end);
    if (at < end && *at == '}')
        return skip_space(at + 1, end) == end;
    for (;;) {
        struct json_span key, value;
        if (!step_member(&at, end, &key, &value) || at == end)
            return false;
        for (size_t i = 0; i < count; i++) {
            if (json_is(key, keys[i]))
                ret_values[i] = value;
        }
        if (*at == '}')
            return skip_space(at + 1, end) == end;
        if (*at++ != ',')
            return false;
    }
}

struct json_span json_member(struct json_span object, const char *key)
{
    struct json_span value;
    return json_pick(object, &key, 1, &value) ? value : (struct json_span){NULL, 0};
}

bool json_next(struct json_span array, const char **at, struct json_span *ret_element)
{
    const char *end = array.bytes + array.size;
    const char *here = *at;
    if (here == NULL) {
        here = skip_space(array.bytes, end);
        if (here == end || *here != '[')
            return false;
    } else {
        here = skip_space(here, end);
        if (here == end || *here != ',')
            return false;
    }
    here = skip_space(here + 1, end);
    const char *after = skip_value(here, end);
    if (after == NULL)
        return false;
    *ret_element = (struct json_span){here, (size_t)(after - here)};
    *at = after;
    return true;
}

bool json_valid(struct json_span text)
{
    const char *end = text.bytes + text.size;
    const char *after = skip_value(text.bytes, end);
    return after != NULL && skip_space(after, end) == end;
}

bool json_is(struct json_span value, const char *text)
{
    size_t size = strlen(text);
    /* Escapes only ever make a string longer than its text. */
    if (json_type(value) != JSON_STRING || value.size < size + 2)
        return false;
    if (value.size == size + 2)
        return memcmp(value.bytes + 1, text, size) == 0;
    if (value.size > MAX_TEXT || memchr(value.bytes, '\\', value.size) == NULL)
        return false;
    char decoded[MAX_TEXT];
    return json_decode(value, decoded) == size && memcmp(decoded, text, size) == 0;
}

static unsigned hex4(const char *at)
{
    unsigned unit = 0;
    for (int i = 0; i < 4; i++)
        unit = unit * 16 + (unsigned)hex_digit(at[i]);
    return unit;
}

static char *put_utf8(char *out, unsigned code)
{
    if (code < 0x80) {
        *out++ = (char)code;
        return out;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned leads[] = {0, 0xC0, 0xE0, 0xF0};
    *out++ = (char)(leads[more] | code >> (6 * more));
    while (more-- > 0)
        *out++ = (char)(0x80 | (code >> (6 * more) & 0x3F));
    return out;
}

/* `*at` is behind "\u"; a surrogate without its partner becomes U+FFFD. */
static unsigned decode_unicode(const char **at)
{
    unsigned unit = hex4(*at);
    *at += 4;
    if (IS_HIGH(unit) && (*at)[0] == '\\' && (*at)[1] == 'u' && IS_LOW(hex4(*at + 2))) {
        unit = 0x10000 + ((unit - 0xD800) << 10) + (hex4(*at + 2) - 0xDC00);
        *at += 6;
    }
    return unit >= 0xD800 && unit < 0xE000 ? REPLACEMENT : unit;
}

size_t json_decode(struct json_span value, char *out)
{
    static const char names[] = "bfnrt", bytes[] = "\b\f\n\r\t";
    const char *at = value.bytes + 1;
    char *start = out;
    while (*at != '"') {
        if (*at != '\\') {
            *out++ = *at++;
            continue;
        }
        char escape = at[1];
        at += 2;
        const char *name = strchr(names, escape);
        if (escape == 'u')
            out = put_utf8(out, decode_unicode(&at));
        else
            *out++ = name != NULL ? bytes[name - names] : escape;
    }
    return (size_t)(out - start);
}

static bool number_text(struct json_span value, char text[MAX_NUMBER])
{
    if (json_type(value) != JSON_NUMBER || value.size >= MAX_NUMBER)
        return false;
    memcpy(text, value.bytes, value.size);
    text[value.size] = '\0';
    return true;
}

bool json_integer(struct json_span value, int64_t min, int64_t max, int64_t *ret_integer)
{
    char text[MAX_NUMBER], *end;
    if (!number_text(value, text))
        return false;
    /* Too large a number becomes the largest one, which the caller's bounds refuse. */
    long long integer = strtoll(text, &end, 10);
    if (*end != '\0' || integer < min || integer > max)
        return false;
    *ret_integer = integer;
    return true;
}

bool json_number(struct json_span value, double *ret_number)
{
    char text[MAX_NUMBER];
    if (!number_text(value, text))
        return false;
    double number = strtod(text, NULL);
    if (!isfinite(number))
        return false;
    *ret_number = number;
    return true;
}
