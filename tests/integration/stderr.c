/* SPDX-License-Identifier: Apache-2.0 */
/* A server's stderr: never in the way, made fit to be shown, labelled, kept for failures. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "raw.h"

#define KIB 1024
#define MIB (1024 * KIB)

/* The fake server, its stderr collected. */
static mcpump_transport_options collecting(struct raw_lines *lines, const char *const *switches)
{
    mcpump_transport_options options = raw_options(switches);
    raw_lines_init(lines);
    options.stderr_sink = MCPUMP_STDERR_CALLBACK;
    options.stderr_fn = raw_lines_stderr;
    options.stderr_user = lines;
    return options;
}

/* -- much of it */

TIDY_TEST(a_mebibyte_before_each_reply)
{
    mcpump_transport *transport = test_open(STRINGS("--stderr-before-reply", "1048576"));
    for (int i = 0; i < 5; i++)
        raw_expect(transport, "flood", "test/echo", "{\"a\":1}", "{\"a\":1}");
    cr_expect_geq(raw_stats(transport).stderr_lines, 4 * MIB / 64);
    mcpump_transport_free(transport);
}

TIDY_TEST(much_of_it_at_the_probe)
{
    static const struct {
        const char *name;
        const char *switches[6];
    } rows[] = {
        {"modern", {"--era", "modern", "--stderr-bytes", "200000"}},
        {"legacy", {"--era", "legacy", "--stderr-bytes", "200000"}},
        {"modern, before each reply", {"--era", "modern", "--stderr-before-reply", "200000"}},
        {"legacy, before each reply", {"--era", "legacy", "--stderr-before-reply", "200000"}},
        {"legacy, one line",
         {"--era", "legacy", "--stderr-bytes", "200000", "--stderr-no-newline"}},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        mcpump_server *server = test_connect(rows[i].switches);
        test_expect_no_violation(server, rows[i].name);
        mcpump_server_free(server);
    }
}

TIDY_TEST(megabytes_without_newline_are_bounded)
{
    struct raw_lines lines;
    mcpump_transport_options options = collecting(&lines, NO_STRINGS);
    mcpump_transport *transport = raw_open(&options);
    raw_expect(transport, "one line", "test/stderr", "{\"bytes\":8388608,\"newline\":false}", "{}");
    mcpump_failure *failure = raw_fails(transport, "exit", "test/exit", NULL, MCPUMP_ERR_CLOSED);
    size_t kept = strlen(mcpump_failure_stderr(failure));
    cr_expect(kept > 1000 && kept <= 16 * KIB, "%zu bytes kept", kept);
    cr_expect_lt(strlen(mcpump_failure_message(failure)), 1024);
    mcpump_failure_free(failure);
    mcpump_transport_free(transport);
    cr_expect_lt(lines.size, 4 * KIB, "%zu bytes handed over", lines.size);
    raw_lines_done(&lines);
}

/* -- what is in it */

