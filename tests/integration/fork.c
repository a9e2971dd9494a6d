/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host that forks and goes on without exec: in the child, what was made before the fork refuses
 * to work and can be freed, and new objects work; the parent and its servers do not notice.
 */
#include "raw.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* -- what fails in the child */

static mcpump_err connect_in(mcpump_server *server, mcpump_failure **ret_failure)
{
    return mcpump_server_connect(server, ret_failure);
}

static mcpump_err request_in(mcpump_server *server, mcpump_failure **ret_failure)
{
    mcpump_reply *reply = NULL;
    return mcpump_server_request(server, "test/echo", NULL, NULL, &reply, ret_failure);
}

static mcpump_err notify_in(mcpump_server *server, mcpump_failure **ret_failure)
{
    return mcpump_server_notify(server, "notifications/a", NULL, ret_failure);
}

static mcpump_err ping_in(mcpump_server *server, mcpump_failure **ret_failure)
{
    return mcpump_server_ping(server, NULL, NULL, ret_failure);
}

static mcpump_err list_in(mcpump_server *server, mcpump_failure **ret_failure)
{
    char *tools = NULL;
    return mcpump_server_list_tools(server, NULL, &tools, ret_failure);
}

static mcpump_err call_in(mcpump_server *server, mcpump_failure **ret_failure)
{
    mcpump_reply *reply = NULL;
    return mcpump_server_call_tool(server, "fake", NULL, NULL, &reply, ret_failure);
}

static mcpump_err open_in(mcpump_server *server, mcpump_failure **ret_failure)
{
    return mcpump_transport_open(mcpump_server_transport(server), ret_failure);
}

static mcpump_err send_in(mcpump_server *server, mcpump_failure **ret_failure)
{
    static const char text[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"test/echo\"}";
    mcpump_reply *reply = NULL;
    return mcpump_transport_send_request(mcpump_server_transport(server), text, strlen(text), NULL,
                                         &reply, ret_failure);
}

static mcpump_err tell_in(mcpump_server *server, mcpump_failure **ret_failure)
{
    static const char text[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/a\"}";
    return mcpump_transport_notify(mcpump_server_transport(server), text, strlen(text),
                                   ret_failure);
}

static mcpump_err move_in(mcpump_server *server, mcpump_failure **ret_failure)
{
    return mcpump_transport_set_working_dir(mcpump_server_transport(server), "/", ret_failure);
}

static const struct child_row {
    const char *name;
    mcpump_err (*call)(mcpump_server *server, mcpump_failure **ret_failure);
} child_rows[] = {
    {"connect", connect_in},       {"request", request_in},
    {"server notify", notify_in},  {"ping", ping_in},
    {"list_tools", list_in},       {"call_tool", call_in},
    {"transport open", open_in},   {"send_request", send_in},
    {"transport notify", tell_in}, {"set_working_dir", move_in},
};

/* In the child: a line on stderr, and the child ends with a status that is not 0. */
#define CHILD_EXPECT(condition, name)                                                              \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "in the child: %s: not %s\n", (name), #condition);                     \
            wrong++;                                                                               \
        }                                                                                          \
    } while (0)

static int try_all_in_child(mcpump_server *server)
{
    int wrong = 0;
    for (size_t i = 0; i < LENGTH(child_rows); i++) {
        mcpump_failure *failure = NULL;
        mcpump_err err = child_rows[i].call(server, &failure);
        CHILD_EXPECT(err == MCPUMP_ERR_FORKED, child_rows[i].name);
        CHILD_EXPECT(failure != NULL && mcpump_failure_error(failure) == MCPUMP_ERR_FORKED,
                     child_rows[i].name);
        CHILD_EXPECT(strstr(mcpump_failure_message(failure), "fork") != NULL, child_rows[i].name);
        mcpump_failure_free(failure);
    }
    return wrong;
}

