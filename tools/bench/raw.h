/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server at two bare pipes, served by one thread with blocking reads and writes: the least that a
 * call can cost, and what mcpump is compared with. Nothing is checked but that lines come back.
 */
#ifndef MCPUMP_BENCH_RAW_H
#define MCPUMP_BENCH_RAW_H

#include <sys/types.h>

#include "bench.h"

struct bench_raw {
    pid_t pid;
    int in;       /* its stdin */
    int out;      /* its stdout */
    char *buffer; /* holds a whole reply; grows, and is used again and again */
    size_t capacity;
};

/* Starts the server in its place. `pipe_bytes`: of its stdout; 0: as the system makes it. */
void bench_raw_start(struct bench_raw *raw, const struct bench_plan *plan, int pipe_bytes);

/* Closes its stdin, reads to the end of its stdout, reaps it. */
void bench_raw_stop(struct bench_raw *raw);

/* The handshake, and one call whose answer is looked at. */
void bench_raw_prepare(struct bench_raw *raw, const struct bench_text *request);

/* One request, one reply. */
void bench_raw_call(struct bench_raw *raw, const struct bench_text *request);

/* Keeps `window` requests under way for one slice: answers by the batch, new requests for them in
 * one write. Returns the answers a second. */
double bench_raw_stream(struct bench_raw *raw, const struct bench_text *request, size_t window,
                        int64_t slice_ns);

#endif
