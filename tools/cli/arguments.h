/* SPDX-License-Identifier: Apache-2.0 */
/* KEY=VALUE words and --json to the arguments of a tool. */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include <stddef.h>

/*
 * Makes the text of a JSON object. A VALUE that is valid JSON is taken as it is spelled, any other
 * becomes a string. The words win over members of `json`, which may be NULL and is otherwise kept
 * as it is. With neither, *ret_arguments is NULL. The text is new, to be freed with free.
 * Returns CLI_EXIT_OK, or CLI_EXIT_USAGE after saying what is wrong; values are not shown, for
 * they may be secrets.
 */
int cli_arguments_build(const char *const *words, size_t count, const char *json,
                        char **ret_arguments);

#endif
