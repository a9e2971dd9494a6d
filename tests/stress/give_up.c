/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that are answered, time out at the last moment or are interrupted, at random, on one
 * connection: each ends in exactly one way, no answer reaches another call, the connection lives.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "stress.h"

#define THREADS 16
#define ROUNDS  1500

struct storm {
    mcpump_server *server;
    int rounds;
    atomic_int ended[3]; /* answered, timed out, interrupted */
    atomic_int running;
};

static void count_end(struct storm *storm, mcpump_err err)
{
    int kind = err == MCPUMP_OK ? 0 : err == MCPUMP_ERR_TIMEOUT ? 1 : 2;
    STRESS_CHECK(kind < 2 || err == MCPUMP_ERR_INTERRUPTED, "a call ended by %s",
                 mcpump_err_name(err));
    atomic_fetch_add(&storm->ended[kind], 1);
}

static mcpump_err call_slow(mcpump_server *server, unsigned ms, int64_t timeout_ms)
{
    char arguments[64];
    mcpump_call_options options = MCPUMP_CALL_OPTIONS_INIT;
    mcpump_reply *reply = NULL;
    options.timeout_ms = timeout_ms;
    snprintf(arguments, sizeof(arguments), "{\"ms\":%u}", ms);
    mcpump_err err = mcpump_server_call_tool(server, "slow", arguments, &options, &reply, NULL);
    if (err == MCPUMP_OK)
        mcpump_reply_free(reply);
    return err;
}

static void call(void *context, int number)
{
    struct storm *storm = context;
    uint32_t random = 2463534242u + (uint32_t)number;
    for (int round = 0; round < storm->rounds; round++) {
        uint32_t dice = stress_random(&random);
        mcpump_err err;
        if (number == 0 && dice % 4 == 0) {
            mcpump_server_interrupt(storm->server);
            mcpump_server_clear_interrupt(storm->server);
            continue;
        }
        if (dice % 3 == 0)
            err = call_slow(storm->server, 1 + dice / 3 % 2, 1 + dice / 7 % 3);
        else
            err = stress_echo(storm->server, number, round, dice % 2 ? 1 : 60000);
        count_end(storm, err);
    }
    atomic_fetch_sub(&storm->running, 1);
}

int main(int argc, char **argv)
{
    struct stress stress = stress_init(argc, argv);
    struct stress_footprint before = stress_footprint();
    struct storm storm = {.server = stress_server(&stress),
                          .rounds = stress_count(&stress, ROUNDS)};
    STRESS_CHECK(mcpump_server_connect(storm.server, NULL) == MCPUMP_OK, "not connected");
    pid_t pid = mcpump_transport_pid(mcpump_server_transport(storm.server));
    stress_run(THREADS, call, &storm);

    STRESS_CHECK(stress_echo(storm.server, 99, 99, 60000) == MCPUMP_OK, "the connection is lost");
    STRESS_CHECK(pid == mcpump_transport_pid(mcpump_server_transport(storm.server)),
                 "another process");
    mcpump_stats stats = {.size = sizeof(stats)};
    mcpump_transport_stats(mcpump_server_transport(storm.server), &stats);
    STRESS_CHECK(stats.in_flight == 0 && stats.unknown_replies == 0 && stats.duplicate_replies == 0,
                 "strays");
    mcpump_server_free(storm.server);
    stress_check_footprint(before);
    printf("%d answered, %d timed out, %d interrupted, %llu late replies\n", storm.ended[0],
           storm.ended[1], storm.ended[2], (unsigned long long)stats.late_replies);
    return 0;
}
