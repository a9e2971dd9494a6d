/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of a bare transport share: requests as text, in this thread or another, and lines
 * of a log or of stderr as events to wait for. `name` is that of the row, for the message.
 */
#ifndef TEST_INTEGRATION_RAW_H
#define TEST_INTEGRATION_RAW_H

#include "support.h"

/* A test that also checks, in its body, that no fd, thread or child is left. */
#define TIDY_TEST(name)                                                                            \
    static void run_##name(void);                                                                  \
    Test(integration, name, .timeout = 110)                                                        \
    {                                                                                              \
        struct test_resources before = test_resources();                                           \
        run_##name();                                                                              \
        EXPECT_NOTHING_LEFT(before, #name);                                                        \
    }                                                                                              \
    static void run_##name(void)

/* -- transports */

mcpump_transport *raw_open(const mcpump_transport_options *options);
/* Options for the fake server that end it at once. */
mcpump_transport_options raw_options(const char *const *switches);
/* A server that is a shell script, which finds this text in $1. */
mcpump_transport_options raw_shell(const char *const *args);
#define SHELL(script, text) STRINGS("-c", (script), "sh", (text))

mcpump_stats raw_stats(const mcpump_transport *transport);
/* The server neither reads nor writes until it gets SIGCONT. */
void raw_stop_server(const mcpump_transport *transport);
/* Waits until so many requests were handed to the server's pipe, in all. */
void raw_await_requests(const mcpump_transport *transport, uint64_t count);
/* Waits until the server has written so many lines that are no messages. */
void raw_await_junk(const mcpump_transport *transport, uint64_t count);
/* As for requests, and that the server has read them. */
void raw_await_read(mcpump_transport *transport, uint64_t count);

/* -- calls */

struct raw_call {
    mcpump_transport *transport;
    const char *method;
    const char *params; /* NULL: {} */
    const char *id;     /* NULL: 1 */
    mcpump_call_options options;
    /* -- once it is made */
    mcpump_err err;
    mcpump_reply *reply;
    mcpump_failure *failure;
    int64_t took_ms;
    pthread_t thread;
};
/* In this thread. */
void raw_call_make(struct raw_call *call);
/* In another; then join. */
void raw_call_start(struct raw_call *call);
void raw_call_join(struct raw_call *call);
void raw_call_done(struct raw_call *call);
/* Whether it has this text as its result. */
bool raw_call_got(const struct raw_call *call, const char *wanted);
/* What it ended with, for a message. */
const char *raw_call_words(const struct raw_call *call);

void raw_expect(mcpump_transport *transport, const char *name, const char *method,
                const char *params, const char *wanted);
/* Must fail so, within test patience; the failure is the caller's. */
mcpump_failure *raw_fails(mcpump_transport *transport, const char *name, const char *method,
                          const char *params, mcpump_err wanted);
/* The failure of a request that waits at most so long. */
mcpump_failure *raw_times_out(mcpump_transport *transport, const char *name, const char *method,
                              const char *params, int64_t timeout_ms);
/* -- what the server saw */

/* test/report; to be put. */
json_object *raw_report(mcpump_transport *transport);

#define RAW_MOST_MESSAGES 256
struct raw_received {
    size_t count;
    char methods[4096];             /* separated by spaces; "?" for what was too long to be kept */
    int64_t ids[RAW_MOST_MESSAGES]; /* of a request, or the requestId; 0: neither */
    json_object *messages;
};
/* All that was received up to now, this question excluded. */
void raw_receive(mcpump_transport *transport, struct raw_received *received);
void raw_received_done(struct raw_received *received);
/* Checks that each request of this method was cancelled once, by its id, and nothing else was. */
void raw_expect_cancelled(mcpump_transport *transport, const char *name, const char *method,
                          size_t count);

/* -- lines that come from a thread of the library */

struct raw_lines {
    pthread_mutex_t lock;
    pthread_cond_t more;
    char *text; /* each line ended by LF */
    size_t size;
};
void raw_lines_init(struct raw_lines *lines);
void raw_lines_done(struct raw_lines *lines);
/* mcpump_log_fn and mcpump_stderr_fn; user is a raw_lines. */
void raw_lines_log(void *user, mcpump_log_level level, const char *name, const char *message);
void raw_lines_stderr(void *user, const char *line, size_t size);
/* Waits until a line holds `part`. */
void raw_lines_await(struct raw_lines *lines, const char *part, const char *name);
bool raw_lines_hold(struct raw_lines *lines, const char *part);

/* A caller's own write to a server that lives and has closed its stdin: the pipe is broken for
 * certain. The call fails; a SIGPIPE with its default action would end the test. */
void raw_write_to_closed_stdin(const char *name);

/* Holds the reader thread at a line of junk, until it is opened: for log_fn, with level DEBUG. */
struct raw_gate {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    bool reached, open;
};
#define RAW_GATE_INIT                                                                              \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false                          \
    }

void raw_gate_log(void *gate, mcpump_log_level level, const char *name, const char *message);
void raw_gate_await(struct raw_gate *gate); /* until the reader is held */
void raw_gate_open(struct raw_gate *gate);

#endif
