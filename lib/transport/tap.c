/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/tap.h"

#include <stdint.h>
#include <string.h>

#include "base/secret.h"

#define MASK      "***"
#define MASK_SIZE (sizeof(MASK) - 1)

void mp_tap_init(struct mp_tap *tap, mcpump_tap_fn fn, void *user,
                 const mcpump_secret_variable *secrets)
{
    *tap = (struct mp_tap){.fn = fn, .user = user, .secrets = secrets};
    for (; secrets->name != NULL; secrets++) {
        const char *text = mp_secret_text(secrets->value);
        if (strlen(text) < MP_TAP_LEAST_SECRET)
            continue;
        tap->begins[(unsigned char)*text] = true;
        tap->begins['\\'] = true;
    }
}

void mp_tap_done(struct mp_tap *tap)
{
    mp_buffer_done(&tap->masked[0]);
    mp_buffer_done(&tap->masked[1]);
}

/* -- JSON's escapes */

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* An escape of four hexadecimal digits as its code unit; -1: none. */
static int32_t unit(const char *text, size_t size)
{
    int32_t value = 0;
    if (size < 6 || text[0] != '\\' || text[1] != 'u')
        return -1;
    for (int i = 2; i < 6; i++) {
        int each = digit(text[i]);
        if (each < 0)
            return -1;
        value = value * 16 + each;
    }
    return value;
}

static size_t encode(uint32_t character, char out[4])
{
    if (character < 0x80) {
        out[0] = (char)character;
        return 1;
    }
    size_t size = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    static const unsigned char leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = size - 1; i > 0; i--, character >>= 6)
        out[i] = (char)(0x80 | (character & 0x3F));
    out[0] = (char)(leads[size] | character);
    return size;
}

/* One character of a string: how many bytes it takes in the text, and what it stands for. A byte
 * that begins no escape stands for itself. */
struct character {
    size_t taken, size;
    char bytes[4];
};

static struct character decode(const char *text, size_t size)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    struct character found = {1, 1, {text[0]}};
    if (text[0] != '\\' || size < 2)
        return found;
    int32_t value = unit(text, size);
    if (value < 0) {
        const char *letter = text[1] != '\0' ? strchr(letters, text[1]) : NULL;
        if (letter != NULL)
            found = (struct character){2, 1, {meant[letter - letters]}};
        return found;
    }
    found.taken = 6;
    int32_t second = unit(text + 6, size - 6);
    if (value >= 0xD800 && value < 0xDC00 && second >= 0xDC00 && second < 0xE000) {
        found.taken = 12;
        value = 0x10000 + (value - 0xD800) * 0x400 + (second - 0xDC00);
    }
    found.size = encode((uint32_t)value, found.bytes);
    return found;
}

/* -- masking */

/* How many bytes of the text spell the secret, with or without escapes; 0: they do not. */
static size_t match(struct mp_span text, const char *secret, size_t secret_size)
{
    if (text.size >= secret_size && memcmp(text.bytes, secret, secret_size) == 0)
        return secret_size;
    size_t at = 0;
    for (size_t known = 0; known < secret_size;) {
        if (at >= text.size)
            return 0;
        struct character next = decode(text.bytes + at, text.size - at);
        if (next.size > secret_size - known || memcmp(next.bytes, secret + known, next.size) != 0)
            return 0;
        known += next.size;
        at += next.taken;
    }
    return at;
}

/* The longest, since one secret may be the beginning of another. */
static size_t match_any(const struct mp_tap *tap, struct mp_span text)
{
    size_t longest = 0;
    for (const mcpump_secret_variable *each = tap->secrets; each->name != NULL; each++) {
        const char *secret = mp_secret_text(each->value);
        size_t secret_size = strlen(secret);
        size_t size = secret_size >= MP_TAP_LEAST_SECRET ? match(text, secret, secret_size) : 0;
        longest = size > longest ? size : longest;
    }
    return longest;
}

struct mp_span mp_tap_mask(const struct mp_tap *tap, struct mp_span line, struct mp_buffer *out)
{
    size_t shown = 0; /* up to here it is in `out` */
    out->size = 0;
    out->failed = false;
    for (size_t at = 0; at < line.size;) {
        struct mp_span text = {line.bytes + at, line.size - at};
        size_t size = tap->begins[(unsigned char)*text.bytes] ? match_any(tap, text) : 0;
        at += size > 0 ? size : 1;
        if (size == 0)
            continue;
        mp_buffer_add(out, line.bytes + shown, at - size - shown);
        mp_buffer_add(out, MASK, MASK_SIZE);
        shown = at;
    }
    if (shown == 0)
        return line;
    mp_buffer_add(out, line.bytes + shown, line.size - shown);
    return out->failed ? (struct mp_span){MASK, MASK_SIZE}
                       : (struct mp_span){out->bytes, out->size};
}

void mp_tap_show(struct mp_tap *tap, mcpump_direction direction, struct mp_span line)
{
    if (tap->fn == NULL)
        return;
    struct mp_span masked = mp_tap_mask(tap, line, &tap->masked[direction]);
    tap->fn(tap->user, direction, masked.bytes, masked.size);
}
