/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is allowed in a signal handler takes no lock, allocates nothing and uses no stdio: a plain
 * program, linked with a static library whose calls of these functions come by here (--wrap) and
 * are counted while a handler runs.
 *
 *     handler FAKE_SERVER
 */
#include <errno.h>
#include <mcpump/mcpump.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static _Thread_local bool in_handler;
static volatile sig_atomic_t forbidden; /* calls within the handler */
static const char *volatile first_forbidden;

static void note(const char *name)
{
    if (in_handler && forbidden++ == 0)
        first_forbidden = name;
}

/* -- what the library calls in place of the functions themselves */

#define WATCH(type, name, parameters, ...)                                                         \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        note(#name);                                                                               \
        return __real_##name(__VA_ARGS__);                                                         \
    }

WATCH(void *, malloc, (size_t size), size)
WATCH(void *, calloc, (size_t count, size_t size), count, size)
WATCH(void *, realloc, (void *memory, size_t size), memory, size)
WATCH(char *, strdup, (const char *text), text)
WATCH(char *, strndup, (const char *text, size_t size), text, size)
WATCH(int, pthread_mutex_lock, (pthread_mutex_t * mutex), mutex)
WATCH(int, pthread_mutex_trylock, (pthread_mutex_t * mutex), mutex)
WATCH(int, pthread_mutex_unlock, (pthread_mutex_t * mutex), mutex)
WATCH(int, pthread_cond_signal, (pthread_cond_t * condition), condition)
WATCH(int, pthread_cond_broadcast, (pthread_cond_t * condition), condition)
WATCH(int, pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t *mutex), condition,
      mutex)
WATCH(int, pthread_cond_timedwait,
      (pthread_cond_t * condition, pthread_mutex_t *mutex, const struct timespec *until), condition,
      mutex, until)
WATCH(int, vsnprintf, (char *out, size_t size, const char *format, va_list args), out, size, format,
      args)
WATCH(int, vfprintf, (FILE * file, const char *format, va_list args), file, format, args)
WATCH(int, fputs, (const char *text, FILE *file), text, file)
WATCH(size_t, fwrite, (const void *data, size_t size, size_t count, FILE *file), data, size, count,
      file)
WATCH(int, fflush, (FILE * file), file)

void __real_free(void *memory);
void __wrap_free(void *memory);
void __wrap_free(void *memory)
{
    note("free");
    __real_free(memory);
}

int __wrap_snprintf(char *out, size_t size, const char *format, ...);
int __wrap_snprintf(char *out, size_t size, const char *format, ...)
{
    va_list args;
    note("snprintf");
    va_start(args, format);
    int length = __real_vsnprintf(out, size, format, args);
    va_end(args);
    return length;
}

int __wrap_fprintf(FILE *file, const char *format, ...);
int __wrap_fprintf(FILE *file, const char *format, ...)
{
    va_list args;
    note("fprintf");
    va_start(args, format);
    int length = __real_vfprintf(file, format, args);
    va_end(args);
    return length;
}

static void die(const char *what, const char *more)
{
    fprintf(stderr, "%s: %s\n", what, more);
    exit(1);
}

/* -- the stage: everything that a handler may find under way */

#define MEMBERS 12 /* more than fit into the first part of a board */

static mcpump_transport *transports[MEMBERS];
static mcpump_server *server; /* one thread connects it, one waits for that */
static mcpump_group *group;
static mcpump_run *run, *child;

static void *call(void *arg)
{
    static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"test/drop\"}";
    mcpump_call_options options = MCPUMP_CALL_OPTIONS_INIT;
    mcpump_reply *reply = NULL;
    options.timeout_ms = MCPUMP_FOREVER;
    options.run = child;
    mcpump_transport_send_request(arg, request, strlen(request), &options, &reply, NULL);
    mcpump_reply_free(reply);
    return NULL;
}

static void *call_server(void *arg)
{
    mcpump_call_options options = MCPUMP_CALL_OPTIONS_INIT;
    mcpump_reply *reply = NULL;
    options.timeout_ms = MCPUMP_FOREVER;
    options.run = child;
    mcpump_server_request(arg, "test/drop", NULL, &options, &reply, NULL);
    mcpump_reply_free(reply);
    return NULL;
}

static void await_requests(mcpump_transport *transport, uint64_t count)
{
    mcpump_stats stats = {.size = sizeof(stats)};
    do {
        sched_yield();
        mcpump_transport_stats(transport, &stats);
    } while (stats.requests < count);
}

/* -- what a handler may call, and what it may not */