static int leave_alone_in_child(mcpump_server *server)
{
    int wrong = 0;
    mcpump_stats stats = {.size = sizeof(stats)};
    mcpump_transport *transport = mcpump_server_transport(server);
    mcpump_transport_stats(transport, &stats);
    CHILD_EXPECT(stats.opens == 1 && stats.in_flight == 0, "stats");
    CHILD_EXPECT(!mcpump_server_is_connected(server), "is_connected");
    CHILD_EXPECT(mcpump_server_era(server) == MCPUMP_ERA_AUTO, "era");
    CHILD_EXPECT(mcpump_transport_pid(transport) == -1, "pid");
    CHILD_EXPECT(mcpump_shutdown(MCPUMP_FOREVER) == MCPUMP_OK, "shutdown");
    mcpump_interrupt_all();
    mcpump_clear_interrupt_all();
    mcpump_server_interrupt(server);
    mcpump_transport_close_begin(transport);
    mcpump_server_close(server);
    mcpump_transport_close(transport);
    return wrong;
}

/* A transport of its own, made in the child. */
static int live_in_child(void)
{
    int wrong = 0;
    static const char text[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"test/echo\"}";
    mcpump_transport_options options = raw_options(NO_STRINGS);
    mcpump_transport *transport = NULL;
    mcpump_reply *reply = NULL;
    CHILD_EXPECT(mcpump_transport_new(&options, &transport, NULL) == MCPUMP_OK, "new");
    CHILD_EXPECT(mcpump_transport_open(transport, NULL) == MCPUMP_OK, "open");
    CHILD_EXPECT(mcpump_transport_send_request(transport, text, strlen(text), NULL, &reply, NULL) ==
                     MCPUMP_OK,
                 "send");
    mcpump_reply_free(reply);
    mcpump_interrupt_all();
    CHILD_EXPECT(mcpump_transport_is_interrupted(transport), "interrupt_all");
    mcpump_clear_interrupt_all();
    CHILD_EXPECT(mcpump_shutdown(MCPUMP_FOREVER) == MCPUMP_OK, "shutdown of its own");
    CHILD_EXPECT(!mcpump_transport_is_connected(transport), "shutdown of its own");
    mcpump_transport_free(transport);
    return wrong;
}

static int be_child(mcpump_server *server)
{
    int wrong = try_all_in_child(server);
    wrong += leave_alone_in_child(server);
    wrong += live_in_child();
    wrong += try_all_in_child(server);
    mcpump_server_free(server);
    return wrong;
}

/* Goes on in the child until it is told to end, its copies of our fds closed by free or not. */
static pid_t fork_child(mcpump_server *server, bool frees, int *ret_done, int *ret_end)
{
    int done[2], end[2];
    cr_assert_eq(pipe2(done, O_CLOEXEC), 0);
    cr_assert_eq(pipe2(end, O_CLOEXEC), 0);
    pid_t pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0) {
        char byte = (char)(frees ? be_child(server) : try_all_in_child(server));
        close(end[1]);
        bool told = write(done[1], &byte, 1) == 1 && read(end[0], &byte, 1) == 0;
        _exit(told ? 0 : 1);
    }
    close(done[1]);
    close(end[0]);
    *ret_done = done[0];
    *ret_end = end[1];
    return pid;
}

struct caller {
    mcpump_server *server;
    atomic_bool has_to_stop;
};

static void *call_all_the_time(void *arg)
{
    struct caller *caller = arg;
    while (!atomic_load(&caller->has_to_stop))
        json_object_put(test_result(caller->server, "test/echo", NULL));
    return NULL;
}

/* Forked while other threads are in the library. Not under a sanitizer, whose allocator may be
 * locked by one of them at the fork, for ever in the child; the C library's is made fit for that.
 */