TIDY_TEST(what_would_harm_a_terminal_is_neutralised)
{
    static const struct {
        const char *name, *params, *wanted;
    } rows[] = {
        {"plain", "{\"text\":\"hello\"}", "[fake] hello\n"},
        {"tab stays", "{\"text\":\"a\\tb\"}", "[fake] a\tb\n"},
        {"empty line", "{\"text\":\"\"}", "[fake] \n"},
        {"two lines", "{\"text\":\"a\\nb\"}", "[fake] a\n[fake] b\n"},
        {"CR LF", "{\"text\":\"a\\r\"}", "[fake] a\n"},
        {"CR within", "{\"text\":\"a\\rb\"}", "[fake] a\\x0db\n"},
        {"ESC", "{\"text\":\"\\u001b[31mred\\u001b[0m\"}", "[fake] \\x1b[31mred\\x1b[0m\n"},
        {"NUL", "{\"text\":\"a\\u0000b\"}", "[fake] a\\x00b\n"},
        {"DEL", "{\"text\":\"a\\u007fb\"}", "[fake] a\\x7fb\n"},
        {"C1", "{\"text\":\"a\\u009bb\"}", "[fake] a\\xc2\\x9bb\n"},
        {"raw C1", "{\"hex\":\"619B62\"}",
         "[fake] a\xEF\xBF\xBD"
         "b\n"},
        {"invalid UTF-8", "{\"hex\":\"636166E9\"}", "[fake] caf\xEF\xBF\xBD\n"},
        {"cut UTF-8", "{\"hex\":\"E282\"}", "[fake] \xEF\xBF\xBD\xEF\xBF\xBD\n"},
        {"UTF-8", "{\"text\":\"\xC3\xA9 \xF0\x9F\x98\x80\"}", "[fake] \xC3\xA9 \xF0\x9F\x98\x80\n"},
        {"a foreign label", "{\"text\":\"[other] ok\"}", "[fake] [other] ok\n"},
        {"without newline", "{\"text\":\"prompt> \",\"newline\":false}", "[fake] prompt> \n"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct raw_lines lines;
        mcpump_transport_options options = collecting(&lines, NO_STRINGS);
        mcpump_transport *transport = raw_open(&options);
        raw_expect(transport, rows[i].name, "test/stderr", rows[i].params, "{}");
        mcpump_transport_free(transport); /* all of it has come then */
        cr_expect_str_eq(lines.text, rows[i].wanted, "%s", rows[i].name);
        raw_lines_done(&lines);
    }
}

TIDY_TEST(the_label_is_the_sanitized_display_name)
{
    static const struct {
        const char *name, *label;
    } rows[] = {
        {"files", "[files] hello\n"},        {"//a/b", "[a/b] hello\n"},
        {"a] [b\033[1m", "[a b1m] hello\n"}, {"[]\n", "[server] hello\n"},
        {NULL, "[fake_server] hello\n"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct raw_lines lines;
        mcpump_transport_options options = collecting(&lines, NO_STRINGS);
        options.display_name = rows[i].name;
        mcpump_transport *transport = raw_open(&options);
        raw_expect(transport, rows[i].label, "test/stderr", "{\"text\":\"hello\"}", "{}");
        mcpump_transport_free(transport);
        cr_expect_str_eq(lines.text, rows[i].label);
        raw_lines_done(&lines);
    }
}

/* -- why it ended */

#define WHY "cannot open /var/lib/notes.db"

TIDY_TEST(a_server_that_says_why_and_exits_with_7)
{
    static const struct {
        const char *name;
        mcpump_era era;
        mcpump_phase phase;
    } rows[] = {
        {"both eras", MCPUMP_ERA_AUTO, MCPUMP_PHASE_HANDSHAKE}, /* started again after the probe */
        {"legacy", MCPUMP_ERA_LEGACY, MCPUMP_PHASE_HANDSHAKE},
        {"modern", MCPUMP_ERA_MODERN, MCPUMP_PHASE_PROBE},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        mcpump_server_options options =
            test_options(STRINGS("--stderr-text", "first line\\n" WHY "\\n", "--exit-now", "7"));
        options.era = rows[i].era;
        mcpump_server *server = test_server_new(&options);
        mcpump_failure *failure = test_connect_fails(server, MCPUMP_ERR_CLOSED);
        const char *message = mcpump_failure_message(failure);
        cr_expect_eq(mcpump_failure_phase(failure), rows[i].phase, "%s: %s", rows[i].name, message);
        cr_expect_eq(mcpump_failure_cause(failure), MCPUMP_CAUSE_EXITED, "%s", rows[i].name);
        cr_expect_eq(mcpump_failure_exit_status(failure), 7, "%s", rows[i].name);
        cr_expect_str_eq(mcpump_failure_stderr(failure), "first line\n" WHY "\n", "%s",
                         rows[i].name);
        const char *parts[] = {"fake: ", mcpump_phase_text(rows[i].phase), "status 7", WHY};
        for (size_t k = 0; k < LENGTH(parts); k++)
            test_expect_part(message, parts[k], rows[i].name);
        mcpump_failure_free(failure);
        mcpump_server_free(server);
    }
}

TIDY_TEST(an_unfinished_last_word_counts)
{
    mcpump_transport *transport =
        test_open(STRINGS("--stderr-text", "no newline", "--exit-now", "7"));
    struct raw_call call = {.transport = transport, .method = "test/echo"};
    raw_call_make(&call);
    cr_assert_eq(call.err, MCPUMP_ERR_CLOSED);
    cr_expect_str_eq(mcpump_failure_stderr(call.failure), "no newline\n");
    test_expect_part(raw_call_words(&call), "no newline", "message");
    raw_call_done(&call);
    mcpump_transport_free(transport);
}

/* The first lines come before anybody may be listening; started again and again. */
TIDY_TEST(the_first_lines_are_never_lost)
{
    struct raw_lines lines;
    mcpump_transport_options options =
        collecting(&lines, STRINGS("--stderr-text", "one\\ntwo\\n", "--stderr-text", "three\\n",
                                   "--exit-now", "7"));
    mcpump_transport *transport = NULL;
    cr_assert_eq(mcpump_transport_new(&options, &transport, NULL), MCPUMP_OK);
    for (int i = 0; i < 50; i++) {
        cr_assert_eq(mcpump_transport_open(transport, NULL), MCPUMP_OK);
        struct raw_call call = {.transport = transport, .method = "test/echo"};
        raw_call_make(&call);
        cr_assert_eq(call.err, MCPUMP_ERR_CLOSED, "%d", i);
        cr_expect_str_eq(mcpump_failure_stderr(call.failure), "one\ntwo\nthree\n", "%d", i);
        raw_call_done(&call);
        mcpump_transport_close(transport);
    }
    cr_expect_eq(raw_stats(transport).stderr_lines, 150);
    mcpump_transport_free(transport);
    raw_lines_done(&lines);
}

TIDY_TEST(the_last_64_lines_are_kept)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    for (int i = 1; i <= 100; i++) {
        char params[40];
        snprintf(params, sizeof(params), "{\"text\":\"line %d\"}", i);
        raw_expect(transport, "line", "test/stderr", params, "{}");
    }
    mcpump_failure *failure =
        raw_fails(transport, "exit", "test/exit", "{\"status\":1}", MCPUMP_ERR_CLOSED);
    const char *kept = mcpump_failure_stderr(failure);
    cr_expect_eq(strncmp(kept, "line 37\n", 8), 0, "%.20s", kept);
    cr_expect_str_eq(kept + strlen(kept) - 9, "line 100\n");
    test_expect_part(mcpump_failure_message(failure), "line 100", "last words");
    mcpump_failure_free(failure);
    mcpump_transport_free(transport);
}

/* -- it says nothing about the connection */

TIDY_TEST(stderr_never_changes_the_connection)
{
    static const struct {
        const char *name, *params;
    } rows[] = {
        {"an error", "{\"text\":\"FATAL: all is lost\"}"},
        {"a message",
         "{\"text\":\"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":2,\\\"result\\\":{}}\"}"},
        {"many lines", "{\"bytes\":100000}"},
        {"bytes", "{\"hex\":\"00FF1B0D\"}"},
    };
    mcpump_transport *transport = test_open(NO_STRINGS);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        raw_expect(transport, rows[i].name, "test/stderr", rows[i].params, "{}");
        cr_expect(mcpump_transport_is_connected(transport), "%s", rows[i].name);
        raw_expect(transport, rows[i].name, "test/echo", "{\"a\":1}", "{\"a\":1}");
    }
    mcpump_stats stats = raw_stats(transport);
    cr_expect_eq(stats.junk_lines + stats.unknown_replies + stats.duplicate_replies, 0);
    mcpump_transport_free(transport);
}

