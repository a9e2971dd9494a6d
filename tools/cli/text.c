/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <string.h>

/* Sets *ret_code when a control character stands at text; returns the bytes it takes, else 0. */
static size_t control_size(const char *text, size_t size, unsigned *ret_code)
{
    unsigned char first = (unsigned char)text[0];
    if (first < 0x20 || first == 0x7F) {
        *ret_code = first;
        return 1;
    }
    if (first != 0xC2 || size < 2 || ((unsigned char)text[1] & 0xE0) != 0x80)
        return 0;
    *ret_code = (unsigned char)text[1];
    return 2;
}

static bool is_kept(const char *text, size_t size, const char *keep)
{
    if (text[0] == '\r' && size > 1 && text[1] == '\n' && strchr(keep, '\n') != NULL)
        return true;
    return text[0] != '\0' && strchr(keep, text[0]) != NULL;
}

void cli_text_clean(FILE *out, const char *text, size_t size, const char *keep)
{
    for (size_t at = 0; at < size;) {
        unsigned code;
        size_t taken = control_size(text + at, size - at, &code);
        if (taken == 0 || is_kept(text + at, size - at, keep)) {
            putc(text[at], out);
            at++;
        } else {
            fprintf(out, "\\u%04x", code);
            at += taken;
        }
    }
}

/* The bounds of the second byte rule out overlong forms, surrogates and what is above U+10FFFF. */
size_t cli_text_char_size(const char *text, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)text;
    if (size == 0 || bytes[0] < 0x80)
        return size > 0;
    if (bytes[0] < 0xC2 || bytes[0] > 0xF4)
        return 0;
    size_t need = bytes[0] < 0xE0 ? 2 : bytes[0] < 0xF0 ? 3 : 4;
    if (size < need)
        return 0;
    unsigned least = bytes[0] == 0xE0 ? 0xA0 : bytes[0] == 0xF0 ? 0x90 : 0x80;
    unsigned most = bytes[0] == 0xED ? 0x9F : bytes[0] == 0xF4 ? 0x8F : 0xBF;
    if (bytes[1] < least || bytes[1] > most)
        return 0;
    for (size_t i = 2; i < need; i++) {
        if ((bytes[i] & 0xC0) != 0x80)
            return 0;
    }
    return need;
}

bool cli_text_is_utf8(const char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        size_t taken = cli_text_char_size(text + at, size - at);
        if (taken == 0)
            return false;
        at += taken;
    }
    return true;
}
