/* SPDX-License-Identifier: Apache-2.0 */
/* Options: what is refused, with which words, and structs of older and newer callers. */
#include "support.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static mcpump_server_options plain_options(void)
{
    mcpump_server_options options = MCPUMP_SERVER_OPTIONS_INIT;
    options.transport.command = "true";
    return options;
}

/* -- what is refused: a change to options that are valid, and the words that the failure holds */

#define CHANGE(name, statement)                                                                    \
    static void name(mcpump_server_options *o)                                                     \
    {                                                                                              \
        statement;                                                                                 \
    }

#define CHANGE_LIST(name, list, ...)                                                               \
    static const char *const name##_list[] = {__VA_ARGS__, NULL};                                  \
    CHANGE(name, o->list = name##_list)

CHANGE(no_command, o->transport.command = NULL)
CHANGE(empty_command, o->transport.command = "")
CHANGE(command_line, o->transport.command = "node server.js")
CHANGE(command_with_tab, o->transport.command = "node\t")
CHANGE(bat, o->transport.command = "run.bat")
CHANGE(cmd, o->transport.command = "RUN.CMD")
CHANGE_LIST(env_without_equals, transport.env, "A=1", "hunter2")
CHANGE_LIST(env_without_name, transport.env, "=hunter2")
CHANGE_LIST(env_empty, transport.env, "")
CHANGE_LIST(inherit_env_with_value, transport.inherit_env, "A", "B=hunter2")
CHANGE_LIST(inherit_env_empty, transport.inherit_env, "")
CHANGE(cwd_relative, o->transport.cwd = "some/where")
CHANGE(cwd_empty, o->transport.cwd = "")
CHANGE(cwd_missing, o->transport.cwd = "/nowhere/at/all")
CHANGE(cwd_no_directory, o->transport.cwd = "/dev/null")
CHANGE(sink_too_large, o->transport.stderr_sink = (mcpump_stderr_sink)77)
CHANGE(sink_negative, o->transport.stderr_sink = (mcpump_stderr_sink)-5)
CHANGE(file_missing, o->transport.stderr_sink = MCPUMP_STDERR_FILE)
CHANGE(file_relative, o->transport.stderr_sink = MCPUMP_STDERR_FILE;
       o->transport.stderr_file = "some.log")
CHANGE(fn_missing, o->transport.stderr_sink = MCPUMP_STDERR_CALLBACK)
CHANGE(level_too_large, o->transport.log_level = (mcpump_log_level)99)
CHANGE(level_negative, o->transport.log_level = (mcpump_log_level)-3)
CHANGE(message_huge, o->transport.max_message_bytes = SIZE_MAX)
CHANGE(message_large, o->transport.max_message_bytes = (size_t)1 << 62)
CHANGE(queue_huge, o->transport.write_queue_bytes = SIZE_MAX)
CHANGE(junk_negative, o->transport.max_junk_lines = -2)
CHANGE(timeout_negative, o->transport.default_timeout_ms = -2)
CHANGE(timeout_huge, o->transport.default_timeout_ms = INT64_MAX)
CHANGE(stdin_grace_negative, o->transport.stdin_grace_ms = -2)
CHANGE(term_grace_negative, o->transport.term_grace_ms = INT64_MIN)
CHANGE_LIST(unset_env_with_value, transport.unset_env, "A", "B=hunter2")
CHANGE_LIST(unset_env_empty, transport.unset_env, "")

static const mcpump_secret_variable without_value[] = {{"TOKEN", NULL}, {NULL, NULL}};
static const mcpump_secret_variable without_name[] = {{"", NULL}, {NULL, NULL}};
static const mcpump_secret_variable with_equals[] = {{"A=hunter2", NULL}, {NULL, NULL}};
CHANGE(secret_without_value, o->transport.secret_env = without_value)
CHANGE(secret_without_name, o->transport.secret_env = without_name)
CHANGE(secret_with_equals, o->transport.secret_env = with_equals)

/* Allowed as a command, but not with what the interpreter of such files would take apart. */
#define BATCH(name, file, ...)                                                                     \
    static const char *const name##_args[] = {__VA_ARGS__, NULL};                                  \
    CHANGE(name, o->transport.command = file; o->transport.allow_batch_files = true;               \
           o->transport.args = name##_args)
BATCH(batch_quote, "run.bat", "fine", "a\"b")
BATCH(batch_percent, "run.bat", "%PATH%")
BATCH(batch_caret, "RUN.Cmd", "a^b")
BATCH(batch_and, "run.cmd", "a&b")
BATCH(batch_pipe, "run.cmd", "a|b")
BATCH(batch_less, "run.cmd", "a<b")
BATCH(batch_greater, "run.cmd", "a>b")
BATCH(batch_plain, "run.bat", "fine", "", "a b", "'x'", "$y", ";")

static const mcpump_rlimit no_resource[] = {{0, 1, 1}, {-1, 1, 1}};
static const mcpump_rlimit soft_above_hard[] = {{0, 2, 1}};
static const mcpump_rlimit no_limit[] = {{0, UINT64_MAX, UINT64_MAX}, {0, 0, 0}};
CHANGE(rlimit_resource, o->transport.rlimits = no_resource; o->transport.rlimit_count = 2)
CHANGE(rlimit_order, o->transport.rlimits = soft_above_hard; o->transport.rlimit_count = 1)
CHANGE(rlimits_missing, o->transport.rlimit_count = 3)
CHANGE(rlimits_extreme, o->transport.rlimits = no_limit; o->transport.rlimit_count = 2)
CHANGE(rlimits_none, o->transport.rlimits = no_resource)
CHANGE(nice_low, o->transport.nice = -41)
CHANGE(nice_high, o->transport.nice = 41)
CHANGE(nice_lowest, o->transport.nice = -40; o->transport.new_session = true)
CHANGE(nice_highest, o->transport.nice = 40)
CHANGE(orphans_unknown, o->transport.orphans = (mcpump_orphans)4)
CHANGE(orphans_negative, o->transport.orphans = (mcpump_orphans)-1)
CHANGE(policy_unknown, o->transport.queue_policy = (mcpump_queue_policy)2)
CHANGE(policy_negative, o->transport.queue_policy = (mcpump_queue_policy)-1)
CHANGE(guard_relative, o->transport.guard_path = "mcpump-guard")
CHANGE(transport_size_none, o->transport.size = 0)
CHANGE(transport_size_tiny, o->transport.size = 7)

static const struct refusal {
    const char *name;
    void (*change)(mcpump_server_options *options);
    const char *key, *value;
} transport_refusals[] = {
    {"no command", no_command, "command", "required"},
    {"empty command", empty_command, "command", "required"},
    {"command with arguments", command_line, "command", "\"node server.js\""},
    {"command with a tab", command_with_tab, "command", "node"},
    {".bat", bat, "command", "\"run.bat\""},
    {".CMD", cmd, "command", "\"RUN.CMD\""},
    {"env without =", env_without_equals, "env", "entry 2"},
    {"env without name", env_without_name, "env", "entry 1"},
    {"env empty", env_empty, "env", "entry 1"},
    {"inherit_env with value", inherit_env_with_value, "inherit_env", "entry 2"},
    {"inherit_env empty", inherit_env_empty, "inherit_env", "entry 1"},
    {"cwd relative", cwd_relative, "cwd", "\"some/where\""},
    {"cwd empty", cwd_empty, "cwd", "\"\""},
    {"cwd missing", cwd_missing, "cwd", "\"/nowhere/at/all\""},
    {"cwd no directory", cwd_no_directory, "cwd", "\"/dev/null\""},
    {"sink too large", sink_too_large, "stderr_sink", "77"},
    {"sink negative", sink_negative, "stderr_sink", "-5"},
    {"stderr_file missing", file_missing, "stderr_file", "\"\""},
    {"stderr_file relative", file_relative, "stderr_file", "\"some.log\""},
    {"stderr_fn missing", fn_missing, "stderr_fn", "required"},
    {"log_level too large", level_too_large, "log_level", "99"},
    {"log_level negative", level_negative, "log_level", "-3"},
    {"max_message_bytes huge", message_huge, "max_message_bytes", "18446744073709551615"},
    {"max_message_bytes large", message_large, "max_message_bytes", "4611686018427387904"},
    {"write_queue_bytes huge", queue_huge, "write_queue_bytes", "18446744073709551615"},
    {"max_junk_lines", junk_negative, "max_junk_lines", "-2"},
    {"default_timeout_ms negative", timeout_negative, "default_timeout_ms", "-2"},
    {"default_timeout_ms huge", timeout_huge, "default_timeout_ms", "9223372036854775807"},
    {"stdin_grace_ms", stdin_grace_negative, "stdin_grace_ms", "-2"},
    {"term_grace_ms", term_grace_negative, "term_grace_ms", "-9223372036854775808"},
    {"unset_env with value", unset_env_with_value, "unset_env", "entry 2"},
    {"unset_env empty", unset_env_empty, "unset_env", "entry 1"},
    {"secret without value", secret_without_value, "secret_env", "TOKEN"},
    {"secret without name", secret_without_name, "secret_env", "entry 1"},
    {"secret with =", secret_with_equals, "secret_env", "entry 1"},
    {"batch file, quote", batch_quote, "args", "\"a\"b\""},
    {"batch file, percent", batch_percent, "args", "\"%PATH%\""},
    {"batch file, caret", batch_caret, "args", "\"a^b\""},
    {"batch file, ampersand", batch_and, "args", "\"a&b\""},
    {"batch file, pipe", batch_pipe, "args", "\"a|b\""},
    {"batch file, less", batch_less, "args", "\"a<b\""},
    {"batch file, greater", batch_greater, "args", "\"a>b\""},
    {"rlimit of no resource", rlimit_resource, "rlimits", "entry 2"},
    {"rlimit with soft above hard", rlimit_order, "rlimits", "entry 1"},
    {"rlimits missing", rlimits_missing, "rlimits", "3"},
    {"nice too low", nice_low, "nice", "-41"},
    {"nice too high", nice_high, "nice", "41"},
    {"orphans too large", orphans_unknown, "orphans", "4"},
    {"orphans negative", orphans_negative, "orphans", "-1"},
    {"queue_policy too large", policy_unknown, "queue_policy", "2"},
    {"queue_policy negative", policy_negative, "queue_policy", "-1"},
    {"guard_path relative", guard_relative, "guard_path", "\"mcpump-guard\""},
    {"size 0", transport_size_none, "size", "0"},
    {"size 7", transport_size_tiny, "size", "7"},
};

CHANGE(era_too_large, o->era = (mcpump_era)9)
CHANGE(era_negative, o->era = (mcpump_era)-4)
CHANGE(probe_negative, o->probe_timeout_ms = -1)
CHANGE(probe_huge, o->probe_timeout_ms = INT64_MAX)
CHANGE(connect_negative, o->connect_timeout_ms = -2)
CHANGE(connect_huge, o->connect_timeout_ms = INT64_MAX)
CHANGE(size_none, o->size = 0)
CHANGE(size_tiny, o->size = 7)

static const struct refusal server_refusals[] = {
    {"era too large", era_too_large, "era", "9"},
    {"era negative", era_negative, "era", "-4"},
    {"probe_timeout_ms negative", probe_negative, "probe_timeout_ms", "-1"},
    {"probe_timeout_ms huge", probe_huge, "probe_timeout_ms", "9223372036854775807"},
    {"connect_timeout_ms negative", connect_negative, "connect_timeout_ms", "-2"},
    {"connect_timeout_ms huge", connect_huge, "connect_timeout_ms", "9223372036854775807"},
    {"size 0", size_none, "size", "0"},
    {"size 7", size_tiny, "size", "7"},
};

static void expect_refused(const struct refusal *row, mcpump_err err, mcpump_failure *failure,
                           const void *made)
{
    cr_expect_eq(err, MCPUMP_ERR_INVALID_ARGUMENT, "%s: %s", row->name, mcpump_err_name(err));
    cr_expect_null(made, "%s: the output was touched", row->name);
    cr_expect_not_null(failure, "%s: no failure", row->name);
    if (failure == NULL)
        return;
    const char *message = mcpump_failure_message(failure);
    cr_expect_eq(mcpump_failure_error(failure), MCPUMP_ERR_INVALID_ARGUMENT, "%s", row->name);
    cr_expect_eq(mcpump_failure_phase(failure), MCPUMP_PHASE_OPTIONS, "%s", row->name);
    test_expect_part(message, row->key, row->name);
    test_expect_part(message, row->value, row->name);
    cr_expect_null(strstr(message, "hunter2"), "%s: a secret in \"%s\"", row->name, message);
    mcpump_failure_free(failure);
}

static void expect_refused_by_server(const struct refusal *row)
{
    mcpump_server_options options = plain_options();
    mcpump_server *server = NULL;
    mcpump_failure *failure = NULL;
    row->change(&options);
    mcpump_err err = mcpump_server_new(&options, &server, &failure);
    expect_refused(row, err, failure, server);
    cr_expect_eq(mcpump_server_new(&options, &server, NULL), MCPUMP_ERR_INVALID_ARGUMENT,
                 "%s: without a place for the failure", row->name);
}

static void expect_refused_by_transport(const struct refusal *row)
{
    mcpump_server_options options = plain_options();
    mcpump_transport *transport = NULL;
    mcpump_failure *failure = NULL;
    row->change(&options);
    mcpump_err err = mcpump_transport_new(&options.transport, &transport, &failure);
    expect_refused(row, err, failure, transport);
}

Test(options, every_refusal_names_key_and_value)
{
    struct test_resources before = test_resources();
    for (size_t i = 0; i < LENGTH(transport_refusals); i++) {
        expect_refused_by_transport(&transport_refusals[i]);
        expect_refused_by_server(&transport_refusals[i]);
    }
    for (size_t i = 0; i < LENGTH(server_refusals); i++)
        expect_refused_by_server(&server_refusals[i]);
    EXPECT_NOTHING_LEFT(before, "");
}

/* -- what is accepted at the edge of that */

CHANGE(nothing, (void)o)
CHANGE(forever, o->transport.default_timeout_ms = o->connect_timeout_ms = MCPUMP_FOREVER)
CHANGE(no_graces, o->transport.stdin_grace_ms = o->transport.term_grace_ms = MCPUMP_ZERO)
CHANGE(no_junk, o->transport.max_junk_lines = MCPUMP_ZERO)
CHANGE(one_byte, o->transport.max_message_bytes = o->transport.write_queue_bytes = 1)
CHANGE_LIST(empty_value, transport.env, "A=", "B==", "C= x")
CHANGE_LIST(empty_arguments, transport.args, "", "", "")
CHANGE(root, o->transport.cwd = "/")
CHANGE(bat_inside, o->transport.command = "a.bat.sh")
CHANGE(odd_names, o->transport.display_name = "///[\n]"; o->client_name = "\"\\\xff\n")

static const struct acceptance {
    const char *name;
    void (*change)(mcpump_server_options *options);
} acceptances[] = {
    {"defaults", nothing},
    {"forever", forever},
    {"no graces", no_graces},
    {"no junk", no_junk},
    {"one byte", one_byte},
    {"empty values", empty_value},
    {"empty arguments", empty_arguments},
    {"root as cwd", root},
    {".bat within", bat_inside},
    {"batch file, allowed", batch_plain},
    {"extreme rlimits", rlimits_extreme},
    {"rlimits, none of them", rlimits_none},
    {"lowest niceness", nice_lowest},
    {"highest niceness", nice_highest},
    {"odd names", odd_names},
};

Test(options, edges_are_accepted)
{
    for (size_t i = 0; i < LENGTH(acceptances); i++) {
        mcpump_server_options options = plain_options();
        mcpump_server *server = NULL;
        mcpump_failure *failure = NULL;
        acceptances[i].change(&options);
        mcpump_err err = mcpump_server_new(&options, &server, &failure);
        cr_expect_eq(err, MCPUMP_OK, "%s: %s", acceptances[i].name,
                     failure != NULL ? mcpump_failure_message(failure) : mcpump_err_name(err));
        mcpump_server_free(server);
        mcpump_failure_free(failure);
    }
}

/* -- arguments */

Test(options, null_arguments)
{
    mcpump_server_options options = plain_options();
    mcpump_server *server;
    mcpump_transport *transport;
    cr_expect_eq(mcpump_server_new(NULL, &server, NULL), MCPUMP_ERR_INVALID_ARGUMENT);
    cr_expect_eq(mcpump_server_new(&options, NULL, NULL), MCPUMP_ERR_INVALID_ARGUMENT);
    cr_expect_eq(mcpump_transport_new(NULL, &transport, NULL), MCPUMP_ERR_INVALID_ARGUMENT);
    cr_expect_eq(mcpump_transport_new(&options.transport, NULL, NULL), MCPUMP_ERR_INVALID_ARGUMENT);
    cr_expect_eq(mcpump_server_connect(NULL, NULL), MCPUMP_ERR_INVALID_ARGUMENT);
    mcpump_server_free(NULL);
    mcpump_transport_free(NULL);
    mcpump_failure_free(NULL);
    mcpump_reply_free(NULL);
    mcpump_text_free(NULL);
}

Test(options, failure_is_null_on_success)
{
    mcpump_server_options options = plain_options();
    mcpump_server *server = NULL;
    mcpump_failure *failure = (mcpump_failure *)&options;
    cr_assert_eq(mcpump_server_new(&options, &server, &failure), MCPUMP_OK);
    cr_expect_null(failure);
    mcpump_server_free(server);
}

/* -- structs of other versions */

/* What lies behind an older caller's smaller struct is not looked at. */
Test(options, older_transport_options)
{
    static const size_t sizes[] = {
        offsetof(mcpump_transport_options, args),
        offsetof(mcpump_transport_options, stderr_sink),
        offsetof(mcpump_transport_options, max_message_bytes),
        offsetof(mcpump_transport_options, term_grace_ms),
    };
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        mcpump_transport_options options;
        mcpump_transport *transport = NULL;
        memset(&options, 0xA5, sizeof(options));
        memset(&options, 0, sizes[i]);
        options.size = sizes[i];
        options.command = "true";
        cr_expect_eq(mcpump_transport_new(&options, &transport, NULL), MCPUMP_OK, "size %zu",
                     sizes[i]);
        mcpump_transport_free(transport);
    }
}

Test(options, older_server_options)
{
    static const size_t sizes[] = {
        offsetof(mcpump_server_options, era),
        offsetof(mcpump_server_options, connect_timeout_ms),
        offsetof(mcpump_server_options, client_version),
    };
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        mcpump_server_options options;
        mcpump_server *server = NULL;
        memset(&options, 0xA5, sizeof(options));
        memset(&options, 0, sizes[i]);
        options.size = sizes[i];
        options.transport = (mcpump_transport_options)MCPUMP_TRANSPORT_OPTIONS_INIT;
        options.transport.command = "true";
        cr_expect_eq(mcpump_server_new(&options, &server, NULL), MCPUMP_OK, "size %zu", sizes[i]);
        mcpump_server_free(server);
    }
}

