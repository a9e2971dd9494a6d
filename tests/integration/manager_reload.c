/* SPDX-License-Identifier: Apache-2.0 */
/* Making the set what a configuration says, again and again. */
#include "managed.h"

#include <stdio.h>
#include <string.h>

#define PART_BYTES 1024

/* One entry for the fake server: `keys` are further members, with a comma in front, or "". */
static const char *entry(const char *name, const char *args, const char *keys)
{
    static char texts[16][PART_BYTES];
    static size_t next;
    char *text = texts[next++ % LENGTH(texts)];
    int size = snprintf(text, PART_BYTES, "\"%s\":{\"command\":\"%s\",\"args\":[%s]%s}", name,
                        test_fake_server(), args, keys);
    cr_assert_lt(size, PART_BYTES);
    return text;
}

static mcpump_config *config_of(const char *const *entries)
{
    char text[16 * PART_BYTES] = "{\"mcpServers\":{";
    mcpump_config *config = NULL;
    mcpump_failure *failure = NULL;
    for (size_t i = 0; entries[i] != NULL; i++) {
        strcat(text, i > 0 ? "," : "");
        strcat(text, entries[i]);
    }
    strcat(text, "}}");
    mcpump_err err = mcpump_config_parse("/servers.json", text, strlen(text), &config, &failure);
    cr_assert_eq(err, MCPUMP_OK, "%s", mcpump_failure_message(failure));
    return config;
}

static mcpump_err try_to_apply(mcpump_manager *manager, const char *const *entries,
                               mcpump_failure **ret_failure)
{
    mcpump_config *config = config_of(entries);
    mcpump_err err = mcpump_manager_apply(manager, config, ret_failure);
    mcpump_config_free(config); /* nothing of it is kept */
    return err;
}

static void apply(mcpump_manager *manager, const char *const *entries)
{
    mcpump_failure *failure = NULL;
    mcpump_err err = try_to_apply(manager, entries, &failure);
    cr_assert_eq(err, MCPUMP_OK, "%s", mcpump_failure_message(failure));
}

/* The names in the manager, in order, separated by spaces. */
static void expect_names(mcpump_manager *manager, const char *wanted)
{
    char names[256] = "";
    mcpump_manager_entry *entries;
    size_t count;
    cr_assert_eq(mcpump_manager_status(manager, &entries, &count), MCPUMP_OK);
    for (size_t i = 0; i < count; i++) {
        strcat(names, i > 0 ? " " : "");
        strcat(names, entries[i].name);
    }
    mcpump_manager_entries_free(entries, count);
    cr_expect_str_eq(names, wanted);
}

TIDY_TEST(servers_come_go_change_and_stay)
{
    mcpump_manager *manager = managed_new(0);
    apply(manager, STRINGS(entry("stays", "", ""), entry("changes", "", ""), entry("goes", "", ""),
                           entry("off", "", ",\"disabled\":true"),
                           "\"far\":{\"url\":\"https://example.com\"}"));
    expect_names(manager, "stays changes goes");
    pid_t stays = managed_connect(manager, "stays"), changes = managed_connect(manager, "changes"),
          goes = managed_connect(manager, "goes");
    mcpump_server *same = managed_find(manager, "stays");
    apply(manager, STRINGS(entry("new", "", ""), entry("changes", "\"--crlf\"", ""),
                           entry("stays", "", "")));
    expect_names(manager, "stays changes new");
    cr_expect_eq(managed_pid(manager, "stays"), stays);
    cr_expect_eq(managed_find(manager, "stays"), same);
    mcpump_server_free(same);
    mcpump_server_free(same);
    cr_expect_not(test_is_alive(changes));
    cr_expect_not(test_is_alive(goes));
    cr_expect_neq(managed_connect(manager, "changes"), changes);
    managed_expect_echo(manager, "new");
    managed_expect_echo(manager, "stays");
    apply(manager, STRINGS(entry("stays", "", ",\"disabled\":true")));
    expect_names(manager, "");
    cr_expect_not(test_has_children());
    apply(manager, NO_STRINGS);
    expect_names(manager, "");
    mcpump_manager_free(manager);
}

