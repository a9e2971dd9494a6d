/* SPDX-License-Identifier: Apache-2.0 */
/* A server behind mcpump. */
#ifndef MCPUMP_BENCH_CLIENT_H
#define MCPUMP_BENCH_CLIENT_H

#include <mcpump/mcpump.h>

#include "bench.h"

/* The options of every connection here. */
mcpump_transport_options bench_client_options(const struct bench_plan *plan);

/* Starts the server in its place. Returns new. */
mcpump_transport *bench_client_open(const struct bench_plan *plan);

/* The handshake, and one call whose answer is looked at. */
void bench_client_prepare(mcpump_transport *transport, const struct bench_text *request);

/* One request, one reply. */
void bench_client_call(mcpump_transport *transport, const struct bench_text *request);

/* Does nothing on success, else says what the failure tells and ends. */
void bench_client_check(mcpump_err err, mcpump_failure *failure);

#endif
