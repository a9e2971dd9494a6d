/* SPDX-License-Identifier: Apache-2.0 */
/* How all servers of a manager are stopped, and that nothing of them is left. */
#include "managed.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND_MS 1000
#define LONG_MS   600000 /* longer than any test */

/* Needs that long to end once its stdin is closed. */
static mcpump_server_options slow_to_end(const char *seconds)
{
    static const char *args[8];
    const char *const all[] = {"-c", "\"$0\"; exec sleep \"$1\"", test_fake_server(), seconds,
                               NULL};
    memcpy(args, all, sizeof(all));
    mcpump_server_options options = test_options(args);
    options.transport.command = "sh";
    options.transport.stdin_grace_ms = options.transport.term_grace_ms = LONG_MS;
    return options;
}

TIDY_TEST(all_end_side_by_side)
{
    enum { COUNT = 10 };
    mcpump_manager *manager = managed_new(0);
    mcpump_server_options options = slow_to_end("1");
    managed_add_many(manager, COUNT, &options, true);
    for (int i = 0; i < COUNT; i++)
        managed_connect(manager, managed_name(i));
    int64_t started = test_now_ms();
    cr_expect_eq(mcpump_manager_shutdown(manager, MCPUMP_FOREVER), MCPUMP_OK);
    int64_t took = test_now_ms() - started;
    cr_expect_geq(took, SECOND_MS, "they were killed");
    cr_expect_lt(took, 5 * SECOND_MS, "%d ms", (int)took);
    cr_expect_not(test_has_children());
    mcpump_manager_free(manager);
}

TIDY_TEST(who_is_not_gone_in_time_is_killed)
{
    mcpump_manager *manager = managed_new(0);
    mcpump_server_options deaf = test_options(STRINGS("--ignore-eof", "--ignore-term"));
    deaf.transport.stdin_grace_ms = deaf.transport.term_grace_ms = LONG_MS;
    managed_add_many(manager, 3, &deaf, false);
    managed_add(manager, "tame", NO_STRINGS, false);
    pid_t pid = managed_connect(manager, "tame");
    for (int i = 0; i < 3; i++)
        managed_connect(manager, managed_name(i));
    int64_t started = test_now_ms();
    cr_expect_eq(mcpump_manager_shutdown(manager, 300), MCPUMP_ERR_TIMEOUT);
    cr_expect_geq(test_now_ms() - started, 300);
    cr_expect_not(test_is_alive(pid));
    cr_expect_not(test_has_children());
    cr_expect_eq(mcpump_manager_shutdown(manager, 0), MCPUMP_OK, "nothing is left to be stopped");
    mcpump_manager_free(manager);
}

static void *shut_down(void *manager)
{
    mcpump_manager_shutdown(manager, MCPUMP_FOREVER);
    return NULL;
}

TIDY_TEST(a_second_shutdown_makes_the_first_hurry)
{
    pthread_t thread;
    mcpump_manager *manager = managed_new(0);
    mcpump_server_options deaf = test_options(STRINGS("--ignore-eof", "--ignore-term"));
    deaf.transport.stdin_grace_ms = deaf.transport.term_grace_ms = LONG_MS;
    managed_add_many(manager, 2, &deaf, false);
    for (int i = 0; i < 2; i++)
        managed_connect(manager, managed_name(i));
    cr_assert_eq(pthread_create(&thread, NULL, shut_down, manager), 0);
    managed_await_state(manager, "s1", MCPUMP_SERVER_STOPPED); /* the first is under way */
    cr_expect(test_has_children());
    mcpump_manager_shutdown(manager, MCPUMP_FOREVER);
    pthread_join(thread, NULL);
    cr_expect_not(test_has_children());
    mcpump_manager_free(manager);
}

/* Others are about to remove them; that takes no longer either. */
struct remover {
    mcpump_manager *manager;
    const char *name;
    pthread_t thread;
};

static void *remove_it(void *arg)
{
    struct remover *remover = arg;
    cr_assert_eq(mcpump_manager_remove(remover->manager, remover->name, NULL), MCPUMP_OK);
    return NULL;
}

