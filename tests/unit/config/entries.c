/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of keys and values; states; limits of a file. */
#include <sys/resource.h>

#include "support.h"

Test(entries, plain)
{
    setenv("ONE", "1", 1);
    setenv("TWO", "2", 1);
    mcpump_config *config =
        parse(ENTRY("\"command\": \"${NONE:-np}x\", \"args\": [\"-y\", \"\", \"a b\", \"${ONE}\"],"
                    "\"env\": {\"A\": \"x${env:TWO}\", \"B\": 3.50, \"C\": \"\", \"D\": null},"
                    "\"cwd\": \"/usr\", \"timeout\": 1.5e3"));
    const mcpump_transport_options *options = first(config);
    cr_expect_eq(options->size, sizeof(*options));
    cr_expect_eq(mcpump_config_options(config, 0)->size, sizeof(mcpump_server_options));
    cr_expect_str_eq(options->command, "npx");
    cr_expect_str_eq(show_list(options->args), "-y  a b 1 ");
    cr_expect_str_eq(show_secrets(options), "A=x2 B=3.50 C= ");
    cr_expect_str_eq(show_list(options->unset_env), "D ");
    cr_expect_null(options->env);
    cr_expect_str_eq(options->cwd, "/usr");
    cr_expect_str_eq(options->display_name, "x");
    cr_expect_eq(options->default_timeout_ms, 1500);
    cr_expect_not(mcpump_config_is_eager(config, 0));
    mcpump_config_free(config);
}

/* What is not there stays zero, which is the default. */
Test(entries, defaults)
{
    static const mcpump_server_options none = MCPUMP_SERVER_OPTIONS_INIT;
    mcpump_config *config = parse(ENTRY("\"command\": \"a\", \"mcpump\": {}"));
    mcpump_server_options options = *mcpump_config_options(config, 0);
    cr_expect_str_eq(options.transport.command, "a");
    cr_expect_str_eq(options.transport.display_name, "x");
    options.transport.command = options.transport.display_name = NULL;
    cr_expect_eq(memcmp(&options, &none, sizeof(none)), 0);
    mcpump_config_free(config);
}

#define OWN(members) ENTRY("\"command\": \"a\", \"mcpump\": {" members "}")

Test(entries, own_settings)
{
    mcpump_config *config = parse(OWN(
        "\"display_name\": \"The X\", \"start\": \"eager\", \"era\": \"legacy\","
        "\"inherit_env\": [\"A\", \"B\"], \"unset_env\": [\"C\"], \"stderr\": \"file\","
        "\"stderr_file\": \"x.log\", \"max_message_bytes\": 1, \"max_junk_lines\": 2,"
        "\"write_queue_bytes\": 3, \"queue_policy\": \"reject\", \"default_timeout_ms\": 4,"
        "\"probe_timeout_ms\": 5, \"connect_timeout_ms\": 6, \"stdin_grace_ms\": 7,"
        "\"term_grace_ms\": 8, \"backoff_first_ms\": 9, \"backoff_most_ms\": 10,"
        "\"stable_ms\": 11, \"max_reconnects\": 12, \"idle_timeout_ms\": 13, \"orphans\": \"tree\","
        "\"allow_batch_files\": true, \"new_session\": true, \"nice\": -14,"
        "\"rlimits\": {\"nofile\": 15, \"core\": [0, \"unlimited\"], \"as\": \"unlimited\"}"));
    const mcpump_transport_options *options = first(config);
    const mcpump_server_options *server = mcpump_config_options(config, 0);
    cr_expect_str_eq(options->display_name, "The X");
    cr_expect(mcpump_config_is_eager(config, 0));
    cr_expect_eq(server->era, MCPUMP_ERA_LEGACY);
    cr_expect_str_eq(show_list(options->inherit_env), "A B ");
    cr_expect_str_eq(show_list(options->unset_env), "C ");
    cr_expect_eq(options->stderr_sink, MCPUMP_STDERR_FILE);
    cr_expect_str_eq(options->stderr_file, "/tmp/x.log");
    cr_expect_eq(options->max_message_bytes, 1);
    cr_expect_eq(options->max_junk_lines, 2);
    cr_expect_eq(options->write_queue_bytes, 3);
    cr_expect_eq(options->queue_policy, MCPUMP_QUEUE_REJECT);
    cr_expect_eq(options->default_timeout_ms, 4);
    cr_expect_eq(server->probe_timeout_ms, 5);
    cr_expect_eq(server->connect_timeout_ms, 6);
    cr_expect_eq(options->stdin_grace_ms, 7);
    cr_expect_eq(options->term_grace_ms, 8);
    cr_expect_eq(server->backoff_first_ms, 9);
    cr_expect_eq(server->backoff_most_ms, 10);
    cr_expect_eq(server->stable_ms, 11);
    cr_expect_eq(server->max_reconnects, 12);
    cr_expect_eq(server->idle_timeout_ms, 13);
    cr_expect_eq(options->orphans, MCPUMP_ORPHANS_TREE);
    cr_expect(options->allow_batch_files);
    cr_expect(options->new_session);
    cr_expect_eq(options->nice, -14);
    cr_assert_eq(options->rlimit_count, 3);
    cr_expect_eq(options->rlimits[0].resource, RLIMIT_NOFILE);
    cr_expect(options->rlimits[0].soft == 15 && options->rlimits[0].hard == 15);
    cr_expect_eq(options->rlimits[1].resource, RLIMIT_CORE);
    cr_expect(options->rlimits[1].soft == 0 && options->rlimits[1].hard == UINT64_MAX);
    cr_expect(options->rlimits[2].soft == UINT64_MAX);
    mcpump_config_free(config);
}

