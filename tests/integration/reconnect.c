/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Servers that go down and come back: by themselves, for a call, for the host, or not at all.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

#define HOUR_MS (3600 * 1000)

/* A server under test, with its log. */
struct subject {
    struct test_resources before;
    struct test_folder folder;
    mcpump_server_options options;
    mcpump_server *server;
};

static void subject_init(struct subject *subject, const char *const *switches)
{
    static const char *list[32];
    size_t size = 0;
    subject->before = test_resources();
    test_folder_init(&subject->folder);
    for (; switches[size] != NULL; size++)
        list[size] = switches[size];
    list[size] = "--log";
    list[size + 1] = subject->folder.log;
    list[size + 2] = NULL;
    subject->options = test_options(list);
    subject->options.backoff_first_ms = 1;
    subject->options.backoff_most_ms = 8;
    subject->options.transport.stdin_grace_ms = subject->options.transport.term_grace_ms = 300;
}

static void subject_start(struct subject *subject)
{
    subject->server = test_server_new(&subject->options);
    test_connect_ok(subject->server);
}

static void subject_done(struct subject *subject)
{
    mcpump_server_free(subject->server);
    test_folder_done(&subject->folder);
    EXPECT_NOTHING_LEFT(subject->before, "");
}

static int starts(const struct subject *subject)
{
    return test_count_lines(subject->folder.log, "start ");
}

/* Nothing tells of the states of a server alone but the server. */
static void await_state(mcpump_server *server, mcpump_server_state wanted)
{
    int64_t until = test_now_ms() + TEST_PATIENCE_MS;
    while (mcpump_server_get_state(server) != wanted && test_now_ms() < until)
        sched_yield();
    cr_assert_eq(mcpump_server_get_state(server), wanted, "%s",
                 mcpump_server_state_text(mcpump_server_get_state(server)));
}

/* Until the death of this process has been seen; it may have come back since. */
static void await_loss(mcpump_server *server, pid_t pid)
{
    int64_t until = test_now_ms() + TEST_PATIENCE_MS;
    while (mcpump_server_get_state(server) == MCPUMP_SERVER_READY && test_pid(server) == pid &&
           test_now_ms() < until)
        sched_yield();
}

static mcpump_server_status status_of(mcpump_server *server)
{
    mcpump_server_status status = {.size = sizeof(status)};
    mcpump_server_get_status(server, &status);
    return status;
}

/* Waits for the server as long as it takes. */
static mcpump_err call_patiently(mcpump_server *server, const char *method, const char *params)
{
    mcpump_call_options options = MCPUMP_CALL_OPTIONS_INIT;
    mcpump_reply *reply = NULL;
    options.wait_for_ready = true;
    options.timeout_ms = TEST_PATIENCE_MS;
    mcpump_err err = mcpump_server_request(server, method, params, &options, &reply, NULL);
    mcpump_reply_free(reply);
    return err;
}

/* -- by itself */

Test(reconnect, a_killed_server_comes_back_by_itself)
{
    struct subject subject;
    subject_init(&subject, NO_STRINGS);
    subject_start(&subject);
    pid_t first = test_pid(subject.server);
    cr_assert_eq(kill(first, SIGKILL), 0);
    test_await_lines(subject.folder.log, "start ", 2);
    await_state(subject.server, MCPUMP_SERVER_READY);
    mcpump_server_status status = status_of(subject.server);
    cr_expect_neq(status.pid, first);
    cr_expect_eq(status.generation, 2);
    cr_expect_eq(status.restarts, 1);
    cr_expect_eq(status.attempts_in_row, 1, "a handshake alone makes nothing good again");
    test_expect_part(status.last_failure, "signal 9", "");
    json_object_put(test_result(subject.server, "test/echo", NULL));
    subject_done(&subject);
}

Test(reconnect, a_stable_connection_lets_the_bound_start_anew)
{
    struct subject subject;
    subject_init(&subject, NO_STRINGS);
    subject.options.stable_ms = 1;
    subject_start(&subject);
    for (int i = 2; i < 12; i++) { /* more than max_reconnects */
        json_object_put(test_result(subject.server, "test/sleep", "{\"ms\":2}"));
        cr_assert_eq(kill(test_pid(subject.server), SIGKILL), 0);
        test_await_lines(subject.folder.log, "start ", i);
        await_state(subject.server, MCPUMP_SERVER_READY);
        cr_expect_eq(status_of(subject.server).attempts_in_row, 1);
    }
    subject_done(&subject);
}

