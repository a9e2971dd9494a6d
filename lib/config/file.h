/* SPDX-License-Identifier: Apache-2.0 */
/* Files that may hold secrets, read into vaults; and where a configuration is looked for. */
#ifndef MP_CONFIG_FILE_H
#define MP_CONFIG_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

/* Reads a whole file of at most `most` bytes: 0, and *ret_text is new, for mp_vault_free; or an
 * errno (EFBIG: it is larger). Blocks as reading does. */
int mp_file_read(const char *path, size_t most, char **ret_text, size_t *ret_size);

/* How many places there are for a configuration whose path is not given. */
#define MP_FILE_PLACES 2

/* Appends the path of one; nothing if it is unknown, for lack of HOME. */
void mp_file_place(struct mp_buffer *out, unsigned place);

/* Appends the absolute directory that the file stands in; when that is `.vscode`, the one above.
 * False: relative, and there is no current directory. */
bool mp_file_base(struct mp_buffer *out, const char *path);

#endif
