/* SPDX-License-Identifier: Apache-2.0 */
/* The set of servers: who is in it, how they are started, changed and interrupted. */
#include "managed.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* -- the set */

TIDY_TEST(names)
{
    char longest[256], too_long[257];
    memset(longest, 'x', 255);
    longest[255] = '\0';
    memset(too_long, 'x', 256);
    too_long[256] = '\0';
    const struct {
        const char *name;
        mcpump_err wanted;
    } rows[] = {
        {"a", MCPUMP_OK},
        {"a", MCPUMP_ERR_INVALID_ARGUMENT},
        {"A", MCPUMP_OK},
        {"", MCPUMP_ERR_INVALID_ARGUMENT},
        {"a b/c [d]", MCPUMP_OK},
        {"\xc3\xa9\xf0\x9f\x98\x80", MCPUMP_OK},
        {"\xc3", MCPUMP_ERR_INVALID_ARGUMENT},
        {"a\xff", MCPUMP_ERR_INVALID_ARGUMENT},
        {longest, MCPUMP_OK},
        {too_long, MCPUMP_ERR_INVALID_ARGUMENT},
        {NULL, MCPUMP_ERR_INVALID_ARGUMENT},
    };
    mcpump_manager *manager = managed_new(0);
    mcpump_server_options options = test_options(NO_STRINGS);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        mcpump_failure *failure = NULL;
        mcpump_err err = mcpump_manager_add(manager, rows[i].name, &options, false, &failure);
        cr_expect_eq(err, rows[i].wanted, "row %zu: %s", i, mcpump_err_name(err));
        cr_expect_eq(failure != NULL, err != MCPUMP_OK && rows[i].name != NULL, "row %zu", i);
        mcpump_server *server = mcpump_manager_find(manager, rows[i].name);
        if (err == MCPUMP_OK)
            cr_expect_not_null(server, "row %zu", i);
        mcpump_server_free(server);
        mcpump_failure_free(failure);
    }
    cr_expect_null(mcpump_manager_find(manager, "b"));
    mcpump_manager_free(manager);
}

TIDY_TEST(options_that_are_not_valid)
{
    static const struct {
        const char *key;
        mcpump_manager_options options;
    } rows[] = {
        {"max_parallel_starts", {.max_parallel_starts = -1}},
        {"events", {.events = 64}},
        {"request_timeout_ms", {.request_timeout_ms = -2}},
    };
    mcpump_manager *manager = NULL;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        mcpump_manager_options options = rows[i].options;
        mcpump_failure *failure = NULL;
        options.size = sizeof(options);
        cr_expect_eq(mcpump_manager_new(&options, &manager, &failure), MCPUMP_ERR_INVALID_ARGUMENT,
                     "%s", rows[i].key);
        cr_assert_not_null(failure, "%s", rows[i].key);
        test_expect_part(mcpump_failure_message(failure), rows[i].key, rows[i].key);
        mcpump_failure_free(failure);
    }
    mcpump_manager_options options = {.size = 1};
    cr_expect_eq(mcpump_manager_new(&options, &manager, NULL), MCPUMP_ERR_INVALID_ARGUMENT);
    manager = managed_new_with(NULL);
    mcpump_server_options bad = test_options(NO_STRINGS);
    bad.transport.max_junk_lines = -5;
    mcpump_failure *failure = NULL;
    cr_expect_eq(mcpump_manager_add(manager, "a", &bad, true, &failure),
                 MCPUMP_ERR_INVALID_ARGUMENT);
    test_expect_part(mcpump_failure_message(failure), "max_junk_lines", "of a server");
    mcpump_failure_free(failure);
    cr_expect_null(mcpump_manager_find(manager, "a"));
    mcpump_manager_free(manager);
    mcpump_manager_free(NULL);
}

TIDY_TEST(the_name_is_the_label_unless_there_is_one)
{
    mcpump_manager *manager = managed_new(0);
    mcpump_server_options options = test_options(NO_STRINGS);
    options.transport.display_name = NULL;
    cr_assert_eq(mcpump_manager_add(manager, "mine", &options, false, NULL), MCPUMP_OK);
    managed_add(manager, "other", NO_STRINGS, false);
    mcpump_server *mine = managed_find(manager, "mine"), *other = managed_find(manager, "other");
    cr_expect_str_eq(mcpump_transport_display_name(mcpump_server_transport(mine)), "mine");
    cr_expect_str_eq(mcpump_transport_display_name(mcpump_server_transport(other)), "fake");
    mcpump_server_free(mine);
    mcpump_server_free(other);
    mcpump_manager_free(manager);
}