static void transport_interrupt(void)
{
    mcpump_transport_interrupt(transports[0]);
}

static void transport_clear(void)
{
    mcpump_transport_clear_interrupt(transports[0]);
}

static void transport_asked(void)
{
    (void)mcpump_transport_is_interrupted(transports[0]);
}

static void server_interrupt(void)
{
    mcpump_server_interrupt(server);
}

static void server_clear(void)
{
    mcpump_server_clear_interrupt(server);
}

static void group_interrupt(void)
{
    mcpump_group_interrupt(group);
}

static void group_clear(void)
{
    mcpump_group_clear_interrupt(group);
}

static void run_cancel(void)
{
    mcpump_run_cancel(run);
}

static void run_asked(void)
{
    (void)mcpump_run_cancelled(child);
}

static void new_run(void)
{
    mcpump_run_free(mcpump_run_new(NULL));
}

static void ask_pid(void)
{
    (void)mcpump_transport_pid(transports[0]);
}

static void make_server_fail(void)
{
    mcpump_server_options options = MCPUMP_SERVER_OPTIONS_INIT;
    mcpump_failure *failure = NULL;
    mcpump_server *none = NULL;
    mcpump_server_new(&options, &none, &failure);
    mcpump_failure_free(failure);
}

static const struct row {
    const char *name;
    void (*fn)(void);
    bool is_forbidden; /* shows that the watch is awake */
} rows[] = {
    {"transport interrupt", transport_interrupt, false},
    {"transport clear", transport_clear, false},
    {"transport asked", transport_asked, false},
    {"server interrupt, while it connects", server_interrupt, false},
    {"server clear", server_clear, false},
    {"group interrupt", group_interrupt, false},
    {"group clear", group_clear, false},
    {"run asked", run_asked, false},
    {"run cancel", run_cancel, false},
    {"run cancelled again", run_cancel, false},
    {"interrupt all", mcpump_interrupt_all, false},
    {"clear all", mcpump_clear_interrupt_all, false},
    {"interrupt all again", mcpump_interrupt_all, false},
    {"allocates", new_run, true},
    {"locks", ask_pid, true},
    {"formats", make_server_fail, true},
};

static const struct row *current;

static void handle(int number)
{
    (void)number;
    in_handler = true;
    current->fn();
    in_handler = false;
}

static void check(const struct row *row)
{
    current = row;
    forbidden = 0;
    first_forbidden = "";
    errno = ENOTEMPTY;
    raise(SIGUSR1);
    if (!row->is_forbidden && errno != ENOTEMPTY)
        die(row->name, "errno was not kept");
    if (!row->is_forbidden && forbidden > 0)
        die(row->name, first_forbidden);
    if (row->is_forbidden && forbidden == 0)
        die(row->name, "nothing was noticed");
}

static void make_servers(const char *command)
{
    mcpump_server_options options = MCPUMP_SERVER_OPTIONS_INIT;
    options.transport.command = command;
    options.transport.stderr_sink = MCPUMP_STDERR_DISCARD;
    for (size_t i = 0; i < MEMBERS; i++) {
        if (mcpump_transport_new(&options.transport, &transports[i], NULL) != MCPUMP_OK)
            die(command, "no transport");
        mcpump_group_add(group, transports[i]);
    }
    options.transport.args = (const char *const[]){"--probe", "silent", "--init", "silent", NULL};
    if (mcpump_transport_open(transports[0], NULL) != MCPUMP_OK ||
        mcpump_server_new(&options, &server, NULL) != MCPUMP_OK)
        die(command, "no server");
}

int main(int argc, char **argv)
{
    pthread_t threads[8];
    if (argc != 2)
        die("usage", "handler FAKE_SERVER");
    signal(SIGUSR1, handle);
    group = mcpump_group_new();
    run = mcpump_run_new(NULL);
    child = mcpump_run_new(run);
    make_servers(argv[1]);
    for (size_t i = 0; i < LENGTH(threads); i++)
        pthread_create(&threads[i], NULL, i < 4 ? call : call_server,
                       i < 4 ? (void *)transports[0] : (void *)server);
    await_requests(transports[0], 4);
    await_requests(mcpump_server_transport(server), 1);
    for (size_t i = 0; i < LENGTH(rows); i++)
        check(&rows[i]);
    for (size_t i = 0; i < LENGTH(threads); i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < MEMBERS; i++) {
        mcpump_group_remove(group, transports[i]);
        mcpump_transport_free(transports[i]);
    }
    mcpump_server_free(server);
    mcpump_group_free(group);
    mcpump_run_free(run);
    mcpump_run_free(child);
    return 0;
}
