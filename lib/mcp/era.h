/* SPDX-License-Identifier: Apache-2.0 */
/* The protocol revisions that we speak, each with its era. Pure. */
#ifndef MP_MCP_ERA_H
#define MP_MCP_ERA_H

#include "mcpump/server.h"

struct mp_revision {
    const char *version;
    mcpump_era era;
};

/* The newest of an era; what we ask for first. */
const struct mp_revision *mp_revision_newest(mcpump_era era);

/* NULL: unknown to us. */
const struct mp_revision *mp_revision_find(const char *version);

#endif
