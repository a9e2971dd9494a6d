/* SPDX-License-Identifier: Apache-2.0 */
/* The host's log function with its level; immutable, so that it needs no lock. */
#ifndef MP_BASE_LOG_H
#define MP_BASE_LOG_H

#include "mcpump/log.h"

struct mp_log {
    mcpump_log_fn fn; /* NULL: nobody listens */
    void *user;
    mcpump_log_level level;
    const char *name; /* display name; borrowed */
};

/* Formats, neutralises control characters, cuts, and passes on. Not under a lock. */
void mp_logf(const struct mp_log *log, mcpump_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
