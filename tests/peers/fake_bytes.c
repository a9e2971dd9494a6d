/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that put odd bytes on stdout and stderr, stop reading or writing, or end the server. */
#include "fake.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* -- lines that are no messages */

static void junk(struct fake *fake, const struct fake_request *request)
{
    int64_t lines = fake_int(request, "lines", 1);
    struct out text = {NULL, 0, 0};
    if (!fake_bytes(request, &text))
        out_text(&text, "junk line");
    for (int64_t i = 0; i < lines; i++) {
        out_bytes(&fake->out, text.bytes, text.size);
        fake_end_line(fake);
    }
    out_done(&text);
    if (fake_flag(request, "reply", true))
        fake_reply(fake, request, "{}");
}

/* Adds the text with each $ID in it replaced by the request's id. */
static void add_with_id(struct out *out, const char *text, size_t size, struct json_span id)
{
    static const char mark[] = "$ID";
    const size_t mark_size = sizeof(mark) - 1;
    for (size_t i = 0; i < size;) {
        if (size - i >= mark_size && memcmp(text + i, mark, mark_size) == 0) {
            out_span(out, id);
            i += mark_size;
        } else {
            out_bytes(out, text + i++, 1);
        }
    }
}

static void raw(struct fake *fake, const struct fake_request *request)
{
    struct out bytes = {NULL, 0, 0};
    fake_bytes(request, &bytes);
    add_with_id(&fake->out, bytes.bytes, bytes.size, request->id);
    out_done(&bytes);
    if (fake_flag(request, "reply", false))
        fake_reply(fake, request, "{}");
}

/* -- replies in an odd shape */

static void split(struct fake *fake, const struct fake_request *request)
{
    fake_flush(fake);
    fake_reply_begin(fake, request->id);
    out_span(&fake->out, request->params);
    fake_reply_end(fake);
    fake->split_now = true;
    fake_flush(fake);
}

static void crlf(struct fake *fake, const struct fake_request *request)
{
    bool usual = fake->options.crlf;
    fake->options.crlf = true;
    fake_reply(fake, request, "{}");
    fake->options.crlf = usual;
}

static void big(struct fake *fake, const struct fake_request *request)
{
    int64_t size = fake_int(request, "size", 1024 * 1024);
    int64_t line = fake_int(request, "line", 0);
    size_t before = fake->out.size;
    fake_reply_begin(fake, request->id);
    out_text(&fake->out, "{\"text\":\"");
    if (line > 0)
        size = line - (int64_t)(fake->out.size - before) - (int64_t)strlen("\"}}");
    out_filler(&fake->out, size > 0 ? (size_t)size : 0);
    out_text(&fake->out, "\"}");
    fake_reply_end(fake);
}

static void deep(struct fake *fake, const struct fake_request *request)
{
    size_t depth = (size_t)fake_int(request, "depth", 100000);
    fake_reply_begin(fake, request->id);
    memset(out_room(&fake->out, depth), '[', depth);
    memset(out_room(&fake->out, depth), ']', depth);
    fake_reply_end(fake);
    if (fake_flag(request, "reply", false))
        fake_reply(fake, request, "{}");
}

static void no_newline(struct fake *fake, const struct fake_request *request)
{
    int64_t left = fake_int(request, "bytes", 0);
    bool for_ever = left == 0;
    const int64_t block = 64 * 1024;
    if (fake_flag(request, "reply", false))
        fake_reply(fake, request, "{}");
    for (; for_ever || left > 0; left -= block) {
        out_filler(&fake->out, (size_t)(!for_ever && left < block ? left : block));
        fake_flush(fake);
    }
}

/* -- stderr */

static void stderr_out(struct fake *fake, const struct fake_request *request)
{
    struct out text = {NULL, 0, 0};
    bool newline = fake_flag(request, "newline", true);
    if (fake_bytes(request, &text)) {
        out_text(&text, newline ? "\n" : "");
        out_flush(&text, STDERR_FILENO);
    }
    out_done(&text);
    fake_stderr_lines(fake_int(request, "bytes", 0), newline);
    fake_reply(fake, request, "{}");
}

/* -- ends of the pipes */

static void stop_reading(struct fake *fake, const struct fake_request *request)
{
    fake->reading = false;
    fake_reply(fake, request, "{}");
}

