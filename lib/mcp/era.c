/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/era.h"

#include <string.h>

/* Newest first. */
static const struct mp_revision revisions[] = {
    {"2026-07-28", MCPUMP_ERA_MODERN}, {"2025-11-25", MCPUMP_ERA_LEGACY},
    {"2025-06-18", MCPUMP_ERA_LEGACY}, {"2025-03-26", MCPUMP_ERA_LEGACY},
    {"2024-11-05", MCPUMP_ERA_LEGACY},
};
#define COUNT (sizeof(revisions) / sizeof(*revisions))

const struct mp_revision *mp_revision_newest(mcpump_era era)
{
    for (size_t i = 0; i < COUNT; i++) {
        if (revisions[i].era == era)
            return &revisions[i];
    }
    return NULL;
}

const struct mp_revision *mp_revision_find(const char *version)
{
    for (size_t i = 0; i < COUNT; i++) {
        if (strcmp(revisions[i].version, version) == 0)
            return &revisions[i];
    }
    return NULL;
}
