/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Servers that are connected, called, interrupted, cleared, killed, stopped, restarted and closed
 * by many threads at once, at random, while they come back by themselves: nothing hangs, every call
 * ends in a way that fits, nothing is left.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

#include "stress.h"

#define THREADS 8
#define SERVERS 3
#define ROUNDS  2000

struct storm {
    mcpump_server *servers[SERVERS];
    int rounds;
    atomic_int answered;
};

static bool fits(mcpump_err err)
{
    return err == MCPUMP_OK || err == MCPUMP_ERR_INTERRUPTED || err == MCPUMP_ERR_CLOSED ||
           err == MCPUMP_ERR_NOT_OPEN || err == MCPUMP_ERR_TIMEOUT || err == MCPUMP_ERR_UNAVAILABLE;
}

static void kill_server(mcpump_server *server)
{
    pid_t pid = mcpump_transport_pid(mcpump_server_transport(server));
    if (pid > 0)
        kill(pid, SIGKILL);
}

static void end(mcpump_server *server, uint32_t how)
{
    mcpump_server_status status = {.size = sizeof(status)};
    if (how == 0)
        mcpump_server_close(server);
    else if (how == 1)
        mcpump_server_stop(server);
    else if (how == 2)
        mcpump_server_stop_begin(server);
    else
        mcpump_server_start(server, NULL);
    mcpump_server_get_status(server, &status);
    STRESS_CHECK(status.state <= MCPUMP_SERVER_STOPPED, "state %d", (int)status.state);
}

static void act(struct storm *storm, int number, int round, uint32_t dice)
{
    mcpump_server *server = storm->servers[dice / 32 % SERVERS];
    mcpump_err err = MCPUMP_OK;
    switch (dice % 32) {
    case 0:
        end(server, dice / 128 % 4);
        break;
    case 1:
        mcpump_server_interrupt(server);
        break;
    case 2:
        kill_server(server);
        break;
    case 3:
    case 4:
    case 5:
        mcpump_server_clear_interrupt(server);
        break;
    case 6:
    case 7:
    case 8:
        err = dice / 128 % 4 == 0 ? mcpump_server_restart(server, NULL)
                                  : mcpump_server_connect(server, NULL);
        break;
    default:
        err = stress_echo(server, number, round, 60000);
        atomic_fetch_add(&storm->answered, err == MCPUMP_OK);
    }
    STRESS_CHECK(fits(err), "thread %d, round %d, act %u: %s", number, round, dice % 32,
                 mcpump_err_name(err));
}

static void live(void *context, int number)
{
    struct storm *storm = context;
    uint32_t random = 88675123u * (uint32_t)(number + 1);
    for (int round = 0; round < storm->rounds; round++)
        act(storm, number, round, stress_random(&random));
}

int main(int argc, char **argv)
{
    struct stress stress = stress_init(argc, argv);
    struct stress_footprint before = stress_footprint();
    struct storm storm = {.rounds = stress_count(&stress, ROUNDS)};
    for (int i = 0; i < SERVERS; i++)
        storm.servers[i] = stress_server(&stress);
    stress_run(THREADS, live, &storm);
    for (int i = 0; i < SERVERS; i++) {
        mcpump_server_clear_interrupt(storm.servers[i]);
        STRESS_CHECK(mcpump_server_connect(storm.servers[i], NULL) == MCPUMP_OK,
                     "server %d does not come back", i);
        STRESS_CHECK(stress_echo(storm.servers[i], i, 0, 60000) == MCPUMP_OK, "server %d", i);
        mcpump_server_free(storm.servers[i]);
    }
    stress_check_footprint(before);
    printf("%d answered\n", storm.answered);
    return 0;
}
