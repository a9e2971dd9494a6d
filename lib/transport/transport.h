/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a transport, and what the rooms below may do with it beyond the public API.
 *
 * Its locks (lock, pending.lock, an entry's, outbox.lock, those of the stderr pump and its tail)
 * are all leaves: no thread ever holds two of them.
 */
#ifndef MP_TRANSPORT_TRANSPORT_H
#define MP_TRANSPORT_TRANSPORT_H

#include <stdatomic.h>

#include "base/bell.h"
#include "base/board.h"
#include "base/latch.h"
#include "base/log.h"
#include "base/sync.h"
#include "mcpump/transport.h"
#include "process/process.h"
#include "transport/counters.h"
#include "transport/lease.h"
#include "transport/options.h"
#include "transport/pending.h"
#include "transport/stderr_pump.h"
#include "transport/tap.h"
#include "transport/trace.h"
#include "transport/writer.h"
#include "wire/envelope.h"
#include "wire/framer.h"

enum mp_transport_state {
    MP_TRANSPORT_CLOSED, /* no process, no threads */
    MP_TRANSPORT_OPEN,   /* calls go through */
    MP_TRANSPORT_ENDING, /* the reader is ending it: calls fail, the process is being stopped */
    MP_TRANSPORT_ENDED,  /* no process; the threads wait to be joined */
};

struct mp_reader {
    struct mp_thread thread;
    /* -- who reads stdout: the reader thread, or the caller that holds the lease */
    struct mp_framer framer;
    struct mp_entry *answered; /* taken from the table by this batch, to be woken after it */
    bool has_answered;         /* any, since the reader thread last looked */
    int64_t junk_run;          /* lines in a row that were no messages */
    char junk_preview[80];     /* the first of them, clean */
    int full_reads;            /* in a row; see enlarge_pipe */
    /* -- reader thread only */
    bool at_end;             /* of stdout */
    bool process_ended;      /* noticed */
    mp_deadline drain_until; /* something ended: go on reading until then */
};

/* Why the connection ended. */
struct mp_verdict {
    mcpump_cause cause; /* NONE: it has not */
    int sys_errno;
    struct mp_exit exit;
    char detail[160]; /* more words for a person, or "" */
};

/* What an open that is under way has come to. */
struct mp_opening {
    bool is_under_way; /* some thread is in open: it alone starts and joins threads */
    bool is_unwanted;  /* a close was begun meanwhile */
    bool is_made;      /* the reader has made what it had to; then: */
    mcpump_err err;
    mcpump_failure *failure; /* owned by the thread in open */
};

/*
 * What the rooms below are told. Called without a lock, by a thread of the transport or by a caller
 * that reads for itself (lease.h), which must not be held up; the texts are borrowed until the
 * function returns. Each may be NULL.
 */
struct mp_listener {
    void *user;
    /* Who reads: a notification of the server. */
    void (*notified)(void *user, struct mp_span line, const struct mp_envelope *envelope);
    /* Who reads: a request of the server but `ping`. False: it is answered with -32601. */
    bool (*asked)(void *user, struct mp_span line, const struct mp_envelope *envelope);
    /* Reader thread: the connection is lost, or being closed; the verdict stands, and from now on
     * calls fail. */
    void (*lost)(void *user);
    /* Reader thread, the last thing it does for a connection: the process is gone. */
    void (*gone)(void *user);
    /* Stderr thread: one labelled line. */
    void (*said)(void *user, const char *line, size_t size);
};

struct mcpump_transport {
    /* -- immutable after new */
    uint64_t home; /* the process it was made in */
    struct mp_options options;
    struct mp_log log;
    struct mp_listener listener; /* set between new and the first open */

    struct mp_latch latch;
    struct mp_board watchers; /* more bells that an interrupt rings */
    struct mp_pending pending;
    struct mp_writer writer;
    struct mp_stderr_pump stderr_pump;
    struct mp_counters counters;
    /* Wakes the reader: interrupt, close, a failed write, a fault. */
    struct mp_bell bell;
    struct mp_lease lease; /* who reads */
    struct mp_tap tap;
    struct mp_trace_row row;

    /* -- reader thread only, while it runs, but for what is lent */
    struct mp_reader reader;
    int stdout_fd; /* lent with the reading */

    /* -- atomic, relaxed but for the flags, which are stored before the bell is rung */
    atomic_bool escalate;         /* skip the graces */
    atomic_bool ignores_requests; /* of the server: a modern one writes none */

    /* -- protected by the lock of the list of running transports, in closing.c */
    mcpump_transport *previous_running, *next_running;
    bool is_shut; /* mcpump_shutdown closes it, and waits for its end */

    struct mp_mutex lock;
    struct mp_cond changed; /* opening, closing */
    /* -- protected by lock */
    enum mp_transport_state state;
    struct mp_opening opening;
    bool closing;              /* some thread is in close: it joins the threads, others wait */
    struct mp_verdict verdict; /* first cause stays until the next open */
    char *cwd;                 /* for the next open; NULL: that of the host */
    /* Its pid and pidfd change under lock; the reader, which alone changes them while it runs,
     * reads them without. The rest of it is the reader's. */
    struct mp_process process;
};

/* -- for the files of this room */

/* Sets the cause if there is none yet, and wakes the reader, who ends the connection. Any thread.
 */
void mp_transport_fault(mcpump_transport *transport, mcpump_cause cause, int sys_errno,
                        const char *detail);

/* A copy of the verdict. */
struct mp_verdict mp_transport_verdict(mcpump_transport *transport);

/* Waits for the threads to end; none may have been told to go on. */
void mp_transport_join_threads(mcpump_transport *transport);

/* Makes process and pumps, and reports to the thread that opens. Reader thread, first of all. */
bool mp_opening_run(mcpump_transport *transport);

/* The reader thread: opens, reads until the connection has to end, then ends it (ending.c). */
void mp_reader_main(void *transport);

enum mp_read {
    MP_READ_SOME,    /* and dispatched */
    MP_READ_NOTHING, /* there is nothing now */
    MP_READ_END,     /* of stdout, or an error, in errno; nothing was done about it */
    MP_READ_FAULT,   /* the connection has to end, and the reader knows */
};

/* Reads once, without blocking, and dispatches. By who reads. */
enum mp_read mp_reader_read(mcpump_transport *transport);

/* Fails all calls, climbs the stop ladder, reaps. Reader thread. */
void mp_ending_run(mcpump_transport *transport);

/* Lets mcpump_interrupt_all reach it, and no more. False: no memory. */
bool mp_interrupt_join_all(mcpump_transport *transport);
void mp_interrupt_leave_all(mcpump_transport *transport);

/* Enters it into the list of those that have a process; takes it out, and wakes who waits for that.
 * Reader thread. */
void mp_running_add(mcpump_transport *transport);
void mp_running_remove(mcpump_transport *transport);

/* -- for the rooms below */

/* Whether this process is a fork of the one that made it: nothing but its freeing is allowed. */
bool mp_transport_is_elsewhere(const mcpump_transport *transport);

/* mcpump_transport_open for a caller that took the latch's count earlier: an interrupt that came
 * since then stays set. */
mcpump_err mp_transport_open(mcpump_transport *transport, uint64_t latch_count,
                             mcpump_failure **ret_failure);

/* mcpump_transport_close_begin, which does not skip the graces unless told to. */
void mp_transport_close_begin(mcpump_transport *transport, bool hurry);

/* How often mcpump_shutdown was called in this process: what it ended does not come back. */
uint64_t mp_transport_shutdowns(void);

/* Answers what the server asked, ahead of requests unless the answer is large. Takes the text, a
 * whole frame with its LF. Errors: CLOSED (the connection is lost), QUEUE_FULL (of small answers:
 * it is lost then), NO_MEMORY. */
mcpump_err mp_transport_answer(mcpump_transport *transport, struct mp_buffer *answer);

/* The default timeout, or that of the options if they have one, as a deadline from that moment. */
mp_deadline mp_transport_deadline(const mcpump_transport *transport, int64_t now_ns,
                                  int64_t timeout_ms);

/* Whether the server's own requests are answered (the default), or logged and ignored. */
void mp_transport_ignore_requests(mcpump_transport *transport, bool ignore);

#endif
