/* SPDX-License-Identifier: Apache-2.0 */
/* The server ends by itself: what calls are told, what is still delivered, what is left. */
#include "support.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Waits without limit, so that only the server's end can end them. */
static mcpump_server *connect_patient(const char *const *switches)
{
    mcpump_server_options options = test_options(switches);
    options.transport.default_timeout_ms = MCPUMP_FOREVER;
    options.transport.stdin_grace_ms = options.transport.term_grace_ms = 300;
    options.max_reconnects = MCPUMP_ZERO;
    mcpump_server *server = test_server_new(&options);
    test_connect_ok(server);
    return server;
}

/* -- during a call */

static const struct end_row {
    const char *name;
    const char *method, *params;
    mcpump_cause cause;
    int exit_status, term_signal;
    const char *words;
} ends[] = {
    {"exit with 0", "test/exit", NULL, MCPUMP_CAUSE_EXITED, 0, 0, "exited with status 0"},
    {"exit with 7", "test/exit", "{\"status\":7}", MCPUMP_CAUSE_EXITED, 7, 0,
     "exited with status 7"},
    {"exit later", "test/exit", "{\"status\":3,\"ms\":50}", MCPUMP_CAUSE_EXITED, 3, 0, "status 3"},
    {"SIGKILL", "test/kill", NULL, MCPUMP_CAUSE_EXITED, -1, SIGKILL, "signal 9"},
    {"SIGTERM", "test/kill", "{\"signal\":15}", MCPUMP_CAUSE_EXITED, -1, SIGTERM, "signal 15"},
    {"torn reply", "test/torn", "{\"status\":4}", MCPUMP_CAUSE_EXITED, 4, 0, "status 4"},
    {"a grandchild holds the pipes", "test/grandchild", "{\"reply\":false,\"status\":5}",
     MCPUMP_CAUSE_EXITED, 5, 0, "status 5"},
    {"a grandchild without pipes", "test/grandchild",
     "{\"kind\":\"quiet\",\"reply\":false,\"status\":6}", MCPUMP_CAUSE_EXITED, 6, 0, "status 6"},
    {"stdout closed", "test/close-stdout", "{\"reply\":false}", MCPUMP_CAUSE_STDOUT_CLOSED, -1, 0,
     "closed its standard output"},
};

static void expect_end(const struct end_row *row)
{
    struct test_resources before = test_resources();
    mcpump_server *server = connect_patient(NO_STRINGS);
    mcpump_failure *failure = test_call_fails(server, row->method, row->params, MCPUMP_ERR_CLOSED);
    const char *message = mcpump_failure_message(failure);
    cr_expect_eq(mcpump_failure_cause(failure), row->cause, "%s: %s", row->name, message);
    cr_expect_eq(mcpump_failure_exit_status(failure), row->exit_status, "%s: %s", row->name,
                 message);
    cr_expect_eq(mcpump_failure_term_signal(failure), row->term_signal, "%s: %s", row->name,
                 message);
    cr_expect_eq(mcpump_failure_phase(failure), MCPUMP_PHASE_REQUEST, "%s", row->name);
    cr_expect_eq(mcpump_failure_sent(failure), MCPUMP_SENT, "%s", row->name);
    test_expect_part(message, row->words, row->name);
    test_expect_part(message, row->method, row->name);
    mcpump_failure_free(failure);
    cr_expect_not(mcpump_server_is_connected(server), "%s", row->name);

    /* Further calls are told the same, and start nothing. */
    failure = test_call_fails(server, "test/echo", NULL, MCPUMP_ERR_UNAVAILABLE);
    cr_expect_eq(mcpump_failure_cause(failure), row->cause, "%s", row->name);
    cr_expect_eq(mcpump_failure_exit_status(failure), row->exit_status, "%s", row->name);
    cr_expect_eq(mcpump_failure_sent(failure), MCPUMP_NOT_SENT, "%s", row->name);
    mcpump_failure_free(failure);
    cr_expect_eq(test_stats(server).opens, 1, "%s", row->name);
    test_connect_ok(server);
    json_object_put(test_result(server, "test/echo", NULL));
    mcpump_server_free(server);
    EXPECT_NOTHING_LEFT(before, row->name);
}

Test(death, a_call_in_flight_is_told_how_it_ended)
{
    for (size_t i = 0; i < LENGTH(ends); i++)
        expect_end(&ends[i]);
}

