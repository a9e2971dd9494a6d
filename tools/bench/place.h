/* SPDX-License-Identifier: Apache-2.0 */
/* Where client and server run. The cores are the first two that this process may use. */
#ifndef MCPUMP_BENCH_PLACE_H
#define MCPUMP_BENCH_PLACE_H

#include <sys/types.h>

#include "bench.h"

const char *bench_place_name(enum bench_place place);

/* False: there are too few cores for it. */
bool bench_place_is_possible(enum bench_place place);

/* Puts this thread, and the threads and processes it will start, in the client's place. */
void bench_place_client(enum bench_place place);

/* Puts a server, which was started in the client's place, in its own. */
void bench_place_server(enum bench_place place, pid_t pid);

#endif
