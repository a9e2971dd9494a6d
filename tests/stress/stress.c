/* SPDX-License-Identifier: Apache-2.0 */
#include "stress.h"

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_THREADS 64

void stress_die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    _exit(1);
}

int stress_count(const struct stress *stress, int full)
{
    int count = (int)((int64_t)full * stress->scale / 100);
    return count > 0 ? count : 1;
}

mcpump_server *stress_server(const struct stress *stress)
{
    mcpump_server_options options = MCPUMP_SERVER_OPTIONS_INIT;
    mcpump_server *server = NULL;
    options.transport.command = stress->server;
    options.transport.stderr_sink = MCPUMP_STDERR_DISCARD;
    options.backoff_first_ms = 1;
    options.backoff_most_ms = 8;
    options.max_reconnects = 1000000;
    STRESS_CHECK(mcpump_server_new(&options, &server, NULL) == MCPUMP_OK, "no server");
    return server;
}

struct runner {
    pthread_t thread;
    int number;
    void (*body)(void *, int);
    void *context;
};

static void *runner_main(void *arg)
{
    struct runner *runner = arg;
    runner->body(runner->context, runner->number);
    return NULL;
}

void stress_run(int threads, void (*body)(void *, int), void *context)
{
    struct runner runners[MAX_THREADS];
    STRESS_CHECK(threads <= MAX_THREADS, "too many threads");
    for (int i = 0; i < threads; i++) {
        runners[i] = (struct runner){.number = i, .body = body, .context = context};
        STRESS_CHECK(pthread_create(&runners[i].thread, NULL, runner_main, &runners[i]) == 0,
                     "no thread %d", i);
    }
    for (int i = 0; i < threads; i++)
        pthread_join(runners[i].thread, NULL);
}

static void do_nothing(void *context, int number)
{
    (void)context;
    (void)number;
}

struct stress stress_init(int argc, char **argv)
{
    struct stress stress = {argc > 1 ? argv[1] : NULL, 100};
    if (argc == 4 && strcmp(argv[2], "--scale") == 0)
        stress.scale = atoi(argv[3]);
    if (stress.server == NULL || stress.scale < 1 || (argc != 2 && argc != 4)) {
        fprintf(stderr, "usage: %s SERVER [--scale PERCENT]\n", argv[0]);
        exit(2);
    }
    /* ThreadSanitizer starts a thread of its own with the first of ours, before any footprint. */
    stress_run(1, do_nothing, NULL);
    return stress;
}

mcpump_err stress_echo(mcpump_server *server, int number, int round, int64_t timeout_ms)
{
    char arguments[64], wanted[64];
    mcpump_call_options options = MCPUMP_CALL_OPTIONS_INIT;
    mcpump_reply *reply = NULL;
    options.timeout_ms = timeout_ms;
    snprintf(arguments, sizeof(arguments), "{\"message\":\"%d.%d\"}", number, round);
    snprintf(wanted, sizeof(wanted), " %d.%d\"", number, round);
    mcpump_err err = mcpump_server_call_tool(server, "echo", arguments, &options, &reply, NULL);
    if (err != MCPUMP_OK)
        return err;
    size_t size;
    const char *value = mcpump_reply_value(reply, &size);
    STRESS_CHECK(!mcpump_reply_is_error(reply) && memmem(value, size, wanted, strlen(wanted)),
                 "thread %d, round %d: got %.*s", number, round, (int)size, value);
    mcpump_reply_free(reply);
    return MCPUMP_OK;
}

static int count_entries(const char *path)
{
    int count = 0;
    DIR *directory = opendir(path);
    STRESS_CHECK(directory != NULL, "cannot read %s", path);
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count;
}

static int count_children(void)
{
    char path[64];
    int count = 0, pid;
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    while (fscanf(file, "%d", &pid) == 1)
        count++;
    fclose(file);
    return count;
}

struct stress_footprint stress_footprint(void)
{
    return (struct stress_footprint){count_entries("/proc/self/fd"),
                                     count_entries("/proc/self/task"), count_children()};
}

void stress_check_footprint(struct stress_footprint before)
{
    struct stress_footprint now = stress_footprint();
    /* A joined thread may stand in /proc for an instant longer: the kernel takes it out after it
     * has woken who joins it. */
    for (int tries = 0; tries < 100 && now.threads > before.threads; tries++) {
        poll(NULL, 0, 10);
        now = stress_footprint();
    }
    STRESS_CHECK(now.fds == before.fds, "%d fds before, %d after", before.fds, now.fds);
    STRESS_CHECK(now.threads == before.threads, "%d threads before, %d after", before.threads,
                 now.threads);
    STRESS_CHECK(now.children == before.children, "%d children before, %d after", before.children,
                 now.children);
}

uint32_t stress_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}