/* A newer caller's larger struct is accepted as long as it asks for nothing that is not known. */
Test(options, newer_transport_options)
{
    struct {
        mcpump_transport_options known;
        char unknown[24];
    } newer = {.known = MCPUMP_TRANSPORT_OPTIONS_INIT};
    mcpump_transport *transport = NULL;
    mcpump_failure *failure = NULL;
    newer.known.size = sizeof(newer);
    newer.known.command = "true";
    cr_expect_eq(mcpump_transport_new(&newer.known, &transport, NULL), MCPUMP_OK);
    mcpump_transport_free(transport);
    transport = NULL;
    newer.unknown[sizeof(newer.unknown) - 1] = 1;
    cr_expect_eq(mcpump_transport_new(&newer.known, &transport, &failure),
                 MCPUMP_ERR_INVALID_ARGUMENT);
    cr_assert_not_null(failure);
    test_expect_part(mcpump_failure_message(failure), "size", "larger");
    mcpump_failure_free(failure);
}

Test(options, newer_server_options)
{
    struct {
        mcpump_server_options known;
        char unknown[24];
    } newer = {.known = MCPUMP_SERVER_OPTIONS_INIT};
    mcpump_server *server = NULL;
    mcpump_failure *failure = NULL;
    newer.known.size = sizeof(newer);
    newer.known.transport.command = "true";
    cr_expect_eq(mcpump_server_new(&newer.known, &server, NULL), MCPUMP_OK);
    mcpump_server_free(server);
    server = NULL;
    newer.unknown[0] = 1;
    cr_expect_eq(mcpump_server_new(&newer.known, &server, &failure), MCPUMP_ERR_INVALID_ARGUMENT);
    cr_assert_not_null(failure);
    test_expect_part(mcpump_failure_message(failure), "size", "larger");
    mcpump_failure_free(failure);
}