/* It shakes hands and dies, again and again. */
Test(reconnect, so_many_in_a_row_then_failed)
{
    struct subject subject;
    subject_init(&subject, NO_STRINGS);
    subject.options.max_reconnects = 7;
    subject.server = test_server_new(&subject.options);
    cr_assert_eq(mcpump_server_start(subject.server, NULL), MCPUMP_OK);
    for (int i = 1; i <= 8; i++) {
        test_await_lines(subject.folder.log, "start ", i);
        await_state(subject.server, MCPUMP_SERVER_READY);
        cr_assert_eq(kill(test_pid(subject.server), SIGKILL), 0);
    }
    await_state(subject.server, MCPUMP_SERVER_FAILED);
    cr_expect_eq(starts(&subject), 8, "the first and seven more");
    cr_expect_eq(status_of(subject.server).attempts_in_row, 7);
    subject_done(&subject);
}

Test(reconnect, none_when_none_are_wanted)
{
    struct subject subject;
    subject_init(&subject, NO_STRINGS);
    subject.options.max_reconnects = MCPUMP_ZERO;
    subject_start(&subject);
    cr_assert_eq(kill(test_pid(subject.server), SIGKILL), 0);
    await_state(subject.server, MCPUMP_SERVER_FAILED);
    cr_expect_eq(starts(&subject), 1);
    subject_done(&subject);
}

/* -- for a call */

/* What has never run and is not wanted by the host is not tried behind everybody's back. */
Test(reconnect, a_start_that_failed_for_a_call_is_tried_again_for_a_call)
{
    struct subject subject;
    char command[96];
    subject_init(&subject, NO_STRINGS);
    snprintf(command, sizeof(command), "%s/server", subject.folder.path);
    subject.options.transport.command = command;
    subject.server = test_server_new(&subject.options);
    mcpump_failure *failure = test_call_fails(subject.server, "test/echo", NULL, MCPUMP_ERR_SPAWN);
    cr_expect_eq(mcpump_failure_errno(failure), 2);
    mcpump_failure_free(failure);
    cr_expect_eq(mcpump_server_get_state(subject.server), MCPUMP_SERVER_FAILED);
    cr_assert_eq(symlink(test_fake_server(), command), 0);
    cr_expect_eq(call_patiently(subject.server, "test/echo", NULL), MCPUMP_OK);
    cr_assert_eq(unlink(command), 0);
    subject_done(&subject);
}

Test(reconnect, what_was_in_flight_is_not_made_twice)
{
    struct subject subject;
    subject_init(&subject, NO_STRINGS);
    subject_start(&subject);
    for (int i = 0; i < 3; i++) {
        mcpump_failure_free(
            test_call_fails(subject.server, "test/kill", "{\"mark\":1}", MCPUMP_ERR_CLOSED));
        cr_expect_eq(call_patiently(subject.server, "test/echo", NULL), MCPUMP_OK);
    }
    FILE *log = fopen(subject.folder.log, "re");
    char line[4096];
    int kills = 0;
    while (fgets(line, sizeof(line), log) != NULL)
        kills += strstr(line, "test/kill") != NULL;
    fclose(log);
    cr_expect_eq(kills, 3);
    subject_done(&subject);
}

/* It replies and is gone; more often than max_reconnects. */
Test(reconnect, twenty_calls_to_a_server_that_dies_after_each)
{
    struct subject subject;
    subject_init(&subject, NO_STRINGS);
    subject_start(&subject);
    for (int i = 0; i < 20; i++) {
        mcpump_err err = call_patiently(subject.server, "test/exit", "{\"reply\":true}");
        /* Into the gap between the death and our seeing it: not made, and says so. */
        i -= err == MCPUMP_ERR_CLOSED;
        cr_assert(err == MCPUMP_OK || err == MCPUMP_ERR_CLOSED, "%s", mcpump_err_name(err));
    }
    cr_expect_leq(starts(&subject), 21);
    subject_done(&subject);
}

