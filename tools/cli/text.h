/* SPDX-License-Identifier: Apache-2.0 */
/* Text that others wrote, for a terminal or for one line of a list. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Writes UTF-8 text; control characters (C0, DEL and C1) that are not in `keep` become \u00NN,
 * which also keeps JSON valid. A CR in front of a kept LF is kept too.
 */
void cli_text_clean(FILE *out, const char *text, size_t size, const char *keep);

/* Whether all of it is valid UTF-8. */
bool cli_text_is_utf8(const char *text, size_t size);

/* The size (1 to 4) of the valid UTF-8 character at text, 0 when invalid or cut off. */
size_t cli_text_char_size(const char *text, size_t size);

#endif