TIDY_TEST(the_status_tells_of_all_in_the_order_in_which_they_came)
{
    static const char *const names[] = {"m", "z", "a", "k"};
    mcpump_manager *manager = managed_new(0);
    mcpump_manager_entry *entries = NULL;
    size_t count = 99;
    cr_assert_eq(mcpump_manager_status(manager, &entries, &count), MCPUMP_OK);
    cr_expect_eq(count, 0);
    mcpump_manager_entries_free(entries, count);
    for (size_t i = 0; i < LENGTH(names); i++)
        managed_add(manager, names[i], NO_STRINGS, false);
    pid_t pid = managed_connect(manager, "z");
    mcpump_server_options options = test_options(NO_STRINGS);
    cr_assert_eq(mcpump_manager_replace(manager, "m", &options, false, NULL), MCPUMP_OK);
    cr_assert_eq(mcpump_manager_status(manager, &entries, &count), MCPUMP_OK);
    cr_assert_eq(count, LENGTH(names));
    for (size_t i = 0; i < count; i++)
        cr_expect_str_eq(entries[i].name, names[i]);
    cr_expect_eq(entries[0].status.state, MCPUMP_SERVER_IDLE);
    cr_expect_eq(entries[1].status.state, MCPUMP_SERVER_READY);
    cr_expect_eq(entries[1].status.pid, pid);
    cr_expect_eq(entries[1].status.generation, 1);
    mcpump_manager_entries_free(entries, count);
    mcpump_manager_free(manager);
}

TIDY_TEST(hundreds_are_found)
{
    enum { COUNT = 300 };
    mcpump_manager *manager = managed_new(0);
    mcpump_server_options options = test_options(NO_STRINGS);
    managed_add_many(manager, COUNT, &options, false);
    for (int i = 0; i < COUNT; i += 3)
        cr_assert_eq(mcpump_manager_remove(manager, managed_name(i), NULL), MCPUMP_OK);
    for (int i = 0; i < COUNT; i++) {
        mcpump_server *server = mcpump_manager_find(manager, managed_name(i));
        cr_expect_eq(server != NULL, i % 3 != 0, "%d", i);
        mcpump_server_free(server);
    }
    mcpump_manager_free(manager);
}

/* -- starting */

TIDY_TEST(the_eager_are_started_at_once_and_the_lazy_by_a_call)
{
    struct test_folder folder;
    test_folder_init(&folder);
    mcpump_manager *manager = managed_new(0);
    managed_add(manager, "lazy", STRINGS("--log", folder.log), false);
    managed_add(manager, "eager", NO_STRINGS, true);
    managed_await_state(manager, "eager", MCPUMP_SERVER_READY);
    cr_expect_eq(managed_state(manager, "lazy"), MCPUMP_SERVER_IDLE);
    cr_expect_eq(test_count_lines(folder.log, "start"), 0);
    managed_expect_echo(manager, "lazy");
    cr_expect_eq(test_count_lines(folder.log, "start"), 1);
    mcpump_manager_free(manager);
    test_folder_done(&folder);
}

static void *echo_by_name(void *manager)
{
    managed_expect_echo(manager, "lazy");
    return NULL;
}

TIDY_TEST(many_threads_and_one_lazy_server_make_one_spawn)
{
    pthread_t threads[64];
    struct test_folder folder;
    test_folder_init(&folder);
    mcpump_manager *manager = managed_new(0);
    managed_add(manager, "lazy", STRINGS("--log", folder.log), false);
    for (size_t i = 0; i < LENGTH(threads); i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, echo_by_name, manager), 0);
    for (size_t i = 0; i < LENGTH(threads); i++)
        pthread_join(threads[i], NULL);
    cr_expect_eq(test_count_lines(folder.log, "start"), 1);
    mcpump_manager_free(manager);
    test_folder_done(&folder);
}

/* Until so many have become ready, in whatever order. */
static void await_ready(mcpump_manager *manager, int count)
{
    while (count > 0) {
        mcpump_event *event = managed_next(manager);
        count -= mcpump_event_state(event) == MCPUMP_SERVER_READY;
        mcpump_event_free(event);
    }
}

