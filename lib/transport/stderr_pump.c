/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/stderr_pump.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/text.h"

#define READ_BYTES (16 * 1024)
/* How long a sink that was fine may take nothing before its lines are dropped. */
#define PATIENCE_MS 200
/* How much is still read once we are asked to stop: a process that we do not own may hold the pipe
 * and write for ever. More than a pipe holds. */
#define LAST_READS 128

int mp_stderr_pump_init(struct mp_stderr_pump *pump, const char *label,
                        struct mp_counters *counters)
{
    memset(pump, 0, sizeof(*pump));
    pump->fd = -1;
    pump->label = label;
    pump->counters = counters;
    mp_tail_init(&pump->tail);
    mp_mutex_init(&pump->lock);
    mp_cond_init(&pump->changed);
    return mp_bell_init(&pump->bell);
}

void mp_stderr_pump_done(struct mp_stderr_pump *pump)
{
    mp_bell_done(&pump->bell);
    mp_cond_done(&pump->changed);
    mp_mutex_done(&pump->lock);
    mp_tail_done(&pump->tail);
}

/* -- the sink */

/* Whether the sink's fd takes PIPE_BUF bytes; waits a little for one that did so far, but not while
 * we are asked to stop. */
static bool sink_has_room(struct mp_stderr_pump *pump)
{
    struct pollfd fds[] = {{pump->sink.fd, POLLOUT, 0}, {pump->bell.fd, POLLIN, 0}};
    int ready = poll(fds, 2, pump->sink_is_stuck ? 0 : PATIENCE_MS);
    bool has_room = ready > 0 && (fds[0].revents & POLLOUT) != 0;
    pump->sink_is_stuck = !has_room;
    return has_room;
}

static void count_dropped(struct mp_stderr_pump *pump)
{
    for (size_t i = 0; i < pump->out_size; i++)
        mp_count(&pump->counters->stderr_lines_dropped, pump->out[i] == '\n');
}

/* Writes the collected lines. SIGPIPE is blocked in this thread. */
static void flush_lines(struct mp_stderr_pump *pump)
{
    if (pump->out_size == 0)
        return;
    if (!sink_has_room(pump) || write(pump->sink.fd, pump->out, pump->out_size) < 0)
        count_dropped(pump);
    pump->out_size = 0;
}

static void hand_over(struct mp_stderr_pump *pump, const char *line, size_t size)
{
    if (pump->sink.kind == MCPUMP_STDERR_DISCARD)
        return;
    if (pump->sink.kind == MCPUMP_STDERR_CALLBACK) {
        pump->sink.fn(pump->sink.user, line, size);
        return;
    }
    if (pump->out_size + size + 1 > sizeof(pump->out))
        flush_lines(pump);
    memcpy(pump->out + pump->out_size, line, size);
    pump->out[pump->out_size + size] = '\n';
    pump->out_size += size + 1;
}

/* -- lines */

static void end_line(struct mp_stderr_pump *pump)
{
    size_t raw_size = pump->line_size;
    if (raw_size > 0 && pump->line[raw_size - 1] == '\r')
        raw_size--;
    char shown[MP_STDERR_LINE_BYTES - 1];
    size_t label_size = (size_t)snprintf(shown, sizeof(shown), "[%s] ", pump->label);
    size_t size =
        mp_text_clean(pump->line, raw_size, shown + label_size, sizeof(shown) - label_size);
    mp_count(&pump->counters->stderr_lines, 1);
    mp_tail_add(&pump->tail, shown + label_size, size);
    if (pump->sink.listener_fn != NULL)
        pump->sink.listener_fn(pump->sink.listener_user, shown, label_size + size);
    hand_over(pump, shown, label_size + size);
    pump->line_size = 0;
}

/* Adds a part of a line. What is over the limit is dropped; end_line cuts such a line visibly,
 * since the label takes room too. */
static void add_to_line(struct mp_stderr_pump *pump, const char *bytes, size_t size)
{
    size_t room = sizeof(pump->line) - pump->line_size;
    size_t taken = size < room ? size : room;
    memcpy(pump->line + pump->line_size, bytes, taken);
    pump->line_size += taken;
}

