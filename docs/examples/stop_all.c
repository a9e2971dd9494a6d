/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ctrl-C stops what is going on, on all servers, and the program lives: the handler interrupts, the
 * blocked calls return at once with INTERRUPTED, and once the interrupt is cleared the same
 * connections are used again.
 *
 *     stop_all SERVER
 *
 * Nobody needs to press Ctrl-C here: the program does it itself.
 */
#include <mcpump/mcpump.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define SERVERS 3

/* All that a handler has to do; no lock, no allocation, errno is kept. */
static void on_sigint(int number)
{
    (void)number;
    mcpump_interrupt_all();
}

static mcpump_server *start(const char *command)
{
    mcpump_server_options options = MCPUMP_SERVER_OPTIONS_INIT;
    mcpump_server *server = NULL;
    mcpump_failure *failure = NULL;
    options.transport.command = command;
    mcpump_err err = mcpump_server_new(&options, &server, &failure);
    if (err == MCPUMP_OK)
        err = mcpump_server_connect(server, &failure);
    if (err != MCPUMP_OK) {
        fprintf(stderr, "%s\n", mcpump_failure_message(failure));
        exit(1);
    }
    return server;
}

static mcpump_err call_slow_tool(mcpump_server *server, const char *arguments)
{
    mcpump_call_options options = MCPUMP_CALL_OPTIONS_INIT;
    mcpump_reply *reply = NULL;
    options.timeout_ms = MCPUMP_FOREVER;
    options.cancel_reason = "the user pressed Ctrl-C"; /* what the server is told */
    mcpump_err err = mcpump_server_call_tool(server, "slow", arguments, &options, &reply, NULL);
    mcpump_reply_free(reply);
    return err;
}

/* A worker thread: a call that would take an hour. Returns NULL if it was interrupted. */
static void *work(void *server)
{
    mcpump_err err = call_slow_tool(server, "{\"ms\":3600000}");
    return err == MCPUMP_ERR_INTERRUPTED ? NULL : server;
}

/* Until all workers are blocked in their calls. */
static void await_calls(mcpump_server **servers)
{
    for (int i = 0; i < SERVERS; i++) {
        mcpump_stats stats = {.size = sizeof(stats)};
        while (stats.in_flight == 0)
            mcpump_transport_stats(mcpump_server_transport(servers[i]), &stats);
    }
}

int main(int argc, char **argv)
{
    const char *command = argc > 1 ? argv[1] : "mcpump-demo-server";
    mcpump_server *servers[SERVERS];
    pthread_t workers[SERVERS];
    int interrupted = 0, alive = 0;
    signal(SIGINT, on_sigint);
    for (int i = 0; i < SERVERS; i++) {
        servers[i] = start(command);
        if (pthread_create(&workers[i], NULL, work, servers[i]) != 0)
            return 1;
    }
    await_calls(servers);

    raise(SIGINT);
    for (int i = 0; i < SERVERS; i++) {
        void *other_end;
        pthread_join(workers[i], &other_end);
        interrupted += other_end == NULL;
    }
    /* Until then every call would return at once: nothing new starts while the host cleans up. */
    mcpump_clear_interrupt_all();
    for (int i = 0; i < SERVERS; i++)
        alive += call_slow_tool(servers[i], "{\"ms\":1}") == MCPUMP_OK;
    for (int i = 0; i < SERVERS; i++)
        mcpump_server_free(servers[i]);
    printf("%d calls were interrupted, %d servers go on\n", interrupted, alive);
    return interrupted == SERVERS && alive == SERVERS ? 0 : 1;
}
