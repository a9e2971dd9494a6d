/* SPDX-License-Identifier: Apache-2.0 */
/* One thread that makes one call after the other: small replies, large ones, the typed call. */
#include "client.h"
#include "raw.h"
#include "request.h"
#include "rounds.h"
#include "samples.h"

/* The loop at bare pipes gets the largest pipe that anybody may have: it stands for what could be.
 */
#define LARGE_PIPE_BYTES (1024 * 1024)

struct caller {
    const struct bench_plan *plan;
    const struct bench_text *request;
    struct bench_raw raw;
    mcpump_transport *transport;
    mcpump_server *server; /* bench_call_tool only */
    struct bench_samples samples;
};

static void call_raw(void *context)
{
    struct caller *caller = context;
    bench_raw_call(&caller->raw, caller->request);
}

static void call_transport(void *context)
{
    struct caller *caller = context;
    bench_client_call(caller->transport, caller->request);
}

static void call_server(void *context)
{
    struct caller *caller = context;
    mcpump_reply *reply = NULL;
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_server_call_tool(caller->server, "echo", BENCH_ECHO_ARGUMENTS, NULL,
                                             &reply, &failure);
    bench_client_check(err, failure);
    mcpump_reply_free(reply);
}

static void latency_round(struct caller *caller, void (*call)(void *),
                          struct bench_values *ret_values)
{
    struct bench_samples *samples = &caller->samples;
    bench_samples_take(samples, caller->plan->slice_ns, call_raw, caller);
    ret_values->of[BENCH_RAW_P50_US] = bench_percentile(samples, 0.5);
    bench_samples_take(samples, caller->plan->slice_ns, call, caller);
    ret_values->of[BENCH_P50_US] = bench_percentile(samples, 0.5);
    ret_values->of[BENCH_P99_US] = bench_percentile(samples, 0.99);
}

static void sequential_round(void *context, struct bench_values *ret_values)
{
    latency_round(context, call_transport, ret_values);
}

static void call_tool_round(void *context, struct bench_values *ret_values)
{
    latency_round(context, call_server, ret_values);
}

/* Bytes a microsecond are MB a second. */
static void reply_round(void *context, struct bench_values *ret_values)
{
    struct caller *caller = context;
    double bytes = (double)caller->plan->argument;
    bench_samples_take(&caller->samples, caller->plan->slice_ns, call_raw, caller);
    ret_values->of[BENCH_RAW_MB_S] = bytes / bench_mean(&caller->samples);
    bench_samples_take(&caller->samples, caller->plan->slice_ns, call_transport, caller);
    ret_values->of[BENCH_MB_S] = bytes / bench_mean(&caller->samples);
}

static void take_turns(struct caller *caller, bench_round_fn *round, int pipe_bytes,
                       struct bench_values *ret_values)
{
    bench_raw_start(&caller->raw, caller->plan, pipe_bytes);
    bench_raw_prepare(&caller->raw, caller->request);
    bench_rounds(caller->plan, round, caller, ret_values);
    bench_raw_stop(&caller->raw);
    bench_samples_done(&caller->samples);
}

void bench_sequential(const struct bench_plan *plan, struct bench_values *ret_values)
{
    struct caller caller = {.plan = plan, .request = &bench_echo};
    caller.transport = bench_client_open(plan);
    bench_client_prepare(caller.transport, caller.request);
    take_turns(&caller, sequential_round, 0, ret_values);
    mcpump_transport_free(caller.transport);
}

void bench_reply(const struct bench_plan *plan, struct bench_values *ret_values)
{
    char room[BENCH_ECHO_OF_SIZE];
    struct bench_text request = bench_echo_of(plan->argument, room);
    struct caller caller = {.plan = plan, .request = &request};
    caller.transport = bench_client_open(plan);
    bench_client_prepare(caller.transport, caller.request);
    take_turns(&caller, reply_round, LARGE_PIPE_BYTES, ret_values);
    mcpump_transport_free(caller.transport);
}

void bench_call_tool(const struct bench_plan *plan, struct bench_values *ret_values)
{
    struct caller caller = {.plan = plan, .request = &bench_modern_echo};
    mcpump_server_options options = MCPUMP_SERVER_OPTIONS_INIT;
    mcpump_failure *failure = NULL;
    options.transport = bench_client_options(plan);
    bench_client_check(mcpump_server_new(&options, &caller.server, &failure), failure);
    bench_client_check(mcpump_server_connect(caller.server, &failure), failure);
    take_turns(&caller, call_tool_round, 0, ret_values);
    mcpump_server_free(caller.server);
}