/* What makes a difference, and what makes none. */
TIDY_TEST(differences)
{
    static const struct {
        const char *name;
        const char *args, *keys, *other_args, *other_keys;
        bool is_same;
    } rows[] = {
        {"nothing", "\"--crlf\"", "", "\"--crlf\"", "", true},
        {"an argument more", "", "", "\"--crlf\"", "", false},
        {"another argument", "\"--bom\"", "", "\"--crlf\"", "", false},
        {"order of arguments", "\"--bom\",\"--crlf\"", "", "\"--crlf\",\"--bom\"", "", false},
        {"an environment", "", "", "", ",\"env\":{\"A\":\"1\"}", false},
        {"another value", "", ",\"env\":{\"A\":\"1\"}", "", ",\"env\":{\"A\":\"2\"}", false},
        {"another variable", "", ",\"env\":{\"A\":\"1\"}", "", ",\"env\":{\"B\":\"1\"}", false},
        {"the same value", "", ",\"env\":{\"A\":\"1\"}", "", ",\"env\":{\"A\":\"1\"}", true},
        {"a value less", "", ",\"env\":{\"A\":\"1\",\"B\":\"2\"}", "", ",\"env\":{\"A\":\"1\"}",
         false},
        {"a directory", "", "", "", ",\"cwd\":\"/tmp\"", false},
        {"another directory", "", ",\"cwd\":\"/\"", "", ",\"cwd\":\"/tmp\"", false},
        {"the same directory", "", ",\"cwd\":\"/tmp\"", "", ",\"cwd\":\"/tmp\"", true},
    };
    mcpump_manager *manager = managed_new(0);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        apply(manager, STRINGS(entry("a", rows[i].args, rows[i].keys)));
        pid_t pid = managed_connect(manager, "a");
        apply(manager, STRINGS(entry("a", rows[i].other_args, rows[i].other_keys)));
        cr_expect_eq(test_is_alive(pid), rows[i].is_same, "%s", rows[i].name);
        cr_expect_eq(managed_connect(manager, "a") == pid, rows[i].is_same, "%s", rows[i].name);
    }
    mcpump_manager_free(manager);
}

/* The options of servers that were added by hand: those which no configuration has. */
TIDY_TEST(one_that_was_added_by_hand_stays_if_it_is_the_same)
{
    mcpump_manager *manager = managed_new(0);
    mcpump_config *config = config_of(STRINGS(entry("a", "", ",\"env\":{\"A\":\"1\"}")));
    const mcpump_server_options *options = mcpump_config_options(config, 0);
    cr_assert_eq(mcpump_manager_add(manager, "a", options, false, NULL), MCPUMP_OK);
    pid_t pid = managed_connect(manager, "a");
    cr_assert_eq(mcpump_manager_apply(manager, config, NULL), MCPUMP_OK);
    cr_expect_eq(managed_pid(manager, "a"), pid);

    mcpump_server_options explicit = *options;
    explicit.probe_timeout_ms = 3000; /* the default */
    explicit.transport.display_name = "a";
    cr_assert_eq(mcpump_manager_replace(manager, "a", &explicit, false, NULL), MCPUMP_OK);
    pid = managed_connect(manager, "a");
    cr_assert_eq(mcpump_manager_apply(manager, config, NULL), MCPUMP_OK);
    cr_expect_eq(managed_pid(manager, "a"), pid, "a default that is written out");

    explicit.stable_ms = 1;
    cr_assert_eq(mcpump_manager_replace(manager, "a", &explicit, false, NULL), MCPUMP_OK);
    pid = managed_connect(manager, "a");
    cr_assert_eq(mcpump_manager_apply(manager, config, NULL), MCPUMP_OK);
    cr_expect_not(test_is_alive(pid), "another limit");
    mcpump_config_free(config);
    mcpump_manager_free(manager);
}

#define EAGER ",\"mcpump\":{\"start\":\"eager\"}"

TIDY_TEST(the_eager_are_started)
{
    mcpump_manager *manager = managed_new(0);
    apply(manager, STRINGS(entry("eager", "", EAGER), entry("lazy", "", "")));
    managed_await_state(manager, "eager", MCPUMP_SERVER_READY);
    cr_expect_eq(managed_state(manager, "lazy"), MCPUMP_SERVER_IDLE);
    pid_t pid = managed_pid(manager, "eager");
    /* Changed while they run, and while they do not. */
    apply(manager, STRINGS(entry("eager", "", ""), entry("lazy", "", EAGER)));
    managed_await_state(manager, "lazy", MCPUMP_SERVER_READY);
    cr_expect_eq(managed_pid(manager, "eager"), pid);
    /* One that was stopped by hand is left alone. */
    mcpump_server *lazy = managed_find(manager, "lazy");
    mcpump_server_stop(lazy);
    mcpump_server_free(lazy);
    apply(manager, STRINGS(entry("eager", "\"--crlf\"", EAGER), entry("lazy", "", EAGER)));
    managed_await_state(manager, "eager", MCPUMP_SERVER_READY);
    cr_expect_not(test_is_alive(pid));
    cr_expect_eq(managed_state(manager, "lazy"), MCPUMP_SERVER_STOPPED);
    mcpump_manager_free(manager);
}