/* Each start takes 200 ms at least. */
TIDY_TEST(so_many_start_at_one_time)
{
    static const struct {
        int64_t parallel;
        int rounds;
    } rows[] = {{1, 6}, {2, 3}, {6, 1}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        mcpump_manager_options options = MCPUMP_MANAGER_OPTIONS_INIT;
        options.max_parallel_starts = rows[i].parallel;
        mcpump_manager *manager = managed_new_with(&options);
        mcpump_server_options server = test_options(STRINGS("--delay-start", "200"));
        int64_t started = test_now_ms();
        managed_add_many(manager, 6, &server, true);
        await_ready(manager, 6);
        cr_expect_geq(test_now_ms() - started, 200 * rows[i].rounds, "%d at one time",
                      (int)rows[i].parallel);
        mcpump_manager_free(manager);
    }
}

/* One that has its turn, the only one that there is, and its process. */
static mcpump_manager *occupied(struct test_folder *folder, const char *const *switches)
{
    mcpump_manager_options options = MCPUMP_MANAGER_OPTIONS_INIT;
    options.max_parallel_starts = 1;
    mcpump_manager *manager = managed_new_with(&options);
    managed_add(manager, "first", switches, true);
    test_await_lines(folder->log, "start", 1);
    return manager;
}

/* Waiting for a turn is no part of a server's time to connect. */
TIDY_TEST(the_clock_of_a_start_begins_with_its_turn)
{
    struct test_folder folder;
    test_folder_init(&folder);
    mcpump_manager *manager =
        occupied(&folder, STRINGS("--log", folder.log, "--probe", "late:1500"));
    mcpump_server_options server = test_options(NO_STRINGS);
    server.connect_timeout_ms = TEST_IS_SANITIZED ? 10000 : 1000;
    cr_assert_eq(mcpump_manager_add(manager, "quick", &server, true, NULL), MCPUMP_OK);
    await_ready(manager, 2);
    mcpump_manager_free(manager);
    test_folder_done(&folder);
}

/* Its turn is given to the next one: nobody waits for ever. */
TIDY_TEST(one_that_is_stopped_in_the_queue_blocks_nobody)
{
    struct test_folder folder;
    test_folder_init(&folder);
    mcpump_manager *manager =
        occupied(&folder, STRINGS("--log", folder.log, "--probe", "silent", "--init", "silent"));
    managed_add(manager, "stopped", NO_STRINGS, true);
    managed_add(manager, "removed", NO_STRINGS, true);
    managed_add(manager, "last", NO_STRINGS, true);
    mcpump_server *stopped = managed_find(manager, "stopped");
    mcpump_server_stop(stopped);
    mcpump_server_free(stopped);
    cr_expect_eq(mcpump_manager_remove(manager, "removed", NULL), MCPUMP_OK);
    cr_expect_eq(managed_state(manager, "last"), MCPUMP_SERVER_CONNECTING);
    cr_expect_eq(mcpump_manager_remove(manager, "first", NULL), MCPUMP_OK);
    managed_await_state(manager, "last", MCPUMP_SERVER_READY);
    mcpump_manager_free(manager);
    test_folder_done(&folder);
}

/* -- removing and replacing */

TIDY_TEST(what_is_removed_is_gone_for_good)
{
    mcpump_manager *manager = managed_new(0);
    mcpump_failure *failure = NULL;
    managed_add(manager, "a", NO_STRINGS, false);
    pid_t pid = managed_connect(manager, "a");
    mcpump_server *server = managed_find(manager, "a");
    cr_expect_eq(mcpump_manager_remove(manager, "a", NULL), MCPUMP_OK);
    cr_expect_not(test_is_alive(pid));
    cr_expect_null(mcpump_manager_find(manager, "a"));
    cr_expect_eq(mcpump_manager_remove(manager, "a", &failure), MCPUMP_ERR_INVALID_ARGUMENT);
    test_expect_part(mcpump_failure_message(failure), "no server of this name", "removed");
    mcpump_failure_free(failure);

    cr_expect_eq(managed_echo(server), MCPUMP_ERR_NOT_OPEN);
    cr_expect_eq(mcpump_server_connect(server, NULL), MCPUMP_ERR_NOT_OPEN);
    cr_expect_eq(mcpump_server_start(server, NULL), MCPUMP_ERR_NOT_OPEN);
    cr_expect_eq(mcpump_server_restart(server, NULL), MCPUMP_ERR_NOT_OPEN);
    mcpump_server_close(server); /* makes others IDLE, which a call starts */
    cr_expect_eq(managed_echo(server), MCPUMP_ERR_NOT_OPEN);
    cr_expect_not(test_has_children());
    managed_add(manager, "a", NO_STRINGS, false);
    managed_expect_echo(manager, "a");
    mcpump_manager_free(manager);
    mcpump_server_free(server);
}

