/* SPDX-License-Identifier: Apache-2.0 */
#include "tap.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "answer.h"
#include "interrupt.h"
#include "json.h"
#include "options.h"
#include "report.h"
#include "text.h"

#define REPLACEMENT "\xEF\xBF\xBD"
/* What waits for a reader; more is dropped. */
#define MOST_BYTES (64 << 20)
#define MS_PER_S   1000
#define NS_PER_MS  1000000

/* -- a line */

static void write_time(FILE *out)
{
    struct timespec now;
    struct tm utc;
    char text[32];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &utc);
    fprintf(out, "%s.%06ldZ", text, now.tv_nsec / 1000);
}

/* What is no JSON: as a string, and valid UTF-8 in any case. */
static void write_junk(FILE *out, const char *line, size_t size)
{
    char *text = NULL;
    size_t text_size = 0;
    FILE *clean = open_memstream(&text, &text_size);
    for (size_t at = 0; clean != NULL && at < size;) {
        size_t char_size = cli_text_char_size(line + at, size - at);
        if (char_size > 0)
            fwrite(line + at, 1, char_size, clean);
        else
            fputs(REPLACEMENT, clean);
        at += char_size > 0 ? char_size : 1;
    }
    bool is_whole = clean != NULL && fclose(clean) == 0;
    cli_json_write_string(out, is_whole ? text : "", is_whole ? text_size : 0);
    free(text);
}

static void write_line(FILE *out, mcpump_direction direction, const char *line, size_t size)
{
    fputs("{\"t\":\"", out);
    write_time(out);
    fprintf(out, "\",\"dir\":\"%s\",\"line\":",
            direction == MCPUMP_TO_SERVER ? "to_server" : "from_server");
    if (cli_json_is_valid(line, size))
        fwrite(line, 1, size, out);
    else
        write_junk(out, line, size);
    fputs("}\n", out);
}

/* -- the queue, and the thread that writes it */

static struct {
    bool is_watching;
    bool is_terminal; /* as the rest of this group: immutable while the thread runs */
    int ended;        /* readable: wait for room no more */
    int broken;       /* readable: nobody reads */
    pthread_t writer;
    pthread_mutex_t lock;
    pthread_cond_t more; /* the writer: lines, or is_ending */
    /* -- protected by lock */
    struct cli_answer queue; /* stream NULL: empty */
    bool is_ending;
    int err; /* of stdout; from then on lines go nowhere */
    uint64_t dropped;
    /* -- the writer; once it is joined, who ends */
    char *batch;
    size_t size, written;
} tap = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

static bool add_line_locked(mcpump_direction direction, const char *line, size_t size)
{
    if (tap.err != 0)
        return true;
    if (tap.queue.stream == NULL && !cli_answer_begin(&tap.queue))
        return false;
    if (tap.queue.size > MOST_BYTES)
        return false;
    write_line(tap.queue.stream, direction, line, size);
    return fflush(tap.queue.stream) == 0;
}

/* A mcpump_tap_fn. */
static void take_line(void *user, mcpump_direction direction, const char *line, size_t size)
{
    (void)user;
    pthread_mutex_lock(&tap.lock);
    tap.dropped += !add_line_locked(direction, line, size);
    pthread_cond_signal(&tap.more);
    pthread_mutex_unlock(&tap.lock);
}

/* On a terminal without control characters. NULL: no memory. */
static char *make_harmless(char *bytes, size_t *size)
{
    char *clean = NULL;
    size_t clean_size = 0;
    FILE *out = open_memstream(&clean, &clean_size);
    if (out != NULL) {
        cli_text_clean(out, bytes, *size, "\t\r\n");
        if (fclose(out) != 0) {
            free(clean);
            clean = NULL;
        }
    }
    free(bytes);
    *size = clean_size;
    return clean;
}

/* Makes a batch of what waits. False: there is nothing. */
static bool take_batch_locked(void)
{
    if (tap.queue.stream == NULL)
        return false;
    bool is_whole = fclose(tap.queue.stream) == 0;
    tap.queue.stream = NULL;
    tap.batch = tap.queue.bytes;
    tap.size = is_whole ? tap.queue.size : 0;
    tap.written = 0;
    if (tap.is_terminal)
        tap.batch = make_harmless(tap.batch, &tap.size);
    if (tap.batch == NULL)
        tap.size = 0;
    return true;
}

/* A write of PIPE_BUF bytes that has room does not block. False: no room, and told to end; or an
 * error. */
static bool write_some(int *ret_err)
{
    struct pollfd fds[] = {{STDOUT_FILENO, POLLOUT, 0}, {tap.ended, POLLIN, 0}};
    size_t size = tap.size - tap.written;
    poll(fds, 2, -1);
    if (fds[0].revents == 0)
        return fds[1].revents == 0;
    ssize_t n = write(STDOUT_FILENO, tap.batch + tap.written, size < PIPE_BUF ? size : PIPE_BUF);
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        *ret_err = errno;
    tap.written += n > 0 ? (size_t)n : 0;
    return *ret_err == 0;
}

