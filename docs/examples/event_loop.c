/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host with an event loop: many servers in one manager, whose events come in through an epoll
 * loop beside everything else that the host waits for; here, a timer. Calls are made by worker
 * threads, so that the loop never blocks.
 *
 *     event_loop SERVER
 */
#include <mcpump/mcpump.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define SERVERS 3

struct host {
    mcpump_manager *manager;
    int epoll, timer;
    int ready, lost; /* how often a server became so */
    int ticks;
    int status; /* of the program; the loop ends when it is set */
    pthread_t worker;
    const char *called; /* the server that the worker calls; NULL: it does nothing */
};

static const char *const names[SERVERS] = {"files", "search", "notes"};

/* -- a worker: blocking calls have a thread of their own */

static void *work(void *arg)
{
    struct host *host = arg;
    mcpump_server *server = mcpump_manager_find(host->manager, host->called);
    mcpump_reply *reply = NULL;
    mcpump_failure *failure = NULL;
    mcpump_err err =
        mcpump_server_call_tool(server, "echo", "{\"message\":\"hello\"}", NULL, &reply, &failure);
    printf("%s: %s\n", host->called,
           err == MCPUMP_OK ? mcpump_reply_text(reply, NULL) : mcpump_failure_message(failure));
    mcpump_reply_free(reply);
    mcpump_failure_free(failure);
    mcpump_server_free(server);
    return NULL;
}

/* -- events of the servers */

/* Once all are ready, one of them dies: it comes back by itself. */
static void on_ready(struct host *host, const char *name)
{
    mcpump_server *server = mcpump_manager_find(host->manager, name);
    if (server == NULL) /* removed meanwhile */
        return;
    host->ready++;
    if (host->ready == SERVERS)
        kill(mcpump_transport_pid(mcpump_server_transport(server)), SIGKILL);
    mcpump_server_free(server);
    if (host->ready != SERVERS + 1 || host->called != NULL)
        return;
    host->called = name;
    if (pthread_create(&host->worker, NULL, work, host) != 0)
        host->called = NULL;
    host->status = host->called != NULL && host->lost == 1 ? 0 : 1;
}

static void on_state(struct host *host, const mcpump_event *event)
{
    mcpump_server_state state = mcpump_event_state(event);
    const mcpump_failure *failure = mcpump_event_failure(event);
    printf("%s: %s%s%s\n", mcpump_event_server(event), mcpump_server_state_text(state),
           failure != NULL ? ": " : "", failure != NULL ? mcpump_failure_message(failure) : "");
    if (state == MCPUMP_SERVER_READY)
        on_ready(host, mcpump_event_server(event));
    host->lost += state == MCPUMP_SERVER_BACKING_OFF;
}

/* Takes all there are: the loop wakes again only for new ones. */
static void on_events(struct host *host)
{
    mcpump_event *event;
    while (mcpump_manager_next_event(host->manager, 0, &event) == MCPUMP_OK) {
        switch (mcpump_event_get_kind(event)) {
        case MCPUMP_EVENT_STATE:
            on_state(host, event);
            break;
        case MCPUMP_EVENT_NOTIFICATION:
            printf("%s says %s\n", mcpump_event_server(event), mcpump_event_method(event));
            break;
        case MCPUMP_EVENT_REQUEST:
            /* The user would be asked here. One that is freed unanswered is refused. */
            mcpump_event_respond(event, "{\"action\":\"decline\"}", 0, NULL);
            break;
        case MCPUMP_EVENT_STDERR:
            printf("%s\n", mcpump_event_text(event, NULL));
            break;
        }
        mcpump_event_free(event);
    }
}

/* -- the loop */

static void on_timer(struct host *host)
{
    uint64_t expirations;
    if (read(host->timer, &expirations, sizeof(expirations)) > 0)
        host->ticks += (int)expirations;
    if (host->ticks == 600) /* a minute: something is wrong */
        host->status = 1;
}

static void watch(struct host *host, int fd)
{
    struct epoll_event interest = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(host->epoll, EPOLL_CTL_ADD, fd, &interest) != 0)
        host->status = 1;
}

static void run_loop(struct host *host)
{
    struct itimerspec tenths = {.it_interval.tv_nsec = 100000000, .it_value.tv_nsec = 100000000};
    host->epoll = epoll_create1(EPOLL_CLOEXEC);
    host->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    timerfd_settime(host->timer, 0, &tenths, NULL);
    watch(host, host->timer);
    watch(host, mcpump_manager_event_fd(host->manager));
    while (host->status < 0) {
        struct epoll_event ready[4];
        int count = epoll_wait(host->epoll, ready, 4, -1);
        for (int i = 0; i < count; i++) {
            if (ready[i].data.fd == host->timer)
                on_timer(host);
            else
                on_events(host);
        }
    }
    close(host->timer);
    close(host->epoll);
}

static bool add_servers(struct host *host, const char *command)
{
    mcpump_server_options options = MCPUMP_SERVER_OPTIONS_INIT;
    options.transport.command = command;
    options.backoff_first_ms = 100;
    for (int i = 0; i < SERVERS; i++) {
        mcpump_failure *failure = NULL;
        if (mcpump_manager_add(host->manager, names[i], &options, true, &failure) == MCPUMP_OK)
            continue;
        fprintf(stderr, "%s\n", mcpump_failure_message(failure));
        mcpump_failure_free(failure);
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct host host = {.status = -1};
    mcpump_manager_options options = MCPUMP_MANAGER_OPTIONS_INIT;
    options.events = MCPUMP_EVENT_STATE | MCPUMP_EVENT_NOTIFICATION | MCPUMP_EVENT_REQUEST;
    if (mcpump_manager_new(&options, &host.manager, NULL) != MCPUMP_OK)
        return 1;
    if (add_servers(&host, argc > 1 ? argv[1] : "mcpump-demo-server"))
        run_loop(&host);
    if (host.called != NULL)
        pthread_join(host.worker, NULL);
    mcpump_manager_free(host.manager); /* all servers are gone */
    return host.status == 0 ? 0 : 1;
}