/* In a file 0 is none; in the options 0 is the default. */
Test(entries, zero_and_forever)
{
    mcpump_config *config = parse(
        OWN("\"max_junk_lines\": 0, \"stdin_grace_ms\": 0, \"term_grace_ms\": 0,"
            "\"max_reconnects\": 0, \"idle_timeout_ms\": 0, \"nice\": 0, \"rlimits\": {},"
            "\"default_timeout_ms\": -1, \"connect_timeout_ms\": \"forever\", \"era\": \"auto\","
            "\"stderr\": \"inherit\", \"orphans\": \"none\", \"start\": \"lazy\","
            "\"new_session\": false, \"queue_policy\": \"close\""));
    const mcpump_transport_options *options = first(config);
    const mcpump_server_options *server = mcpump_config_options(config, 0);
    cr_expect_eq(options->max_junk_lines, MCPUMP_ZERO);
    cr_expect_eq(options->stdin_grace_ms, MCPUMP_ZERO);
    cr_expect_eq(options->term_grace_ms, MCPUMP_ZERO);
    cr_expect_eq(server->max_reconnects, MCPUMP_ZERO);
    cr_expect_eq(server->idle_timeout_ms, 0);
    cr_expect_eq(options->nice, 0);
    cr_expect_null(options->rlimits);
    cr_expect_eq(options->rlimit_count, 0);
    cr_expect_eq(options->default_timeout_ms, MCPUMP_FOREVER);
    cr_expect_eq(server->connect_timeout_ms, MCPUMP_FOREVER);
    cr_expect_eq(options->orphans, MCPUMP_ORPHANS_NONE);
    mcpump_config_free(config);
}

Test(entries, own_timeout_wins)
{
    mcpump_config *config = parse(ENTRY("\"command\": \"a\", \"timeout\": 5000, "
                                        "\"mcpump\": {\"default_timeout_ms\": 7000}"));
    cr_expect_eq(first(config)->default_timeout_ms, 7000);
    mcpump_config_free(config);
}

Test(entries, stderr_file_alone_says_where)
{
    mcpump_config *config = parse(OWN("\"stderr_file\": \"/tmp/x\""));
    cr_expect_eq(first(config)->stderr_sink, MCPUMP_STDERR_FILE);
    mcpump_config_free(config);
}