/* The fastest of some: a busy machine may delay any one of them. */
Test(death, a_call_in_flight_fails_within_200_ms)
{
    static const char *const methods[] = {"test/exit", "test/kill", "test/grandchild"};
    for (size_t i = 0; i < LENGTH(methods); i++) {
        int64_t fastest = TEST_PATIENCE_MS;
        for (int round = 0; round < 10; round++) {
            mcpump_server *server = connect_patient(NO_STRINGS);
            int64_t started = test_now_ms();
            mcpump_failure_free(
                test_call_fails(server, methods[i], "{\"reply\":false}", MCPUMP_ERR_CLOSED));
            int64_t took = test_now_ms() - started;
            fastest = took < fastest ? took : fastest;
            mcpump_server_free(server);
        }
        cr_expect_lt(fastest, 200, "%s", methods[i]);
    }
}

Test(death, all_calls_in_flight_fail)
{
    struct test_folder folder;
    struct test_call calls[32];
    test_folder_init(&folder);
    mcpump_server *server = connect_patient(STRINGS("--log", folder.log));
    for (size_t i = 0; i < LENGTH(calls); i++)
        test_call_start(&calls[i], server, "test/drop", NULL);
    test_await_lines(folder.log, "recv ", 1 + LENGTH(calls)); /* and the probe */
    cr_assert_eq(kill(test_pid(server), SIGKILL), 0);
    for (size_t i = 0; i < LENGTH(calls); i++) {
        test_call_join(&calls[i]);
        cr_expect_eq(calls[i].err, MCPUMP_ERR_CLOSED, "call %zu", i);
        cr_expect_eq(mcpump_failure_term_signal(calls[i].failure), SIGKILL, "call %zu", i);
        test_call_done(&calls[i]);
    }
    mcpump_server_free(server);
    test_folder_done(&folder);
}

/* -- while idle */

Test(death, while_idle_shows_without_a_call)
{
    struct test_resources before = test_resources();
    mcpump_server *server = connect_patient(NO_STRINGS);
    pid_t pid = test_pid(server);
    cr_expect(mcpump_server_is_connected(server));
    json_object_put(test_result(server, "test/exit", "{\"ms\":20,\"reply\":true,\"status\":3}"));
    cr_assert(test_await_end(pid));
    cr_expect_not(mcpump_server_is_connected(server), "a zombie is dead");
    cr_expect_not(mcpump_transport_is_connected(mcpump_server_transport(server)));
    cr_expect_eq(mcpump_server_era(server), MCPUMP_ERA_AUTO);
    /* The death shows a little before the loss is told. */
    mcpump_reply *reply = NULL;
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_server_request(server, "test/echo", NULL, NULL, &reply, &failure);
    cr_expect(err == MCPUMP_ERR_UNAVAILABLE || err == MCPUMP_ERR_CLOSED, "%s",
              mcpump_err_name(err));
    cr_assert_not_null(failure);
    cr_expect_eq(mcpump_failure_exit_status(failure), 3);
    mcpump_failure_free(failure);
    mcpump_server_free(server);
    EXPECT_NOTHING_LEFT(before, "");
}

/* -- what was said last */

static void expect_last_reply(mcpump_transport *transport, const char *method, int round)
{
    char request[128];
    mcpump_reply *reply = NULL;
    mcpump_failure *failure = NULL;
    int size = snprintf(request, sizeof(request),
                        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\","
                        "\"params\":{\"reply\":true}}",
                        method);
    cr_assert_eq(mcpump_transport_open(transport, NULL), MCPUMP_OK);
    mcpump_err err =
        mcpump_transport_send_request(transport, request, (size_t)size, NULL, &reply, &failure);
    cr_assert_eq(err, MCPUMP_OK, "%s, round %d: %s", method, round,
                 failure != NULL ? mcpump_failure_message(failure) : mcpump_err_name(err));
    mcpump_reply_free(reply);
    mcpump_transport_close(transport);
}

Test(death, a_reply_before_the_end_is_delivered)
{
    static const char *const methods[] = {"test/exit", "test/kill", "test/no-newline-then-exit"};
    mcpump_transport *transport = test_transport_new(NO_STRINGS);
    for (int round = 0; round < TEST_SCALED(1000); round++)
        expect_last_reply(transport, methods[round % (int)LENGTH(methods)], round);
    mcpump_transport_free(transport);
}

