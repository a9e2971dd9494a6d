/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eight threads call the tools of one server at once, check every answer and print a table. The
 * server is the demo server, named as the only argument. Nothing here is locked: the server may be
 * used by any thread, and each thread has its own place for what it measures.
 */
#include <mcpump/mcpump.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS   8
#define TOOLS     4
#define MAX_CALLS 2000 /* of one tool by one thread */

struct question {
    char arguments[128];
    char expected[128]; /* stands in the answer */
};

static void ask_echo(int thread, int call, struct question *ret_question)
{
    struct question *q = ret_question;
    snprintf(q->arguments, sizeof(q->arguments), "{\"message\":\"%d of thread %d\"}", call, thread);
    snprintf(q->expected, sizeof(q->expected), "\"Echo: %d of thread %d\"", call, thread);
}

static void ask_add(int thread, int call, struct question *ret_question)
{
    struct question *q = ret_question;
    snprintf(q->arguments, sizeof(q->arguments), "{\"a\":%d,\"b\":%d}", call, thread * 1000000);
    snprintf(q->expected, sizeof(q->expected), "\"text\":\"%d\"", call + thread * 1000000);
}

static void ask_slow(int thread, int call, struct question *ret_question)
{
    struct question *q = ret_question;
    int steps = 1 + (thread + call) % 5;
    snprintf(q->arguments, sizeof(q->arguments), "{\"ms\":20,\"steps\":%d}", steps);
    snprintf(q->expected, sizeof(q->expected), "\"Done: %d of %d steps.\"", steps, steps);
}

static void ask_fail(int thread, int call, struct question *ret_question)
{
    (void)thread;
    (void)call;
    *ret_question = (struct question){"{}", "\"isError\":true"};
}

static const struct tool {
    const char *name;
    int calls; /* by each thread */
    void (*ask)(int thread, int call, struct question *ret_question);
} tools[TOOLS] = {
    {"echo", 2000, ask_echo},
    {"add", 2000, ask_add},
    {"slow", 10, ask_slow},
    {"fail", 500, ask_fail},
};

struct worker {
    pthread_t thread;
    int number;
    mcpump_server *server;
    int tool_errors[TOOLS]; /* answers that say isError */
    int wrong[TOOLS];       /* calls that failed, answers that were not the expected one */
    double us[TOOLS][MAX_CALLS];
};

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void call_once(struct worker *worker, int t, int call)
{
    struct question question;
    tools[t].ask(worker->number, call, &question);

    mcpump_reply *reply = NULL;
    mcpump_failure *failure = NULL;
    double start = now_us();
    mcpump_err err = mcpump_server_call_tool(worker->server, tools[t].name, question.arguments,
                                             NULL, &reply, &failure);
    worker->us[t][call] = now_us() - start;

    if (err != MCPUMP_OK) {
        if (worker->wrong[t]++ == 0) /* one message tells it */
            fprintf(stderr, "%s: %s\n", tools[t].name, mcpump_failure_message(failure));
    } else {
        const char *answer = mcpump_reply_text(reply, NULL);
        worker->tool_errors[t] += strstr(answer, "\"isError\":true") != NULL;
        worker->wrong[t] += strstr(answer, question.expected) == NULL;
    }
    mcpump_reply_free(reply);
    mcpump_failure_free(failure);
}

/* The tools in turn, as long as they have calls left, so that all of them are under way at once. */
static void *work(void *arg)
{
    struct worker *worker = arg;
    for (int call = 0; call < MAX_CALLS; call++) {
        for (int t = 0; t < TOOLS; t++) {
            if (call < tools[t].calls)
                call_once(worker, t, call);
        }
    }
    return NULL;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Prints the tool's line and returns how many of its answers were wrong. */
static int print_tool(const struct worker *workers, int t)
{
    static double us[THREADS * MAX_CALLS];
    size_t count = 0;
    int tool_errors = 0, wrong = 0;
    for (int w = 0; w < THREADS; w++) {
        memcpy(us + count, workers[w].us[t], (size_t)tools[t].calls * sizeof(us[0]));
        count += (size_t)tools[t].calls;
        tool_errors += workers[w].tool_errors[t];
        wrong += workers[w].wrong[t];
    }
    qsort(us, count, sizeof(us[0]), compare);
    printf("%-6s %7zu %9d %6d %10.0f %10.0f\n", tools[t].name, count, tool_errors, wrong,
           us[count / 2], us[count * 99 / 100]);
    return wrong;
}

static int run(mcpump_server *server)
{
    static struct worker workers[THREADS];
    int started = 0, wrong = 0;
    while (started < THREADS) {
        struct worker *worker = &workers[started];
        worker->number = started;
        worker->server = server;
        if (pthread_create(&worker->thread, NULL, work, worker) != 0)
            break;
        started++;
    }
    for (int w = 0; w < started; w++)
        pthread_join(workers[w].thread, NULL);
    if (started < THREADS) {
        fprintf(stderr, "only %d threads could be started\n", started);
        return 1;
    }

    printf("%-6s %7s %9s %6s %10s %10s\n", "tool", "calls", "isError", "wrong", "p50 us", "p99 us");
    for (int t = 0; t < TOOLS; t++)
        wrong += print_tool(workers, t);
    printf("%d threads, one server, protocol %s: %s\n", THREADS,
           mcpump_server_protocol_version(server),
           wrong == 0 ? "every answer reached its caller" : "there were wrong answers");
    return wrong != 0;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s DEMO-SERVER\n", argv[0]);
        return 2;
    }
    mcpump_server_options options = MCPUMP_SERVER_OPTIONS_INIT;
    options.transport.command = argv[1];

    mcpump_server *server = NULL;
    mcpump_failure *failure = NULL;
    int status = 1;
    if (mcpump_server_new(&options, &server, &failure) == MCPUMP_OK &&
        mcpump_server_connect(server, &failure) == MCPUMP_OK)
        status = run(server);
    else
        fprintf(stderr, "%s\n", mcpump_failure_message(failure));
    mcpump_failure_free(failure);
    mcpump_server_free(server);
    return status;
}
