/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of a child: an allowlist of the host's variables, and what was configured. */
#ifndef MP_PROCESS_ENVIRONMENT_H
#define MP_PROCESS_ENVIRONMENT_H

/*
 * Returns new: "NAME=VALUE" strings ended by NULL, one a name. From `host` come HOME, LOGNAME,
 * PATH, SHELL, TERM, USER and the names in `inherit` (NULL: none), except values that start with
 * "()"; then `own` (NULL: none), of which the last of a name wins. NULL: no memory.
 */
char **mp_environment_new(char *const *host, char *const *inherit, char *const *own);

/* Wipes and frees. NULL is allowed. */
void mp_environment_free(char **environment);

/* The value of a name, or NULL; borrowed. */
const char *mp_environment_get(char *const *environment, const char *name);

#endif
