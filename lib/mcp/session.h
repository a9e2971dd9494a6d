/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speaking MCP on a connection that is ready: method and params become a message of the revision
 * that was agreed on. A session is borrowed pieces; who uses it sees to it that they last.
 */
#ifndef MP_MCP_SESSION_H
#define MP_MCP_SESSION_H

#include "mcp/era.h"
#include "mcp/metadata.h"
#include "transport/call.h"

struct mp_session {
    mcpump_transport *transport;
    const struct mp_client *client;
    const struct mp_revision *revision;
};

/* Fails with words of our own; `subject` (may be NULL) is mostly the method. */
mcpump_err mp_session_fail(const struct mp_session *session, mcpump_err err, mcpump_phase phase,
                           const char *subject, const char *words, mcpump_failure **ret_failure);

/* The reply may be the server's error. */
mcpump_err mp_session_request(const struct mp_session *session, const char *method,
                              const char *params, const struct mp_call_limits *limits,
                              mcpump_reply **ret_reply, mcpump_failure **ret_failure);

/* The same without waiting. */
mcpump_err mp_session_submit(const struct mp_session *session, const char *method,
                             const char *params, const struct mp_call_limits *limits,
                             const struct mp_call_owner *owner, mcpump_call **ret_call,
                             mcpump_failure **ret_failure);

mcpump_err mp_session_notify(const struct mp_session *session, const char *method,
                             const char *params, const struct mp_call_limits *limits,
                             mcpump_failure **ret_failure);

/* -- typed: tools.c */

mcpump_err mp_session_ping(const struct mp_session *session, const struct mp_call_limits *limits,
                           int64_t *ret_us, mcpump_failure **ret_failure);

mcpump_err mp_session_list_tools(const struct mp_session *session,
                                 const struct mp_call_limits *limits, char **ret_tools,
                                 mcpump_failure **ret_failure);

mcpump_err mp_session_call_tool(const struct mp_session *session, const char *tool,
                                const char *arguments, const struct mp_call_limits *limits,
                                mcpump_reply **ret_reply, mcpump_failure **ret_failure);

#endif
