/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random schedules of {reply, timeout, run cancel, interrupt, clear, close, server death} around
 * one call: it ends exactly once, in a way that fits what was done, its slot is free, and the next
 * call is right. The server is the fake one. STRESS_SEED repeats what was printed.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "stress.h"

#define SCHEDULES 10000
#define LONG_MS   60000
#define NEVER_MS  (-1)

enum act { CANCEL, INTERRUPT, CLEAR, CLOSE, KILL, ACTS };

/* What is to happen around the call. */
struct schedule {
    int number;
    int64_t reply_ms; /* NEVER_MS: none */
    int64_t timeout_ms;
    enum act acts[4];
    unsigned pauses_us[4]; /* before each */
    int count;
};

struct call {
    mcpump_err err;
    mcpump_reply *reply;
    mcpump_failure *failure;
    int64_t took_ms;
};

struct theatre {
    mcpump_transport *transport;
    mcpump_run *run;
    pthread_barrier_t curtain; /* the two threads meet before and after each call */
    struct schedule schedule;
    struct call call;
    bool is_over;
    unsigned ends[5]; /* how often: reply, timeout, cancelled, interrupted, closed */
};

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

/* -- schedules */

static bool has(const struct schedule *schedule, enum act act)
{
    for (int i = 0; i < schedule->count; i++)
        if (schedule->acts[i] == act)
            return true;
    return false;
}

/* Set at the end: a call is hit whether it comes before or after. */
static bool leaves_latch_set(const struct schedule *schedule)
{
    bool set = false;
    for (int i = 0; i < schedule->count; i++)
        set = schedule->acts[i] == INTERRUPT || (set && schedule->acts[i] != CLEAR);
    return set;
}

static bool ends_for_sure(const struct schedule *schedule)
{
    return schedule->reply_ms != NEVER_MS || schedule->timeout_ms != LONG_MS ||
           has(schedule, CANCEL) || has(schedule, CLOSE) || has(schedule, KILL) ||
           leaves_latch_set(schedule);
}

static void add(struct schedule *schedule, enum act act, uint32_t dice)
{
    schedule->acts[schedule->count] = act;
    schedule->pauses_us[schedule->count++] = dice % (1u << (dice >> 8) % 12);
}

static struct schedule invent(uint32_t *random, int number)
{
    static const int64_t replies[] = {0, 1, 2, NEVER_MS};
    static const int64_t timeouts[] = {1, 2, 3, LONG_MS, LONG_MS, LONG_MS};
    struct schedule schedule = {.number = number};
    schedule.reply_ms = replies[stress_random(random) % 4];
    schedule.timeout_ms = timeouts[stress_random(random) % 6];
    int count = (int)(stress_random(random) % 4);
    for (int i = 0; i < count; i++) {
        enum act act = (enum act)(stress_random(random) % ACTS);
        add(&schedule, act, stress_random(random));
    }
    if (!ends_for_sure(&schedule))
        add(&schedule, INTERRUPT, stress_random(random));
    return schedule;
}

static bool fits(const struct schedule *schedule, mcpump_err err)
{
    switch (err) {
    case MCPUMP_OK:
        return schedule->reply_ms != NEVER_MS;
    case MCPUMP_ERR_TIMEOUT:
        return schedule->timeout_ms != LONG_MS;
    case MCPUMP_ERR_CANCELLED:
        return has(schedule, CANCEL);
    case MCPUMP_ERR_INTERRUPTED:
        return has(schedule, INTERRUPT);
    case MCPUMP_ERR_NOT_OPEN:
        return has(schedule, CLOSE);
    case MCPUMP_ERR_CLOSED:
        return has(schedule, CLOSE) || has(schedule, KILL);
    default:
        return false;
    }
}

