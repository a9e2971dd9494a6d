/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "value.h"

#define WANT_SECONDS         "expected a number of seconds above 0"
#define WANT_SECONDS_OR_NONE "expected a number of seconds above 0, or none"

static const char *set_flag(struct cli_options *options, void *field, const char *value)
{
    (void)options;
    (void)value;
    *(bool *)field = true;
    return NULL;
}

static const char *add_verbosity(struct cli_options *options, void *field, const char *value)
{
    (void)field;
    (void)value;
    options->verbosity++;
    return NULL;
}

static const char *set_text(struct cli_options *options, void *field, const char *value)
{
    (void)options;
    *(const char **)field = value;
    return NULL;
}

static const char *set_seconds(struct cli_options *options, void *field, const char *value)
{
    (void)options;
    return cli_value_seconds(value, field) ? NULL : WANT_SECONDS;
}

static const char *set_seconds_or_none(struct cli_options *options, void *field, const char *value)
{
    (void)options;
    if (strcmp(value, "none") == 0) {
        *(int64_t *)field = MCPUMP_FOREVER;
        return NULL;
    }
    return cli_value_seconds(value, field) ? NULL : WANT_SECONDS_OR_NONE;
}

static const char *set_bytes(struct cli_options *options, void *field, const char *value)
{
    (void)options;
    return cli_value_bytes(value, field) ? NULL
                                         : "expected a number of bytes above 0, such as 65536, "
                                           "64K or 8M";
}

static const char *set_junk_lines(struct cli_options *options, void *field, const char *value)
{
    (void)options;
    int64_t lines;
    if (!cli_value_count(value, &lines))
        return "expected a number of lines, 0 or more";
    *(int64_t *)field = lines > 0 ? lines : MCPUMP_ZERO;
    return NULL;
}

static const char *set_output(struct cli_options *options, void *field, const char *value)
{
    (void)field;
    options->json = strcmp(value, "json") == 0;
    return options->json || strcmp(value, "text") == 0 ? NULL : "expected text or json";
}

static const char *set_era(struct cli_options *options, void *field, const char *value)
{
    static const char *const names[] = {
        [MCPUMP_ERA_AUTO] = "auto",
        [MCPUMP_ERA_LEGACY] = "legacy",
        [MCPUMP_ERA_MODERN] = "modern",
    };
    (void)field;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (strcmp(value, names[i]) == 0) {
            options->server.era = (mcpump_era)i;
            return NULL;
        }
    }
    return "expected auto, legacy or modern";
}

static const char *set_orphans(struct cli_options *options, void *field, const char *value)
{
    static const char *const names[] = {
        [MCPUMP_ORPHANS_NONE] = "none",
        [MCPUMP_ORPHANS_LEADER] = "leader",
        [MCPUMP_ORPHANS_TREE] = "tree",
    };
    (void)field;
    for (size_t i = MCPUMP_ORPHANS_NONE; i < sizeof(names) / sizeof(*names); i++) {
        if (strcmp(value, names[i]) == 0) {
            options->server.transport.orphans = (mcpump_orphans)i;
            return NULL;
        }
    }
    return "expected none, leader or tree";
}

/* Nothing but the NAME may ever be shown, and without a "=" nobody knows where it ends. */
static const char *add_env(struct cli_options *options, void *field, const char *value)
{
    (void)field;
    const char *equals = strchr(value, '=');
    if (equals == NULL || equals == value)
        return "expected NAME=VALUE";
    options->env[options->env_count++] = value;
    return NULL;
}

/* The library wants absolute paths; here a path is one from where the user stands. */
static const char *set_path(struct cli_options *options, void *field, const char *value)
{
    (void)options;
    char **path = field, *directory = NULL, *absolute = NULL;
    if (*value == '\0')
        return "expected a path";
    if (*value == '/') {
        absolute = cli_need(strdup(value));
    } else {
        directory = getcwd(NULL, 0);
        if (directory == NULL)
            return "the current directory cannot be told; give an absolute path";
        if (asprintf(&absolute, "%s/%s", directory, value) < 0)
            absolute = cli_need(NULL);
    }
    free(directory);
    free(*path);
    *path = absolute;
    return NULL;
}

