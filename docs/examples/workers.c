/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocking calls from worker threads: they share one server, and none waits for another's call.
 * Nobody has to start the server: the first call does, and those that come meanwhile wait for it.
 *
 *     workers SERVER [ARGUMENT...]
 */
#include <mcpump/mcpump.h>
#include <pthread.h>
#include <stdio.h>

#define WORKERS 8
#define CALLS   10

struct worker {
    pthread_t thread;
    mcpump_server *server;
    int number;
    int answered;
};

/* One call: true if it was answered with what was asked for. */
static bool call(struct worker *worker, int round)
{
    char arguments[64];
    mcpump_call_options options = MCPUMP_CALL_OPTIONS_INIT;
    mcpump_reply *reply = NULL;
    mcpump_failure *failure = NULL;
    options.timeout_ms = 20000;
    snprintf(arguments, sizeof(arguments), "{\"message\":\"call %d of worker %d\"}", round,
             worker->number);
    mcpump_err err =
        mcpump_server_call_tool(worker->server, "echo", arguments, &options, &reply, &failure);
    bool answered = err == MCPUMP_OK && !mcpump_reply_is_error(reply);
    if (err != MCPUMP_OK)
        fprintf(stderr, "worker %d: %s\n", worker->number, mcpump_failure_message(failure));
    mcpump_reply_free(reply);
    mcpump_failure_free(failure);
    return answered;
}

static void *work(void *arg)
{
    struct worker *worker = arg;
    for (int round = 0; round < CALLS; round++)
        worker->answered += call(worker, round);
    return NULL;
}

int main(int argc, char **argv)
{
    mcpump_server_options options = MCPUMP_SERVER_OPTIONS_INIT;
    mcpump_server *server = NULL;
    mcpump_failure *failure = NULL;
    options.transport.command = argc > 1 ? argv[1] : "mcpump-demo-server";
    if (argc > 2)
        options.transport.args = (const char *const *)&argv[2];
    if (mcpump_server_new(&options, &server, &failure) != MCPUMP_OK) {
        fprintf(stderr, "%s\n", mcpump_failure_message(failure));
        mcpump_failure_free(failure);
        return 1;
    }

    struct worker workers[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){.server = server, .number = i};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            return 1;
    }
    int answered = 0;
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(workers[i].thread, NULL);
        answered += workers[i].answered;
    }
    mcpump_server_free(server); /* closes it: its process is gone */
    printf("%d of %d calls were answered\n", answered, WORKERS * CALLS);
    return answered == WORKERS * CALLS ? 0 : 1;
}
