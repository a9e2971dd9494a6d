/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a server, for the files of this room. */
#ifndef MP_MCP_SERVER_H
#define MP_MCP_SERVER_H

#include "base/sync.h"
#include "mcp/handshake.h"
#include "mcp/metadata.h"
#include "mcpump/server.h"
#include "transport/transport.h"

enum mp_server_state {
    MP_SERVER_IDLE,       /* never connected, or closed, or could not connect */
    MP_SERVER_CONNECTING, /* one thread does it, others wait */
    MP_SERVER_READY,      /* it was connected; whether it still is, the transport knows */
};

/* A thread that waits for another one to connect; on its stack. */
struct mp_joiner {
    struct mp_bell bell; /* rung at the outcome, by an interrupt, by the end of its run */
    struct mp_joiner *next;
};

struct mcpump_server {
    /* -- immutable after new */
    mcpump_transport *transport;
    struct mp_client client;
    mcpump_era era;
    int64_t probe_timeout_ms;
    int64_t connect_timeout_ms;

    struct mp_mutex lock;
    struct mp_cond changed; /* state; for those who close */
    /* -- protected by lock */
    enum mp_server_state state;
    const struct mp_revision *revision; /* when READY */
    int closers;                        /* threads in close: nothing may be started */
    uint64_t attempts;                  /* to connect, that have ended */
    mcpump_err last_err;                /* of the last attempt */
    mcpump_failure *last_failure;
    bool last_was_personal; /* by an interrupt, or the deadline or run of the call that made it */
    struct mp_joiner *joiners;
};

/* Connects if need be and returns the revision to speak. The limits are those of the call that
 * needs it. */
mcpump_err mp_server_ready(mcpump_server *server, const struct mp_call_limits *limits,
                           const struct mp_revision **ret_revision, mcpump_failure **ret_failure);

/* A request under limits; the public one has options instead. */
mcpump_err mp_server_request(mcpump_server *server, const char *method, const char *params,
                             const struct mp_call_limits *limits, mcpump_reply **ret_reply,
                             mcpump_failure **ret_failure);

/* Fails with words of our own. */
mcpump_err mp_server_fail(mcpump_server *server, mcpump_err err, mcpump_phase phase,
                          const char *subject, const char *words, mcpump_failure **ret_failure);

#endif