/* -- hammered */

#define HAMMERS    32
#define HAMMER_FOR 1000 /* ms */

struct hammer {
    mcpump_server *server;
    int64_t until, slowest;
    long calls;
    pthread_t thread;
};

static void *hammer(void *arg)
{
    struct hammer *hammer = arg;
    while (test_now_ms() < hammer->until) {
        int64_t started = test_now_ms();
        mcpump_reply *reply = NULL;
        mcpump_failure *failure = NULL;
        mcpump_err err =
            mcpump_server_request(hammer->server, "test/echo", NULL, NULL, &reply, &failure);
        cr_expect_neq(err, MCPUMP_OK);
        cr_expect_not_null(failure);
        mcpump_failure_free(failure);
        int64_t took = test_now_ms() - started;
        hammer->slowest = took > hammer->slowest ? took : hammer->slowest;
        hammer->calls++;
    }
    return NULL;
}

static atomic_int log_lines;

static void count_line(void *user, mcpump_log_level level, const char *name, const char *message)
{
    (void)user, (void)level, (void)name, (void)message;
    log_lines++;
}

/* The bounds of the delays: 20, 40, 80, ... ms; so in a second there are some starts, not
 * thousands. */
Test(reconnect, hammering_a_dead_server_starts_nothing_extra)
{
    static const char *const kinds[][6] = {{"--exit-now", "1"},
                                           {"--init", "error", "--era", "legacy"}};
    for (size_t kind = 0; kind < LENGTH(kinds); kind++) {
        struct subject subject;
        struct hammer hammers[HAMMERS];
        subject_init(&subject, kinds[kind]);
        subject.options.backoff_first_ms = 20;
        subject.options.backoff_most_ms = 10000;
        subject.options.transport.log_fn = count_line;
        subject.server = test_server_new(&subject.options);
        log_lines = 0;
        int64_t until = test_now_ms() + HAMMER_FOR;
        long calls = 0;
        for (size_t i = 0; i < HAMMERS; i++) {
            hammers[i] = (struct hammer){.server = subject.server, .until = until};
            cr_assert_eq(pthread_create(&hammers[i].thread, NULL, hammer, &hammers[i]), 0);
        }
        for (size_t i = 0; i < HAMMERS; i++) {
            pthread_join(hammers[i].thread, NULL);
            calls += hammers[i].calls;
            cr_expect_lt(hammers[i].slowest, TEST_PATIENCE_MS / 2, "%zu", kind);
        }
        cr_expect_gt(calls, 10 * HAMMERS, "%zu: they fail fast: %ld", kind, calls);
        /* An attempt is one process, or two where the probe was too much for it. */
        cr_expect_leq(starts(&subject), 2 * 8, "%zu: %d starts", kind, starts(&subject));
        cr_expect_leq(log_lines, 4 * 2 * 8, "%zu: %d lines", kind, log_lines);
        subject_done(&subject);
    }
}

/* -- the host's word */

static void expect_down_for_good(struct subject *subject, mcpump_server_state state)
{
    int before = starts(subject);
    cr_expect_eq(mcpump_server_get_state(subject->server), state);
    cr_expect_not(test_has_children());
    cr_expect_eq(status_of(subject->server).pid, -1);
    cr_expect_eq(starts(subject), before);
}

Test(reconnect, stopped_it_stays_down_until_the_host_wants_it)
{
    struct subject subject;
    subject_init(&subject, NO_STRINGS);
    subject_start(&subject);
    mcpump_server_stop(subject.server);
    expect_down_for_good(&subject, MCPUMP_SERVER_STOPPED);
    mcpump_failure_free(test_call_fails(subject.server, "test/echo", NULL, MCPUMP_ERR_NOT_OPEN));
    cr_expect_eq(call_patiently(subject.server, "test/echo", NULL), MCPUMP_ERR_NOT_OPEN);
    test_connect_ok(subject.server);
    json_object_put(test_result(subject.server, "test/echo", NULL));
    mcpump_server_stop_begin(subject.server);
    cr_expect_eq(mcpump_server_get_state(subject.server), MCPUMP_SERVER_STOPPED);
    cr_expect_eq(mcpump_server_restart(subject.server, NULL), MCPUMP_OK);
    json_object_put(test_result(subject.server, "test/echo", NULL));
    cr_expect_eq(starts(&subject), 3);
    subject_done(&subject);
}

