/* SPDX-License-Identifier: Apache-2.0 */
/* Where the library reports what it saw: one function of the host. */
#ifndef MCPUMP_LOG_H
#define MCPUMP_LOG_H

#include "export.h"

MCPUMP_BEGIN_DECLS

typedef enum mcpump_log_level {
    MCPUMP_LOG_ERROR = 1,
    MCPUMP_LOG_WARNING = 2,
    MCPUMP_LOG_INFO = 3,
    MCPUMP_LOG_DEBUG = 4,
} mcpump_log_level;

/**
 * Receives one message: UTF-8, no line end, no control characters, never a secret. `name` is the
 * display name of the server. Both are borrowed until the function returns. It is called from any
 * thread, also from several at once, must not block for long and must not call the library.
 */
typedef void (*mcpump_log_fn)(void *user, mcpump_log_level level, const char *name,
                              const char *message);

MCPUMP_END_DECLS

#endif
