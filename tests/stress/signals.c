/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A storm of 1,000 signals a second, whose handler interrupts, cancels and clears, while eight
 * threads connect, call, clear and close: no deadlock, no call that is woken late, errno as it was
 * in the interrupted code. Three seconds; thirty with --scale 1000.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "stress.h"

#define THREADS   8
#define SERVERS   3
#define SECONDS   3
#define PERIOD_NS 1000000
#define LONG_MS   60000

static struct {
    mcpump_server *servers[SERVERS];
    mcpump_group *group; /* of the first two */
    pthread_t threads[THREADS];
    /* The sender must not signal a thread that has ended. */
    atomic_bool is_ending;
    atomic_int running;
    atomic_uint signals, answered, stopped, connected, errno_checks;
} storm;

/* The run of this thread's call, for its own handler alone: NULL when there is none. */
static _Thread_local _Atomic(mcpump_run *) own_run;
/* How many signals this thread has taken. */
static _Thread_local atomic_uint own_signals;

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

static mcpump_transport *transport_of(unsigned dice)
{
    return mcpump_server_transport(storm.servers[dice % SERVERS]);
}

static void handle(int number)
{
    (void)number;
    unsigned dice = atomic_fetch_add(&storm.signals, 1);
    atomic_fetch_add(&own_signals, 1);
    mcpump_run *run = atomic_load(&own_run);
    switch (dice % 8) {
    case 0:
        mcpump_interrupt_all();
        break;
    case 1:
    case 4:
        mcpump_clear_interrupt_all();
        break;
    case 2:
        mcpump_group_interrupt(storm.group);
        break;
    case 3:
        mcpump_group_clear_interrupt(storm.group);
        break;
    case 5:
        mcpump_transport_interrupt(transport_of(dice / 8));
        break;
    default:
        if (run != NULL)
            mcpump_run_cancel(run);
    }
}

/* -- eight threads */

static mcpump_err call(mcpump_server *server, uint32_t dice)
{
    char arguments[48];
    mcpump_call_options options = MCPUMP_CALL_OPTIONS_INIT;
    mcpump_reply *reply = NULL;
    /* Every fourth is not answered in this life: only a signal ends it. */
    unsigned ms = dice % 4 == 0 ? 10 * LONG_MS : dice % 4;
    options.timeout_ms = LONG_MS;
    snprintf(arguments, sizeof(arguments), "{\"ms\":%u}", ms);
    mcpump_err err = mcpump_server_call_tool(server, "slow", arguments, &options, &reply, NULL);
    mcpump_reply_free(reply);
    return err;
}

static mcpump_err call_in_run(mcpump_server *server, uint32_t dice)
{
    mcpump_run *run = mcpump_run_new(NULL);
    mcpump_run_scope scope;
    mcpump_run_enter(run, &scope);
    atomic_store(&own_run, run);
    mcpump_err err = call(server, dice);
    atomic_store(&own_run, NULL);
    mcpump_run_leave(&scope);
    mcpump_run_free(run);
    return err;
}

/* The signal that comes meanwhile leaves errno alone. */
static void check_errno(void)
{
    unsigned before = atomic_load(&own_signals);
    errno = ENOTEMPTY;
    for (int i = 0; i < 10000000 && atomic_load(&own_signals) == before; i++) {
    }
    int now = errno;
    STRESS_CHECK(now == ENOTEMPTY, "errno has become %d", now);
    atomic_fetch_add(&storm.errno_checks, atomic_load(&own_signals) != before);
}

static void count_end(mcpump_err err)
{
    bool fits = err == MCPUMP_OK || err == MCPUMP_ERR_INTERRUPTED || err == MCPUMP_ERR_CANCELLED ||
                err == MCPUMP_ERR_CLOSED || err == MCPUMP_ERR_NOT_OPEN;
    STRESS_CHECK(fits, "a call ended by %s", mcpump_err_name(err));
    atomic_fetch_add(err == MCPUMP_OK ? &storm.answered : &storm.stopped, 1);
}

