/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads that keep many calls in flight on two connections they share, and end them in every
 * way there is: waited for in order, whichever is first, freed, cancelled by a third thread, run
 * out of time, interrupted. Each ends in a way that fits, with its own answer, and nothing is left.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stress.h"

#define FLIGHT  256
#define ROUNDS  60
#define SERVERS 2

enum { SUBMITTERS = 2, CANCELLER = 2, THREADS = 3 };

struct flight {
    _Atomic(mcpump_call *) calls[FLIGHT]; /* the canceller takes one out while it cancels it */
    int numbers[FLIGHT];
};

struct storm {
    mcpump_server *servers[SERVERS];
    struct flight flights[SUBMITTERS];
    int rounds;
    atomic_int running;
    atomic_int answered, given_up;
};

static mcpump_call *submit(struct storm *storm, int server, int number, int64_t timeout_ms)
{
    char params[96];
    mcpump_call *call = NULL;
    mcpump_call_options options = MCPUMP_CALL_OPTIONS_INIT;
    options.timeout_ms = timeout_ms;
    snprintf(params, sizeof(params), "{\"name\":\"echo\",\"arguments\":{\"message\":\"<%d>\"}}",
             number);
    mcpump_err err =
        mcpump_server_submit(storm->servers[server], "tools/call", params, &options, &call, NULL);
    STRESS_CHECK(err == MCPUMP_OK || err == MCPUMP_ERR_INTERRUPTED, "submit: %s",
                 mcpump_err_name(err));
    return call;
}

static void finish(struct storm *storm, mcpump_call *call, int number)
{
    char wanted[32];
    mcpump_reply *reply = NULL;
    mcpump_err err = mcpump_call_wait(call, &reply, NULL);
    STRESS_CHECK(err == MCPUMP_OK || err == MCPUMP_ERR_TIMEOUT || err == MCPUMP_ERR_CANCELLED ||
                     err == MCPUMP_ERR_INTERRUPTED,
                 "a call ended by %s", mcpump_err_name(err));
    STRESS_CHECK((err == MCPUMP_OK) == (reply != NULL), "%s and a reply", mcpump_err_name(err));
    snprintf(wanted, sizeof(wanted), "<%d>", number);
    STRESS_CHECK(err != MCPUMP_OK || strstr(mcpump_reply_text(reply, NULL), wanted) != NULL,
                 "wanted %s, got %s", wanted, mcpump_reply_text(reply, NULL));
    atomic_fetch_add(err == MCPUMP_OK ? &storm->answered : &storm->given_up, 1);
    mcpump_reply_free(reply);
    mcpump_call_free(call);
}

/* Waits for the canceller to put it back. */
static mcpump_call *take(struct flight *flight, int at)
{
    mcpump_call *call = NULL;
    while (call == NULL)
        call = atomic_exchange(&flight->calls[at], NULL);
    return call;
}

static void land_in_order(struct storm *storm, struct flight *flight, int count)
{
    for (int i = 0; i < count; i++)
        finish(storm, take(flight, i), flight->numbers[i]);
}

static void land_by_any(struct storm *storm, struct flight *flight, int count)
{
    mcpump_call *calls[FLIGHT];
    for (int i = 0; i < count; i++)
        calls[i] = take(flight, i);
    for (int left = count; left > 0; left--) {
        size_t index = FLIGHT;
        mcpump_err err = mcpump_wait_any(calls, (size_t)count, 60000, &index);
        STRESS_CHECK(err == MCPUMP_OK, "none of %d came: %s", left, mcpump_err_name(err));
        finish(storm, calls[index], flight->numbers[index]);
        calls[index] = NULL;
    }
}

static void fly(struct storm *storm, int number)
{
    struct flight *flight = &storm->flights[number];
    uint32_t random = 88172645u + (uint32_t)number;
    for (int round = 0; round < storm->rounds; round++) {
        int count = 0;
        for (int i = 0; i < FLIGHT; i++) {
            uint32_t dice = stress_random(&random);
            int mark = (number * storm->rounds + round) * FLIGHT + i;
            mcpump_call *call = submit(storm, (int)(dice % SERVERS), mark, dice % 13 ? 60000 : 1);
            if (call == NULL || dice % 17 == 0) {
                mcpump_call_free(call);
                continue;
            }
            flight->numbers[count] = mark;
            atomic_store(&flight->calls[count++], call);
        }
        if (round % 2 == 0)
            land_in_order(storm, flight, count);
        else
            land_by_any(storm, flight, count);
    }
    atomic_fetch_sub(&storm->running, 1);
}

static void disturb(struct storm *storm)
{
    uint32_t random = 521288629u;
    while (atomic_load(&storm->running) > 0) {
        uint32_t dice = stress_random(&random);
        struct flight *flight = &storm->flights[dice % SUBMITTERS];
        _Atomic(mcpump_call *) *place = &flight->calls[dice / 7 % FLIGHT];
        mcpump_call *call = atomic_exchange(place, NULL);
        if (call != NULL && dice % 5 == 0)
            mcpump_call_cancel(call);
        if (call != NULL)
            atomic_store(place, call);
        if (dice % 65536 != 0)
            continue;
        mcpump_server_interrupt(storm->servers[0]);
        mcpump_server_clear_interrupt(storm->servers[0]);
    }
}

static void take_part(void *context, int number)
{
    if (number == CANCELLER)
        disturb(context);
    else
        fly(context, number);
}

static void check_server(mcpump_server *server)
{
    mcpump_stats stats = {.size = sizeof(stats)};
    STRESS_CHECK(stress_echo(server, 99, 99, 60000) == MCPUMP_OK, "the connection is lost");
    mcpump_transport_stats(mcpump_server_transport(server), &stats);
    /* No word on duplicates: an interrupt gives up more calls at once than are remembered. */
    STRESS_CHECK(stats.in_flight == 0 && stats.unknown_replies == 0 && stats.queued_bytes == 0,
                 "strays");
}

int main(int argc, char **argv)
{
    struct stress stress = stress_init(argc, argv);
    struct stress_footprint before = stress_footprint();
    struct storm *storm = calloc(1, sizeof(*storm));
    storm->rounds = stress_count(&stress, ROUNDS);
    atomic_init(&storm->running, SUBMITTERS);
    for (int i = 0; i < SERVERS; i++) {
        storm->servers[i] = stress_server(&stress);
        STRESS_CHECK(mcpump_server_connect(storm->servers[i], NULL) == MCPUMP_OK, "not connected");
    }
    stress_run(THREADS, take_part, storm);
    for (int i = 0; i < SERVERS; i++) {
        check_server(storm->servers[i]);
        mcpump_server_free(storm->servers[i]);
    }
    stress_check_footprint(before);
    printf("%d answered, %d given up\n", storm->answered, storm->given_up);
    free(storm);
    return 0;
}
