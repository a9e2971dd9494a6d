/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fake server: an MCP server that misbehaves on demand. Switches decide how it starts, shakes
 * hands and ends; requests named test/... decide what else it does; `fake_server --help` lists all
 * of them, out of the tables that run them. It also watches its client: test/report tells what the
 * client did that no client may do.
 *
 * One thread. What takes time is a job with a due time, so that nothing blocks reading, except
 * where not reading is the misbehaviour. Writing blocks. It ends itself after --lifetime seconds,
 * so a failed test leaves nothing behind for long.
 *
 *   fake_server.c     the loop, messages in
 *   fake_options.c    the switches
 *   fake_startup.c    what happens before the first message, and grandchildren
 *   fake_handshake.c  server/discover, initialize, and what every server knows
 *   fake_replies.c    test/...: replies in every order, requests of our own
 *   fake_bytes.c      test/...: bytes on stdout and stderr, and how it ends
 *   fake_report.c     test/...: what was received; the checks of the client
 *   fake_core.c       replies, jobs, parameters
 */
#ifndef MCPUMP_TESTS_FAKE_H
#define MCPUMP_TESTS_FAKE_H

#include <sys/types.h>

#include "out.h"

#define FAKE_MAX_REPEATS 32

/* What a repeated switch was given. */
struct fake_texts {
    const char *items[FAKE_MAX_REPEATS];
    size_t count;
};

struct fake_options {
    const char *era;
    const char *supported;
    struct fake_texts banner;
    bool bom;
    struct fake_texts stderr_text;
    int64_t stderr_bytes;
    bool stderr_no_newline;
    int64_t stderr_before_reply;
    const char *exit_now;
    int64_t delay_start;
    int64_t lifetime;
    const char *log;
    const char *probe;
    const char *after_probe;
    const char *init;
    struct fake_texts on;
    const char *ids;
    bool crlf;
    bool split;
    bool echo_per_byte;
    bool ignore_eof;
    bool ignore_term;
    int64_t flush_on_eof;
    bool launcher;
    bool launcher_exits_first;
    const char *grandchild;
};

/* A message that asks for an answer. */
struct fake_request {
    struct json_span id;
    struct json_span method;
    struct json_span params;
    char *owned; /* NULL: the spans point into the line that is being read */
};

struct fake_requests {
    struct fake_request *items;
    size_t count;
};

struct fake;

/* Something to do later. It runs once, unless `fire` moves due_ns on. */
struct fake_job {
    int64_t due_ns;
    void (*fire)(struct fake *fake, struct fake_job *job);
    struct fake_request request; /* owned */
    int64_t interval_ms;
    int64_t count;
    int64_t done;
};

/* A request of ours that the client is to answer. */
struct fake_ask {
    struct json_span id; /* owned */
    struct fake_request request;
    void (*answered)(struct fake *fake, const struct fake_request *request,
                     struct json_span message);
};

enum fake_phase {
    FAKE_FRESH,       /* no handshake yet */
    FAKE_INITIALIZE,  /* initialize was received */
    FAKE_INITIALIZED, /* and answered; notifications/initialized is to come */
    FAKE_LEGACY,      /* and came */
    FAKE_MODERN,      /* a DiscoverResult was sent */
};

struct fake_watch; /* fake_report.c: what the client did */

struct fake {
    struct fake_options options;
    struct out out;
    bool split_now; /* what is in `out` goes out one byte at a time */
    bool reading;
    bool probed; /* a server/discover was received */
    enum fake_phase phase;
    pid_t grandchild; /* 0: none */
    int log_fd;       /* -1: none */
    struct fake_requests reversed, batched, late;
    size_t sequence; /* results of test/sequence that were given */
    struct fake_job *jobs;
    size_t job_count;
    struct fake_ask *asks;
    size_t ask_count;
    unsigned next_ask;
    struct fake_watch *watch;
};

/* A row of a table of methods; the last one has no name. */
struct fake_method {
    const char *name;
    void (*run)(struct fake *fake, const struct fake_request *request);
    const char *help;
};

/* What a handshake does instead of what it should; `argument` is what follows the colon, or NULL.
 */
struct fake_behaviour {
    const char *name; /* with the argument in brackets, for the help */
    void (*run)(struct fake *fake, const struct fake_request *request, const char *argument);
    const char *help;
};

extern const struct fake_behaviour fake_probe_behaviours[], fake_init_behaviours[];
extern const struct fake_method fake_standard_methods[], fake_reply_methods[], fake_byte_methods[],
    fake_report_methods[];

/* -- fake_options.c: exits with 2 when a switch is wrong */
void fake_options_parse(struct fake_options *options, int argc, char **argv);

/* -- fake_startup.c */
void fake_startup(struct fake *fake);
/* kind: "hold" (keeps our stdout and stderr open), "quiet" (has them not), "detached" (quiet, in
 * its own session). */
pid_t fake_fork_grandchild(struct fake *fake, const char *kind);
void fake_stderr_lines(int64_t bytes, bool newline);

/* -- fake_report.c */
void fake_log(struct fake *fake, const char *word, struct json_span text);
void fake_watch_init(struct fake *fake);
void fake_watch_line(struct fake *fake, struct json_span line);
void fake_watch_request(struct fake *fake, const struct fake_request *request);
void fake_watch_notification(struct fake *fake, const struct fake_request *message);
void fake_watch_answer(struct fake *fake, struct json_span id, bool known);
void fake_watch_violation(struct fake *fake, const char *what, struct json_span where);

/* -- fake_core.c */
_Noreturn void fake_exit(struct fake *fake, int status);
void fake_flush(struct fake *fake);
void *fake_must(void *memory);

/* A reply is begun, its result added to fake->out as JSON, and ended. */
void fake_reply_begin(struct fake *fake, struct json_span id);
void fake_reply_end(struct fake *fake);
void fake_reply(struct fake *fake, const struct fake_request *request, const char *result);
void fake_error(struct fake *fake, struct json_span id, int64_t code, const char *message,
                const char *data);
void fake_notify(struct fake *fake, const char *method, const char *params);
void fake_end_line(struct fake *fake);

/* Writes a request of ours. `answered` is called with a copy of request when the client answers;
 * both may be NULL. */
void fake_ask_client(struct fake *fake, struct json_span id, const char *method,
                     struct json_span params, const struct fake_request *request,
                     void (*answered)(struct fake *fake, const struct fake_request *request,
                                      struct json_span message));
/* A message without method came in: whether it answers one of ours. */
bool fake_take_answer(struct fake *fake, struct json_span id, struct json_span message);

struct fake_request fake_request_copy(const struct fake_request *request);
void fake_requests_add(struct fake_requests *list, const struct fake_request *request);
void fake_requests_clear(struct fake_requests *list);

/* The job stays valid until the next one is added. */
struct fake_job *fake_later(struct fake *fake, int64_t ms, const struct fake_request *request,
                            void (*fire)(struct fake *fake, struct fake_job *job));
/* Runs what is due; returns for how long nothing more is, -1: for ever. */
int fake_run_jobs(struct fake *fake);
int64_t fake_ns_after_ms(int64_t ms);

/* Members of params. */
int64_t fake_int(const struct fake_request *request, const char *key, int64_t otherwise);
bool fake_flag(const struct fake_request *request, const char *key, bool otherwise);
/* A string's text, added to out; false: there is none. */
bool fake_text(const struct fake_request *request, const char *key, struct out *out);
/* The bytes of `text`, or of `hex` decoded; false: neither is there. */
bool fake_bytes(const struct fake_request *request, struct out *out);

struct json_span fake_span(const char *text);

#endif
