/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many calls under way on one connection: by many threads that each make one call after the other,
 * and by one thread at bare pipes that keeps as many requests under way.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "client.h"
#include "raw.h"
#include "request.h"
#include "rounds.h"
#include "samples.h"

struct worker {
    pthread_t thread;
    struct crew *crew;
    struct bench_samples samples; /* kept from round to round: soon it needs to grow no more */
};

struct crew {
    const struct bench_plan *plan;
    mcpump_transport *transport;
    struct bench_raw raw;
    pthread_barrier_t barrier; /* all workers and the main thread: ready, go, done */
    size_t count;
    struct worker *workers;
    struct bench_samples all;
};

static double cpu_us(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void call_transport(void *context)
{
    struct crew *crew = context;
    bench_client_call(crew->transport, &bench_echo);
}

static void *work(void *arg)
{
    struct worker *worker = arg;
    struct crew *crew = worker->crew;
    pthread_barrier_wait(&crew->barrier);
    pthread_barrier_wait(&crew->barrier);
    bench_samples_take(&worker->samples, crew->plan->slice_ns, call_transport, crew);
    pthread_barrier_wait(&crew->barrier);
    return NULL;
}

static void start_workers(struct crew *crew)
{
    for (size_t i = 0; i < crew->count; i++) {
        struct worker *worker = &crew->workers[i];
        worker->crew = crew;
        int err = pthread_create(&worker->thread, NULL, work, worker);
        if (err != 0)
            bench_die("cannot start a thread: %s", strerror(err));
    }
}

static void join_workers(struct crew *crew)
{
    crew->all.count = 0;
    for (size_t i = 0; i < crew->count; i++) {
        pthread_join(crew->workers[i].thread, NULL);
        bench_samples_append(&crew->all, &crew->workers[i].samples);
    }
}

static void crew_round(void *context, struct bench_values *ret_values)
{
    struct crew *crew = context;
    ret_values->of[BENCH_RAW_PER_S] =
        bench_raw_stream(&crew->raw, &bench_echo, crew->count, crew->plan->slice_ns);

    start_workers(crew);
    pthread_barrier_wait(&crew->barrier);
    double cpu_before = cpu_us();
    int64_t start = bench_now_ns();
    pthread_barrier_wait(&crew->barrier);
    pthread_barrier_wait(&crew->barrier);
    double ns = (double)(bench_now_ns() - start), cpu = cpu_us() - cpu_before;
    join_workers(crew);

    double calls = (double)crew->all.count;
    ret_values->of[BENCH_PER_S] = calls * 1e9 / ns;
    ret_values->of[BENCH_CPU_US] = cpu / calls;
    ret_values->of[BENCH_P50_US] = bench_percentile(&crew->all, 0.5);
    ret_values->of[BENCH_P99_US] = bench_percentile(&crew->all, 0.99);
}

void bench_threads(const struct bench_plan *plan, struct bench_values *ret_values)
{
    struct crew crew = {.plan = plan, .count = plan->argument};
    crew.workers = bench_need(calloc(crew.count, sizeof(*crew.workers)));
    pthread_barrier_init(&crew.barrier, NULL, (unsigned)crew.count + 1);
    crew.transport = bench_client_open(plan);
    bench_client_prepare(crew.transport, &bench_echo);
    bench_raw_start(&crew.raw, plan, 0);
    bench_raw_prepare(&crew.raw, &bench_echo);

    bench_rounds(plan, crew_round, &crew, ret_values);

    bench_raw_stop(&crew.raw);
    mcpump_transport_free(crew.transport);
    for (size_t i = 0; i < crew.count; i++)
        bench_samples_done(&crew.workers[i].samples);
    bench_samples_done(&crew.all);
    pthread_barrier_destroy(&crew.barrier);
    free(crew.workers);
}

static void stream_round(void *context, struct bench_values *ret_values)
{
    struct crew *crew = context;
    ret_values->of[BENCH_RAW_PER_S] =
        bench_raw_stream(&crew->raw, &bench_echo, crew->count, crew->plan->slice_ns);
}

/* The library has no call that does not block, so its figure is not there. */
void bench_pipelined(const struct bench_plan *plan, struct bench_values *ret_values)
{
    struct crew crew = {.plan = plan, .count = plan->argument};
    bench_raw_start(&crew.raw, plan, 0);
    bench_raw_prepare(&crew.raw, &bench_echo);
    bench_rounds(plan, stream_round, &crew, ret_values);
    bench_raw_stop(&crew.raw);
}
