/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a signal handler that interrupts every connection to the return of the last of the calls
 * that were waiting on them.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "client.h"
#include "request.h"
#include "samples.h"

#define CONNECTIONS   16
#define WAITERS       4 /* on each */
#define ALL_WAITERS   (CONNECTIONS * WAITERS)
#define TIMES_A_ROUND 10
#define SETTLE_NS     (2 * BENCH_NS_PER_MS)
#define LOOK_AGAIN_NS (BENCH_NS_PER_MS / 5)

struct waiter {
    pthread_t thread;
    mcpump_transport *transport;
    int64_t returned_ns;
    bool is_last;
};

/* For the handler, so not in a struct that somebody owns. */
static mcpump_transport *transports[CONNECTIONS];
static int64_t handler_ns;
static pthread_barrier_t barrier; /* all waiters and the main thread: go, done */

static void on_signal(int number)
{
    (void)number;
    handler_ns = bench_now_ns();
    for (int i = 0; i < CONNECTIONS; i++)
        mcpump_transport_interrupt(transports[i]);
}

static void *wait_again_and_again(void *arg)
{
    struct waiter *waiter = arg;
    for (;;) {
        pthread_barrier_wait(&barrier);
        if (waiter->is_last)
            return NULL;
        mcpump_reply *reply = NULL;
        mcpump_err err = mcpump_transport_send_request(waiter->transport, bench_slow.bytes,
                                                       bench_slow.size, NULL, &reply, NULL);
        waiter->returned_ns = bench_now_ns();
        if (err != MCPUMP_ERR_INTERRUPTED)
            bench_die("an interrupted call ended with %s", mcpump_err_name(err));
        pthread_barrier_wait(&barrier);
    }
}

static void pause_for(int64_t ns)
{
    struct timespec time = {0, ns};
    nanosleep(&time, NULL);
}

/* Until every call is under way, and a little longer: each waiter asleep, each server too. */
static void await_calls(void)
{
    for (int i = 0; i < CONNECTIONS; i++) {
        mcpump_stats stats = {.size = sizeof(stats)};
        mcpump_transport_stats(transports[i], &stats);
        while (stats.in_flight < WAITERS) {
            pause_for(LOOK_AGAIN_NS);
            mcpump_transport_stats(transports[i], &stats);
        }
    }
    pause_for(SETTLE_NS);
}

static double interrupt_once(const struct waiter waiters[])
{
    pthread_barrier_wait(&barrier);
    await_calls();
    raise(SIGINT);
    pthread_barrier_wait(&barrier);
    int64_t last_ns = 0;
    for (int i = 0; i < ALL_WAITERS; i++) {
        if (waiters[i].returned_ns > last_ns)
            last_ns = waiters[i].returned_ns;
    }
    for (int i = 0; i < CONNECTIONS; i++)
        mcpump_transport_clear_interrupt(transports[i]);
    return (double)(last_ns - handler_ns) / 1e3;
}

static void start(const struct bench_plan *plan, struct waiter waiters[])
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    pthread_barrier_init(&barrier, NULL, ALL_WAITERS + 1);
    for (int i = 0; i < CONNECTIONS; i++) {
        transports[i] = bench_client_open(plan);
        bench_client_prepare(transports[i], &bench_echo);
    }
    for (int i = 0; i < ALL_WAITERS; i++) {
        waiters[i] = (struct waiter){.transport = transports[i % CONNECTIONS]};
        int err = pthread_create(&waiters[i].thread, NULL, wait_again_and_again, &waiters[i]);
        if (err != 0)
            bench_die("cannot start a thread: %s", strerror(err));
    }
    sigaction(SIGINT, &action, NULL);
}

static void stop(struct waiter waiters[])
{
    signal(SIGINT, SIG_DFL);
    for (int i = 0; i < ALL_WAITERS; i++)
        waiters[i].is_last = true;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < ALL_WAITERS; i++)
        pthread_join(waiters[i].thread, NULL);
    for (int i = 0; i < CONNECTIONS; i++)
        mcpump_transport_free(transports[i]);
    pthread_barrier_destroy(&barrier);
}

/* There is nothing to take turns with, so all of them are one set of samples. */
void bench_interrupt(const struct bench_plan *plan, struct bench_values *ret_values)
{
    struct waiter waiters[ALL_WAITERS];
    struct bench_samples samples = {NULL, 0, 0};
    start(plan, waiters);
    interrupt_once(waiters);
    for (int i = 0; i < plan->rounds * TIMES_A_ROUND; i++)
        bench_samples_add(&samples, interrupt_once(waiters));
    stop(waiters);
    ret_values->of[BENCH_P50_US] = bench_percentile(&samples, 0.5);
    ret_values->of[BENCH_P99_US] = bench_percentile(&samples, 0.99);
    bench_samples_done(&samples);
}
