/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `${...}` in values: variables of our environment, and the few names of VS Code that have a
 * meaning here. What was put in is not expanded again.
 */
#ifndef MP_CONFIG_EXPAND_H
#define MP_CONFIG_EXPAND_H

#include <stdbool.h>
#include <stddef.h>

#define MP_EXPAND_WHY 256

/*
 * Expands `text` to `out`, NUL-terminated. `base` is the directory of ${workspaceFolder}; NULL: not
 * known. False: it could not be, and `ret_why` says why; of the text, which may be a secret, it
 * shows the name of a variable only. Reads the environment.
 */
bool mp_expand(const char *text, const char *base, char *out, size_t capacity,
               char ret_why[MP_EXPAND_WHY]);

#endif