/* Its grandchild is waited for, and then ended. */
Test(death, a_reply_before_the_end_of_a_launcher_is_delivered)
{
    mcpump_server_options options = test_options(NO_STRINGS);
    options.transport.stdin_grace_ms = options.transport.term_grace_ms = 50;
    mcpump_transport *transport = NULL;
    cr_assert_eq(mcpump_transport_new(&options.transport, &transport, NULL), MCPUMP_OK);
    for (int round = 0; round < 20; round++)
        expect_last_reply(transport, "test/grandchild", round);
    mcpump_transport_free(transport);
}

/* -- what is left */

/* The leader is gone, its group is not: close ends that too, within the graces. */
Test(death, a_grandchild_that_holds_stdout_delays_nothing)
{
    static const char *const switches[][3] = {{NULL}, {"--ignore-term", NULL}};
    for (size_t i = 0; i < LENGTH(switches); i++) {
        struct test_resources before = test_resources();
        mcpump_server *server = connect_patient(switches[i]);
        json_object *result = test_result(server, "test/grandchild", "{\"exit\":false}");
        pid_t grandchild = (pid_t)test_int_member(result, "pid");
        json_object_put(result);
        cr_expect(test_is_alive(grandchild));
        mcpump_failure_free(
            test_call_fails(server, "test/exit", "{\"status\":1}", MCPUMP_ERR_CLOSED));
        int64_t started = test_now_ms();
        mcpump_server_close(server);
        cr_expect_lt(test_now_ms() - started, TEST_PATIENCE_MS / 2);
        cr_expect_not(test_is_alive(grandchild), "case %zu", i);
        mcpump_server_free(server);
        EXPECT_NOTHING_LEFT(before, "");
    }
}

