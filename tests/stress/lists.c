/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists that are asked for, kept, changed and dropped with their connection by many threads at
 * once, while the log level changes and servers are started anew: each list that is given is whole.
 */
#include <signal.h>
#include <string.h>

#include "stress.h"

#define THREADS 8
#define ROUNDS  2000
#define WANTED  "[{\"name\":\"a\"},{\"name\":\"b\"}]"

struct storm {
    mcpump_server *server;
    int rounds;
};

/* With a short life: it becomes stale now and then, too. */
static mcpump_server *new_server(const struct stress *stress)
{
    static const char *const args[] = {
        "--on", "prompts/list:echo:{\"ttlMs\":2,\"prompts\":[{\"name\":\"a\"},{\"name\":\"b\"}]}",
        "--on", "logging/setLevel:echo:{}", NULL};
    mcpump_server_options options = MCPUMP_SERVER_OPTIONS_INIT;
    mcpump_server *server;
    options.transport.command = stress->server;
    options.transport.args = args;
    options.transport.stderr_sink = MCPUMP_STDERR_DISCARD;
    options.backoff_first_ms = options.backoff_most_ms = 1;
    options.max_reconnects = 1000000;
    STRESS_CHECK(mcpump_server_new(&options, &server, NULL) == MCPUMP_OK, "no server");
    return server;
}

static mcpump_err list(mcpump_server *server, bool fresh)
{
    mcpump_call_options options = MCPUMP_CALL_OPTIONS_INIT;
    char *prompts = NULL;
    options.fresh = fresh;
    options.wait_for_ready = true;
    mcpump_err err = mcpump_server_list_prompts(server, &options, &prompts, NULL);
    STRESS_CHECK(err != MCPUMP_OK || strcmp(prompts, WANTED) == 0, "the list is %s", prompts);
    mcpump_text_free(prompts);
    return err;
}

static mcpump_err change(mcpump_server *server)
{
    mcpump_reply *reply = NULL;
    mcpump_err err = mcpump_server_request(server, "test/notify",
                                           "{\"method\":\"notifications/prompts/list_changed\"}",
                                           NULL, &reply, NULL);
    mcpump_reply_free(reply);
    return err;
}

static mcpump_err ask_capabilities(mcpump_server *server)
{
    char *text = NULL;
    mcpump_err err = mcpump_server_capabilities(server, &text);
    mcpump_text_free(text);
    return err;
}

static mcpump_err lose(mcpump_server *server)
{
    pid_t pid = mcpump_transport_pid(mcpump_server_transport(server));
    if (pid > 0)
        kill(pid, SIGKILL);
    return MCPUMP_OK;
}

static mcpump_err act(mcpump_server *server, uint32_t dice)
{
    static const char *const levels[] = {"debug", "error", NULL};
    switch (dice % 64) {
    case 0:
        return lose(server);
    case 1:
        return mcpump_server_restart(server, NULL);
    case 2:
    case 3:
        return mcpump_server_set_log_level(server, levels[dice / 64 % 3], NULL, NULL);
    case 4:
    case 5:
        return ask_capabilities(server);
    case 6:
    case 7:
    case 8:
    case 9:
        return change(server);
    default:
        return list(server, dice / 64 % 8 == 0);
    }
}

static bool fits(mcpump_err err)
{
    return err == MCPUMP_OK || err == MCPUMP_ERR_CLOSED || err == MCPUMP_ERR_UNAVAILABLE ||
           err == MCPUMP_ERR_NOT_OPEN;
}

static void live(void *context, int number)
{
    struct storm *storm = context;
    uint32_t random = 88675123u * (uint32_t)(number + 1);
    for (int round = 0; round < storm->rounds; round++) {
        uint32_t dice = stress_random(&random);
        mcpump_err err = act(storm->server, dice);
        STRESS_CHECK(fits(err), "thread %d, round %d, act %u: %s", number, round, dice % 64,
                     mcpump_err_name(err));
    }
}

int main(int argc, char **argv)
{
    struct stress stress = stress_init(argc, argv);
    struct stress_footprint before = stress_footprint();
    struct storm storm = {.rounds = stress_count(&stress, ROUNDS)};
    storm.server = new_server(&stress);
    stress_run(THREADS, live, &storm);
    STRESS_CHECK(mcpump_server_connect(storm.server, NULL) == MCPUMP_OK, "it does not come back");
    STRESS_CHECK(list(storm.server, false) == MCPUMP_OK, "no list");
    mcpump_server_free(storm.server);
    stress_check_footprint(before);
    return 0;
}
