/* SPDX-License-Identifier: Apache-2.0 */
/* 64 threads, 100,000 calls, all with id 1, on one connection: each gets its own answer. */
#include <stdio.h>
#include <string.h>

#include "stress.h"

#define THREADS 64
#define CALLS   100000

static const char initialize[] =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
    "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"stress\",\"version\":\"1\"}}}";
static const char initialized[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";

struct storm {
    mcpump_transport *transport;
    int rounds;
};

static void send(mcpump_transport *transport, const char *request, mcpump_reply **ret_reply)
{
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_transport_send_request(transport, request, strlen(request), NULL,
                                                   ret_reply, &failure);
    STRESS_CHECK(err == MCPUMP_OK, "%s", mcpump_failure_message(failure));
}

static void call_often(void *context, int number)
{
    const struct storm *storm = context;
    for (int round = 0; round < storm->rounds; round++) {
        char request[256], wanted[64];
        snprintf(request, sizeof(request),
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                 "\"echo\",\"arguments\":{\"message\":\"%d.%d\"}}}",
                 number, round);
        snprintf(wanted, sizeof(wanted), " %d.%d\"", number, round);
        mcpump_reply *reply = NULL;
        send(storm->transport, request, &reply);
        const char *text = mcpump_reply_text(reply, NULL);
        STRESS_CHECK(strstr(text, wanted) != NULL && strstr(text, "\"id\":1,") != NULL,
                     "thread %d, round %d: got %s", number, round, text);
        mcpump_reply_free(reply);
    }
}

int main(int argc, char **argv)
{
    struct stress stress = stress_init(argc, argv);
    mcpump_transport_options options = MCPUMP_TRANSPORT_OPTIONS_INIT;
    struct storm storm = {NULL, stress_count(&stress, CALLS / THREADS + 1)};
    struct stress_footprint before = stress_footprint();
    mcpump_reply *reply = NULL;
    options.command = stress.server;
    options.stderr_sink = MCPUMP_STDERR_DISCARD;
    options.default_timeout_ms = 120000;
    STRESS_CHECK(mcpump_transport_new(&options, &storm.transport, NULL) == MCPUMP_OK,
                 "no transport");
    STRESS_CHECK(mcpump_transport_open(storm.transport, NULL) == MCPUMP_OK, "not opened");
    send(storm.transport, initialize, &reply);
    mcpump_reply_free(reply);
    STRESS_CHECK(mcpump_transport_notify(storm.transport, initialized, strlen(initialized), NULL) ==
                     MCPUMP_OK,
                 "not notified");
    stress_run(THREADS, call_often, &storm);

    mcpump_stats stats = {.size = sizeof(stats)};
    mcpump_transport_stats(storm.transport, &stats);
    STRESS_CHECK(stats.replies == stats.requests && stats.unknown_replies == 0 &&
                     stats.duplicate_replies == 0 && stats.late_replies == 0,
                 "%llu requests, %llu replies", (unsigned long long)stats.requests,
                 (unsigned long long)stats.replies);
    mcpump_transport_free(storm.transport);
    stress_check_footprint(before);
    printf("%d calls\n", THREADS * storm.rounds);
    return 0;
}