Test(options, call_options_of_other_versions)
{
    struct {
        mcpump_call_options known;
        char unknown[8];
    } newer = {.known = {.size = sizeof(newer)}};
    mcpump_call_options older = {.size = offsetof(mcpump_call_options, timeout_ms),
                                 .timeout_ms = INT64_MIN};
    mcpump_call_options tiny = {.size = 3};
    mcpump_server *server = test_connect(NO_STRINGS);
    mcpump_reply *reply = NULL;
    cr_assert_eq(mcpump_server_request(server, "test/echo", NULL, &older, &reply, NULL), MCPUMP_OK);
    mcpump_reply_free(reply);
    cr_assert_eq(mcpump_server_request(server, "test/echo", NULL, &newer.known, &reply, NULL),
                 MCPUMP_OK);
    mcpump_reply_free(reply);
    newer.unknown[7] = 1;
    cr_expect_eq(mcpump_server_request(server, "test/echo", NULL, &newer.known, &reply, NULL),
                 MCPUMP_ERR_INVALID_ARGUMENT);
    cr_expect_eq(mcpump_server_request(server, "test/echo", NULL, &tiny, &reply, NULL),
                 MCPUMP_ERR_INVALID_ARGUMENT);
    mcpump_server_free(server);
}

Test(options, stats_reach_as_far_as_the_caller_knows)
{
    mcpump_server *server = test_connect(NO_STRINGS);
    mcpump_stats stats;
    memset(&stats, 0xA5, sizeof(stats));
    stats.size = offsetof(mcpump_stats, requests);
    mcpump_transport_stats(mcpump_server_transport(server), &stats);
    cr_expect_eq(stats.size, offsetof(mcpump_stats, requests));
    cr_expect_eq(stats.opens, 1);
    cr_expect_eq(stats.requests, UINT64_C(0xA5A5A5A5A5A5A5A5));
    mcpump_server_free(server);
}

