/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Agreeing with a server that has just been started on a protocol version: the probe
 * (`server/discover`), then, for a legacy server, `initialize`. Runs in the thread that connects.
 */
#ifndef MP_MCP_HANDSHAKE_H
#define MP_MCP_HANDSHAKE_H

#include "mcp/era.h"
#include "mcp/metadata.h"
#include "transport/call.h"

struct mp_handshake {
    mcpump_transport *transport;
    const struct mp_client *client;
    mcpump_era era; /* AUTO: probe */
    int64_t probe_timeout_ms;
    struct mp_call_limits limits; /* over everything */
    bool may_respawn; /* this process is the first: the server may be started once more */
};

/* What was agreed on. */
struct mp_agreement {
    const struct mp_revision *revision;
    char *hello; /* owned: the result with which the server presented itself; NULL: not known */
};

enum mp_handshake_result {
    MP_HANDSHAKE_AGREED,  /* *ret_agreement */
    MP_HANDSHAKE_FAILED,  /* *ret_failure */
    MP_HANDSHAKE_RESPAWN, /* the probe was too much for it: start it again, insist on LEGACY */
};

/* The transport is open, and stays so. For FAILED, *ret_err too. */
enum mp_handshake_result mp_handshake_run(const struct mp_handshake *handshake,
                                          struct mp_agreement *ret_agreement, mcpump_err *ret_err,
                                          mcpump_failure **ret_failure);

#endif
