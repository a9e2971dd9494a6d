/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The four lists of a server: gathered page by page, each item as the server wrote it. In the
 * thread of the call.
 */
#ifndef MP_MCP_LISTING_H
#define MP_MCP_LISTING_H

#include "mcp/session.h"

enum mp_list { MP_LIST_TOOLS, MP_LIST_RESOURCES, MP_LIST_RESOURCE_TEMPLATES, MP_LIST_PROMPTS };
#define MP_LISTS 4

/* The notification by which a server says that this list has changed. */
const char *mp_list_changed(enum mp_list list);

struct mp_listed {
    char *items;             /* the text of an array; owned */
    mp_deadline fresh_until; /* what the server allows; has passed when it allows nothing */
};

/* Errors: those of mp_session_demand; INVALID_REPLY for a page that is none, or a list without end.
 */
mcpump_err mp_session_list(const struct mp_session *session, enum mp_list list,
                           const struct mp_call_limits *limits, struct mp_listed *ret_listed,
                           mcpump_failure **ret_failure);

#endif
