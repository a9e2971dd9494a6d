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
    uint64_t connection;   /* of the transport; calls go out on no other */
    const char *log_level; /* of the modern era; NULL: none */
    struct mp_trace trace;
};

/* Fails with words of our own; `subject` (may be NULL) is mostly the method. */
mcpump_err mp_session_fail(const struct mp_session *session, mcpump_err err, mcpump_phase phase,
                           const char *subject, const char *words, mcpump_failure **ret_failure);

/* The same over a reply, which it takes: the failure carries it. */
mcpump_err mp_session_fail_over(const struct mp_session *session, mcpump_err err,
                                const char *method, const char *words, mcpump_reply *reply,
                                mcpump_failure **ret_failure);

/* The reply may be the server's error, and any result. */
mcpump_err mp_session_request(const struct mp_session *session, const char *method,
                              const char *params, const struct mp_call_limits *limits,
                              mcpump_reply **ret_reply, mcpump_failure **ret_failure);

/* The same without waiting. */
mcpump_err mp_session_submit(const struct mp_session *session, const char *method,
                             const char *params, const struct mp_call_limits *limits,
                             const struct mp_call_owner *owner, mcpump_call **ret_call,
                             mcpump_failure **ret_failure);

/* The reply is the server's error, or a result that is complete: any other is INVALID_REPLY. */
mcpump_err mp_session_ask(const struct mp_session *session, const char *method, const char *params,
                          const struct mp_call_limits *limits, mcpump_reply **ret_reply,
                          mcpump_failure **ret_failure);

/* The reply is a result that is complete: an error is SERVER_ERROR. */
mcpump_err mp_session_demand(const struct mp_session *session, const char *method,
                             const char *params, const struct mp_call_limits *limits,
                             mcpump_reply **ret_reply, mcpump_failure **ret_failure);

mcpump_err mp_session_notify(const struct mp_session *session, const char *method,
                             const char *params, const struct mp_call_limits *limits,
                             mcpump_failure **ret_failure);

/* A round trip; ret_us may be NULL. */
mcpump_err mp_session_ping(const struct mp_session *session, const struct mp_call_limits *limits,
                           int64_t *ret_us, mcpump_failure **ret_failure);

/* Tells a legacy server from which level on its log is wanted. */
mcpump_err mp_session_set_level(const struct mp_session *session, const char *level,
                                const struct mp_call_limits *limits, mcpump_failure **ret_failure);

#endif
