/* SPDX-License-Identifier: Apache-2.0 */
/* The host ends the server: every kind of server, every kind of close. */
#include "support.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LONG_MS  60000 /* a grace that no server here may need */
#define SHORT_MS 200

/* -- kinds of servers */

static const struct ending {
    const char *name;
    const char *const *switches;
    int64_t stdin_grace_ms, term_grace_ms;
    int64_t at_least_ms;
    bool is_stopped; /* by SIGSTOP, before the close */
    bool exits;      /* in good order */
} endings[] = {
    {"honours EOF", STRINGS("--era", "both"), LONG_MS, LONG_MS, 0, false, true},
    {"ignores EOF", STRINGS("--ignore-eof"), SHORT_MS, LONG_MS, SHORT_MS, false, false},
    {"ignores EOF and SIGTERM", STRINGS("--ignore-eof", "--ignore-term"), SHORT_MS, SHORT_MS,
     2 * SHORT_MS, false, false},
    {"ignores EOF, no grace", STRINGS("--ignore-eof"), MCPUMP_ZERO, LONG_MS, 0, false, false},
    {"ignores both, no graces", STRINGS("--ignore-eof", "--ignore-term"), MCPUMP_ZERO, MCPUMP_ZERO,
     0, false, false},
    {"stopped", STRINGS("--era", "both"), SHORT_MS, LONG_MS, SHORT_MS, true, false},
    {"stopped, ignores both", STRINGS("--ignore-eof", "--ignore-term"), SHORT_MS, SHORT_MS,
     2 * SHORT_MS, true, false},
    {"last output", STRINGS("--flush-on-eof", "1000000"), LONG_MS, LONG_MS, 0, false, true},
    {"last output, a line", STRINGS("--flush-on-eof", "1"), LONG_MS, LONG_MS, 0, false, true},
    {"launcher", STRINGS("--launcher"), LONG_MS, LONG_MS, 0, false, true},
    {"launcher, ignores EOF", STRINGS("--launcher", "--ignore-eof"), SHORT_MS, LONG_MS, SHORT_MS,
     false, false},
    {"launcher, ignores both", STRINGS("--launcher", "--ignore-eof", "--ignore-term"), SHORT_MS,
     SHORT_MS, 2 * SHORT_MS, false, false},
    {"grandchild", STRINGS("--grandchild", "quiet"), SHORT_MS, LONG_MS, SHORT_MS, false, true},
    {"grandchild holds stdout", STRINGS("--grandchild", "hold"), SHORT_MS, LONG_MS, SHORT_MS, false,
     true},
    {"grandchild ignores SIGTERM", STRINGS("--grandchild", "hold", "--ignore-term"), SHORT_MS,
     SHORT_MS, 2 * SHORT_MS, false, true},
};

/* The row's switches and a log. The list stays until the next. */
static const char *const *with_log(const char *const *switches, const char *log)
{
    static const char *list[16];
    size_t size = 0;
    while (switches[size] != NULL) {
        list[size] = switches[size];
        size++;
    }
    cr_assert_lt(size + 2, LENGTH(list));
    list[size++] = "--log";
    list[size++] = log;
    list[size] = NULL;
    return list;
}

static void expect_gone(const char *log, const char *what, const char *name)
{
    pid_t pid = (pid_t)test_number_in_log(log, what);
    cr_expect(pid == 0 || !test_is_alive(pid), "%s: the process of \"%s\" is left", name, what);
}

static void expect_ending(const struct ending *row)
{
    struct test_folder folder;
    struct test_resources before = test_resources();
    test_folder_init(&folder);
    mcpump_server_options options = test_options(with_log(row->switches, folder.log));
    options.transport.stdin_grace_ms = row->stdin_grace_ms;
    options.transport.term_grace_ms = row->term_grace_ms;
    mcpump_server *server = test_server_new(&options);
    test_connect_ok(server);
    pid_t pid = test_pid(server);
    if (row->is_stopped)
        cr_assert_eq(kill(pid, SIGSTOP), 0);
    int64_t started = test_now_ms();
    mcpump_server_close(server);
    int64_t took = test_now_ms() - started;
    cr_expect_lt(took, LONG_MS / 2, "%s", row->name);
    cr_expect_geq(took, row->at_least_ms, "%s: %d ms", row->name, (int)took);
    cr_expect_not(test_is_alive(pid), "%s", row->name);
    cr_expect_eq(test_count_lines(folder.log, "exit 0"), row->exits, "%s: good order", row->name);
    expect_gone(folder.log, "start ", row->name);
    expect_gone(folder.log, "grandchild ", row->name);
    cr_expect_eq(test_pid(server), -1, "%s", row->name);
    mcpump_server_free(server);
    test_folder_done(&folder);
    EXPECT_NOTHING_LEFT(before, row->name);
}