/* False: no more is to be written. */
static bool write_batch(void)
{
    int err = 0;
    while (tap.written < tap.size && write_some(&err)) {
    }
    if (err != 0) {
        pthread_mutex_lock(&tap.lock);
        tap.err = err;
        pthread_mutex_unlock(&tap.lock);
        eventfd_write(tap.broken, 1);
    }
    if (tap.written < tap.size)
        return false;
    free(tap.batch);
    tap.batch = NULL;
    return true;
}

static void *write_lines(void *arg)
{
    bool goes_on = true;
    while (goes_on) {
        pthread_mutex_lock(&tap.lock);
        while (tap.queue.stream == NULL && !tap.is_ending)
            pthread_cond_wait(&tap.more, &tap.lock);
        goes_on = take_batch_locked();
        pthread_mutex_unlock(&tap.lock);
        goes_on = goes_on && write_batch();
    }
    return arg;
}

int cli_tap_watch(struct cli_options *options)
{
    sigset_t all, old;
    tap.is_terminal = isatty(STDOUT_FILENO) != 0;
    tap.ended = eventfd(0, EFD_CLOEXEC);
    tap.broken = eventfd(0, EFD_CLOEXEC);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    tap.is_watching = tap.ended >= 0 && tap.broken >= 0 &&
                      pthread_create(&tap.writer, NULL, write_lines, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!tap.is_watching)
        return cli_report_no_memory();
    options->server.transport.tap_fn = take_line;
    return CLI_EXIT_OK;
}

static void drop_rest(void)
{
    do
        free(tap.batch);
    while (take_batch_locked());
}

/* What the thread found no room for is written here, where a signal ends the wait. */
static int write_rest(int status)
{
    struct cli_answer answer;
    if (tap.batch == NULL)
        return status;
    if (!cli_answer_begin(&answer)) {
        drop_rest();
        return cli_report_no_memory();
    }
    do {
        fwrite(tap.batch + tap.written, 1, tap.size - tap.written, answer.stream);
        free(tap.batch);
    } while (take_batch_locked());
    return cli_answer_end(&answer, status);
}

int cli_tap_end(int status)
{
    if (!tap.is_watching)
        return status;
    pthread_mutex_lock(&tap.lock);
    tap.is_ending = true;
    pthread_cond_signal(&tap.more);
    pthread_mutex_unlock(&tap.lock);
    eventfd_write(tap.ended, 1);
    pthread_join(tap.writer, NULL);
    if (tap.dropped > 0)
        cli_say("%llu messages were not shown: nobody read them in time",
                (unsigned long long)tap.dropped);
    if (tap.err == 0 && cli_interrupt_signal() == 0)
        return write_rest(status);
    drop_rest();
    if (tap.err == 0 || tap.err == EPIPE)
        return status;
    cli_say("writing to standard output failed: %s", strerror(tap.err));
    return CLI_EXIT_OUTPUT;
}

/* -- listening */

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * MS_PER_S + now.tv_nsec / NS_PER_MS;
}

/* -1: there is no process any more. */
static int watch_process(mcpump_transport *transport)
{
    pid_t pid = mcpump_transport_pid(transport);
    int fd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    if (fd >= 0 && mcpump_transport_pid(transport) != pid) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static struct timespec time_left(int64_t until_ms)
{
    int64_t left = until_ms - now_ms();
    left = left > 0 ? left : 0;
    return (struct timespec){left / MS_PER_S, left % MS_PER_S * NS_PER_MS};
}

/* Until `until_ms`, 0: for ever. Woken by a signal too. */
static int wait_for_end(const struct cli_options *options, mcpump_transport *transport)
{
    int64_t until_ms = now_ms() + options->listen_ms;
    struct pollfd fds[] = {{watch_process(transport), POLLIN, 0},
                           {tap.broken, POLLIN, 0},
                           {STDOUT_FILENO, 0, 0}}; /* tells when its reader goes */
    sigset_t open;
    cli_interrupt_block(&open);
    int ready = 0;
    while (fds[0].fd >= 0 && ready == 0 && cli_interrupt_signal() == 0) {
        struct timespec left = time_left(until_ms);
        if (options->listen_ms > 0 && left.tv_sec == 0 && left.tv_nsec == 0)
            break;
        ready = ppoll(fds, 3, options->listen_ms > 0 ? &left : NULL, &open);
        ready = ready < 0 && errno == EINTR ? 0 : ready;
    }
    pthread_sigmask(SIG_SETMASK, &open, NULL);
    bool has_ended = fds[0].fd < 0 || fds[0].revents != 0;
    if (fds[0].fd >= 0)
        close(fds[0].fd);
    if (has_ended)
        cli_say("%s: the server ended", mcpump_transport_display_name(transport));
    return has_ended ? CLI_EXIT_LOST : CLI_EXIT_OK;
}

int cli_tap_listen(const struct cli_options *options, mcpump_server *server)
{
    mcpump_failure *failure = NULL;
    mcpump_reply *reply = NULL;
    mcpump_err err = MCPUMP_OK;
    if (options->word_count > 0)
        err = mcpump_server_request(server, options->words[0], options->params, &options->call,
                                    &reply, &failure);
    mcpump_reply_free(reply); /* it was shown */
    if (err != MCPUMP_OK)
        return cli_report_failure(err, failure, cli_options_want_stderr(options));
    return wait_for_end(options, mcpump_server_transport(server));
}
