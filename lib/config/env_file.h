/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of an `envFile`, taken apart where they stand. Pure. */
#ifndef MP_CONFIG_ENV_FILE_H
#define MP_CONFIG_ENV_FILE_H

#include <stddef.h>

struct mp_env_file {
    char *at;
    char *end;   /* there is room for a NUL here */
    size_t line; /* of what was handed out last */
};

enum mp_env_file_result {
    MP_ENV_FILE_VARIABLE, /* *ret_name, *ret_value: borrowed, NUL-terminated */
    MP_ENV_FILE_END,
    MP_ENV_FILE_WRONG, /* the line is none of: blank, # comment, NAME=VALUE, export NAME=VALUE */
};

enum mp_env_file_result mp_env_file_next(struct mp_env_file *file, char **ret_name,
                                         char **ret_value);

#endif