TIDY_TEST(a_closed_stderr_changes_nothing)
{
    mcpump_transport_options options = raw_shell(SHELL("exec \"$1\" 2>&-", test_fake_server()));
    mcpump_transport *transport = raw_open(&options);
    for (int i = 0; i < 3; i++)
        raw_expect(transport, "closed", "test/echo", "{\"a\":1}", "{\"a\":1}");
    cr_expect(mcpump_transport_is_connected(transport));
    mcpump_transport_free(transport);
}

/* -- sinks */

/* Text of a file; to be freed. */
static char *read_file(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "re");
    cr_assert_not_null(file, "%s", path);
    cr_assert_geq(getdelim(&text, &size, '\0', file), 0);
    fclose(file);
    return text;
}

static void say_to_sink(const mcpump_transport_options *options, const char *words)
{
    char params[80];
    snprintf(params, sizeof(params), "{\"text\":\"%s\"}", words);
    mcpump_transport *transport = raw_open(options);
    raw_expect(transport, words, "test/stderr", params, "{}");
    mcpump_transport_free(transport);
}

TIDY_TEST(a_file_is_appended_to)
{
    struct test_folder folder;
    test_folder_init(&folder);
    mcpump_transport_options options = raw_options(NO_STRINGS);
    options.stderr_sink = MCPUMP_STDERR_FILE;
    options.stderr_file = folder.log;
    say_to_sink(&options, "first run");
    say_to_sink(&options, "second run");
    char *text = read_file(folder.log);
    cr_expect_str_eq(text, "[fake] first run\n[fake] second run\n");
    free(text);
    test_folder_done(&folder);
}

