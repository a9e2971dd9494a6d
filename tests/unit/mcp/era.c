/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/era.h"

#include <criterion/criterion.h>

Test(era, knows_the_revisions)
{
    static const struct {
        const char *version;
        mcpump_era era;
    } rows[] = {
        {"2024-11-05", MCPUMP_ERA_LEGACY},
        {"2025-03-26", MCPUMP_ERA_LEGACY},
        {"2025-06-18", MCPUMP_ERA_LEGACY},
        {"2025-11-25", MCPUMP_ERA_LEGACY},
        {"2026-07-28", MCPUMP_ERA_MODERN},
        {"1999-01-01", MCPUMP_ERA_AUTO},
        {"", MCPUMP_ERA_AUTO},
        {"2025-11-25 ", MCPUMP_ERA_AUTO},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct mp_revision *found = mp_revision_find(rows[i].version);
        cr_assert_eq(found != NULL ? found->era : MCPUMP_ERA_AUTO, rows[i].era, "%s",
                     rows[i].version);
    }
}

Test(era, asks_with_the_newest)
{
    cr_assert_str_eq(mp_revision_newest(MCPUMP_ERA_LEGACY)->version, "2025-11-25");
    cr_assert_str_eq(mp_revision_newest(MCPUMP_ERA_MODERN)->version, "2026-07-28");
    cr_assert_null(mp_revision_newest(MCPUMP_ERA_AUTO));
}