Test(reconnect, a_restart_makes_a_new_process_in_every_state)
{
    struct subject subject;
    subject_init(&subject, NO_STRINGS);
    subject.options.backoff_first_ms = subject.options.backoff_most_ms = HOUR_MS;
    subject.server = test_server_new(&subject.options);
    cr_expect_eq(mcpump_server_restart(subject.server, NULL), MCPUMP_OK, "idle");
    pid_t pid = test_pid(subject.server);
    cr_expect_eq(mcpump_server_restart(subject.server, NULL), MCPUMP_OK, "ready");
    cr_expect_neq(test_pid(subject.server), pid);
    cr_expect(test_await_end(pid));
    cr_assert_eq(kill(test_pid(subject.server), SIGKILL), 0);
    await_state(subject.server, MCPUMP_SERVER_BACKING_OFF);
    cr_expect_eq(mcpump_server_restart(subject.server, NULL), MCPUMP_OK, "backing off");
    mcpump_server_stop(subject.server);
    cr_expect_eq(mcpump_server_restart(subject.server, NULL), MCPUMP_OK, "stopped");
    mcpump_server_close(subject.server);
    cr_expect_eq(mcpump_server_restart(subject.server, NULL), MCPUMP_OK, "closed");
    json_object_put(test_result(subject.server, "test/echo", NULL));
    cr_expect_eq(starts(&subject), 5);
    subject_done(&subject);
}

/* Close, stop and free while it is tried again, or about to be: nothing starts later. */
Test(reconnect, nothing_starts_after_the_end)
{
    struct subject subject;
    subject_init(&subject, NO_STRINGS);
    subject.options.backoff_first_ms = subject.options.backoff_most_ms = 3;
    subject.options.max_reconnects = 1000;
    subject_start(&subject);
    for (int round = 0; round < 20; round++) {
        pid_t pid = test_pid(subject.server);
        cr_assert_eq(kill(pid, SIGKILL), 0);
        if (round % 2 == 0)
            await_loss(subject.server, pid);
        mcpump_server_stop(subject.server);
        expect_down_for_good(&subject, MCPUMP_SERVER_STOPPED);
        test_connect_ok(subject.server);
    }
    cr_assert_eq(kill(test_pid(subject.server), SIGKILL), 0);
    subject_done(&subject);
}

/* Whether it is ready then, down, or being tried again. */
Test(reconnect, a_shutdown_of_all_lets_nothing_come_back)
{
    struct subject subject;
    subject_init(&subject, NO_STRINGS);
    subject.options.backoff_first_ms = subject.options.backoff_most_ms = 3;
    subject.options.max_reconnects = 1000;
    subject_start(&subject);
    for (int round = 0; round < 30; round++) {
        pid_t pid = test_pid(subject.server);
        if (round % 3 > 0)
            cr_assert_eq(kill(pid, SIGKILL), 0);
        if (round % 3 == 1)
            await_loss(subject.server, pid);
        cr_expect_eq(mcpump_shutdown(MCPUMP_FOREVER), MCPUMP_OK);
        await_state(subject.server, MCPUMP_SERVER_IDLE);
        mcpump_server_close(subject.server); /* waits for one that was starting just then */
        cr_expect_not(test_has_children());
        test_connect_ok(subject.server);
    }
    subject_done(&subject);
}

/* An interrupt that holds is not undone by a reconnect. */
Test(reconnect, an_interrupt_holds_back_reconnects)
{
    struct subject subject;
    subject_init(&subject, NO_STRINGS);
    subject_start(&subject);
    mcpump_server_interrupt(subject.server);
    cr_assert_eq(kill(test_pid(subject.server), SIGKILL), 0);
    await_state(subject.server, MCPUMP_SERVER_IDLE);
    cr_expect_eq(starts(&subject), 1);
    cr_expect(mcpump_server_is_interrupted(subject.server));
    mcpump_server_clear_interrupt(subject.server);
    json_object_put(test_result(subject.server, "test/echo", NULL));
    subject_done(&subject);
}

