/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment of a child: an allowlist of the host's variables, and what was configured. One
 * with secrets lives in a vault; others hold copies of what is in memory anyway, and spare the
 * system calls.
 */
#ifndef MP_PROCESS_ENVIRONMENT_H
#define MP_PROCESS_ENVIRONMENT_H

#include "mcpump/secret.h"

/* Lists ended by NULL, or by an entry without name; NULL: none. Later ones win over earlier ones.
 */
struct mp_environment_plan {
    char *const *host;    /* of it: HOME, LOGNAME, PATH, SHELL, TERM, USER ... */
    char *const *inherit; /* ... and these names, but no value that starts with "()" ... */
    char *const *unset;   /* ... nor these names */
    char *const *own;     /* "NAME=VALUE"; the last of a name wins */
    const mcpump_secret_variable *secrets;
};

/* Returns new: "NAME=VALUE" strings ended by NULL, one a name. NULL: no memory. */
char **mp_environment_new(const struct mp_environment_plan *plan);

/* Wipes and frees. NULL is allowed. */
void mp_environment_free(char **environment);

/* The value of a name, or NULL; borrowed. */
const char *mp_environment_get(char *const *environment, const char *name);

#endif