static void act(uint32_t dice)
{
    mcpump_server *server = storm.servers[dice / 32 % SERVERS];
    int64_t started = now_ms();
    mcpump_err err;
    switch (dice % 32) {
    case 0:
        mcpump_server_close(server);
        break;
    case 1:
    case 2:
    case 3:
    case 4:
        err = mcpump_server_connect(server, NULL);
        atomic_fetch_add(&storm.connected, err == MCPUMP_OK);
        break;
    case 5:
        check_errno();
        break;
    case 6:
    case 7:
    case 8:
    case 9:
    case 10:
    case 11:
        mcpump_server_clear_interrupt(server);
        break;
    default:
        count_end(dice % 2 ? call(server, dice / 128) : call_in_run(server, dice / 128));
    }
    STRESS_CHECK(now_ms() - started < LONG_MS / 2, "act %u took %d ms", dice % 32,
                 (int)(now_ms() - started));
}

static void *live(void *arg)
{
    uint32_t random = 88675123u * ((uint32_t)(uintptr_t)arg + 1);
    while (!atomic_load(&storm.is_ending))
        act(stress_random(&random));
    atomic_fetch_sub(&storm.running, 1);
    return NULL;
}

/* -- the storm */

/* A timer gives the beat; beats that were missed are made up for. */
static void send_signals(int seconds)
{
    uint32_t random = 2463534242u;
    struct itimerspec beat = {{0, PERIOD_NS}, {0, PERIOD_NS}};
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    STRESS_CHECK(timer >= 0 && timerfd_settime(timer, 0, &beat, NULL) == 0, "no timer");
    uint64_t sent = 0, beats, due = 0;
    while (sent < (uint64_t)seconds * 1000) {
        STRESS_CHECK(read(timer, &beats, sizeof(beats)) == sizeof(beats), "the timer stopped");
        for (due += beats; sent < due; sent++)
            pthread_kill(storm.threads[stress_random(&random) % THREADS], SIGUSR1);
    }
    close(timer);
}

/* What is in flight now may be waiting for a signal. */
static void let_end(void)
{
    atomic_store(&storm.is_ending, true);
    while (atomic_load(&storm.running) > 0) {
        mcpump_interrupt_all();
        poll(NULL, 0, 1);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(storm.threads[i], NULL);
}

static void check_servers(void)
{
    mcpump_clear_interrupt_all();
    for (int i = 0; i < SERVERS; i++) {
        mcpump_stats stats = {.size = sizeof(stats)};
        STRESS_CHECK(mcpump_server_connect(storm.servers[i], NULL) == MCPUMP_OK,
                     "server %d does not come back", i);
        STRESS_CHECK(stress_echo(storm.servers[i], i, 0, LONG_MS) == MCPUMP_OK, "server %d", i);
        mcpump_transport_stats(transport_of((unsigned)i), &stats);
        STRESS_CHECK(stats.in_flight == 0 && stats.unknown_replies == 0, "server %d: strays", i);
    }
}

int main(int argc, char **argv)
{
    struct stress stress = stress_init(argc, argv);
    struct stress_footprint before = stress_footprint();
    struct sigaction action = {.sa_handler = handle};
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    storm.group = mcpump_group_new();
    for (int i = 0; i < SERVERS; i++) {
        storm.servers[i] = stress_server(&stress);
        if (i < 2)
            mcpump_group_add(storm.group, transport_of((unsigned)i));
    }
    atomic_store(&storm.running, THREADS);
    for (uintptr_t i = 0; i < THREADS; i++)
        STRESS_CHECK(pthread_create(&storm.threads[i], NULL, live, (void *)i) == 0, "no thread");
    send_signals(stress_count(&stress, SECONDS));
    let_end();
    check_servers();
    STRESS_CHECK(storm.stopped > 0, "nothing was stopped: this tests nothing");
    for (int i = 0; i < SERVERS; i++) {
        if (i < 2)
            mcpump_group_remove(storm.group, transport_of((unsigned)i));
        mcpump_server_free(storm.servers[i]);
    }
    mcpump_group_free(storm.group);
    stress_check_footprint(before);
    printf("%u signals: %u answered, %u stopped, %u connects, errno looked at behind %u\n",
           storm.signals, storm.answered, storm.stopped, storm.connected, storm.errno_checks);
    return 0;
}