TIDY_TEST(removed_with_calls_in_flight)
{
    struct test_call calls[8];
    mcpump_manager *manager = managed_new(0);
    managed_add(manager, "a", NO_STRINGS, false);
    managed_connect(manager, "a");
    mcpump_server *server = managed_find(manager, "a");
    uint64_t before = test_stats(server).requests; /* those of the handshake */
    for (size_t i = 0; i < LENGTH(calls); i++)
        test_call_start(&calls[i], server, "test/drop", NULL);
    raw_await_requests(mcpump_server_transport(server), before + LENGTH(calls));
    cr_expect_eq(mcpump_manager_remove(manager, "a", NULL), MCPUMP_OK);
    for (size_t i = 0; i < LENGTH(calls); i++) {
        test_call_join(&calls[i]);
        cr_expect_eq(calls[i].err, MCPUMP_ERR_CLOSED, "%s", mcpump_err_name(calls[i].err));
        test_call_done(&calls[i]);
    }
    mcpump_server_free(server);
    mcpump_manager_free(manager);
}

/* The old process is gone before the new one is there. */
TIDY_TEST(the_new_one_comes_after_the_old_one)
{
    struct test_folder folder;
    test_folder_init(&folder);
    mcpump_manager *manager = managed_new(0);
    const char *script = "echo begin >>\"$1\"; \"$0\"; echo end >>\"$1\"";
    mcpump_server_options options =
        test_options(STRINGS("-c", script, test_fake_server(), folder.log));
    options.transport.command = "sh";
    cr_assert_eq(mcpump_manager_add(manager, "a", &options, true, NULL), MCPUMP_OK);
    for (int i = 0; i < 5; i++) {
        pid_t pid = managed_connect(manager, "a");
        cr_assert_eq(mcpump_manager_replace(manager, "a", &options, i % 2 == 0, NULL), MCPUMP_OK);
        cr_expect_not(test_is_alive(pid));
        cr_expect_neq(managed_connect(manager, "a"), pid);
    }
    mcpump_manager_free(manager);
    FILE *file = fopen(folder.log, "re");
    char line[16];
    for (int i = 0; i < 12; i++) {
        cr_assert_not_null(fgets(line, sizeof(line), file), "%d lines", i);
        cr_expect_str_eq(line, i % 2 == 0 ? "begin\n" : "end\n", "line %d", i);
    }
    cr_expect_null(fgets(line, sizeof(line), file));
    fclose(file);
    test_folder_done(&folder);
}

TIDY_TEST(a_replacement_that_fails_leaves_the_old_one_alone)
{
    mcpump_manager *manager = managed_new(0);
    mcpump_failure *failure = NULL;
    managed_add(manager, "a", NO_STRINGS, false);
    pid_t pid = managed_connect(manager, "a");
    mcpump_server_options bad = test_options(NO_STRINGS);
    bad.transport.cwd = "not/absolute";
    cr_expect_eq(mcpump_manager_replace(manager, "a", &bad, true, &failure),
                 MCPUMP_ERR_INVALID_ARGUMENT);
    test_expect_part(mcpump_failure_message(failure), "cwd", "options");
    mcpump_failure_free(failure);
    mcpump_server_options good = test_options(NO_STRINGS);
    cr_expect_eq(mcpump_manager_replace(manager, "b", &good, true, &failure),
                 MCPUMP_ERR_INVALID_ARGUMENT);
    test_expect_part(mcpump_failure_message(failure), "no server of this name", "name");
    mcpump_failure_free(failure);
    cr_expect_eq(managed_pid(manager, "a"), pid);
    managed_expect_echo(manager, "a");
    mcpump_manager_free(manager);
}

struct changer {
    mcpump_manager *manager;
    int number;
    pthread_t thread;
};

static void *replace_often(void *arg)
{
    struct changer *changer = arg;
    for (int i = 0; i < TEST_SCALED(50); i++) {
        mcpump_server_options options = test_options(NO_STRINGS);
        options.transport.stdin_grace_ms = options.transport.term_grace_ms = 50;
        mcpump_err err = MCPUMP_OK;
        switch ((changer->number + i) % 5) {
        case 0:
            err = mcpump_manager_remove(changer->manager, "a", NULL);
            break;
        case 1:
            err = mcpump_manager_add(changer->manager, "a", &options, i % 2 == 0, NULL);
            break;
        default:
            err = mcpump_manager_replace(changer->manager, "a", &options, i % 2 == 0, NULL);
        }
        cr_assert(err == MCPUMP_OK || err == MCPUMP_ERR_INVALID_ARGUMENT, "%s",
                  mcpump_err_name(err));
    }
    return NULL;
}

