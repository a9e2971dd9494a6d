/* SPDX-License-Identifier: Apache-2.0 */
/* The whole life of a server: start it, ask it once, end it, reap it. */
#include "client.h"
#include "raw.h"
#include "request.h"
#include "rounds.h"
#include "samples.h"

struct lives {
    const struct bench_plan *plan;
    struct bench_samples samples;
};

static void live_raw(void *context)
{
    struct lives *lives = context;
    struct bench_raw raw;
    bench_raw_start(&raw, lives->plan, 0);
    bench_raw_call(&raw, &bench_initialize);
    bench_raw_stop(&raw);
}

static void live_behind_mcpump(void *context)
{
    struct lives *lives = context;
    mcpump_transport *transport = bench_client_open(lives->plan);
    bench_client_call(transport, &bench_initialize);
    mcpump_transport_free(transport);
}

static void spawn_round(void *context, struct bench_values *ret_values)
{
    struct lives *lives = context;
    bench_samples_take(&lives->samples, lives->plan->slice_ns, live_raw, lives);
    ret_values->of[BENCH_RAW_US] = bench_percentile(&lives->samples, 0.5);
    bench_samples_take(&lives->samples, lives->plan->slice_ns, live_behind_mcpump, lives);
    ret_values->of[BENCH_TOTAL_US] = bench_percentile(&lives->samples, 0.5);
}

void bench_spawn(const struct bench_plan *plan, struct bench_values *ret_values)
{
    struct lives lives = {.plan = plan};
    bench_rounds(plan, spawn_round, &lives, ret_values);
    bench_samples_done(&lives.samples);
}
