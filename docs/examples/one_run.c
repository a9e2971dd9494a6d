/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two sessions of one host share two servers. Each session has a run; cancelling the one ends its
 * calls on both servers, and the other session notices nothing.
 *
 *     one_run SERVER
 */
#include <mcpump/mcpump.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define SERVERS 2

/* A worker thread of a session: one call on one server. */
struct worker {
    pthread_t thread;
    mcpump_run *run;
    mcpump_server *server;
    const char *arguments; /* of the tool `slow` */
    mcpump_err err;
};

static void *work(void *arg)
{
    struct worker *worker = arg;
    mcpump_run_scope scope;
    mcpump_reply *reply = NULL;
    /* From here to leave every call of this thread belongs to the run, however deep below. */
    mcpump_run_enter(worker->run, &scope);
    worker->err =
        mcpump_server_call_tool(worker->server, "slow", worker->arguments, NULL, &reply, NULL);
    mcpump_run_leave(&scope);
    mcpump_reply_free(reply);
    return NULL;
}

static void start_session(struct worker *workers, mcpump_run *run, mcpump_server **servers,
                          const char *arguments)
{
    for (int i = 0; i < SERVERS; i++) {
        workers[i] = (struct worker){.run = run, .server = servers[i], .arguments = arguments};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            exit(1);
    }
}

/* How many of the session's calls ended so. */
static int end_session(struct worker *workers, mcpump_err wanted)
{
    int count = 0;
    for (int i = 0; i < SERVERS; i++) {
        pthread_join(workers[i].thread, NULL);
        count += workers[i].err == wanted;
    }
    return count;
}

static mcpump_server *make_server(const char *command)
{
    mcpump_server_options options = MCPUMP_SERVER_OPTIONS_INIT;
    mcpump_server *server = NULL;
    options.transport.command = command;
    if (mcpump_server_new(&options, &server, NULL) != MCPUMP_OK)
        exit(1);
    return server;
}

int main(int argc, char **argv)
{
    mcpump_server *servers[SERVERS];
    struct worker ones[SERVERS], others[SERVERS];
    for (int i = 0; i < SERVERS; i++)
        servers[i] = make_server(argc > 1 ? argv[1] : "mcpump-demo-server");
    /* Runs below one of the host's own: cancelling that would end both. */
    mcpump_run *host = mcpump_run_new(NULL);
    mcpump_run *one = mcpump_run_new(host), *other = mcpump_run_new(host);
    if (host == NULL || one == NULL || other == NULL)
        return 1;

    start_session(ones, one, servers, "{\"ms\":3600000}");
    start_session(others, other, servers, "{\"ms\":200}");
    mcpump_run_cancel(one); /* from any thread, or a signal handler */
    int cancelled = end_session(ones, MCPUMP_ERR_CANCELLED);
    int answered = end_session(others, MCPUMP_OK);
    printf("%d calls were cancelled, %d answered\n", cancelled, answered);

    mcpump_run_free(one);
    mcpump_run_free(other);
    mcpump_run_free(host);
    for (int i = 0; i < SERVERS; i++)
        mcpump_server_free(servers[i]);
    return cancelled == SERVERS && answered == SERVERS ? 0 : 1;
}