/* Runs `body` with our stdout and stderr in two files of the folder. */
static void with_own_output_in_files(const struct test_folder *folder, void (*body)(void),
                                     char **ret_out, char **ret_err)
{
    char paths[2][96];
    int kept[2];
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        snprintf(paths[i], sizeof(paths[i]), "%s/fd%d", folder->path, i + 1);
        int fd = open(paths[i], O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        kept[i] = fcntl(i + 1, F_DUPFD_CLOEXEC, 3);
        dup2(fd, i + 1);
        close(fd);
        /* So that an empty file has a text too. */
        cr_assert_eq(write(i + 1, "|", 1), 1);
    }
    body();
    for (int i = 0; i < 2; i++) {
        dup2(kept[i], i + 1);
        close(kept[i]);
    }
    *ret_out = read_file(paths[0]);
    *ret_err = read_file(paths[1]);
}

static void inherit(void)
{
    mcpump_transport_options options = raw_options(NO_STRINGS);
    options.stderr_sink = MCPUMP_STDERR_INHERIT;
    say_to_sink(&options, "for your stderr");
}

TIDY_TEST(inherited_lines_go_to_our_stderr_and_never_to_stdout)
{
    struct test_folder folder;
    char *out, *err;
    test_folder_init(&folder);
    with_own_output_in_files(&folder, inherit, &out, &err);
    cr_expect_str_eq(out, "|");
    cr_expect_str_eq(err, "|[fake] for your stderr\n");
    free(out);
    free(err);
    test_folder_done(&folder);
}

/* Our stderr is a pipe that nobody reads: lines are lost, the server is not held up. */
TIDY_TEST(a_sink_that_is_stuck_stops_nothing)
{
    int ends[2];
    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    mcpump_transport_options options = raw_options(NO_STRINGS);
    options.stderr_sink = MCPUMP_STDERR_INHERIT;
    dup2(ends[1], STDERR_FILENO);
    mcpump_transport *transport = raw_open(&options);
    struct raw_call call = {
        .transport = transport, .method = "test/stderr", .params = "{\"bytes\":1048576}"};
    raw_call_make(&call);
    mcpump_transport_close(transport);
    dup2(kept, STDERR_FILENO);
    close(kept);
    cr_expect(raw_call_got(&call, "{}"), "%s", raw_call_words(&call));
    raw_call_done(&call);
    mcpump_stats stats = raw_stats(transport);
    cr_expect_eq(stats.stderr_lines, 1 * MIB / 64);
    cr_expect_gt(stats.stderr_lines_dropped, 10000);
    mcpump_transport_free(transport);
    close(ends[0]);
    close(ends[1]);
}

/* -- the tool */

/* Runs the tool in a shell that has the fake server as $1; its stdout, and whether it exited with
 * 0. */
static char *run_tool(const char *arguments)
{
    char *command = NULL, *text = NULL;
    size_t capacity = 0;
    const char *tool = getenv("MCPUMP_TOOL");
    cr_assert_not_null(tool, "MCPUMP_TOOL is not set; meson test sets it");
    cr_assert_gt(asprintf(&command, "'%s' %s 2>/dev/null", tool, arguments), 0);
    FILE *out = popen(command, "re");
    cr_assert_not_null(out);
    cr_assert_gt(getdelim(&text, &capacity, '\0', out), 0, "no output");
    cr_expect_eq(pclose(out), 0, "%s", arguments);
    free(command);
    return text;
}

TIDY_TEST(the_tools_stdout_is_clean_json)
{
    static const char *const eras[] = {"legacy", "modern"};
    for (size_t i = 0; i < LENGTH(eras); i++) {
        char *arguments = NULL;
        cr_assert_gt(asprintf(&arguments,
                              "request test/echo '{\"a\":1}' -- '%s' --era %s --stderr-bytes 100000"
                              " --stderr-before-reply 100000 --banner 'hello\\n[warn]\\n'",
                              test_fake_server(), eras[i]),
                     0);
        char *text = run_tool(arguments);
        json_object *result = json_tokener_parse(text);
        cr_assert_not_null(result, "%s: %.200s", eras[i], text);
        cr_expect_eq(test_int_member(result, "a"), 1, "%s", eras[i]);
        cr_expect_eq(strchr(text, '\n'), text + strlen(text) - 1, "%s: %.200s", eras[i], text);
        json_object_put(result);
        free(text);
        free(arguments);
    }
}
