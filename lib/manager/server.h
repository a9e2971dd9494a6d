/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a server, for the files of this room: server.c makes it, keeper.c lets it live,
 * waiting.c lets calls in, the calls*.c make them, hello.c and status.c tell of it.
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
#include "manager/lists.h"
#include "manager/policy.h"
#include "manager/turns.h"
#include "mcp/handshake.h"
#include "mcp/session.h"
#include "mcpump/server.h"
#include "transport/transport.h"

struct mp_events;
struct mp_seat;

/* What ties a server to its manager; all NULL for a server alone. The server holds the seat, which
 * keeps the rest. */
struct mp_owner {
    struct mp_seat *seat;
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

    atomic_int refs; /* given back with acquire and release */
    /* -- atomic, relaxed: each is a number of its own */
    _Atomic uint64_t calls, calls_failed;
    _Atomic uint64_t generation; /* of the connection; written by the keeper */
    struct mp_histogram latency;
    /*
     * What to speak while the server is READY, else NULL; written under the lock. With `users`,
     * sequentially consistent: a call counts itself in and then looks at the revision; the keeper,
     * before it stops an idle server, takes the revision away and then looks at the count.
     */
    _Atomic(const struct mp_revision *) revision;
    /* Of the transport; stored before the revision and loaded before it: a call that comes between
     * two connections has the old one, and fails. */
    _Atomic uint64_t connection;
    atomic_int users;
    _Atomic int64_t last_used_ns; /* relaxed; only with idle_timeout_ms */

    /* What the server's log is wanted from, static; NULL: not told. Sequentially consistent: stored
     * before a legacy server is told, loaded once a new connection is there. */
    _Atomic(const char *) log_level;
    struct mp_lists lists;

    struct mp_asks asks; /* of the server, not yet answered */
    struct mp_turn turn; /* to connect; the keeper's */

    struct mp_mutex lock;
    struct mp_cond work;    /* the keeper sleeps on it */
    struct mp_cond changed; /* something was brought down; those who close sleep on it */
    /* -- protected by lock */
    struct mp_thread keeper; /* started by the first who wants a connection, joined by free */
    bool has_keeper;
    bool is_quitting;
    bool is_retired; /* its manager is through with it: nothing starts it any more */
    uint64_t nudges; /* what the keeper has been woken for */
    mcpump_server_state state;
    mcpump_era last_era; /* of the last connection; AUTO: none yet */
    char *hello;         /* what the server then said of itself: a result, or NULL */
    char server_name[64], server_version[64]; /* out of it */
    int64_t ready_since_ns;
    uint64_t times_ready;
    struct mp_joiner *joiners;
    /* -- protected by lock: going down. Every wish is one more; the keeper ends what was made
     * before the last of them. */
    uint64_t downs_wanted, downs_done;
    uint64_t closes;     /* wishes of the host among them: who waits for a connection fails */
    uint64_t begun_down; /* the last that mcpump_server_stop_begin wanted */
    int closers;         /* threads in mcpump_server_close and stop */
    bool is_up;          /* the transport has, or may have, a process or threads to be joined */
    bool is_lost;        /* the connection has ended by itself */
    /* -- protected by lock: the attempt that is wanted or under way, while CONNECTING */
    uint64_t latch_count; /* what is set later stops it */
    bool is_wanted;       /* also when nobody waits for it any more */
    /* -- protected by lock: what attempts and connections came to */
    uint64_t attempts; /* that have ended */
    mcpump_err last_err;
    mcpump_failure *last_failure;
    bool last_was_stopped; /* by an interrupt, or since nobody waited: no fault of the server */
    bool comes_back; /* it was ready, or mcpump_server_start wants it, since it was last idle */
    int64_t tries_in_row;
    mp_deadline next_try;
    uint64_t shutdowns; /* of the process, when it went down, or was wanted: one more, and nothing
                           is started */
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

/* The transport's listener is the server. Before the first open. */
void mp_server_listen(mcpump_server *server);

void mp_keeper_main(void *server);

/* -- what is wanted of it: wishes.c */

/* Wakes the keeper, which looks at everything anew. */
void mp_server_nudge_locked(mcpump_server *server) MP_REQUIRES(&server->lock);
void mp_server_nudge(mcpump_server *server);

/* Changes the state, tells the manager's events, wakes who waits. `failure` is borrowed. */
void mp_server_set_state_locked(mcpump_server *server, mcpump_server_state state,
                                const mcpump_failure *failure) MP_REQUIRES(&server->lock);

/* Wants a connection: CONNECTING. Starts the keeper if there is none. `latch_count`: of the call
 * that wants it. 0 or an errno. */
int mp_server_want_locked(mcpump_server *server, uint64_t latch_count) MP_REQUIRES(&server->lock);

/* Gives an attempt up that nobody waits for, or that an interrupt stopped: IDLE, as good as before.
 */
void mp_server_drop_locked(mcpump_server *server) MP_REQUIRES(&server->lock);

/* Wants the connection down, and the state IDLE or STOPPED. `hurry`: skip the graces. Returns the
 * number to wait for; does not block. */
uint64_t mp_server_down(mcpump_server *server, mcpump_server_state state, bool hurry);

/* From now on, who asks for a connection fails with NOT_OPEN. One that there is is left alone. */
void mp_server_retire(mcpump_server *server);

/* Waits until that was done, or the deadline: false then. */
bool mp_server_wait_down(mcpump_server *server, uint64_t down, mp_deadline deadline);

/* -- calls: waiting.c */

/*
 * Lets a call in: waits until the server is ready, within the limits, starting it if need be. On
 * success *ret_session is what to speak with, and mp_server_leave must follow.
 */
mcpump_err mp_server_enter(mcpump_server *server, const struct mp_call_limits *limits,
                           struct mp_session *ret_session, mcpump_failure **ret_failure);
void mp_server_leave(mcpump_server *server);

/* -- about themselves: hello.c */

/* Tells a legacy server on a new connection which log level it had been told before. Waits for the
 * answer within the limits, and a few seconds; whatever it is, the connection is ready. Keeper. */
void mp_server_repeat_level(mcpump_server *server, const struct mp_revision *revision,
                            const struct mp_call_limits *limits);

#endif
