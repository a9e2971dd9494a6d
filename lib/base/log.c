/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define MESSAGE_BYTES 1024

void mp_logf(const struct mp_log *log, mcpump_log_level level, const char *format, ...)
{
    if (log->fn == NULL || level > log->level)
        return;
    char raw[MESSAGE_BYTES], clean[MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(raw, sizeof(raw), format, args);
    va_end(args);
    mp_text_clean(raw, strlen(raw), clean, sizeof(clean));
    log->fn(log->user, level, log->name, clean);
}
