/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections over time: many after each other, many threads on one, none of them busy.
 * MCPUMP_TEST_IDLE_MS and MCPUMP_TEST_CYCLES make two of the tests longer.
 */
#include "support.h"

#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static long long number_from_environment(const char *name, long long otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? atoll(text) : otherwise;
}

/* -- idle */

#define MOST_THREADS 16

/* What a thread has done so far: how often it was switched, and where in which call it waits. */
struct thread_mark {
    int tid;
    char state;
    long switches; /* given up the processor, or lost it */
    char call[160];
};

struct marks {
    struct thread_mark threads[MOST_THREADS];
    size_t count;
};

static FILE *open_of_task(int tid, const char *what)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/task/%d/%s", tid, what);
    FILE *file = fopen(path, "re");
    cr_assert_not_null(file, "%s", path);
    return file;
}

static void mark_thread(struct thread_mark *mark, int tid)
{
    char line[256];
    long number;
    FILE *status = open_of_task(tid, "status");
    *mark = (struct thread_mark){.tid = tid};
    while (fgets(line, sizeof(line), status) != NULL) {
        sscanf(line, "State: %c", &mark->state);
        if (sscanf(line, "voluntary_ctxt_switches: %ld", &number) == 1 ||
            sscanf(line, "nonvoluntary_ctxt_switches: %ld", &number) == 1)
            mark->switches += number;
    }
    fclose(status);
    FILE *call = open_of_task(tid, "syscall");
    cr_assert_not_null(fgets(mark->call, sizeof(mark->call), call));
    fclose(call);
}

/* All threads but this one. */
static void mark_threads(struct marks *marks)
{
    DIR *tasks = opendir("/proc/self/task");
    cr_assert_not_null(tasks);
    marks->count = 0;
    for (struct dirent *task = readdir(tasks); task != NULL; task = readdir(tasks)) {
        int tid = atoi(task->d_name);
        if (tid == 0 || tid == getpid())
            continue;
        cr_assert_lt(marks->count, MOST_THREADS);
        mark_thread(&marks->threads[marks->count++], tid);
    }
    closedir(tasks);
}

static void let_time_pass(int ms)
{
    struct pollfd never = {.fd = eventfd(0, EFD_CLOEXEC), .events = POLLIN};
    cr_assert_eq(poll(&never, 1, ms), 0);
    close(never.fd);
}

/* A thread that is never switched, and waits in the same call with the same arguments at the same
 * place of its stack, has made no call in between. */
static void expect_idle(const char *name)
{
    static struct marks before, after;
    let_time_pass(300); /* what the last call set going comes to rest */
    mark_threads(&before);
    let_time_pass((int)number_from_environment("MCPUMP_TEST_IDLE_MS", 2000));
    mark_threads(&after);
    cr_assert_eq(before.count, after.count, "%s", name);
    cr_assert_geq(before.count, 3, "%s: where are the threads?", name);
    for (size_t i = 0; i < before.count; i++) {
        const struct thread_mark *was = &before.threads[i], *is = &after.threads[i];
        cr_assert_eq(was->tid, is->tid, "%s", name);
        cr_expect_eq(is->state, 'S', "%s: thread %d is %c", name, is->tid, is->state);
        cr_expect_eq(is->switches, was->switches, "%s: thread %d was switched %ld times", name,
                     is->tid, is->switches - was->switches);
        cr_expect_str_eq(is->call, was->call, "%s: thread %d: %s", name, is->tid, is->call);
    }
}

Test(lifecycle, an_idle_connection_makes_no_system_call)
{
    static const char *const eras[] = {"legacy", "modern"};
    for (size_t i = 0; i < LENGTH(eras); i++) {
        mcpump_server *server = test_connect(STRINGS("--era", eras[i]));
        expect_idle(eras[i]);
        /* Nor does it after some work of every kind, with a reply that never came. */
        struct test_call dropped;
        test_call_start(&dropped, server, "test/drop", NULL);
        json_object_put(test_result(server, "test/flood", NULL));
        json_object_put(test_result(server, "test/stderr", "{\"bytes\":1000}"));
        mcpump_server_interrupt(server);
        test_call_join(&dropped);
        cr_expect_eq(dropped.err, MCPUMP_ERR_INTERRUPTED);
        test_call_done(&dropped);
        mcpump_server_clear_interrupt(server);
        json_object_put(test_result(server, "test/echo", NULL));
        expect_idle(eras[i]);
        mcpump_server_free(server);
    }
}