static void add_bytes(struct mp_stderr_pump *pump, const char *bytes, size_t size)
{
    while (size > 0) {
        const char *line_end = memchr(bytes, '\n', size);
        size_t part = line_end != NULL ? (size_t)(line_end - bytes) : size;
        add_to_line(pump, bytes, part);
        if (line_end == NULL)
            return;
        end_line(pump);
        bytes += part + 1;
        size -= part + 1;
    }
}

/* -- the thread */

enum progress { AT_END, EMPTY, MORE };

static enum progress read_once(struct mp_stderr_pump *pump)
{
    char bytes[READ_BYTES];
    ssize_t n = read(pump->fd, bytes, sizeof(bytes));
    if (n > 0) {
        add_bytes(pump, bytes, (size_t)n);
        return MORE;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return errno == EAGAIN ? EMPTY : MORE;
    return AT_END;
}

static void announce_settled(struct mp_stderr_pump *pump)
{
    mp_mutex_lock(&pump->lock);
    pump->settled = true;
    mp_mutex_unlock(&pump->lock);
    mp_cond_broadcast(&pump->changed);
}

static bool was_asked(struct mp_stderr_pump *pump, const bool *what)
{
    mp_mutex_lock(&pump->lock);
    bool asked = *what;
    mp_mutex_unlock(&pump->lock);
    return asked;
}

/* Sleeps until the server writes, closes, or the bell rings: settle and stop ring it. */
static void sleep_until_input(struct mp_stderr_pump *pump)
{
    struct pollfd fds[] = {{pump->fd, POLLIN, 0}, {pump->bell.fd, POLLIN, 0}};
    poll(fds, 2, -1);
    if (fds[1].revents != 0)
        mp_bell_hear(&pump->bell);
}

/* Nothing more comes, as far as we know: an unfinished line is one. */
static void settle(struct mp_stderr_pump *pump)
{
    if (pump->line_size > 0)
        end_line(pump);
    flush_lines(pump);
    announce_settled(pump);
}

static void pump_main(void *arg)
{
    struct mp_stderr_pump *pump = arg;
    enum progress progress = EMPTY;
    for (int last_reads = LAST_READS; progress != AT_END && last_reads > 0;) {
        if (progress == EMPTY)
            sleep_until_input(pump);
        bool has_to_stop = was_asked(pump, &pump->stop_asked);
        bool has_to_settle = was_asked(pump, &pump->settle_asked);
        progress = read_once(pump);
        if (progress != MORE)
            flush_lines(pump);
        if (has_to_settle && progress == EMPTY)
            settle(pump);
        if (has_to_stop)
            last_reads = progress == EMPTY ? 0 : last_reads - 1;
    }
    settle(pump);
    mp_fd_close(&pump->fd);
    if (pump->sink.kind == MCPUMP_STDERR_FILE)
        mp_fd_close(&pump->sink.fd);
}

int mp_stderr_pump_start(struct mp_stderr_pump *pump, int fd, const struct mp_stderr_sink *sink,
                         const char *name)
{
    pump->fd = fd;
    pump->sink = *sink;
    pump->line_size = pump->out_size = 0;
    pump->sink_is_stuck = false;
    pump->settle_asked = pump->settled = pump->stop_asked = false;
    mp_bell_hear(&pump->bell);
    mp_tail_clear(&pump->tail);
    int err = mp_thread_start(&pump->thread, name, pump_main, pump);
    if (err != 0)
        pump->fd = -1;
    return err;
}

static void ask(struct mp_stderr_pump *pump, bool *what)
{
    mp_mutex_lock(&pump->lock);
    *what = true;
    mp_mutex_unlock(&pump->lock);
    mp_bell_ring(&pump->bell);
}

void mp_stderr_pump_settle(struct mp_stderr_pump *pump, mp_deadline deadline)
{
    ask(pump, &pump->settle_asked);
    bool in_time = true;
    mp_mutex_lock(&pump->lock);
    while (!pump->settled && in_time)
        in_time = mp_cond_wait(&pump->changed, &pump->lock, deadline);
    mp_mutex_unlock(&pump->lock);
}

void mp_stderr_pump_stop(struct mp_stderr_pump *pump)
{
    ask(pump, &pump->stop_asked);
}
