/* SPDX-License-Identifier: Apache-2.0 */
#include "mcpump/error.h"

/* One pair of look-ups for each X-macro list of the public header. */
#define NAME_CASE(name, number, text)                                                              \
    case number:                                                                                   \
        return #name;
#define TEXT_CASE(name, number, text)                                                              \
    case number:                                                                                   \
        return text;
#define LOOKUPS(LIST, type, prefix)                                                                \
    const char *prefix##_name(type value)                                                          \
    {                                                                                              \
        switch ((int)value) {                                                                      \
            LIST(NAME_CASE)                                                                        \
        }                                                                                          \
        return "UNKNOWN";                                                                          \
    }                                                                                              \
    const char *prefix##_text(type value)                                                          \
    {                                                                                              \
        switch ((int)value) {                                                                      \
            LIST(TEXT_CASE)                                                                        \
        }                                                                                          \
        return "unknown";                                                                          \
    }

LOOKUPS(MCPUMP_ERRORS, mcpump_err, mcpump_err)
LOOKUPS(MCPUMP_CAUSES, mcpump_cause, mcpump_cause)
LOOKUPS(MCPUMP_PHASES, mcpump_phase, mcpump_phase)
LOOKUPS(MCPUMP_STAGES, mcpump_stage, mcpump_stage)