/* -- again and again */

/* KiB, over all cycles. A sanitizer keeps what is freed for a while. */
#define MOST_GROWTH (TEST_IS_SANITIZED ? 512 * 1024 : 4 * 1024)

static void cycle(mcpump_server *server)
{
    test_connect_ok(server);
    json_object_put(test_result(server, "test/echo", "{\"a\":[1,2,3]}"));
    mcpump_server_close(server);
}

Test(lifecycle, cycles_leave_fds_threads_and_memory_as_they_were)
{
    long long cycles = number_from_environment("MCPUMP_TEST_CYCLES", TEST_SCALED(1000));
    struct test_resources before = test_resources();
    mcpump_server_options options = test_options(NO_STRINGS);
    mcpump_server *server = test_server_new(&options);
    cycle(server);
    struct test_resources idle = test_resources(); /* its keeper stays */
    for (int i = 1; i < 50; i++)
        cycle(server);
    EXPECT_NOTHING_LEFT(idle, "after 50");
    long rss = test_rss_kib();
    for (long long i = 0; i < cycles; i++)
        cycle(server);
    EXPECT_NOTHING_LEFT(idle, "after all");
    cr_expect_lt(test_rss_kib() - rss, MOST_GROWTH, "it grew by %ld KiB", test_rss_kib() - rss);
    cr_expect_eq((long long)test_stats(server).opens, 50 + cycles);
    mcpump_server_free(server);
    EXPECT_NOTHING_LEFT(before, "freed");
}

Test(lifecycle, cycles_of_new_servers)
{
    struct test_resources before = test_resources();
    for (int i = 0; i < TEST_SCALED(200); i++) {
        mcpump_server *server = test_connect(NO_STRINGS);
        json_object_put(test_result(server, "tools/list", NULL));
        mcpump_server_free(server); /* closes, too */
    }
    EXPECT_NOTHING_LEFT(before, "");
}

/* -- many threads, one server that is not there yet */

#define THREADS 100

struct crowd {
    mcpump_server *server;
    pthread_barrier_t start;
};

static void *connect_and_call(void *arg)
{
    struct crowd *crowd = arg;
    mcpump_reply *reply = NULL;
    pthread_barrier_wait(&crowd->start);
    mcpump_err err = mcpump_server_request(crowd->server, "test/echo", NULL, NULL, &reply, NULL);
    mcpump_reply_free(reply);
    return (void *)(intptr_t)err;
}

static void *connect_only(void *arg)
{
    struct crowd *crowd = arg;
    pthread_barrier_wait(&crowd->start);
    return (void *)(intptr_t)mcpump_server_connect(crowd->server, NULL);
}

static void send_crowd(struct crowd *crowd, mcpump_err wanted, const char *name)
{
    pthread_t threads[THREADS];
    cr_assert_eq(pthread_barrier_init(&crowd->start, NULL, THREADS), 0);
    for (size_t i = 0; i < THREADS; i++)
        cr_assert_eq(
            pthread_create(&threads[i], NULL, i % 2 == 0 ? connect_and_call : connect_only, crowd),
            0);
    for (size_t i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        mcpump_err err = (mcpump_err)(intptr_t)result;
        cr_expect_eq(err, wanted, "%s: thread %zu: %s", name, i, mcpump_err_name(err));
    }
    pthread_barrier_destroy(&crowd->start);
}

static const struct crowd_row {
    const char *name;
    const char *era;
    const char *probe;
    int starts; /* of the first process, and of those that it takes after it */
} crowd_rows[] = {
    {"legacy", "legacy", "error", 1},
    {"modern", "modern", "discover", 1},
    {"legacy, slow to answer", "legacy", "log", 1},
    {"legacy, exits when probed", "legacy", "exit", 2},
};

