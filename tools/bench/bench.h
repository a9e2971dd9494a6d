/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcpump-bench: what a call through mcpump costs, beside what the pipes alone cost.
 *
 * Each measurement runs once in every place of its row (one core, two, free), in a process of its
 * own: it starts from the same state whatever ran before, may simply exit when something fails, and
 * then its figures are not there. Within it the raw loop and mcpump take turns, slice by slice, so
 * that a busy moment of the machine spoils a round of either and not the result.
 *
 *   main.c          options, the loop over table.c
 *   run.c           one measurement in its process
 *   place.c         which cores
 *   rounds.c        taking turns, medians
 *   samples.c       timing calls, percentiles
 *   raw.c           a server at bare pipes, one thread
 *   client.c        a server behind mcpump
 *   request.c       what both of them send
 *   report.c        JSON and the table
 *   measure_*.c     the measurements
 */
#ifndef MCPUMP_BENCH_BENCH_H
#define MCPUMP_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_NS_PER_MS 1000000

/* X(NAME, key, decimals) */
#define BENCH_FIGURES(X)                                                                           \
    X(P50_US, "p50_us", 2)                                                                         \
    X(P99_US, "p99_us", 2)                                                                         \
    X(RAW_P50_US, "raw_p50_us", 2)                                                                 \
    X(PER_S, "per_s", 0)                                                                           \
    X(RAW_PER_S, "raw_per_s", 0)                                                                   \
    X(CPU_US, "cpu_us", 2)                                                                         \
    X(MB_S, "mb_s", 1)                                                                             \
    X(RAW_MB_S, "raw_mb_s", 1)                                                                     \
    X(TOTAL_US, "total_us", 1)                                                                     \
    X(RAW_US, "raw_us", 1)                                                                         \
    X(IDLE_CONNECTION_KIB, "idle_connection_kib", 1)                                               \
    X(IDLE_CONNECTION_THREADS, "idle_connection_threads", 1)                                       \
    X(SYSCALLS, "syscalls", 0)                                                                     \
    X(RATIO, "ratio", 3)

enum bench_figure {
    BENCH_NONE,
#define BENCH_X(name, key, decimals) BENCH_##name,
    BENCH_FIGURES(BENCH_X)
#undef BENCH_X
        BENCH_FIGURE_COUNT
};

/* One value for each figure; NAN: not measured. */
struct bench_values {
    double of[BENCH_FIGURE_COUNT];
};

enum bench_place {
    BENCH_ONE_CORE, /* client and server on the same core */
    BENCH_SPLIT,    /* each on its own */
    BENCH_FREE,     /* as the scheduler likes */
    BENCH_PLACE_COUNT
};

/* What a measurement is told. */
struct bench_plan {
    const char *server;
    enum bench_place place;
    int rounds;
    int64_t slice_ns; /* for how long one side measures in one round */
    int64_t idle_ns;  /* for how long idleness is watched */
    size_t argument;  /* from the measurement's row */
};

/* Fills in the figures of its row, except the ratio. Exits when it cannot. */
typedef void bench_measure_fn(const struct bench_plan *plan, struct bench_values *ret_values);

#define BENCH_MAX_BESIDES 3

/* Which figures a measurement yields. */
struct bench_view {
    enum bench_figure main;
    enum bench_figure besides[BENCH_MAX_BESIDES]; /* or BENCH_NONE */
    enum bench_figure raw; /* the ratio is main to this; BENCH_NONE: there is no ratio */
    bool is_flat;          /* its one place is not named in the JSON */
};

struct bench_measurement {
    const char *name;
    const struct bench_view *view;
    unsigned places; /* bits, 1 << enum bench_place */
    bench_measure_fn *measure;
    size_t argument;
};

extern const struct bench_measurement bench_table[];
extern const size_t bench_table_size;

/* A text and its size, without a NUL that counts. */
struct bench_text {
    const char *bytes;
    size_t size;
};

void bench_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Ends the process of the measurement. */
_Noreturn void bench_die(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *bench_need(void *memory);

bench_measure_fn bench_sequential;
bench_measure_fn bench_call_tool;
bench_measure_fn bench_reply;
bench_measure_fn bench_threads;
bench_measure_fn bench_pipelined;
bench_measure_fn bench_spawn;
bench_measure_fn bench_interrupt;
bench_measure_fn bench_memory;
bench_measure_fn bench_idle;

#endif
