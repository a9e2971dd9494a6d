/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stderr pump: a thread that always drains the server's stderr, cuts it into lines, makes them
 * fit to be shown, labels them, keeps the last ones and hands them to a sink. A sink that takes
 * nothing loses lines; it never stops the server.
 */
#ifndef MP_TRANSPORT_STDERR_PUMP_H
#define MP_TRANSPORT_STDERR_PUMP_H

#include <limits.h>
#include <stdbool.h>

#include "base/bell.h"
#include "base/sync.h"
#include "mcpump/options.h"
#include "transport/counters.h"
#include "transport/tail.h"

/* A labelled line with its LF; longer ones are cut. Writes of at most PIPE_BUF bytes are atomic, so
 * lines of several servers never mix. */
#define MP_STDERR_LINE_BYTES 2048

struct mp_stderr_sink {
    mcpump_stderr_sink kind;
    int fd; /* of INHERIT (2) and FILE */
    mcpump_stderr_fn fn;
    void *user;
    mcpump_stderr_fn listener_fn; /* gets each line beside the sink; NULL: none */
    void *listener_user;
};

struct mp_stderr_pump {
    struct mp_thread thread;
    struct mp_bell bell; /* wakes the thread: settle or stop */
    struct mp_tail tail;
    /* -- immutable while the thread runs */
    int fd; /* closed by the thread */
    struct mp_stderr_sink sink;
    const char *label;
    struct mp_counters *counters;
    /* -- stderr thread only */
    char line[MP_STDERR_LINE_BYTES]; /* the unfinished line, raw */
    size_t line_size;
    char out[PIPE_BUF]; /* whole lines on their way to the sink's fd */
    size_t out_size;
    bool sink_is_stuck;

    struct mp_mutex lock;
    struct mp_cond changed;
    /* -- protected by lock */
    bool settle_asked, settled, stop_asked;
};

/* 0 or an errno. label is borrowed until done. */
int mp_stderr_pump_init(struct mp_stderr_pump *pump, const char *label,
                        struct mp_counters *counters);
void mp_stderr_pump_done(struct mp_stderr_pump *pump);

/* Takes fd, non-blocking, and the sink's fd if it is a file, on success. 0 or an errno. */
int mp_stderr_pump_start(struct mp_stderr_pump *pump, int fd, const struct mp_stderr_sink *sink,
                         const char *name);

/*
 * Waits until all that the server has written by now is read and kept, so that a failure can show
 * it: woken by the pump, or at the deadline.
 */
void mp_stderr_pump_settle(struct mp_stderr_pump *pump, mp_deadline deadline);

/* The thread reads what is there, and ends. Does not wait for it. */
void mp_stderr_pump_stop(struct mp_stderr_pump *pump);

#endif
