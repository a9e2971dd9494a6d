/* SPDX-License-Identifier: Apache-2.0 */
/* The measurements. One more load is one more row. */
#include "bench.h"

#define ONE_CORE (1u << BENCH_ONE_CORE)
#define SPLIT    (1u << BENCH_SPLIT)
#define FREE     (1u << BENCH_FREE)
#define MIB      ((size_t)1024 * 1024)

static const struct bench_view latency = {
    .main = BENCH_P50_US, .besides = {BENCH_P99_US}, .raw = BENCH_RAW_P50_US};
static const struct bench_view load = {.main = BENCH_PER_S,
                                       .besides = {BENCH_P50_US, BENCH_P99_US, BENCH_CPU_US},
                                       .raw = BENCH_RAW_PER_S};
static const struct bench_view rate = {.main = BENCH_PER_S, .raw = BENCH_RAW_PER_S};
static const struct bench_view volume = {.main = BENCH_MB_S, .raw = BENCH_RAW_MB_S};
static const struct bench_view whole_life = {.main = BENCH_TOTAL_US, .raw = BENCH_RAW_US};
static const struct bench_view reaction = {.main = BENCH_P50_US, .besides = {BENCH_P99_US}};
static const struct bench_view memory = {
    .main = BENCH_IDLE_CONNECTION_KIB, .besides = {BENCH_IDLE_CONNECTION_THREADS}, .is_flat = true};
static const struct bench_view idleness = {.main = BENCH_SYSCALLS, .is_flat = true};

const struct bench_measurement bench_table[] = {
    {"sequential", &latency, ONE_CORE | SPLIT | FREE, bench_sequential, 0},
    {"call_tool", &latency, FREE, bench_call_tool, 0},
    {"threads_1", &load, ONE_CORE | FREE, bench_threads, 1},
    {"threads_8", &load, ONE_CORE | FREE, bench_threads, 8},
    {"threads_64", &load, ONE_CORE | FREE, bench_threads, 64},
    {"pipelined_64", &rate, ONE_CORE | FREE, bench_pipelined, 64},
    {"reply_1MiB", &volume, FREE, bench_reply, 1 * MIB},
    {"reply_8MiB", &volume, FREE, bench_reply, 8 * MIB},
    {"spawn", &whole_life, FREE, bench_spawn, 0},
    {"memory", &memory, FREE, bench_memory, 0},
    {"interrupt", &reaction, FREE, bench_interrupt, 0},
    {"idle", &idleness, FREE, bench_idle, 0},
};
const size_t bench_table_size = sizeof(bench_table) / sizeof(bench_table[0]);