Test(shutdown, every_kind_of_server_is_gone_afterwards)
{
    for (size_t i = 0; i < LENGTH(endings); i++)
        expect_ending(&endings[i]);
}

/* `sh -c 'server & wait'`: the shell does not pass on what happens to it. */
Test(shutdown, a_server_in_the_background_of_a_shell)
{
    static const char *const extras[] = {"", " --ignore-eof", " --ignore-eof --ignore-term"};
    for (size_t i = 0; i < LENGTH(extras); i++) {
        struct test_folder folder;
        char script[256];
        struct test_resources before = test_resources();
        test_folder_init(&folder);
        snprintf(script, sizeof(script),
                 "exec 3<&0; \"$0\" --log \"$1\"%s <&3 3<&- & exec 3<&-; wait", extras[i]);
        mcpump_server_options options = test_options(NO_STRINGS);
        options.transport.command = "sh";
        options.transport.args = STRINGS("-c", script, test_fake_server(), folder.log);
        options.transport.stdin_grace_ms = options.transport.term_grace_ms = SHORT_MS;
        mcpump_server *server = test_server_new(&options);
        test_connect_ok(server);
        cr_expect_neq(test_number_in_log(folder.log, "start "), test_pid(server));
        mcpump_server_free(server);
        expect_gone(folder.log, "start ", extras[i]);
        test_folder_done(&folder);
        EXPECT_NOTHING_LEFT(before, extras[i]);
    }
}

/* The launcher is gone before anybody closes. */
Test(shutdown, a_launcher_that_dies_first_leaves_nothing)
{
    struct test_folder folder;
    struct test_resources before = test_resources();
    test_folder_init(&folder);
    mcpump_server_options options = test_options(
        STRINGS("--launcher-exits-first", "--ignore-eof", "--ignore-term", "--log", folder.log));
    options.transport.stdin_grace_ms = options.transport.term_grace_ms = SHORT_MS;
    mcpump_transport *transport = NULL;
    cr_assert_eq(mcpump_transport_new(&options.transport, &transport, NULL), MCPUMP_OK);
    cr_assert_eq(mcpump_transport_open(transport, NULL), MCPUMP_OK);
    test_await_lines(folder.log, "start ", 1);
    mcpump_transport_close(transport);
    expect_gone(folder.log, "start ", "");
    mcpump_transport_free(transport);
    test_folder_done(&folder);
    EXPECT_NOTHING_LEFT(before, "");
}

/* -- kinds of closes */

Test(shutdown, twice_and_without_a_connection)
{
    struct test_resources before = test_resources();
    mcpump_server_options options = test_options(NO_STRINGS);
    mcpump_server *server = test_server_new(&options);
    mcpump_server_close(server);
    test_connect_ok(server);
    mcpump_server_close(server);
    mcpump_server_close(server);
    test_connect_ok(server);
    json_object_put(test_result(server, "test/echo", NULL));
    mcpump_server_close(server);
    cr_expect_eq(test_stats(server).opens, 2);
    mcpump_server_free(server);

    mcpump_transport *transport = test_transport_new(NO_STRINGS);
    mcpump_transport_close(transport);
    cr_assert_eq(mcpump_transport_open(transport, NULL), MCPUMP_OK);
    mcpump_transport_close(transport);
    mcpump_transport_close(transport);
    mcpump_transport_free(transport);
    EXPECT_NOTHING_LEFT(before, "");
}

static void *close_server(void *server)
{
    mcpump_server_close(server);
    return NULL;
}

/* Without the second close the first would take two minutes. */
Test(shutdown, a_second_close_escalates)
{
    struct test_folder folder;
    struct test_resources before = test_resources();
    pthread_t first;
    test_folder_init(&folder);
    mcpump_server_options options =
        test_options(STRINGS("--ignore-eof", "--ignore-term", "--log", folder.log));
    options.transport.stdin_grace_ms = options.transport.term_grace_ms = LONG_MS;
    mcpump_server *server = test_server_new(&options);
    test_connect_ok(server);
    int64_t started = test_now_ms();
    cr_assert_eq(pthread_create(&first, NULL, close_server, server), 0);
    test_await_lines(folder.log, "eof", 1);
    mcpump_server_close(server);
    pthread_join(first, NULL);
    cr_expect_lt(test_now_ms() - started, LONG_MS / 2);
    mcpump_server_free(server);
    test_folder_done(&folder);
    EXPECT_NOTHING_LEFT(before, "");
}

