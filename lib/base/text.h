/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of a peer made fit to be shown: valid UTF-8, no control or escape characters, bounded.
 * Nothing here allocates.
 */
#ifndef MP_BASE_TEXT_H
#define MP_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Copies `size` bytes to `out`, of `capacity` bytes (at least 8), always NUL-terminated; returns
 * the length. Tab stays; other bytes below 0x20, DEL and the C1 controls (U+0080 to U+009F) become
 * \xNN; each byte of invalid UTF-8 becomes U+FFFD. Too long: cut at a character and ended with
 * U+2026.
 */
size_t mp_text_clean(const char *text, size_t size, char *out, size_t capacity);

/*
 * A display name from what the host gave: slashes in front, brackets and control characters taken
 * out, invalid UTF-8 replaced, white space trimmed at the ends, cut at a character. Never empty:
 * "server" when nothing is left. As above for `out`.
 */
size_t mp_text_label(const char *name, char *out, size_t capacity);

/* The size in bytes (1 to 4) of the valid UTF-8 character at text, 0 when invalid or cut off. */
size_t mp_text_utf8_size(const char *text, size_t size);

#define MP_TEXT_ERRNO_SIZE 64

/* What an errno means, in `scratch` or static. Any thread. */
const char *mp_text_errno(int err, char scratch[MP_TEXT_ERRNO_SIZE]);

#endif