static const char *set_stderr(struct cli_options *options, void *field, const char *value)
{
    mcpump_transport_options *transport = &options->server.transport;
    transport->stderr_sink = MCPUMP_STDERR_FILE;
    if (strcmp(value, "inherit") == 0)
        transport->stderr_sink = MCPUMP_STDERR_INHERIT;
    if (strcmp(value, "discard") == 0)
        transport->stderr_sink = MCPUMP_STDERR_DISCARD;
    return transport->stderr_sink == MCPUMP_STDERR_FILE ? set_path(options, field, value) : NULL;
}

#define AT(member) offsetof(struct cli_options, member)

const struct cli_option cli_options_table[] = {
    {"output", 0, "text|json", CLI_TOOLS | CLI_CALL | CLI_PING, set_output, 0, false,
     "print text, or JSON on one line (text)"},
    {"json", 0, "JSON", CLI_CALL, set_text, AT(json_arguments), true,
     "arguments as an object; KEY=VALUE wins"},
    {"for", 0, "SECONDS", CLI_TAP, set_seconds, AT(listen_ms), false,
     "stop listening then (never)"},
    {"timeout", 0, "SECONDS", CLI_ANY, set_seconds_or_none, AT(call.timeout_ms), false,
     "longest wait for the answer, or none (30)"},
    {"connect-timeout", 0, "SECONDS", CLI_ANY, set_seconds_or_none, AT(server.connect_timeout_ms),
     false, "longest wait for the server, or none (60)"},
    {"probe-timeout", 0, "SECONDS", CLI_ANY, set_seconds, AT(server.probe_timeout_ms), false,
     "silence for so long means legacy (3)"},
    {"era", 0, "auto|legacy|modern", CLI_ANY, set_era, 0, false,
     "which protocol to speak; auto asks (auto)"},
    {"cwd", 0, "DIR", CLI_ANY, set_path, AT(cwd), false, "the server's working directory"},
    {"env", 0, "NAME=VALUE", CLI_ANY, add_env, 0, true,
     "a variable for the server; may be repeated"},
    {"name", 0, "NAME", CLI_ANY, set_text, AT(server.transport.display_name), false,
     "what to call the server (its command)"},
    {"max-message-bytes", 0, "N", CLI_ANY, set_bytes, AT(server.transport.max_message_bytes), false,
     "longest message, with K, M or G (8M)"},
    {"max-junk-lines", 0, "N", CLI_ANY, set_junk_lines, AT(server.transport.max_junk_lines), false,
     "lines in a row that are no messages (10)"},
    {"stderr", 0, "inherit|discard|FILE", CLI_ANY, set_stderr, AT(stderr_file), false,
     "where the server's stderr goes (inherit)"},
    {"orphans", 0, "none|leader|tree", CLI_ANY, set_orphans, 0, false,
     "what is ended if we are killed (leader)"},
    {"trace", 0, "FILE", CLI_ANY, set_text, AT(trace_file), false,
     "write the life of all calls there, for Perfetto"},
    {"verbose", 'v', NULL, CLI_ANY, add_verbosity, 0, false,
     "tell on stderr what happens; -vv for more"},
    {"help", 'h', NULL, CLI_ANY, set_flag, AT(help), false, "print this help"},
    {"version", 'V', NULL, CLI_ANY, set_flag, AT(version), false, "print the version"},
    {.name = NULL},
};

void cli_options_init(struct cli_options *options, size_t room)
{
    *options = (struct cli_options){
        .words = cli_need(calloc(room + 1, sizeof(*options->words))),
        .env = cli_need(calloc(room + 1, sizeof(*options->env))),
        .server = MCPUMP_SERVER_OPTIONS_INIT,
        .call = MCPUMP_CALL_OPTIONS_INIT,
    };
}

void cli_options_done(struct cli_options *options)
{
    free(options->words);
    free(options->env);
    free(options->cwd);
    free(options->stderr_file);
    free(options->params);
}

bool cli_options_want_stderr(const struct cli_options *options)
{
    return options->verbosity > 0 && options->server.transport.stderr_sink != MCPUMP_STDERR_INHERIT;
}