Test(entries, states)
{
    static const struct {
        const char *members;
        mcpump_entry_state state;
        const char *problem;
    } rows[] = {
        {"\"command\": \"a\"", MCPUMP_ENTRY_USABLE, ""},
        {"\"command\": \"a\", \"type\": \"stdio\"", MCPUMP_ENTRY_USABLE, ""},
        {"\"command\": \"a\", \"type\": \"local\"", MCPUMP_ENTRY_USABLE, ""},
        {"\"command\": \"a\", \"disabled\": true", MCPUMP_ENTRY_DISABLED,
         "disabled: the entry is switched off"},
        {"\"command\": \"a\", \"enabled\": false", MCPUMP_ENTRY_DISABLED,
         "enabled: the entry is switched off"},
        {"\"disabled\": false, \"enabled\": false", MCPUMP_ENTRY_DISABLED,
         "enabled: the entry is switched off"},
        {"\"url\": \"https://hunter2\", \"disabled\": true", MCPUMP_ENTRY_DISABLED,
         "disabled: the entry is switched off"},
        {"\"command\": 1, \"disabled\": true", MCPUMP_ENTRY_DISABLED,
         "disabled: the entry is switched off"},
        {"\"url\": \"https://hunter2\"", MCPUMP_ENTRY_UNSUPPORTED,
         "url: remote servers are not supported"},
        {"\"serverUrl\": \"https://hunter2\"", MCPUMP_ENTRY_UNSUPPORTED,
         "serverUrl: remote servers are not supported"},
        {"\"httpUrl\": \"https://hunter2\"", MCPUMP_ENTRY_UNSUPPORTED,
         "httpUrl: remote servers are not supported"},
        {"\"type\": \"http\", \"url\": \"\"", MCPUMP_ENTRY_UNSUPPORTED,
         "url: remote servers are not supported"},
        {"\"type\": \"sse\"", MCPUMP_ENTRY_UNSUPPORTED, "type: remote servers are not supported"},
        {"\"transport\": \"streamable-http\"", MCPUMP_ENTRY_UNSUPPORTED,
         "transport: remote servers are not supported"},
        {"\"type\": \"smoke\", \"url\": \"\"", MCPUMP_ENTRY_UNSUPPORTED,
         "url: remote servers are not supported"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[256], problem[128] = "";
        snprintf(text, sizeof(text), "{\"servers\": {\"x\": {%s}}}", rows[i].members);
        if (rows[i].problem[0] != '\0')
            snprintf(problem, sizeof(problem), "%s:1: servers.x.%s", NAME, rows[i].problem);
        mcpump_config *config = parse(text);
        cr_expect_eq(mcpump_config_state(config, 0), rows[i].state, "%s", text);
        cr_expect_str_eq(mcpump_config_problem(config, 0), problem, "%s", text);
        cr_expect_eq(mcpump_config_options(config, 0) != NULL,
                     rows[i].state == MCPUMP_ENTRY_USABLE);
        mcpump_config_free(config);
    }
}

Test(entries, order_and_names)
{
    size_t index = 77;
    mcpump_config *config = parse("{\"servers\": {\"b\": {\"command\": \"b\"}}, \"mcpServers\": "
                                  "{\"z\": {\"command\": \"z\"}, \"a \\u00e4\": {}}}");
    cr_assert_eq(mcpump_config_count(config), 3);
    cr_expect_str_eq(mcpump_config_name(config, 0), "z");
    cr_expect_str_eq(mcpump_config_name(config, 1), "a \xC3\xA4");
    cr_expect_str_eq(mcpump_config_name(config, 2), "b");
    cr_expect(mcpump_config_find(config, "b", &index));
    cr_expect_eq(index, 2);
    cr_expect(mcpump_config_find(config, "b", NULL));
    cr_expect_not(mcpump_config_find(config, "c", &index));
    cr_expect_eq(index, 2);
    mcpump_config_free(config);
}

Test(entries, out_of_range)
{
    mcpump_config *config = parse("{\"servers\": {}}");
    cr_expect_eq(mcpump_config_count(config), 0);
    cr_expect_str_eq(mcpump_config_name(config, 0), "");
    cr_expect_str_eq(mcpump_config_problem(config, 0), "");
    cr_expect_str_eq(mcpump_config_warning(config, 0), "");
    cr_expect_eq(mcpump_config_state(config, 0), MCPUMP_ENTRY_INVALID);
    cr_expect_null(mcpump_config_options(config, SIZE_MAX));
    cr_expect_not(mcpump_config_is_eager(config, 0));
    mcpump_config_free(config);
    mcpump_config_free(NULL);
}

Test(entries, arguments_are_checked)
{
    mcpump_config *config = NULL;
    cr_expect_eq(mcpump_config_parse(NULL, "{}", 2, &config, NULL), MCPUMP_ERR_INVALID_ARGUMENT);
    cr_expect_eq(mcpump_config_parse(NAME, NULL, 2, &config, NULL), MCPUMP_ERR_INVALID_ARGUMENT);
    cr_expect_eq(mcpump_config_parse(NAME, "{}", 2, NULL, NULL), MCPUMP_ERR_INVALID_ARGUMENT);
    cr_expect_eq(mcpump_config_load(NAME, NULL, NULL), MCPUMP_ERR_INVALID_ARGUMENT);
    cr_expect_eq(mcpump_config_parse(NAME, NULL, 0, &config, NULL), MCPUMP_ERR_INVALID_ARGUMENT);
    cr_expect_null(config);
}

/* -- limits */

struct text {
    char *bytes;
    size_t size;
};

static void begin_text(struct text *text)
{
    text->bytes = calloc(1, 5 << 20);
    text->size = 0;
    cr_assert_not_null(text->bytes);
}

static void add(struct text *text, const char *bytes)
{
    size_t size = strlen(bytes);
    cr_assert_lt(text->size + size, 5 << 20);
    memcpy(text->bytes + text->size, bytes, size + 1);
    text->size += size;
}

static void fill(struct text *text, char byte, size_t count)
{
    memset(text->bytes + text->size, byte, count);
    text->size += count;
}

static void expect_fault(struct text *text, const char *words)
{
    mcpump_config *config = NULL;
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_config_parse(NAME, text->bytes, text->size, &config, &failure);
    cr_expect_eq(err, words == NULL ? MCPUMP_OK : MCPUMP_ERR_INVALID_ARGUMENT, "%s",
                 mcpump_failure_message(failure));
    if (words != NULL)
        cr_expect_str_eq(mcpump_failure_message(failure), words);
    mcpump_failure_free(failure);
    mcpump_config_free(config);
}

Test(entries, size_of_a_file)
{
    struct text text;
    begin_text(&text);
    add(&text, "{\"servers\": {}}");
    fill(&text, ' ', ((size_t)4 << 20) - text.size);
    expect_fault(&text, NULL);
    fill(&text, ' ', 1);
    expect_fault(&text, "/tmp/f.json: it is larger than 4 MiB");
    free(text.bytes);
}

static void number_of_servers(size_t count, const char *words)
{
    struct text text;
    char entry[64];
    begin_text(&text);
    add(&text, "{\"servers\": {");
    for (size_t i = 0; i < count; i++) {
        snprintf(entry, sizeof(entry), "\"%zu\": {\"command\": \"a\", \"zag\": 1},", i);
        add(&text, entry);
    }
    add(&text, "}}");
    expect_fault(&text, words);
    free(text.bytes);
}

Test(entries, number_of_servers)
{
    number_of_servers(1024, NULL);
    number_of_servers(1025, "/tmp/f.json:1: there are more than 1024 servers");
}

Test(entries, number_of_warnings)
{
    mcpump_config *config;
    struct text text;
    char member[32];
    begin_text(&text);
    add(&text, "{\"servers\": {\"x\": {\"command\": \"a\"");
    for (size_t i = 0; i < 300; i++) {
        snprintf(member, sizeof(member), ", \"zag%zu\": 1", i);
        add(&text, member);
    }
    add(&text, "}}}");
    config = parse(text.bytes);
    cr_expect_eq(mcpump_config_warning_count(config), 100);
    cr_expect_str_eq(mcpump_config_warning(config, 99),
                     "/tmp/f.json:1: servers.x.zag99: unknown key");
    mcpump_config_free(config);
    free(text.bytes);
}

static void number_of_variables(size_t count, const char *problem)
{
    struct text text;
    char member[32];
    begin_text(&text);
    add(&text, "{\"servers\": {\"x\": {\"command\": \"a\", \"env\": {");
    for (size_t i = 0; i < count; i++) {
        snprintf(member, sizeof(member), "\"A%zu\": \"\",", i);
        add(&text, member);
    }
    add(&text, "}}}}");
    mcpump_config *config = parse(text.bytes);
    cr_expect_str_eq(mcpump_config_problem(config, 0), problem);
    mcpump_config_free(config);
    free(text.bytes);
}

Test(entries, number_of_variables)
{
    number_of_variables(1024, "");
    number_of_variables(1025, "/tmp/f.json:1: servers.x.env: it holds more than 1024 variables");
}

/* A small file that would expand to gigabytes, in length and in number. */
Test(entries, sum_of_values)
{
    struct text text;
    char *long_value = calloc(1, 100001);
    memset(long_value, 'v', 100000);
    setenv("LONG", long_value, 1);
    begin_text(&text);
    add(&text, "{\"servers\": {\"x\": {\"command\": \"a\", \"args\": [");
    for (size_t i = 0; i < 1000; i++)
        add(&text, "\"${LONG}\",");
    add(&text, "]}, \"y\": {\"command\": \"a\", \"args\": [\"${LONG}${LONG}\"]},"
               "\"z\": {\"command\": \"a\", \"args\": [");
    for (size_t i = 0; i < 20000; i++)
        add(&text, "\"\",");
    add(&text, "]}}}");
    mcpump_config *config = parse(text.bytes);
    static const char words[] = "the values of the file are too many or too large";
    cr_expect_not_null(strstr(mcpump_config_problem(config, 0), words));
    cr_expect_str_eq(mcpump_config_problem(config, 1),
                     "/tmp/f.json:1: servers.y.args: it becomes longer than 131071 bytes");
    cr_expect_not_null(strstr(mcpump_config_problem(config, 2), words));
    mcpump_config_free(config);
    free(text.bytes);
    free(long_value);
}