TIDY_TEST(those_that_are_being_removed_belong_to_a_shutdown)
{
    mcpump_manager *manager = managed_new(0);
    mcpump_server_options deaf = test_options(STRINGS("--ignore-eof", "--ignore-term"));
    deaf.transport.stdin_grace_ms = deaf.transport.term_grace_ms = LONG_MS;
    managed_add_many(manager, 1, &deaf, false);
    managed_connect(manager, "s0");
    struct remover remover = {.manager = manager, .name = "s0"};
    cr_assert_eq(pthread_create(&remover.thread, NULL, remove_it, &remover), 0);
    managed_await_state(manager, "s0", MCPUMP_SERVER_STOPPED);
    cr_expect_eq(mcpump_manager_shutdown(manager, 100), MCPUMP_ERR_TIMEOUT);
    cr_expect_not(test_has_children());
    pthread_join(remover.thread, NULL);
    mcpump_manager_free(manager);
}

/* In whatever state they are: idle, ready, connecting, waiting for a turn, backing off, failed. */
TIDY_TEST(nothing_starts_after_a_shutdown)
{
    struct test_folder folder;
    test_folder_init(&folder);
    mcpump_manager_options options = MCPUMP_MANAGER_OPTIONS_INIT;
    options.max_parallel_starts = 1;
    mcpump_manager *manager = managed_new_with(&options);
    const char *const *logged = STRINGS("--log", folder.log);
    mcpump_server_options dying = test_options(STRINGS("--log", folder.log, "--exit-now", "3"));
    dying.backoff_first_ms = dying.backoff_most_ms = 1;
    dying.max_reconnects = 1000000;
    managed_add(manager, "idle", logged, false);
    managed_add(manager, "ready", logged, false);
    managed_connect(manager, "ready");
    cr_assert_eq(mcpump_manager_add(manager, "dying", &dying, true, NULL), MCPUMP_OK);
    managed_await_state(manager, "dying", MCPUMP_SERVER_BACKING_OFF);
    managed_add(manager, "connecting",
                STRINGS("--log", folder.log, "--probe", "silent", "--init", "silent"), true);
    managed_add(manager, "queued", logged, true);
    mcpump_server *servers[] = {managed_find(manager, "idle"), managed_find(manager, "ready"),
                                managed_find(manager, "dying"), managed_find(manager, "connecting"),
                                managed_find(manager, "queued")};
    mcpump_manager_shutdown(manager, MCPUMP_FOREVER);
    cr_expect_not(test_has_children());
    int starts = test_count_lines(folder.log, "start");
    for (size_t i = 0; i < LENGTH(servers); i++) {
        cr_expect_eq(managed_echo(servers[i]), MCPUMP_ERR_NOT_OPEN, "%zu", i);
        cr_expect_eq(mcpump_server_connect(servers[i], NULL), MCPUMP_ERR_NOT_OPEN, "%zu", i);
        cr_expect_eq(mcpump_server_get_state(servers[i]), MCPUMP_SERVER_STOPPED, "%zu", i);
    }
    mcpump_server_options late = test_options(logged);
    mcpump_failure *failure = NULL;
    cr_expect_eq(mcpump_manager_add(manager, "late", &late, true, &failure), MCPUMP_ERR_NOT_OPEN);
    cr_expect_not_null(failure);
    mcpump_failure_free(failure);
    cr_expect_eq(mcpump_manager_replace(manager, "idle", &late, true, NULL), MCPUMP_ERR_NOT_OPEN);
    cr_expect_eq(test_count_lines(folder.log, "start"), starts);
    mcpump_manager_free(manager);
    for (size_t i = 0; i < LENGTH(servers); i++) {
        cr_expect_eq(managed_echo(servers[i]), MCPUMP_ERR_NOT_OPEN, "without a manager, %zu", i);
        mcpump_server_free(servers[i]);
    }
    test_folder_done(&folder);
}

/* -- in a forked child */

/* 0, or the line of the first thing that is not as it should be. */
#define CHILD_EXPECT(condition)                                                                    \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return __LINE__ % 256;                                                                 \
    } while (0)

