/* SPDX-License-Identifier: Apache-2.0 */
#include "raw.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "place.h"
#include "request.h"
#include "samples.h"

#define READ_BYTES (64 * 1024)

static void spawn_server(struct bench_raw *raw, const char *server, int child_in, int child_out)
{
    posix_spawn_file_actions_t actions;
    char *name = bench_need(strdup(server));
    char *argv[] = {name, NULL};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, child_in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, child_out, STDOUT_FILENO);
    int err = posix_spawn(&raw->pid, server, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    free(name);
    if (err != 0)
        bench_die("cannot run %s: %s", server, strerror(err));
}

void bench_raw_start(struct bench_raw *raw, const struct bench_plan *plan, int pipe_bytes)
{
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        bench_die("cannot make pipes: %s", strerror(errno));
    if (pipe_bytes > 0)
        fcntl(out[0], F_SETPIPE_SZ, pipe_bytes);
    spawn_server(raw, plan->server, in[0], out[1]);
    close(in[0]);
    close(out[1]);
    raw->in = in[1];
    raw->out = out[0];
    raw->capacity = 2 * READ_BYTES;
    raw->buffer = bench_need(malloc(raw->capacity));
    bench_place_server(plan->place, raw->pid);
}

void bench_raw_stop(struct bench_raw *raw)
{
    close(raw->in);
    while (read(raw->out, raw->buffer, READ_BYTES) > 0) {
    }
    close(raw->out);
    waitpid(raw->pid, NULL, 0);
    free(raw->buffer);
}

static void write_all(struct bench_raw *raw, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(raw->in, bytes, size);
        if (n < 0)
            bench_die("cannot write to the server: %s", strerror(errno));
        bytes += n;
        size -= (size_t)n;
    }
}

/* Reads behind the first `size` bytes of the buffer. */
static size_t read_some(struct bench_raw *raw, size_t size)
{
    if (raw->capacity - size < READ_BYTES) {
        raw->capacity *= 2;
        raw->buffer = bench_need(realloc(raw->buffer, raw->capacity));
    }
    ssize_t n = read(raw->out, raw->buffer + size, READ_BYTES);
    if (n <= 0)
        bench_die("the server has left");
    return (size_t)n;
}

void bench_raw_call(struct bench_raw *raw, const struct bench_text *request)
{
    size_t size = 0, part = 0;
    write_all(raw, request->bytes, request->size);
    do {
        size += part;
        part = read_some(raw, size);
    } while (memchr(raw->buffer + size, '\n', part) == NULL);
}

void bench_raw_prepare(struct bench_raw *raw, const struct bench_text *request)
{
    bench_raw_call(raw, &bench_initialize);
    write_all(raw, bench_initialized.bytes, bench_initialized.size);
    bench_raw_call(raw, request);
    size_t size = (size_t)((char *)rawmemchr(raw->buffer, '\n') - raw->buffer);
    if (memmem(raw->buffer, size, "\"result\"", 8) == NULL)
        bench_die("the server does not answer: %.*s", (int)(size < 200 ? size : 200), raw->buffer);
}

static size_t count_lines(const char *bytes, size_t size)
{
    size_t count = 0;
    const char *end = bytes + size;
    while ((bytes = memchr(bytes, '\n', (size_t)(end - bytes))) != NULL) {
        bytes++;
        count++;
    }
    return count;
}

double bench_raw_stream(struct bench_raw *raw, const struct bench_text *request, size_t window,
                        int64_t slice_ns)
{
    char *requests = bench_need(malloc(window * request->size));
    for (size_t i = 0; i < window; i++)
        memcpy(requests + i * request->size, request->bytes, request->size);

    size_t answered = 0, open = 0;
    int64_t start = bench_now_ns(), now = start;
    do {
        write_all(raw, requests, (window - open) * request->size);
        size_t lines = count_lines(raw->buffer, read_some(raw, 0));
        answered += lines;
        open = window - lines;
        now = bench_now_ns();
    } while (now - start < slice_ns);
    while (open > 0)
        open -= count_lines(raw->buffer, read_some(raw, 0));
    free(requests);
    return (double)answered * 1e9 / (double)(now - start);
}
