/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a server, for the files of this room: server.c makes it, keeper.c lets it live,
 * waiting.c lets calls in, calls.c makes them, status.c tells of it.
 *
 * One thread, the keeper, makes and ends all connections of a server. Everybody else says what is
 * wanted, under the lock, and nudges it; the state changes at once, the process follows. The lock
 * comes before those of the event queue, the asks and the transport; see manager.c for the order.
 */
#ifndef MP_MANAGER_SERVER_H
#define MP_MANAGER_SERVER_H

#include <stdatomic.h>

#include "base/sync.h"
#include "manager/asks.h"
#include "manager/histogram.h"
#include "manager/policy.h"
#include "manager/turns.h"
#include "mcp/handshake.h"
#include "mcp/session.h"
#include "mcpump/server.h"
#include "transport/transport.h"

struct mp_events;

/* What ties a server to its manager; all NULL for a server alone. Borrowed until the server is
 * detached. */
struct mp_owner {
    const char *name;
    struct mp_events *events;
    struct mp_turns *turns;
    int64_t request_timeout_ms;
};

/* A thread that waits for the server to become ready; on its stack. */
struct mp_joiner {
    struct mp_bell bell; /* rung at each change of state, by an interrupt, by the end of its run */
    struct mp_joiner *next;
};

struct mcpump_server {
    /* -- immutable after new */
    mcpump_transport *transport;
    struct mp_client client;
    mcpump_era era;
    int64_t probe_timeout_ms;
    int64_t connect_timeout_ms;
    int64_t idle_timeout_ms; /* 0: never */
    struct mp_policy policy;
    struct mp_owner owner;
    char *name; /* in the manager; "" for a server alone */

    /* -- atomic, relaxed: counts; `refs` releases what its holder did */
    atomic_int refs;
    atomic_ulong calls, calls_failed;
    struct mp_histogram latency;

    struct mp_asks asks; /* of the server, not yet answered */
    struct mp_turn turn; /* to connect */

    struct mp_mutex lock;
    struct mp_cond work;    /* the keeper sleeps on it */
    struct mp_cond changed; /* something was brought down; those who close sleep on it */
    /* -- protected by lock */
    struct mp_thread keeper; /* started by the first who wants a connection, joined by free */
    bool has_keeper;
    bool is_quitting;
    mcpump_server_state state;
    uint64_t generation;                /* of the connection */
    const struct mp_revision *revision; /* when READY */
    mcpump_era remembered;              /* of the last connection; AUTO: none */
    char *hello;                        /* what the server said of itself: the result, or NULL */
    int64_t ready_since_ns;
    uint64_t times_ready;
    struct mp_joiner *joiners;
    /* What is to go down: every close asks for one more, and waits until it is done. The keeper
     * compares: a connection that was made before the last of them is ended. */
    uint64_t downs_wanted, downs_done;
    bool is_up;   /* the transport has, or may have, a process or threads; keeper only writes */
    bool is_lost; /* the connection has ended by itself */
    /* The attempt that is wanted or under way, while CONNECTING. */
    uint64_t latch_count; /* what is set later stops it */
    bool is_wanted;       /* also when nobody waits for it any more */
    /* What the attempts and losses so far came to. */
    uint64_t attempts; /* that have ended */
    mcpump_err last_err;
    mcpump_failure *last_failure;
    bool last_was_stopped; /* by an interrupt or a close: says nothing about the server */
    int64_t tries_in_row;
    mp_deadline next_try;
    uint64_t shutdowns; /* of all servers of the process, when it went down */
    /* Who uses the connection: an idle one is stopped. */
    uint64_t users;
    int64_t last_used_ns;
};

/* -- made and freed: server.c */

mcpump_err mp_server_new(const mcpump_server_options *options, const struct mp_owner *owner,
                         mcpump_server **ret_server, mcpump_failure **ret_failure);
/* One more holder; given back with mcpump_server_free. */
mcpump_server *mp_server_ref(mcpump_server *server);

/* Fails with words of our own. */
mcpump_err mp_server_fail(mcpump_server *server, mcpump_err err, mcpump_phase phase,
                          const char *subject, const char *words, mcpump_failure **ret_failure);

/* -- its life: keeper.c */

/* Wakes the keeper, which looks at everything anew. Any thread; takes the lock. */
void mp_server_nudge(mcpump_server *server);

/* Changes the state, tells the manager's events, wakes who waits. The failure is borrowed. */
void mp_server_set_state_locked(mcpump_server *server, mcpump_server_state state,
                                const mcpump_failure *failure) MP_REQUIRES(&server->lock);

/* Starts the keeper if there is none, and wants a connection: CONNECTING. `latch_count`: of the
 * call that wants it. 0 or an errno. */
int mp_server_want_locked(mcpump_server *server, uint64_t latch_count) MP_REQUIRES(&server->lock);

/*
 * Wants the connection down, and the state IDLE or STOPPED. `hurry`: skip the graces. Returns the
 * number to wait for with mp_server_wait_down; does not block.
 */
uint64_t mp_server_down(mcpump_server *server, mcpump_server_state state, bool hurry);
/* Waits until that was done, or the deadline: false then. */
bool mp_server_wait_down(mcpump_server *server, uint64_t down, mp_deadline deadline);

/* The transport's listener. */
void mp_server_listen(mcpump_server *server);

/* -- calls: waiting.c */

/* Lets a call in: waits until the server is ready, within the limits, starting it if need be. On
 * success *ret_session is what to speak with, and mp_server_leave must follow. */
mcpump_err mp_server_enter(mcpump_server *server, const struct mp_call_limits *limits,
                           bool wait_for_ready, struct mp_session *ret_session,
                           mcpump_failure **ret_failure);
void mp_server_leave(mcpump_server *server);

#endif