static void echo_per_byte(struct fake *fake, const struct fake_request *request)
{
    fake->options.echo_per_byte = fake_flag(request, "on", true);
    fake_reply(fake, request, "{}");
}

static void close_stdin(struct fake *fake, const struct fake_request *request)
{
    fake->reading = false;
    close(STDIN_FILENO);
    fake_reply(fake, request, "{}");
}

static void close_stdout(struct fake *fake, const struct fake_request *request)
{
    if (fake_flag(request, "reply", true))
        fake_reply(fake, request, "{}");
    fake_flush(fake);
    close(STDOUT_FILENO);
}

/* -- ends of the server */

static void fire_exit(struct fake *fake, struct fake_job *job)
{
    fake_exit(fake, (int)fake_int(&job->request, "status", 0));
}

static void exit_server(struct fake *fake, const struct fake_request *request)
{
    int64_t ms = fake_int(request, "ms", -1);
    if (fake_flag(request, "reply", false))
        fake_reply(fake, request, "{}");
    if (ms >= 0)
        fake_later(fake, ms, request, fire_exit);
    else
        fake_exit(fake, (int)fake_int(request, "status", 0));
}

static void kill_server(struct fake *fake, const struct fake_request *request)
{
    if (fake_flag(request, "reply", false))
        fake_reply(fake, request, "{}");
    fake_flush(fake);
    raise((int)fake_int(request, "signal", SIGKILL));
}

/* The reply without its last `cut` bytes, then the end. */
static _Noreturn void exit_in_reply(struct fake *fake, const struct fake_request *request,
                                    size_t cut)
{
    fake_reply(fake, request, "{}");
    fake->out.size -= cut;
    fake_exit(fake, (int)fake_int(request, "status", 0));
}

static void no_newline_then_exit(struct fake *fake, const struct fake_request *request)
{
    exit_in_reply(fake, request, strlen("\n"));
}

static void torn(struct fake *fake, const struct fake_request *request)
{
    exit_in_reply(fake, request, strlen("lt\":{}}\n"));
}

static void grandchild(struct fake *fake, const struct fake_request *request)
{
    struct out kind = {NULL, 0, 0};
    char result[32];
    if (!fake_text(request, "kind", &kind))
        out_text(&kind, "hold");
    out_bytes(&kind, "", 1);
    snprintf(result, sizeof(result), "{\"pid\":%d}", (int)fake_fork_grandchild(fake, kind.bytes));
    out_done(&kind);
    if (fake_flag(request, "reply", true))
        fake_reply(fake, request, result);
    if (fake_flag(request, "exit", true))
        fake_exit(fake, (int)fake_int(request, "status", 0));
}

const struct fake_method fake_byte_methods[] = {
    {"test/junk", junk,
     "lines (1), text or hex: lines that are no messages; reply (true): then {}"},
    {"test/raw", raw, "text or hex: these bytes, $ID is the id; reply (false): then {}"},
    {"test/split", split, "the params, each byte a write of its own"},
    {"test/crlf", crlf, "{}, ended by CR LF"},
    {"test/big", big, "size (1 MiB) of \"text\", or line: bytes of the whole line without LF"},
    {"test/deep", deep, "depth (100000): a result of nested arrays; reply (false): then {}"},
    {"test/no-newline", no_newline,
     "bytes (0: for ever) without LF; reply (false): {} in front of them"},
    {"test/stderr", stderr_out,
     "text or hex, then bytes (0) of filler on stderr; newline (true: in lines); then {}"},
    {"test/stop-reading", stop_reading, "{}, and never reads again, nor sees the end of stdin"},
    {"test/echo-per-byte", echo_per_byte, "on (true): {}; see --echo-per-byte"},
    {"test/close-stdin", close_stdin, "closes its stdin, then {}; lives on"},
    {"test/close-stdout", close_stdout, "reply (true): {}; closes its stdout, lives on"},
    {"test/exit", exit_server, "status (0), reply (false): {} first; exits; ms: after so long"},
    {"test/kill", kill_server, "signal (9), reply (false): {} first; sends itself the signal"},
    {"test/no-newline-then-exit", no_newline_then_exit, "status (0): {} without LF; exits"},
    {"test/torn", torn, "status (0): the first part of a reply; exits"},
    {"test/grandchild", grandchild,
     "kind (hold, see --grandchild), reply (true): {\"pid\":N}; exit (true), status (0)"},
    {NULL, NULL, NULL},
};