static void die(const struct schedule *schedule, const char *what, const char *more)
{
    static const char *const words[] = {"cancel", "interrupt", "clear", "close", "kill"};
    fprintf(stderr, "schedule %d: reply %d ms, timeout %d ms", schedule->number,
            (int)schedule->reply_ms, (int)schedule->timeout_ms);
    for (int i = 0; i < schedule->count; i++)
        fprintf(stderr, ", %s after %u us", words[schedule->acts[i]], schedule->pauses_us[i]);
    stress_die(": %s %s", what, more);
}

/* -- the one who calls */

static void call(mcpump_transport *transport, mcpump_run *run, const struct schedule *schedule,
                 struct call *ret_call)
{
    char request[160];
    mcpump_call_options options = MCPUMP_CALL_OPTIONS_INIT;
    options.timeout_ms = schedule->timeout_ms;
    options.run = run;
    const char *method = schedule->reply_ms == NEVER_MS ? "drop"
                         : schedule->reply_ms == 0      ? "echo"
                                                        : "sleep";
    int size = snprintf(request, sizeof(request),
                        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"test/%s\",\"params\":"
                        "{\"ms\":%d,\"number\":%d}}",
                        method, (int)schedule->reply_ms, schedule->number);
    *ret_call = (struct call){.reply = NULL};
    int64_t started = now_us();
    ret_call->err = mcpump_transport_send_request(transport, request, (size_t)size, &options,
                                                  &ret_call->reply, &ret_call->failure);
    ret_call->took_ms = (now_us() - started) / 1000;
}

static void *play_caller(void *arg)
{
    struct theatre *theatre = arg;
    for (;;) {
        pthread_barrier_wait(&theatre->curtain);
        if (theatre->is_over)
            return NULL;
        call(theatre->transport, theatre->run, &theatre->schedule, &theatre->call);
        pthread_barrier_wait(&theatre->curtain);
    }
}

/* -- the one who disturbs */

static void act(struct theatre *theatre, enum act act)
{
    pid_t pid;
    switch (act) {
    case CANCEL:
        mcpump_run_cancel(theatre->run);
        break;
    case INTERRUPT:
        mcpump_transport_interrupt(theatre->transport);
        break;
    case CLEAR:
        mcpump_transport_clear_interrupt(theatre->transport);
        break;
    case CLOSE:
        mcpump_transport_close(theatre->transport);
        break;
    case KILL:
        pid = mcpump_transport_pid(theatre->transport);
        if (pid > 0)
            kill(pid, SIGKILL);
        break;
    case ACTS:
        break;
    }
}

static void disturb(struct theatre *theatre)
{
    for (int i = 0; i < theatre->schedule.count; i++) {
        int64_t until = now_us() + theatre->schedule.pauses_us[i];
        while (now_us() < until) {
        }
        act(theatre, theatre->schedule.acts[i]);
    }
}

/* -- what has come of it */

/* The answer is what was asked with: it holds the number. */
static void check_reply(const struct schedule *schedule, const struct call *call)
{
    char wanted[64];
    size_t size;
    const char *value = mcpump_reply_value(call->reply, &size);
    int length = snprintf(wanted, sizeof(wanted), "{\"ms\":%d,\"number\":%d}",
                          (int)schedule->reply_ms, schedule->number);
    if (size != (size_t)length || memcmp(value, wanted, size) != 0)
        die(schedule, "another's reply:", mcpump_reply_text(call->reply, NULL));
}

static void check_call(const struct schedule *schedule, const struct call *call)
{
    if (!fits(schedule, call->err))
        die(schedule, "ended by", mcpump_err_name(call->err));
    if ((call->reply != NULL) == (call->failure != NULL))
        die(schedule, "not one outcome:", mcpump_err_name(call->err));
    if (call->took_ms > LONG_MS / 2)
        die(schedule, "was not woken:", mcpump_err_name(call->err));
    if (call->reply != NULL)
        check_reply(schedule, call);
    else if (mcpump_failure_error(call->failure) != call->err)
        die(schedule, "the failure is another:", mcpump_failure_message(call->failure));
}

static void done_call(struct call *call)
{
    mcpump_reply_free(call->reply);
    mcpump_failure_free(call->failure);
}

