/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define REPLACEMENT "\xEF\xBF\xBD"
#define ELLIPSIS    "\xE2\x80\xA6"
#define FALLBACK    "server"

static bool is_tail(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

/* The smallest and largest second byte rule out overlong forms, surrogates and what is above
 * U+10FFFF (RFC 3629, section 4). */
size_t mp_text_utf8_size(const char *text, size_t size)
{
    const unsigned char *s = (const unsigned char *)text;
    if (size == 0)
        return 0;
    if (s[0] < 0x80)
        return 1;
    size_t need = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4 || size < need)
        return 0;
    unsigned char least = s[0] == 0xE0 ? 0xA0 : s[0] == 0xF0 ? 0x90 : 0x80;
    unsigned char most = s[0] == 0xED ? 0x9F : s[0] == 0xF4 ? 0x8F : 0xBF;
    if (s[1] < least || s[1] > most)
        return 0;
    for (size_t i = 2; i < need; i++) {
        if (!is_tail(s[i]))
            return 0;
    }
    return need;
}

static bool is_control(const char *text, size_t size)
{
    unsigned char first = (unsigned char)text[0];
    if (size == 1)
        return first < 0x20 || first == 0x7F;
    return size == 2 && first == 0xC2 && (unsigned char)text[1] < 0xA0;
}

/* Writes what stands for one character; returns its size. `out` holds at least 9 bytes. */
static size_t show(const char *text, size_t char_size, char *out)
{
    if (char_size == 0) {
        memcpy(out, REPLACEMENT, 3);
        return 3;
    }
    if (!is_control(text, char_size) || text[0] == '\t') {
        memcpy(out, text, char_size);
        return char_size;
    }
    size_t size = 0;
    for (size_t i = 0; i < char_size; i++)
        size += (size_t)snprintf(out + size, 5, "\\x%02x", (unsigned)(unsigned char)text[i]);
    return size;
}

size_t mp_text_clean(const char *text, size_t size, char *out, size_t capacity)
{
    size_t length = 0, before_ellipsis = 0, at = 0;
    while (at < size) {
        char shown[9];
        size_t char_size = mp_text_utf8_size(text + at, size - at);
        size_t shown_size = show(text + at, char_size, shown);
        if (length + shown_size + 1 > capacity)
            break;
        memcpy(out + length, shown, shown_size);
        length += shown_size;
        if (length + sizeof(ELLIPSIS) <= capacity)
            before_ellipsis = length;
        at += char_size > 0 ? char_size : 1;
    }
    if (at < size) {
        memcpy(out + before_ellipsis, ELLIPSIS, sizeof(ELLIPSIS) - 1);
        length = before_ellipsis + sizeof(ELLIPSIS) - 1;
    }
    out[length] = '\0';
    return length;
}

static bool is_dropped(const char *text, size_t char_size)
{
    return is_control(text, char_size) || strchr("[]", text[0]) != NULL;
}

size_t mp_text_label(const char *name, char *out, size_t capacity)
{
    size_t length = 0, size = strlen(name);
    for (size_t at = 0; at < size;) {
        size_t char_size = mp_text_utf8_size(name + at, size - at);
        const char *shown = char_size > 0 ? name + at : REPLACEMENT;
        size_t shown_size = char_size > 0 ? char_size : 3;
        at += char_size > 0 ? char_size : 1;
        if (is_dropped(shown, shown_size) || (length == 0 && strchr("/\\ ", shown[0]) != NULL))
            continue;
        if (length + shown_size + 1 > capacity)
            break;
        memcpy(out + length, shown, shown_size);
        length += shown_size;
    }
    while (length > 0 && out[length - 1] == ' ')
        length--;
    out[length] = '\0';
    if (length > 0)
        return length;
    return (size_t)snprintf(out, capacity, "%s", FALLBACK);
}

/* GNU's strerror_r returns the text, POSIX's an error number; which one it is the libc decides. */
static const char *from_gnu(const char *text, const char *scratch)
{
    (void)scratch;
    return text;
}

static const char *from_posix(int err, const char *scratch)
{
    return err == 0 ? scratch : "unknown error";
}

const char *mp_text_errno(int err, char scratch[MP_TEXT_ERRNO_SIZE])
{
    scratch[0] = '\0';
    return _Generic(strerror_r(0, scratch, 0), char *: from_gnu, int: from_posix)(
        strerror_r(err, scratch, MP_TEXT_ERRNO_SIZE), scratch);
}