/* -- the working directory */

static void expect_cwd(mcpump_transport *transport, const char *wanted)
{
    char link[64], cwd[512];
    cr_assert_eq(mcpump_transport_open(transport, NULL), MCPUMP_OK);
    snprintf(link, sizeof(link), "/proc/%d/cwd", (int)mcpump_transport_pid(transport));
    ssize_t size = readlink(link, cwd, sizeof(cwd) - 1);
    cr_assert_gt(size, 0);
    cwd[size] = '\0';
    cr_expect_str_eq(cwd, wanted);
}

static void expect_directory_refused(mcpump_transport *transport, const char *directory,
                                     mcpump_err wanted)
{
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_transport_set_working_dir(transport, directory, &failure);
    cr_expect_eq(err, wanted, "%s: %s", directory, mcpump_err_name(err));
    cr_assert_not_null(failure);
    if (wanted == MCPUMP_ERR_INVALID_ARGUMENT)
        test_expect_part(mcpump_failure_message(failure), directory, directory);
    mcpump_failure_free(failure);
}

Test(options, set_working_dir)
{
    char here[512];
    struct test_folder folder;
    struct test_resources before = test_resources();
    test_folder_init(&folder);
    cr_assert_not_null(getcwd(here, sizeof(here)));
    mcpump_transport *transport = test_transport_new(NO_STRINGS);
    expect_directory_refused(transport, "not/absolute", MCPUMP_ERR_INVALID_ARGUMENT);
    expect_directory_refused(transport, "/nowhere/at/all", MCPUMP_ERR_INVALID_ARGUMENT);
    expect_directory_refused(transport, "/dev/null", MCPUMP_ERR_INVALID_ARGUMENT);
    expect_cwd(transport, here);

    expect_directory_refused(transport, "/", MCPUMP_ERR_ALREADY_OPEN);
    mcpump_transport_close(transport);
    cr_expect_eq(mcpump_transport_set_working_dir(transport, folder.path, NULL), MCPUMP_OK);
    expect_cwd(transport, folder.path);
    mcpump_transport_close(transport);
    expect_cwd(transport, folder.path);
    mcpump_transport_close(transport);

    cr_expect_eq(mcpump_transport_set_working_dir(transport, NULL, NULL), MCPUMP_OK);
    expect_cwd(transport, here);
    mcpump_transport_free(transport);
    test_folder_done(&folder);
    EXPECT_NOTHING_LEFT(before, "");
}

/* -- the display name */

static const struct label_row {
    const char *command, *display_name, *wanted;
} label_rows[] = {
    {"true", NULL, "true"},     {"/usr/bin/true", NULL, "true"},
    {"true", "files", "files"}, {"true", "//[my] server\n", "my server"},
    {"true", "", "server"},     {"true", "[]/\x1b", "server"},
};

Test(options, display_name)
{
    for (size_t i = 0; i < LENGTH(label_rows); i++) {
        const struct label_row *row = &label_rows[i];
        mcpump_transport_options options = MCPUMP_TRANSPORT_OPTIONS_INIT;
        mcpump_transport *transport = NULL;
        options.command = row->command;
        options.display_name = row->display_name;
        cr_assert_eq(mcpump_transport_new(&options, &transport, NULL), MCPUMP_OK);
        cr_expect_str_eq(mcpump_transport_display_name(transport), row->wanted, "row %zu: \"%s\"",
                         i, mcpump_transport_display_name(transport));
        mcpump_transport_free(transport);
    }
}