Test(lifecycle, a_hundred_threads_start_one_server)
{
    for (size_t i = 0; i < LENGTH(crowd_rows); i++) {
        const struct crowd_row *row = &crowd_rows[i];
        struct test_folder folder;
        struct test_resources before = test_resources();
        test_folder_init(&folder);
        mcpump_server_options options = test_options(STRINGS(
            "--era", row->era, "--probe", row->probe, "--delay-start", "100", "--log", folder.log));
        options.probe_timeout_ms = 1000;
        struct crowd crowd = {.server = test_server_new(&options)};
        send_crowd(&crowd, MCPUMP_OK, row->name);
        cr_expect_eq(test_count_lines(folder.log, "start "), row->starts, "%s", row->name);
        cr_expect_eq((int)test_stats(crowd.server).opens, row->starts, "%s", row->name);
        test_expect_no_violation(crowd.server, row->name);
        mcpump_server_free(crowd.server);
        test_folder_done(&folder);
        EXPECT_NOTHING_LEFT(before, row->name);
    }
}

/* All of them learn what went wrong. Those who come late may try again, so no starts are counted.
 */
Test(lifecycle, a_hundred_threads_share_a_failure)
{
    struct test_resources before = test_resources();
    mcpump_server_options options =
        test_options(STRINGS("--era", "legacy", "--init", "error", "--delay-start", "100"));
    struct crowd crowd = {.server = test_server_new(&options)};
    send_crowd(&crowd, MCPUMP_ERR_HANDSHAKE, "");
    mcpump_server_close(crowd.server);
    cr_expect_not(test_has_children());
    cr_expect_lt(test_stats(crowd.server).opens, THREADS / 2);
    mcpump_server_free(crowd.server);
    EXPECT_NOTHING_LEFT(before, "");
}

/* A caller in a hurry gives up alone: the connection that is being made stays for the others. */
Test(lifecycle, one_who_cannot_wait_takes_nothing_from_the_rest)
{
    struct test_folder folder;
    struct test_resources before = test_resources();
    struct test_call patient;
    mcpump_call_options hurried = MCPUMP_CALL_OPTIONS_INIT;
    mcpump_reply *reply = NULL;
    test_folder_init(&folder);
    mcpump_server_options options =
        test_options(STRINGS("--era", "legacy", "--delay-start", "500", "--log", folder.log));
    mcpump_server *server = test_server_new(&options);
    test_call_start(&patient, server, "test/echo", NULL);
    test_await_lines(folder.log, "start ", 1);
    hurried.timeout_ms = 50;
    mcpump_failure *failure = NULL;
    cr_expect_eq(mcpump_server_request(server, "test/echo", NULL, &hurried, &reply, &failure),
                 MCPUMP_ERR_TIMEOUT);
    cr_expect_geq(mcpump_failure_elapsed_ms(failure), 50, "%s", mcpump_failure_message(failure));
    mcpump_failure_free(failure);
    test_call_join(&patient);
    cr_expect_eq(patient.err, MCPUMP_OK, "%s", mcpump_err_name(patient.err));
    test_call_done(&patient);
    cr_expect_eq(test_count_lines(folder.log, "start "), 1);
    mcpump_server_free(server);
    test_folder_done(&folder);
    EXPECT_NOTHING_LEFT(before, "");
}

/* -- an interrupt while connecting */

Test(lifecycle, an_interrupt_ends_a_connect)
{
    struct test_folder folder;
    struct test_resources before = test_resources();
    struct test_call call;
    test_folder_init(&folder);
    mcpump_server_options options = test_options(STRINGS("--probe", "silent", "--log", folder.log));
    options.probe_timeout_ms = options.connect_timeout_ms = 2 * TEST_PATIENCE_MS;
    mcpump_server *server = test_server_new(&options);
    test_call_start(&call, server, "test/echo", NULL);
    test_await_lines(folder.log, "recv ", 1);
    mcpump_server_interrupt(server);
    test_call_join(&call);
    cr_expect_eq(call.err, MCPUMP_ERR_INTERRUPTED, "%s", mcpump_err_name(call.err));
    cr_expect_lt(call.took_ms, TEST_PATIENCE_MS / 2);
    test_call_done(&call);
    mcpump_server_close(server);
    cr_expect_not(test_has_children());
    cr_expect(mcpump_server_is_interrupted(server));
    mcpump_server_free(server);
    test_folder_done(&folder);
    EXPECT_NOTHING_LEFT(before, "");
}