/* -- idle */

Test(reconnect, an_idle_server_is_stopped_and_a_call_starts_it)
{
    struct subject subject;
    subject_init(&subject, NO_STRINGS);
    subject.options.idle_timeout_ms = 50;
    subject_start(&subject);
    pid_t pid = test_pid(subject.server);
    json_object_put(test_result(subject.server, "test/sleep", "{\"ms\":300}"));
    cr_expect_eq(test_pid(subject.server), pid, "never during a call");
    cr_expect(test_await_end(pid));
    await_state(subject.server, MCPUMP_SERVER_IDLE);
    cr_expect_eq(starts(&subject), 1);
    json_object_put(test_result(subject.server, "test/echo", NULL));
    cr_expect_eq(starts(&subject), 2);
    subject_done(&subject);
}

/* -- what is remembered */

static void write_file(const char *path, const char *text, int mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

/* A legacy server is not probed again; when it has become modern meanwhile, that is found out. */
Test(reconnect, the_era_is_remembered_until_it_proves_wrong)
{
    struct subject subject;
    char script[96], text[1024];
    subject_init(&subject, NO_STRINGS);
    snprintf(script, sizeof(script), "%s/server", subject.folder.path);
    snprintf(text, sizeof(text), "#!/bin/sh\nexec %s --era legacy \"$@\"\n", test_fake_server());
    write_file(script, text, 0700);
    subject.options.transport.command = script;
    subject_start(&subject);
    cr_expect_eq(
        test_count_lines(subject.folder.log,
                         "recv {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\""),
        1);
    cr_assert_eq(mcpump_server_restart(subject.server, NULL), MCPUMP_OK);
    json_object *report = test_result(subject.server, "test/report", NULL);
    cr_expect_eq(test_int_member(report, "discover"), 0);
    cr_expect_eq(test_int_member(report, "initialize"), 1);
    json_object_put(report);

    snprintf(text, sizeof(text), "#!/bin/sh\nexec %s --era modern \"$@\"\n", test_fake_server());
    write_file(script, text, 0700);
    cr_assert_eq(mcpump_server_restart(subject.server, NULL), MCPUMP_OK);
    cr_expect_eq(mcpump_server_era(subject.server), MCPUMP_ERA_MODERN);
    json_object_put(test_result(subject.server, "test/echo", NULL));
    unlink(script);
    subject_done(&subject);
}

/* -- the status */

Test(reconnect, the_status_tells_what_is_known)
{
    struct subject subject;
    subject_init(&subject, STRINGS("--era", "legacy"));
    subject.server = test_server_new(&subject.options);
    mcpump_server_status status = status_of(subject.server);
    cr_expect_eq(status.state, MCPUMP_SERVER_IDLE);
    cr_expect_eq(status.pid, -1);
    cr_expect_eq(status.uptime_ms, -1);
    cr_expect_eq(status.next_try_ms, -1);
    cr_expect_eq(status.p50_us, -1);
    cr_expect_str_eq(status.version, "");
    for (int i = 0; i < 10; i++)
        json_object_put(test_result(subject.server, "test/echo", NULL));
    status = status_of(subject.server);
    cr_expect_eq(status.state, MCPUMP_SERVER_READY);
    cr_expect_eq(status.pid, test_pid(subject.server));
    cr_expect_geq(status.uptime_ms, 0);
    cr_expect_eq(status.calls, 10);
    cr_expect_eq(status.calls_failed, 0);
    cr_expect_gt(status.p50_us, 0);
    cr_expect_geq(status.p99_us, status.p50_us);
    cr_expect_str_eq(status.version, "2025-11-25");
    cr_expect_str_eq(status.last_failure, "");
    cr_expect_str_eq(status.server_name, "fake");
    cr_expect_str_eq(status.server_version, "1");
    cr_expect_eq(status.era, MCPUMP_ERA_LEGACY);
    size_t small = offsetof(mcpump_server_status, pid);
    memset(&status, 0x55, sizeof(status));
    status.size = small;
    mcpump_server_get_status(subject.server, &status);
    cr_expect_eq(status.pid, 0x55555555, "no more than an older caller has room for");
    subject_done(&subject);
}