Test(shutdown, from_many_threads_at_once)
{
    struct test_resources before = test_resources();
    mcpump_server_options options = test_options(NO_STRINGS);
    mcpump_server *server = test_server_new(&options);
    for (int round = 0; round < TEST_SCALED(50); round++) {
        pthread_t threads[4];
        test_connect_ok(server);
        pid_t pid = test_pid(server);
        for (size_t i = 0; i < LENGTH(threads); i++)
            cr_assert_eq(pthread_create(&threads[i], NULL, close_server, server), 0);
        for (size_t i = 0; i < LENGTH(threads); i++)
            pthread_join(threads[i], NULL);
        cr_expect_not(test_is_alive(pid));
    }
    mcpump_server_free(server);
    EXPECT_NOTHING_LEFT(before, "");
}

Test(shutdown, during_calls)
{
    struct test_folder folder;
    struct test_call calls[8];
    struct test_resources before = test_resources();
    test_folder_init(&folder);
    mcpump_server_options options = test_options(STRINGS("--log", folder.log));
    options.transport.default_timeout_ms = MCPUMP_FOREVER;
    mcpump_server *server = test_server_new(&options);
    test_connect_ok(server);
    for (size_t i = 0; i < LENGTH(calls); i++)
        test_call_start(&calls[i], server, "test/drop", NULL);
    test_await_lines(folder.log, "recv ", 1 + LENGTH(calls)); /* and the probe */
    mcpump_server_close(server);
    for (size_t i = 0; i < LENGTH(calls); i++) {
        test_call_join(&calls[i]);
        cr_expect_eq(calls[i].err, MCPUMP_ERR_CLOSED, "call %zu", i);
        cr_expect_eq(mcpump_failure_cause(calls[i].failure), MCPUMP_CAUSE_CLOSED_BY_HOST);
        cr_expect_eq(mcpump_failure_sent(calls[i].failure), MCPUMP_SENT);
        test_call_done(&calls[i]);
    }
    mcpump_server_free(server);
    test_folder_done(&folder);
    EXPECT_NOTHING_LEFT(before, "");
}

/* How the server exited after a close is not what a later call fails with. */
Test(shutdown, the_exit_status_is_no_error)
{
    static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"test/echo\"}";
    mcpump_transport_options options = MCPUMP_TRANSPORT_OPTIONS_INIT;
    mcpump_transport *transport = NULL;
    mcpump_reply *reply = NULL;
    mcpump_failure *failure = NULL;
    options.command = "sh";
    options.args = STRINGS("-c", "read line; exit 9");
    cr_assert_eq(mcpump_transport_new(&options, &transport, NULL), MCPUMP_OK);
    cr_assert_eq(mcpump_transport_open(transport, NULL), MCPUMP_OK);
    mcpump_transport_close(transport);
    cr_expect_eq(
        mcpump_transport_send_request(transport, request, strlen(request), NULL, &reply, &failure),
        MCPUMP_ERR_NOT_OPEN);
    cr_assert_not_null(failure);
    cr_expect_eq(mcpump_failure_exit_status(failure), -1);
    cr_expect_eq(mcpump_failure_cause(failure), MCPUMP_CAUSE_NONE);
    cr_expect_eq(mcpump_failure_sent(failure), MCPUMP_NOT_SENT);
    mcpump_failure_free(failure);
    mcpump_transport_free(transport);
}

/* -- close beside connect */

struct connect {
    mcpump_server *server;
    mcpump_err err;
    atomic_bool running;
};

static void *run_connect(void *arg)
{
    struct connect *connect = arg;
    atomic_store(&connect->running, true);
    connect->err = mcpump_server_connect(connect->server, NULL);
    return NULL;
}

static const struct moment {
    const char *name;
    const char *const *switches;
    const char *line; /* of the log, which is waited for */
} moments[] = {
    {"starting", STRINGS("--delay-start", "100000"), "start "},
    {"probing", STRINGS("--probe", "silent"), "recv "},
    {"initializing", STRINGS("--era", "legacy", "--init", "silent"), "recv "},
    {"after a respawn", STRINGS("--probe", "exit", "--init", "silent"), "start "},
};