static void *call_often(void *arg)
{
    struct changer *changer = arg;
    for (int i = 0; i < TEST_SCALED(300); i++) {
        mcpump_server *server = mcpump_manager_find(changer->manager, "a");
        if (server == NULL)
            continue;
        mcpump_err err = managed_echo(server);
        cr_assert(err == MCPUMP_OK || err == MCPUMP_ERR_NOT_OPEN || err == MCPUMP_ERR_CLOSED, "%s",
                  mcpump_err_name(err));
        mcpump_server_free(server);
    }
    return NULL;
}

TIDY_TEST(changes_of_one_name_by_many_threads)
{
    mcpump_manager *manager = managed_new(0);
    struct changer changers[8];
    managed_add(manager, "a", NO_STRINGS, false);
    for (int i = 0; i < 8; i++) {
        changers[i] = (struct changer){.manager = manager, .number = i};
        cr_assert_eq(pthread_create(&changers[i].thread, NULL, i < 4 ? replace_often : call_often,
                                    &changers[i]),
                     0);
    }
    for (int i = 0; i < 8; i++)
        pthread_join(changers[i].thread, NULL);
    mcpump_manager_remove(manager, "a", NULL);
    cr_expect_not(test_has_children());
    mcpump_manager_free(manager);
}

/* -- the latch */

TIDY_TEST(an_interrupt_stops_the_calls_on_all)
{
    enum { COUNT = 3 };
    mcpump_manager *manager = managed_new(0);
    mcpump_server_options options = test_options(NO_STRINGS);
    mcpump_server *servers[COUNT];
    struct test_call calls[COUNT];
    managed_add_many(manager, COUNT, &options, false);
    for (int i = 0; i < COUNT; i++) {
        managed_connect(manager, managed_name(i));
        servers[i] = managed_find(manager, managed_name(i));
        uint64_t before = test_stats(servers[i]).requests;
        test_call_start(&calls[i], servers[i], "test/drop", NULL);
        raw_await_requests(mcpump_server_transport(servers[i]), before + 1);
    }
    cr_expect_not(mcpump_manager_is_interrupted(manager));
    mcpump_manager_interrupt(manager);
    cr_expect(mcpump_manager_is_interrupted(manager));
    for (int i = 0; i < COUNT; i++) {
        test_call_join(&calls[i]);
        cr_expect_eq(calls[i].err, MCPUMP_ERR_INTERRUPTED);
        test_call_done(&calls[i]);
        cr_expect_eq(managed_echo(servers[i]), MCPUMP_ERR_INTERRUPTED);
    }
    managed_add(manager, "late", NO_STRINGS, false);
    mcpump_server *late = managed_find(manager, "late");
    cr_expect_eq(managed_echo(late), MCPUMP_ERR_INTERRUPTED);
    mcpump_server_free(late);
    mcpump_manager_clear_interrupt(manager);
    cr_expect_not(mcpump_manager_is_interrupted(manager));
    managed_expect_echo(manager, "late");
    for (int i = 0; i < COUNT; i++) {
        cr_expect_eq(managed_echo(servers[i]), MCPUMP_OK, "its connection was left alone");
        mcpump_server_free(servers[i]);
    }
    mcpump_manager_free(manager);
}

static mcpump_manager *of_handler;

static void on_signal(int number)
{
    (void)number;
    mcpump_manager_interrupt(of_handler);
}

TIDY_TEST(an_interrupt_out_of_a_signal_handler)
{
    mcpump_manager *manager = of_handler = managed_new(0);
    struct test_call call;
    managed_add(manager, "a", NO_STRINGS, false);
    managed_connect(manager, "a");
    mcpump_server *server = managed_find(manager, "a");
    uint64_t before = test_stats(server).requests;
    test_call_start(&call, server, "test/drop", NULL);
    raw_await_requests(mcpump_server_transport(server), before + 1);
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    test_call_join(&call);
    cr_expect_eq(call.err, MCPUMP_ERR_INTERRUPTED);
    test_call_done(&call);
    mcpump_server_free(server);
    mcpump_manager_free(manager);
}