TIDY_TEST(an_entry_that_is_not_valid_changes_nothing)
{
    static const struct {
        const char *name;
        const char *entry;
        const char *part; /* of the failure */
    } rows[] = {
        {"of the configuration", "\"b\":{\"command\":7}", "command"},
        {"an empty name", "\"\":{\"command\":\"cat\"}", "name"},
    };
    mcpump_manager *manager = managed_new(0);
    apply(manager, STRINGS(entry("a", "", ""), entry("goes", "", "")));
    pid_t pid = managed_connect(manager, "a");
    for (size_t i = 0; i < LENGTH(rows); i++) {
        mcpump_failure *failure = NULL;
        mcpump_err err = try_to_apply(
            manager, STRINGS(entry("new", "", EAGER), entry("a", "\"--crlf\"", ""), rows[i].entry),
            &failure);
        cr_expect_eq(err, MCPUMP_ERR_INVALID_ARGUMENT, "%s", rows[i].name);
        cr_assert_not_null(failure);
        test_expect_part(mcpump_failure_message(failure), rows[i].part, rows[i].name);
        mcpump_failure_free(failure);
        expect_names(manager, "a goes");
        cr_expect_eq(managed_pid(manager, "a"), pid, "%s", rows[i].name);
    }
    mcpump_manager_free(manager);
}

TIDY_TEST(those_that_go_are_stopped_side_by_side)
{
    char text[8][64];
    const char *entries[9] = {NULL};
    mcpump_manager *manager = managed_new(0);
    mcpump_server_options options =
        test_options(STRINGS("-c", "\"$0\"; exec sleep 1", test_fake_server()));
    options.transport.command = "sh";
    options.transport.stdin_grace_ms = 600000;
    managed_add_many(manager, 8, &options, true);
    for (int i = 0; i < 8; i++) {
        managed_connect(manager, managed_name(i));
        snprintf(text[i], sizeof(text[i]), "\"s%d\":{\"command\":\"cat\"}", i + 4);
        entries[i] = text[i];
    }
    int64_t started = test_now_ms();
    apply(manager, entries); /* four go, four are replaced, four are new */
    int64_t took = test_now_ms() - started;
    cr_expect_geq(took, 1000);
    cr_expect_lt(took, TEST_IS_SANITIZED ? 10000 : 2000, "%d ms", (int)took);
    expect_names(manager, "s4 s5 s6 s7 s8 s9 s10 s11");
    mcpump_manager_free(manager);
}

TIDY_TEST(not_after_a_shutdown)
{
    mcpump_manager *manager = managed_new(0);
    mcpump_failure *failure = NULL;
    apply(manager, STRINGS(entry("a", "", "")));
    mcpump_manager_shutdown(manager, MCPUMP_FOREVER);
    cr_expect_eq(try_to_apply(manager, STRINGS(entry("b", "", EAGER)), &failure),
                 MCPUMP_ERR_NOT_OPEN);
    cr_expect_not_null(failure);
    mcpump_failure_free(failure);
    expect_names(manager, "a");
    cr_expect_eq(mcpump_manager_apply(manager, NULL, NULL), MCPUMP_ERR_INVALID_ARGUMENT);
    mcpump_manager_free(manager);
}

struct reloader {
    mcpump_manager *manager;
    int number;
    pthread_t thread;
};

static void *reload_often(void *arg)
{
    struct reloader *reloader = arg;
    for (int i = 0; i < TEST_SCALED(40); i++) {
        char text[3][PART_BYTES];
        for (int j = 0; j < 3; j++)
            snprintf(text[j], PART_BYTES, "\"s%d\":{\"command\":\"%s\",\"args\":[%s]}", j,
                     test_fake_server(), (i + j) % 3 == 0 ? "\"--crlf\"" : "");
        const char *entries[] = {text[0], text[1 + (reloader->number + i) % 2], NULL};
        apply(reloader->manager, entries);
        mcpump_server *server = mcpump_manager_find(reloader->manager, "s0");
        cr_assert_not_null(server, "it is in all of them");
        mcpump_err err = managed_echo(server);
        cr_expect(err == MCPUMP_OK || err == MCPUMP_ERR_NOT_OPEN || err == MCPUMP_ERR_CLOSED, "%s",
                  mcpump_err_name(err));
        mcpump_server_free(server);
    }
    return NULL;
}

TIDY_TEST(reloads_by_many_threads)
{
    mcpump_manager *manager = managed_new(0);
    struct reloader reloaders[4];
    for (int i = 0; i < 4; i++) {
        reloaders[i] = (struct reloader){.manager = manager, .number = i};
        cr_assert_eq(pthread_create(&reloaders[i].thread, NULL, reload_often, &reloaders[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(reloaders[i].thread, NULL);
    apply(manager, STRINGS(entry("last", "", "")));
    expect_names(manager, "last");
    cr_expect_not(test_has_children());
    mcpump_manager_free(manager);
}