static void check_transport(struct theatre *theatre)
{
    struct schedule next = {.number = theatre->schedule.number, .timeout_ms = LONG_MS};
    struct call then;
    mcpump_stats stats = {.size = sizeof(stats)};
    mcpump_transport_stats(theatre->transport, &stats);
    if (stats.in_flight != 0 || stats.unknown_replies != 0)
        die(&theatre->schedule, "the slot was not freed", "");
    mcpump_transport_clear_interrupt(theatre->transport);
    bool is_lost = has(&theatre->schedule, CLOSE) || has(&theatre->schedule, KILL);
    if (is_lost) {
        mcpump_transport_close(theatre->transport);
        if (mcpump_transport_open(theatre->transport, NULL) != MCPUMP_OK)
            die(&theatre->schedule, "does not open again", "");
    }
    call(theatre->transport, NULL, &next, &then);
    if (then.err != MCPUMP_OK)
        die(&theatre->schedule, "the next call ended by", mcpump_err_name(then.err));
    check_call(&next, &then);
    done_call(&then);
}

static void count_end(struct theatre *theatre, mcpump_err err)
{
    static const mcpump_err errs[] = {MCPUMP_OK, MCPUMP_ERR_TIMEOUT, MCPUMP_ERR_CANCELLED,
                                      MCPUMP_ERR_INTERRUPTED};
    int kind = 0;
    while (kind < 4 && errs[kind] != err)
        kind++;
    theatre->ends[kind]++;
}

static void play(struct theatre *theatre, uint32_t *random, int number)
{
    theatre->schedule = invent(random, number);
    theatre->run = mcpump_run_new(NULL);
    pthread_barrier_wait(&theatre->curtain);
    disturb(theatre);
    pthread_barrier_wait(&theatre->curtain);
    check_call(&theatre->schedule, &theatre->call);
    count_end(theatre, theatre->call.err);
    done_call(&theatre->call);
    mcpump_run_free(theatre->run);
    check_transport(theatre);
}

static mcpump_transport *open_transport(const struct stress *stress)
{
    mcpump_transport_options options = MCPUMP_TRANSPORT_OPTIONS_INIT;
    mcpump_transport *transport = NULL;
    options.command = stress->server;
    options.args = (const char *const[]){"--lifetime", "1000", NULL};
    options.stderr_sink = MCPUMP_STDERR_DISCARD;
    STRESS_CHECK(mcpump_transport_new(&options, &transport, NULL) == MCPUMP_OK &&
                     mcpump_transport_open(transport, NULL) == MCPUMP_OK,
                 "no server");
    return transport;
}

int main(int argc, char **argv)
{
    struct stress stress = stress_init(argc, argv);
    struct stress_footprint before = stress_footprint();
    const char *given = getenv("STRESS_SEED");
    uint32_t seed = given != NULL ? (uint32_t)strtoul(given, NULL, 10) : (uint32_t)now_us() | 1;
    fprintf(stderr, "STRESS_SEED=%u\n", seed);
    struct theatre theatre = {.transport = open_transport(&stress)};
    pthread_t caller;
    pthread_barrier_init(&theatre.curtain, NULL, 2);
    STRESS_CHECK(pthread_create(&caller, NULL, play_caller, &theatre) == 0, "no thread");

    int count = stress_count(&stress, SCHEDULES);
    for (int i = 0; i < count; i++)
        play(&theatre, &seed, i);

    theatre.is_over = true;
    pthread_barrier_wait(&theatre.curtain);
    pthread_join(caller, NULL);
    pthread_barrier_destroy(&theatre.curtain);
    mcpump_transport_free(theatre.transport);
    stress_check_footprint(before);
    printf("%d schedules: %u answered, %u timed out, %u cancelled, %u interrupted, %u closed\n",
           count, theatre.ends[0], theatre.ends[1], theatre.ends[2], theatre.ends[3],
           theatre.ends[4]);
    return 0;
}