TIDY_TEST(a_child_of_the_host_and_its_parent)
{
    if (TEST_IS_SANITIZED)
        return;
    struct caller caller = {.has_to_stop = false};
    pthread_t thread;
    mcpump_server_options options = test_options(STRINGS("--era", "legacy"));
    options.transport.stdin_grace_ms = TEST_PATIENCE_MS;
    mcpump_server *server = caller.server = test_server_new(&options);
    test_connect_ok(server);
    pid_t server_pid = test_pid(server);
    cr_assert_eq(pthread_create(&thread, NULL, call_all_the_time, &caller), 0);
    for (int round = 0; round < 5; round++) {
        int done, end, status;
        char wrong = 1;
        pid_t pid = fork_child(server, true, &done, &end);
        cr_assert_eq(read(done, &wrong, 1), 1, "the child has died");
        cr_expect_eq(wrong, 0, "%d wrong in the child", wrong);
        test_expect_result(server, "test/echo", "{\"a\":1}", "{\"a\":1}");
        close(end);
        cr_assert_eq(waitpid(pid, &status, 0), pid);
        cr_expect_eq(status, 0);
        close(done);
        test_expect_result(server, "test/echo", "{\"a\":2}", "{\"a\":2}");
    }
    atomic_store(&caller.has_to_stop, true);
    pthread_join(thread, NULL);
    cr_expect_eq(test_pid(server), server_pid);
    cr_expect_eq(test_stats(server).opens, 1);
    mcpump_server_free(server);
}

/* -- many children of a busy host */

#define CHILDREN 500

struct busy {
    mcpump_run *run; /* of all calls, in the host and in its children */
    mcpump_group *group;
    mcpump_transport *shared;
    atomic_bool has_to_stop;
    atomic_int wrong;
};

static bool echoes(mcpump_transport *transport)
{
    static const char text[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"test/echo\"}";
    mcpump_reply *reply = NULL;
    mcpump_err err =
        mcpump_transport_send_request(transport, text, strlen(text), NULL, &reply, NULL);
    mcpump_reply_free(reply);
    return err == MCPUMP_OK;
}

/* From new to free. */
static bool lives(void)
{
    mcpump_transport_options options = raw_options(NO_STRINGS);
    mcpump_transport *transport = NULL;
    bool ok = mcpump_transport_new(&options, &transport, NULL) == MCPUMP_OK &&
              mcpump_transport_open(transport, NULL) == MCPUMP_OK && echoes(transport);
    mcpump_transport_free(transport);
    return ok;
}

static void *call_under_run(void *arg)
{
    struct busy *busy = arg;
    mcpump_run_scope scope;
    mcpump_run_enter(busy->run, &scope);
    while (!atomic_load(&busy->has_to_stop))
        atomic_fetch_add(&busy->wrong, !echoes(busy->shared));
    mcpump_run_leave(&scope);
    return NULL;
}

static void *live_under_run(void *arg)
{
    struct busy *busy = arg;
    mcpump_run_scope scope;
    mcpump_run_enter(busy->run, &scope);
    while (!atomic_load(&busy->has_to_stop))
        atomic_fetch_add(&busy->wrong, !lives());
    mcpump_run_leave(&scope);
    return NULL;
}

/* Holds the lock of a board for much of the time. */
static void *come_and_go(void *arg)
{
    struct busy *busy = arg;
    while (!atomic_load(&busy->has_to_stop)) {
        atomic_fetch_add(&busy->wrong, mcpump_group_add(busy->group, busy->shared) != MCPUMP_OK);
        mcpump_group_remove(busy->group, busy->shared);
    }
    return NULL;
}

static bool is_stopped_by_group(mcpump_group *group)
{
    mcpump_transport_options options = raw_options(NO_STRINGS);
    mcpump_transport *transport = NULL;
    mcpump_group_interrupt(group);
    mcpump_group_clear_interrupt(group);
    if (mcpump_transport_new(&options, &transport, NULL) != MCPUMP_OK ||
        mcpump_group_add(group, transport) != MCPUMP_OK)
        return false;
    mcpump_group_interrupt(group);
    bool is_stopped = mcpump_transport_is_interrupted(transport);
    mcpump_group_remove(group, transport);
    mcpump_transport_free(transport);
    mcpump_group_free(group);
    return is_stopped;
}

/* With the parent's run and group, at whose boards other threads were, and its transport. */
static int be_child_of_busy(struct busy *busy)
{
    mcpump_run_scope scope;
    alarm(TEST_PATIENCE_MS / 1000); /* one that waits for a lock for ever ends by this */
    mcpump_run_enter(busy->run, &scope);
    bool ok = lives();
    mcpump_run_cancel(busy->run);
    mcpump_interrupt_all();
    ok = ok && !lives();
    mcpump_run_leave(&scope);
    ok = ok && lives() && is_stopped_by_group(busy->group);
    mcpump_run_free(busy->run);
    mcpump_transport_free(busy->shared);
    return ok && mcpump_shutdown(MCPUMP_FOREVER) == MCPUMP_OK ? 0 : 1;
}

TIDY_TEST(many_children_of_a_busy_host)
{
    if (TEST_IS_SANITIZED) /* see above */
        return;
    mcpump_transport_options options = raw_options(NO_STRINGS);
    struct busy busy = {
        .run = mcpump_run_new(NULL), .group = mcpump_group_new(), .shared = raw_open(&options)};
    void *(*const work[])(void *) = {call_under_run, live_under_run, come_and_go};
    pthread_t threads[LENGTH(work)];
    for (size_t i = 0; i < LENGTH(work); i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, work[i], &busy), 0);
    for (int i = 0; i < CHILDREN; i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0)
            _exit(be_child_of_busy(&busy));
        cr_assert_eq(waitpid(pid, &status, 0), pid);
        cr_assert_eq(status, 0, "child %d: %x", i, (unsigned)status);
    }
    atomic_store(&busy.has_to_stop, true);
    for (size_t i = 0; i < LENGTH(work); i++)
        pthread_join(threads[i], NULL);
    cr_expect_eq(atomic_load(&busy.wrong), 0);
    mcpump_group_free(busy.group);
    mcpump_transport_free(busy.shared);
    mcpump_run_free(busy.run);
}