static int64_t cpu_ms(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

/* stdout is at its end while the process lives on for a second: nobody turns on the spot. */
Test(death, the_end_of_stdout_does_not_spin)
{
    mcpump_server_options options = test_options(STRINGS("--ignore-eof", "--ignore-term"));
    options.transport.stdin_grace_ms = options.transport.term_grace_ms = 500;
    mcpump_server *server = test_server_new(&options);
    test_connect_ok(server);
    int64_t started = test_now_ms(), cpu = cpu_ms();
    mcpump_failure_free(
        test_call_fails(server, "test/close-stdout", "{\"reply\":false}", MCPUMP_ERR_CLOSED));
    mcpump_server_close(server);
    int64_t took = test_now_ms() - started;
    cr_expect_geq(took, 1000);
    cr_expect_lt(cpu_ms() - cpu, took / 4);
    mcpump_server_free(server);
}

/* -- hosts that look after SIGCHLD in their own way; Criterion runs each test in its own process */

static void reap_all(int number)
{
    (void)number;
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
}

static const struct sigchld_row {
    const char *name;
    void (*handler)(int number);
    int flags;
} sigchld_rows[] = {
    {"default", SIG_DFL, 0},
    {"ignored", SIG_IGN, 0},
    {"no zombies", SIG_DFL, SA_NOCLDWAIT},
    {"a handler reaps all", reap_all, SA_RESTART},
    {"a handler reaps all, no restart", reap_all, 0},
};

static void live_and_die(const struct sigchld_row *row)
{
    mcpump_server *server = connect_patient(NO_STRINGS);
    json_object_put(test_result(server, "test/echo", NULL));
    mcpump_failure *failure =
        test_call_fails(server, "test/exit", "{\"status\":3}", MCPUMP_ERR_CLOSED);
    int status = mcpump_failure_exit_status(failure);
    cr_expect_eq(mcpump_failure_cause(failure), MCPUMP_CAUSE_EXITED, "%s: %s", row->name,
                 mcpump_failure_message(failure));
    /* It costs the exit status, at most. */
    cr_expect(status == 3 || (status == -1 && row != sigchld_rows), "%s: status %d", row->name,
              status);
    mcpump_failure_free(failure);

    test_connect_ok(server);
    pid_t pid = test_pid(server);
    cr_assert_eq(kill(pid, SIGKILL), 0);
    cr_assert(test_await_end(pid));
    cr_expect_not(mcpump_server_is_connected(server), "%s", row->name);
    test_connect_ok(server);
    cr_expect_neq(test_pid(server), pid);
    json_object_put(test_result(server, "test/echo", NULL));
    mcpump_server_close(server);
    cr_expect_not(mcpump_server_is_connected(server), "%s", row->name);
    mcpump_server_free(server);
}

Test(death, whatever_the_host_does_with_sigchld)
{
    for (size_t i = 0; i < LENGTH(sigchld_rows); i++) {
        const struct sigchld_row *row = &sigchld_rows[i];
        struct sigaction action = {.sa_flags = row->flags};
        struct test_resources before = test_resources();
        action.sa_handler = row->handler;
        cr_assert_eq(sigaction(SIGCHLD, &action, NULL), 0);
        for (int round = 0; round < 10; round++)
            live_and_die(row);
        EXPECT_NOTHING_LEFT(before, row->name);
    }
}

static void *reap_for_ever(void *arg)
{
    const int *stop_fd = arg;
    char byte;
    /* Without children waitpid fails at once; the host's thread would rather wait, as this does. */
    while (read(*stop_fd, &byte, 1) < 0)
        waitpid(-1, NULL, 0);
    return NULL;
}

Test(death, a_thread_of_the_host_reaps_all)
{
    int stop[2];
    pthread_t thread;
    cr_assert_eq(pipe2(stop, O_NONBLOCK | O_CLOEXEC), 0);
    cr_assert_eq(pthread_create(&thread, NULL, reap_for_ever, &stop[0]), 0);
    for (int round = 0; round < 10; round++)
        live_and_die(&sigchld_rows[1]);
    cr_assert_eq(write(stop[1], "", 1), 1);
    pthread_join(thread, NULL);
    close(stop[0]);
    close(stop[1]);
}

/* -- many */

/* Nobody calls, nobody closes: the zombies go all the same. */
Test(death, fifty_servers_exit_at_once)
{
    mcpump_transport *transports[50];
    struct test_resources before = test_resources();
    for (size_t i = 0; i < LENGTH(transports); i++)
        transports[i] = test_open(STRINGS("--exit-now", "0"));
    int64_t started = test_now_ms();
    while (test_has_children() && test_now_ms() - started < TEST_PATIENCE_MS)
        sched_yield();
    cr_expect_not(test_has_children());
    for (size_t i = 0; i < LENGTH(transports); i++) {
        cr_expect_not(mcpump_transport_is_connected(transports[i]), "server %zu", i);
        mcpump_transport_free(transports[i]);
    }
    EXPECT_NOTHING_LEFT(before, "");
}

/* The end of the old process comes to light in any order with the start of the new one. */
Test(death, the_old_end_does_not_touch_the_successor)
{
    struct test_resources before = test_resources();
    mcpump_server *server = connect_patient(NO_STRINGS);
    for (int round = 0; round < TEST_SCALED(100); round++) {
        pid_t old = test_pid(server);
        cr_assert_eq(kill(old, SIGKILL), 0);
        cr_assert(test_await_end(old));
        test_connect_ok(server);
        pid_t pid = test_pid(server);
        cr_assert_neq(pid, old);
        for (int i = 0; i < 3; i++)
            json_object_put(test_result(server, "test/echo", NULL));
        cr_expect_eq(test_pid(server), pid);
        cr_expect(mcpump_server_is_connected(server));
    }
    mcpump_server_free(server);
    EXPECT_NOTHING_LEFT(before, "");
}

Test(death, a_transport_is_opened_again)
{
    struct test_resources before = test_resources();
    mcpump_transport *transport = test_open(NO_STRINGS);
    for (int round = 0; round < 20; round++) {
        mcpump_failure *failure = NULL;
        pid_t pid = mcpump_transport_pid(transport);
        cr_expect_eq(mcpump_transport_open(transport, &failure), MCPUMP_ERR_ALREADY_OPEN);
        mcpump_failure_free(failure);
        cr_assert_eq(kill(pid, SIGKILL), 0);
        cr_assert(test_await_end(pid));
        /* ALREADY_OPEN for as long as the end is being dealt with. */
        mcpump_err err;
        int64_t until = test_now_ms() + TEST_PATIENCE_MS;
        while ((err = mcpump_transport_open(transport, NULL)) == MCPUMP_ERR_ALREADY_OPEN &&
               test_now_ms() < until)
            sched_yield();
        cr_assert_eq(err, MCPUMP_OK, "%s", mcpump_err_name(err));
        cr_expect(mcpump_transport_is_connected(transport));
    }
    mcpump_transport_free(transport);
    EXPECT_NOTHING_LEFT(before, "");
}
