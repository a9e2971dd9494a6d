/* SPDX-License-Identifier: Apache-2.0 */
/* What is sent to the demo server. Each text is one line, its end included. */
#ifndef MCPUMP_BENCH_REQUEST_H
#define MCPUMP_BENCH_REQUEST_H

#include "bench.h"

extern const struct bench_text bench_initialize;
extern const struct bench_text bench_initialized;

/* Calls the tool `echo`, after the handshake of the legacy era. */
extern const struct bench_text bench_echo;

/* Calls it as the modern era does: the request that mcpump makes of BENCH_ECHO_ARGUMENTS. */
extern const struct bench_text bench_modern_echo;
#define BENCH_ECHO_ARGUMENTS "{\"message\":\"0123456789\"}"

/* Calls the tool `slow`, which answers in an hour. */
extern const struct bench_text bench_slow;

/* Calls `echo` for a text of so many bytes. The request stands in `room`. */
#define BENCH_ECHO_OF_SIZE 160
struct bench_text bench_echo_of(size_t bytes, char room[BENCH_ECHO_OF_SIZE]);

#endif
