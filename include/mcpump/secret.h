/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A value that nobody is to see: a token, a password. It is kept in memory of its own, which stands
 * in no core dump and in no forked child and is wiped when it is freed. No log, failure or status
 * shows it; the only way out is the environment of a server that is started.
 */
#ifndef MCPUMP_SECRET_H
#define MCPUMP_SECRET_H

#include "export.h"

MCPUMP_BEGIN_DECLS

typedef struct mcpump_secret mcpump_secret;

/** A variable with a secret value, for options.secret_env. */
typedef struct mcpump_secret_variable {
    const char *name; /**< NULL: the end of the list. */
    const mcpump_secret *value;
} mcpump_secret_variable;

/** Returns new: a copy of the text, to be freed with mcpump_secret_free; NULL: no memory. The
 * caller wipes its own. Any thread. */
MCPUMP_API mcpump_secret *mcpump_secret_new(const char *text);

/** "***": what a secret looks like to anybody. Static. */
MCPUMP_API const char *mcpump_secret_shown(const mcpump_secret *secret);

/** Wipes and frees. NULL is allowed. Objects that were made with it have a copy. */
MCPUMP_API void mcpump_secret_free(mcpump_secret *secret);

MCPUMP_END_DECLS

#endif