static void expect_close_while_connecting(const struct moment *moment, int lines)
{
    struct test_folder folder;
    struct test_call queued[16];
    struct test_resources before = test_resources();
    test_folder_init(&folder);
    mcpump_server_options options = test_options(with_log(moment->switches, folder.log));
    options.probe_timeout_ms = options.connect_timeout_ms = 2 * LONG_MS;
    options.transport.default_timeout_ms = MCPUMP_FOREVER;
    options.transport.stdin_grace_ms = options.transport.term_grace_ms = SHORT_MS;
    struct connect connect = {.server = test_server_new(&options)};
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, run_connect, &connect), 0);
    test_await_lines(folder.log, moment->line, lines);
    for (size_t i = 0; i < LENGTH(queued); i++)
        test_call_start(&queued[i], connect.server, "test/echo", NULL);
    int64_t started = test_now_ms();
    mcpump_server_close(connect.server);
    pthread_join(thread, NULL);
    cr_expect_lt(test_now_ms() - started, LONG_MS / 2, "%s", moment->name);
    cr_expect_eq(connect.err, MCPUMP_ERR_CLOSED, "%s: %s", moment->name,
                 mcpump_err_name(connect.err));
    /* Calls that came too late to share that fate begin anew, and are closed in turn. */
    for (size_t i = 0; i < LENGTH(queued); i++) {
        struct timespec soon;
        do {
            mcpump_server_close(connect.server);
            clock_gettime(CLOCK_REALTIME, &soon);
            soon.tv_sec += 1;
        } while (pthread_timedjoin_np(queued[i].thread, NULL, &soon) != 0);
        cr_expect_neq(queued[i].err, MCPUMP_OK, "%s: call %zu", moment->name, i);
        test_call_done(&queued[i]);
    }
    cr_expect_not(test_has_children(), "%s", moment->name);
    mcpump_server_free(connect.server);
    test_folder_done(&folder);
    EXPECT_NOTHING_LEFT(before, moment->name);
}

Test(shutdown, while_connecting)
{
    for (size_t i = 0; i < LENGTH(moments); i++)
        expect_close_while_connecting(&moments[i], i == LENGTH(moments) - 1 ? 2 : 1);
}

/* The close comes at any moment of a connect, which it ends or undoes, or which it misses since it
 * was not begun; afterwards nothing starts any more. */
static void race_close_with_connect(int round)
{
    struct test_folder folder;
    struct test_resources before = test_resources();
    static const char *const how[] = {"discover", "error", "exit", "silent"};
    test_folder_init(&folder);
    mcpump_server_options options =
        test_options(STRINGS("--probe", how[round % (int)LENGTH(how)], "--log", folder.log));
    options.probe_timeout_ms = 2;
    struct connect connect = {.server = test_server_new(&options)};
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, run_connect, &connect), 0);
    while (!atomic_load(&connect.running))
        sched_yield();
    for (int i = 0; i < round * round / 4; i++)
        sched_yield();
    mcpump_server_close(connect.server);
    pthread_join(thread, NULL);
    cr_expect(connect.err == MCPUMP_OK || connect.err == MCPUMP_ERR_CLOSED, "round %d: %s", round,
              mcpump_err_name(connect.err));
    if (connect.err != MCPUMP_OK)
        cr_expect_not(test_has_children(), "round %d", round);
    mcpump_server_close(connect.server);
    int starts = test_count_lines(folder.log, "start ");
    cr_expect_not(mcpump_server_is_connected(connect.server), "round %d", round);
    cr_expect_not(test_has_children(), "round %d", round);
    mcpump_server_free(connect.server);
    cr_expect_eq(test_count_lines(folder.log, "start "), starts, "round %d", round);
    test_folder_done(&folder);
    EXPECT_NOTHING_LEFT(before, "");
}

Test(shutdown, races_with_connect)
{
    for (int round = 0; round < TEST_SCALED(200); round++)
        race_close_with_connect(round);
}

/* -- the host dies */

/* In a child of the test: reports the pid of its server, and waits to be killed. */
static _Noreturn void be_host(const mcpump_server_options *options, int report_fd)
{
    mcpump_server *server = NULL;
    pid_t pid = -1;
    if (mcpump_server_new(options, &server, NULL) == MCPUMP_OK &&
        mcpump_server_connect(server, NULL) == MCPUMP_OK)
        pid = mcpump_transport_pid(mcpump_server_transport(server));
    if (write(report_fd, &pid, sizeof(pid)) == sizeof(pid))
        pause();
    _exit(1);
}

Test(shutdown, the_server_of_a_host_that_was_killed_ends_by_itself)
{
    mcpump_server_options options = test_options(NO_STRINGS);
    int report[2];
    pid_t server = -1;
    cr_assert_eq(pipe(report), 0);
    pid_t host = fork();
    if (host == 0)
        be_host(&options, report[1]);
    close(report[1]);
    cr_assert_eq(read(report[0], &server, sizeof(server)), (ssize_t)sizeof(server));
    cr_assert_gt(server, 0);
    cr_assert(test_is_alive(server));
    cr_assert_eq(kill(host, SIGKILL), 0);
    cr_assert(test_await_end(server));
    cr_assert_eq(waitpid(host, NULL, 0), host);
    close(report[0]);
}
