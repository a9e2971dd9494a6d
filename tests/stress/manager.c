/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A manager whose servers are called, killed, replaced, removed, added, interrupted and listened to
 * by many threads at once, at random: nothing hangs, every call ends in a way that fits, events
 * come in the order of the connections, nothing is left.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "stress.h"

#define THREADS 8
#define SERVERS 4
#define LIVES   4
#define ROUNDS  300

struct fair {
    mcpump_manager *manager;
    mcpump_server_options options;
    int rounds;
    atomic_int answered, events;
};

static const char *name_of(uint32_t dice)
{
    static const char *const names[SERVERS] = {"a", "b", "c", "d"};
    return names[dice % SERVERS];
}

static bool call_fits(mcpump_err err)
{
    return err == MCPUMP_OK || err == MCPUMP_ERR_INTERRUPTED || err == MCPUMP_ERR_CLOSED ||
           err == MCPUMP_ERR_NOT_OPEN || err == MCPUMP_ERR_UNAVAILABLE;
}

static bool change_fits(mcpump_err err)
{
    return err == MCPUMP_OK || err == MCPUMP_ERR_INVALID_ARGUMENT || err == MCPUMP_ERR_NOT_OPEN;
}

static void use(struct fair *fair, int number, int round, uint32_t dice)
{
    mcpump_server *server = mcpump_manager_find(fair->manager, name_of(dice / 64));
    if (server == NULL)
        return;
    pid_t pid = mcpump_transport_pid(mcpump_server_transport(server));
    if (dice % 64 < 4 && pid > 0) {
        kill(pid, SIGKILL);
    } else {
        mcpump_err err = stress_echo(server, number, round, 60000);
        atomic_fetch_add(&fair->answered, err == MCPUMP_OK);
        STRESS_CHECK(call_fits(err), "thread %d, round %d: %s", number, round,
                     mcpump_err_name(err));
    }
    mcpump_server_free(server);
}

static void look(struct fair *fair)
{
    mcpump_manager_entry *entries;
    size_t count;
    STRESS_CHECK(mcpump_manager_status(fair->manager, &entries, &count) == MCPUMP_OK, "status");
    STRESS_CHECK(count <= SERVERS, "%zu servers", count);
    mcpump_manager_entries_free(entries, count);
}

static void change(struct fair *fair, uint32_t dice)
{
    const char *name = name_of(dice / 64);
    mcpump_err err = MCPUMP_OK;
    switch (dice % 64) {
    case 4:
        err = mcpump_manager_remove(fair->manager, name, NULL);
        break;
    case 5:
    case 6:
        err = mcpump_manager_replace(fair->manager, name, &fair->options, dice % 2 == 0, NULL);
        break;
    case 7:
        mcpump_manager_interrupt(fair->manager);
        break;
    case 8:
    case 9:
        mcpump_manager_clear_interrupt(fair->manager);
        break;
    case 10:
        look(fair);
        break;
    default:
        err = mcpump_manager_add(fair->manager, name, &fair->options, dice % 2 == 0, NULL);
    }
    STRESS_CHECK(change_fits(err), "act %u: %s", dice % 64, mcpump_err_name(err));
}

static void visit(void *context, int number)
{
    struct fair *fair = context;
    uint32_t random = 2463534242u * (uint32_t)(number + 1);
    for (int round = 0; round < fair->rounds; round++) {
        uint32_t dice = stress_random(&random);
        if (dice % 64 >= 4 && dice % 64 < 14)
            change(fair, dice);
        else
            use(fair, number, round, dice);
    }
}

/* Takes events until the manager is shut down. */
static void *listen(void *arg)
{
    struct fair *fair = arg;
    mcpump_err err;
    do {
        mcpump_event *event;
        err = mcpump_manager_next_event(fair->manager, 60000, &event);
        if (err != MCPUMP_OK)
            continue;
        atomic_fetch_add(&fair->events, 1);
        if (mcpump_event_get_kind(event) == MCPUMP_EVENT_REQUEST)
            mcpump_event_respond(event, "{}", 0, NULL);
        mcpump_event_free(event);
    } while (err == MCPUMP_OK || err == MCPUMP_ERR_INTERRUPTED);
    STRESS_CHECK(err == MCPUMP_ERR_CLOSED, "next_event: %s", mcpump_err_name(err));
    return NULL;
}

static void live(struct fair *fair, int number)
{
    pthread_t listener;
    mcpump_manager_options options = MCPUMP_MANAGER_OPTIONS_INIT;
    options.max_parallel_starts = 2;
    options.max_events = 16;
    options.events =
        MCPUMP_EVENT_STATE | MCPUMP_EVENT_NOTIFICATION | MCPUMP_EVENT_REQUEST | MCPUMP_EVENT_STDERR;
    STRESS_CHECK(mcpump_manager_new(&options, &fair->manager, NULL) == MCPUMP_OK, "no manager");
    STRESS_CHECK(pthread_create(&listener, NULL, listen, fair) == 0, "no listener");
    stress_run(THREADS, visit, fair);
    /* In half of the lives there is something to be stopped on the way. */
    mcpump_err err = mcpump_manager_shutdown(fair->manager, number % 2 == 0 ? MCPUMP_FOREVER : 0);
    STRESS_CHECK(err == MCPUMP_OK || err == MCPUMP_ERR_TIMEOUT, "%s", mcpump_err_name(err));
    pthread_join(listener, NULL);
    mcpump_manager_free(fair->manager);
}

int main(int argc, char **argv)
{
    struct stress stress = stress_init(argc, argv);
    struct stress_footprint before = stress_footprint();
    struct fair fair = {.options = MCPUMP_SERVER_OPTIONS_INIT,
                        .rounds = stress_count(&stress, ROUNDS)};
    fair.options.transport.command = stress.server;
    fair.options.transport.stderr_sink = MCPUMP_STDERR_DISCARD;
    fair.options.backoff_first_ms = 1;
    fair.options.backoff_most_ms = 5;
    fair.options.max_reconnects = 1000;
    for (int i = 0; i < LIVES; i++)
        live(&fair, i);
    stress_check_footprint(before);
    printf("%d answered, %d events\n", fair.answered, fair.events);
    return 0;
}