/* Its copy of the pipe is closed: the server sees the end of its stdin although the child lives. */
TIDY_TEST(a_child_that_has_freed_its_copy_keeps_no_server)
{
    struct test_folder folder;
    test_folder_init(&folder);
    mcpump_server_options options = test_options(STRINGS("--log", folder.log));
    options.transport.stdin_grace_ms = TEST_PATIENCE_MS;
    mcpump_server *server = test_server_new(&options);
    test_connect_ok(server);
    int done, end;
    char wrong = 1;
    pid_t pid = fork_child(server, true, &done, &end);
    cr_assert_eq(read(done, &wrong, 1), 1);
    cr_expect_eq(wrong, 0);
    int64_t started = test_now_ms();
    mcpump_server_free(server);
    cr_expect_lt(test_now_ms() - started, TEST_PATIENCE_MS, "it did not see the end of its stdin");
    cr_expect_eq(test_count_lines(folder.log, "eof"), 1);
    cr_expect(test_is_alive(pid));
    close(end);
    close(done);
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
    test_folder_done(&folder);
}

/* One that does nothing keeps the pipe open: the ladder ends the server in its place. */
TIDY_TEST(a_child_that_keeps_its_copy_costs_the_grace)
{
    mcpump_server_options options = test_options(NO_STRINGS);
    options.transport.stdin_grace_ms = 200;
    mcpump_server *server = test_server_new(&options);
    test_connect_ok(server);
    int done, end;
    char wrong = 1;
    pid_t pid = fork_child(server, false, &done, &end);
    cr_assert_eq(read(done, &wrong, 1), 1);
    cr_expect_eq(wrong, 0);
    int64_t started = test_now_ms();
    mcpump_server_free(server);
    cr_expect_geq(test_now_ms() - started, 200);
    close(end);
    close(done);
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
}