static int be_child(mcpump_manager *manager, mcpump_event *request)
{
    mcpump_event *event;
    mcpump_manager_entry *entries;
    size_t count;
    mcpump_server_options options = test_options(NO_STRINGS);
    CHILD_EXPECT(mcpump_manager_add(manager, "b", &options, true, NULL) == MCPUMP_ERR_FORKED);
    CHILD_EXPECT(mcpump_manager_remove(manager, "a", NULL) == MCPUMP_ERR_FORKED);
    CHILD_EXPECT(mcpump_manager_replace(manager, "a", &options, true, NULL) == MCPUMP_ERR_FORKED);
    CHILD_EXPECT(mcpump_manager_find(manager, "a") == NULL);
    CHILD_EXPECT(mcpump_manager_status(manager, &entries, &count) == MCPUMP_ERR_FORKED);
    CHILD_EXPECT(mcpump_manager_next_event(manager, 0, &event) == MCPUMP_ERR_FORKED);
    CHILD_EXPECT(mcpump_manager_shutdown(manager, 0) == MCPUMP_ERR_FORKED);
    CHILD_EXPECT(mcpump_event_respond(request, "{}", 0, NULL) == MCPUMP_ERR_FORKED);
    mcpump_manager_interrupt(manager);
    mcpump_event_free(request);
    mcpump_manager_free(manager);
    return 0;
}

TIDY_TEST(in_a_forked_child_all_is_refused_and_can_be_freed)
{
    int status = 0;
    struct test_call call;
    mcpump_manager *manager = managed_new(MCPUMP_EVENT_STATE | MCPUMP_EVENT_REQUEST);
    managed_add(manager, "a", STRINGS("--era", "legacy"), false);
    pid_t pid = managed_connect(manager, "a");
    mcpump_server *server = managed_find(manager, "a");
    test_call_start(&call, server, "test/ask", "{\"id\":1}");
    mcpump_event *request = managed_await(manager, "a", MCPUMP_EVENT_REQUEST);
    pid_t child = fork();
    if (child == 0)
        _exit(be_child(manager, request));
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "line %d", WEXITSTATUS(status));
    cr_expect_not(mcpump_manager_is_interrupted(manager));
    cr_expect_eq(mcpump_event_respond(request, "{}", 0, NULL), MCPUMP_OK);
    test_call_join(&call);
    cr_expect_eq(call.err, MCPUMP_OK, "the parent's server did not notice");
    test_call_done(&call);
    cr_expect_eq(test_pid(server), pid);
    mcpump_event_free(request);
    mcpump_server_free(server);
    mcpump_manager_free(manager);
}

/* -- many lives */

struct caller {
    mcpump_server *server;
    pthread_t thread;
};

static void *call_until_closed(void *arg)
{
    struct caller *caller = arg;
    mcpump_err err = MCPUMP_OK;
    while (err == MCPUMP_OK)
        err = managed_echo(caller->server);
    cr_expect(err == MCPUMP_ERR_NOT_OPEN || err == MCPUMP_ERR_CLOSED, "%s", mcpump_err_name(err));
    return NULL;
}

TIDY_TEST(made_and_freed_with_calls_in_flight)
{
    enum { SERVERS = 2, CALLERS = 4 };
    for (int life = 0; life < TEST_SCALED(200); life++) {
        struct caller callers[CALLERS];
        mcpump_manager *manager = managed_new(0);
        mcpump_server_options options = test_options(NO_STRINGS);
        managed_add_many(manager, SERVERS, &options, life % 2 == 0);
        for (int i = 0; i < CALLERS; i++) {
            callers[i].server = managed_find(manager, managed_name(i % SERVERS));
            cr_assert_eq(pthread_create(&callers[i].thread, NULL, call_until_closed, &callers[i]),
                         0);
        }
        if (life % 3 == 0)
            managed_await_state(manager, "s1", MCPUMP_SERVER_READY);
        mcpump_manager_free(manager);
        for (int i = 0; i < CALLERS; i++) {
            pthread_join(callers[i].thread, NULL);
            mcpump_server_free(callers[i].server);
        }
        cr_assert_not(test_has_children(), "life %d", life);
    }
}
