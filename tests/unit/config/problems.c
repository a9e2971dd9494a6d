/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with an entry, with the file, or odd: each message to the letter. */
#include <sys/stat.h>

#include "support.h"

static void set_variables(void)
{
    setenv("ONE", "1", 1);
    unsetenv("UNSET");
}

#define PROBLEM(where, words) "/tmp/f.json:2: mcpServers.x" where ": " words
#define NOT_A_WORD(key, list) PROBLEM(".mcpump." key, "it must be " list)
#define NOT_A_NUMBER(key, least)                                                                   \
    PROBLEM(".mcpump." key, "it must be a whole number from " least " to 9007199254740991")

static const struct row {
    const char *text, *problem;
} rows[] = {
    /* -- types */
    {"{\"servers\": {\"x\": 1}}", "/tmp/f.json:1: servers.x: it must be an object, not a number"},
    {"{\"servers\": {\"x\": null}}", "/tmp/f.json:1: servers.x: it must be an object, not null"},
    {"{\"servers\": {\"\": {\"command\": \"a\"}}}", "/tmp/f.json:1: servers.: the name is empty"},
    {ENTRY(""), PROBLEM(".command", "it is required")},
    {ENTRY("\"command\": \"\""), PROBLEM(".command", "it is required")},
    {ENTRY("\"command\": [\"a\"]"), PROBLEM(".command", "it must be a string, not an array")},
    {ENTRY("\"command\": \"a\", \"args\": \"b\""),
     PROBLEM(".args", "it must be an array of strings, not a string")},
    {ENTRY("\"command\": \"a\", \"args\": [\"b\", 2]"),
     PROBLEM(".args", "entry 2 must be a string, not a number")},
    {ENTRY("\"command\": \"a\", \"env\": [\"A=hunter2\"]"),
     PROBLEM(".env", "it must be an object, not an array")},
    {ENTRY("\"command\": \"a\", \"env\": {\"A\": true}"),
     PROBLEM(".env.A", "it must be a string, not true or false")},
    {ENTRY("\"command\": \"a\", \"env\": {\"A\": [\"hunter2\"]}"),
     PROBLEM(".env.A", "it must be a string, not an array")},
    {ENTRY("\"command\": \"a\", \"env\": {\"B\": \"\", \"A=hunter2\": \"\"}"),
     PROBLEM(".env", "entry 2 has no valid name")},
    {ENTRY("\"command\": \"a\", \"env\": {\"\": \"hunter2\"}"),
     PROBLEM(".env", "entry 1 has no valid name")},
    {ENTRY("\"command\": \"a\", \"env\": {\"A\": \"1\", \"\\u0041\": \"2\"}"),
     PROBLEM(".env.A", "it stands twice")},
    {ENTRY("\"command\": \"a\", \"env\": {\"A\": null, \"A\": null}"),
     PROBLEM(".env.A", "it stands twice")},
    {ENTRY("\"command\": \"a\", \"env\": {\"A\": \"x\\u0000\"}"),
     PROBLEM(".env.A", "it holds a NUL character")},
    {ENTRY("\"command\": \"a\", \"cwd\": 1"), PROBLEM(".cwd", "it must be a string, not a number")},
    {ENTRY("\"command\": \"a\", \"cwd\": \"\""), PROBLEM(".cwd", "it is empty")},
    {ENTRY("\"command\": \"a\", \"cwd\": \"nowhere/at all\""),
     PROBLEM(".cwd", "\"/tmp/nowhere/at all\": No such file or directory")},
    {ENTRY("\"command\": \"a\", \"cwd\": \"/dev/null\""),
     PROBLEM(".cwd", "\"/dev/null\": Not a directory")},
    {ENTRY("\"command\": \"a\", \"timeout\": \"1\""),
     PROBLEM(".timeout", "it must be a whole number from 1 to 9007199254740991")},
    {ENTRY("\"command\": \"a\", \"timeout\": 0"),
     PROBLEM(".timeout", "it must be a whole number from 1 to 9007199254740991")},
    {ENTRY("\"command\": \"a\", \"disabled\": 1"),
     PROBLEM(".disabled", "it must be true or false, not a number")},
    {ENTRY("\"command\": \"a\", \"type\": \"smoke\""), PROBLEM(".type", "it must be \"stdio\"")},
    {ENTRY("\"command\": \"a\", \"type\": 1"),
     PROBLEM(".type", "it must be a string, not a number")},
    {ENTRY("\"command\": \"a\", \"command\": \"b\""), PROBLEM(".command", "it stands twice")},
    {ENTRY("\"command\": \"a\", \"comm\\u0061nd\": \"b\""), PROBLEM(".command", "it stands twice")},
    {ENTRY("\"command\": \"a\", \"ab\\u0000\": \"b\""), PROBLEM("", "it holds a NUL character")},
    {ENTRY("\"command\": \"a\", \"mcpump\": []"),
     PROBLEM(".mcpump", "it must be an object, not an array")},

    /* -- expansion */
    {ENTRY("\"command\": \"${UNSET}\""),
     PROBLEM(".command", "the variable UNSET is not set, and no default is given")},
    {ENTRY("\"command\": \"a\", \"args\": [\"b\",\n\"${UNSET}\"]"),
     "/tmp/f.json:3: mcpServers.x.args: the variable UNSET is not set, and no default is given"},
    {ENTRY("\"command\": \"a\", \"env\": {\n\"B\": \"\",\n\"A\": \"hunter2${UNSET}\"}"),
     "/tmp/f.json:4: mcpServers.x.env.A: the variable UNSET is not set, and no default is given"},
    {ENTRY("\"command\": \"a\", \"env\": {\"A\": \"hunter2${hunter 2}\"}"),
     PROBLEM(".env.A", "it holds a ${...} that means nothing here")},
    {ENTRY("\"command\": \"a\", \"env\": {\"A\": \"hunter2${hunter2\"}"),
     PROBLEM(".env.A", "a ${ is not closed by }")},
    {ENTRY("\"command\": \"a\", \"env\": {\"A\": \"${input:key}\"}"),
     PROBLEM(".env.A", "${input:key}: inputs are asked for by VS Code only")},
    {ENTRY("\"command\": \"a\", \"cwd\": \"${UNSET}\""),
     PROBLEM(".cwd", "the variable UNSET is not set, and no default is given")},

    /* -- envFile */
    {ENTRY("\"command\": \"a\", \"envFile\": 1"),
     PROBLEM(".envFile", "it must be a string, not a number")},
    {ENTRY("\"command\": \"a\", \"envFile\": \"nowhere/.env\""),
     PROBLEM(".envFile", "\"/tmp/nowhere/.env\": No such file or directory")},
    {ENTRY("\"command\": \"a\", \"envFile\": \"/tmp\""),
     PROBLEM(".envFile", "\"/tmp\": Is a directory")},

    /* -- own settings: numbers */
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"max_message_bytes\": 0}"),
     NOT_A_NUMBER("max_message_bytes", "1")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"write_queue_bytes\": -1}"),
     NOT_A_NUMBER("write_queue_bytes", "1")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"max_junk_lines\": -1}"),
     NOT_A_NUMBER("max_junk_lines", "0")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"max_junk_lines\": 1.5}"),
     NOT_A_NUMBER("max_junk_lines", "0")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"stdin_grace_ms\": \"forever\"}"),
     NOT_A_NUMBER("stdin_grace_ms", "0")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"term_grace_ms\": 9007199254740992}"),
     NOT_A_NUMBER("term_grace_ms", "0")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"term_grace_ms\": 1e400}"),
     NOT_A_NUMBER("term_grace_ms", "0")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"default_timeout_ms\": 0}"),
     NOT_A_NUMBER("default_timeout_ms", "1") ", or -1 or \"forever\""},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"default_timeout_ms\": -2}"),
     NOT_A_NUMBER("default_timeout_ms", "1") ", or -1 or \"forever\""},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"connect_timeout_ms\": \"never\"}"),
     NOT_A_NUMBER("connect_timeout_ms", "1") ", or -1 or \"forever\""},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"probe_timeout_ms\": -1}"),
     NOT_A_NUMBER("probe_timeout_ms", "1")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"backoff_first_ms\": 0}"),
     NOT_A_NUMBER("backoff_first_ms", "1")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"backoff_most_ms\": null}"),
     NOT_A_NUMBER("backoff_most_ms", "1")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"stable_ms\": true}"),
     NOT_A_NUMBER("stable_ms", "1")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"max_reconnects\": -1}"),
     NOT_A_NUMBER("max_reconnects", "0")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"idle_timeout_ms\": -1}"),
     NOT_A_NUMBER("idle_timeout_ms", "0")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"nice\": 41}"),
     PROBLEM(".mcpump.nice", "it must be a whole number from -40 to 40")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"nice\": -41}"),
     PROBLEM(".mcpump.nice", "it must be a whole number from -40 to 40")},

    /* -- own settings: the rest */
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"stderr\": \"nowhere\"}"),
     NOT_A_WORD("stderr", "\"inherit\", \"discard\" or \"file\"")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"stderr\": 1}"),
     PROBLEM(".mcpump.stderr", "it must be a string, not a number")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"stderr\": \"file\"}"),
     PROBLEM(".mcpump.stderr_file", "it is required with \"stderr\": \"file\"")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"stderr_file\": \"\"}"),
     PROBLEM(".mcpump.stderr_file", "it is empty")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"queue_policy\": \"\"}"),
     NOT_A_WORD("queue_policy", "\"close\" or \"reject\"")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"orphans\": \"default\"}"),
     NOT_A_WORD("orphans", "\"none\", \"leader\" or \"tree\"")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"era\": \"Modern\"}"),
     NOT_A_WORD("era", "\"auto\", \"legacy\" or \"modern\"")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"start\": \"now\"}"),
     NOT_A_WORD("start", "\"lazy\" or \"eager\"")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"new_session\": \"true\"}"),
     PROBLEM(".mcpump.new_session", "it must be true or false, not a string")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"inherit_env\": \"A\"}"),
     PROBLEM(".mcpump.inherit_env", "it must be an array of strings, not a string")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\n\"inherit_env\": [\"A=1\"]}"),
     "/tmp/f.json:3: mcpServers.x.mcpump.inherit_env: entry 1 is not the name of a variable"},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"nice\": 1, \"nice\": 1}"),
     PROBLEM(".mcpump.nice", "it stands twice")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"rlimits\": []}"),
     PROBLEM(".mcpump.rlimits", "it must be an object, not an array")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"rlimits\": {\"files\": 1}}"),
     PROBLEM(".mcpump.rlimits.files", "no such resource limit is known")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"rlimits\": {\"cpu\": 1, \"cpu\": 1}}"),
     PROBLEM(".mcpump.rlimits.cpu", "it stands twice")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"rlimits\": {\"cpu\": [2, 1]}}"),
     PROBLEM(".mcpump.rlimits.cpu", "the soft limit is above the hard one")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"rlimits\": {\"cpu\": [1]}}"),
     PROBLEM(".mcpump.rlimits.cpu",
             "it must be a whole number, \"unlimited\", or [soft, hard] of such")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"rlimits\": {\"cpu\": [1, 2, 3]}}"),
     PROBLEM(".mcpump.rlimits.cpu",
             "it must be a whole number, \"unlimited\", or [soft, hard] of such")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"rlimits\": {\"cpu\": -1}}"),
     PROBLEM(".mcpump.rlimits.cpu",
             "it must be a whole number, \"unlimited\", or [soft, hard] of such")},
    {ENTRY("\"command\": \"a\", \"mcpump\": {\"rlimits\": {\"cpu\": [1, \"many\"]}}"),
     PROBLEM(".mcpump.rlimits.cpu",
             "it must be a whole number, \"unlimited\", or [soft, hard] of such")},

    /* -- what a transport would refuse, at its line */
    {ENTRY("\n\"command\": \"node server.js\""),
     "/tmp/f.json:3: mcpServers.x.command: \"node server.js\" holds white space; arguments belong "
     "into args"},
    {ENTRY("\"command\": \"a.cmd\""),
     PROBLEM(".command", "\"a.cmd\" is a batch file, see allow_batch_files")},
    {ENTRY("\"command\": \"a.bat\",\n\"args\": [\"a&b\"], \"mcpump\": {\"allow_batch_files\": "
           "true}"),
     "/tmp/f.json:3: mcpServers.x.args: \"a&b\" holds one of \"%^&|<>, which a batch file would "
     "interpret"},
};

Test(problems, of_an_entry, .init = set_variables)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        mcpump_config *config = parse(rows[i].text);
        cr_expect_eq(mcpump_config_state(config, 0), MCPUMP_ENTRY_INVALID, "%s", rows[i].text);
        cr_expect_str_eq(mcpump_config_problem(config, 0), rows[i].problem, "%s", rows[i].text);
        cr_expect_null(mcpump_config_options(config, 0));
        mcpump_config_free(config);
    }
}

/* The first one stays, and what is wrong with one entry leaves the others alone. */
Test(problems, of_one_among_others, .init = set_variables)
{
    mcpump_config *config = parse("{\"mcpServers\": {\n"
                                  "\"a\": {\"command\": \"a\"},\n"
                                  "\"b\": {\"args\": 1, \"command\": 2},\n"
                                  "\"c\": {\"command\": \"${UNSET}\"},\n"
                                  "\"d\": {\"command\": \"a\", \"args\": [\"${ONE}\"]}}}");
    static const char *const problems[] = {
        "", "/tmp/f.json:3: mcpServers.b.args: it must be an array of strings, not a number",
        ("/tmp/f.json:4: mcpServers.c.command: the variable UNSET is not set, and no default is "
         "given"),
        ""};
    cr_assert_eq(mcpump_config_count(config), COUNT(problems));
    for (size_t i = 0; i < COUNT(problems); i++) {
        cr_expect_str_eq(mcpump_config_problem(config, i), problems[i]);
        cr_expect_eq(mcpump_config_options(config, i) != NULL, problems[i][0] == '\0');
    }
    mcpump_config_free(config);
}

Test(problems, of_the_file)
{
    static const struct row faults[] = {
        {"", "/tmp/f.json:1: the text ends too early"},
        {"[]", "/tmp/f.json:1: it must be an object, not an array"},
        {"{}", "/tmp/f.json:1: there is neither \"mcpServers\" nor \"servers\""},
        {"\n{\"a\": {\n}}", "/tmp/f.json:2: there is neither \"mcpServers\" nor \"servers\""},
        {"{\n\"mcp_servers\": {}}",
         "/tmp/f.json:2: mcp_servers: unknown key, did you mean \"mcpServers\"?"},
        {"{\"mcpServers\": []}", "/tmp/f.json:1: mcpServers: it must be an object, not an array"},
        {"{\"servers\": {},\n\"servers\": {}}", "/tmp/f.json:2: servers: it stands twice"},
        {"{\"mcpServers\": {\"a\": {},\n\"\\u0061\": {}}}",
         "/tmp/f.json:2: mcpServers.a: the name stands twice"},
        {"{\"mcpServers\": {\"a\": {}},\n\"servers\": {\"a\": {}}}",
         "/tmp/f.json:2: servers.a: the name stands twice"},
        {"{\"mcpServers\": {\"a\\ud800b\": {}}}",
         "/tmp/f.json:1: mcpServers.a: the name holds half a pair of surrogates"},
        {"{\"mcpServers\": {\n\"a\": {\"command\": \"b\"\n\"args\": []}}}",
         "/tmp/f.json:3: a comma or } is expected here"},
        {"{\"mcpServers\": {\n\n/* }}", "/tmp/f.json:3: a comment has no end"},
        {"{\"mcpServers\": {\"a\": {\"command\":\n\"C:\\x\"}}}",
         "/tmp/f.json:2: a string holds an escape that JSON does not know; a backslash is written "
         "twice"},
        {"{\"mcpServers\": {}\n}\n}", "/tmp/f.json:3: the text goes on behind its end"},
        {"{\"mcpServers\":\n\"\xFF\"}", "/tmp/f.json:2: the text is not UTF-8"},
    };
    for (size_t i = 0; i < COUNT(faults); i++) {
        mcpump_config *config = NULL;
        mcpump_failure *failure = NULL;
        const char *text = faults[i].text;
        mcpump_err err = mcpump_config_parse(NAME, text, strlen(text), &config, &failure);
        cr_expect_eq(err, MCPUMP_ERR_INVALID_ARGUMENT, "%s", text);
        cr_expect_null(config);
        cr_expect_str_eq(mcpump_failure_message(failure), faults[i].problem, "%s", text);
        cr_assert_not_null(failure);
        cr_expect_eq(mcpump_failure_error(failure), err);
        cr_expect_eq(mcpump_failure_phase(failure), MCPUMP_PHASE_OPTIONS);
        cr_expect_eq(mcpump_failure_errno(failure), 0);
        mcpump_failure_free(failure);
        cr_expect_eq(mcpump_config_parse(NAME, text, strlen(text), &config, NULL), err);
    }
}

Test(problems, warnings)
{
    static const struct row warnings[] = {
        {ENTRY("\"command\": \"a\", \"comand\": 1"),
         PROBLEM(".comand", "unknown key, did you mean \"command\"?")},
        {ENTRY("\"command\": \"a\",\n\"stdin_grace_ms\": 1"),
         "/tmp/f.json:3: mcpServers.x.stdin_grace_ms: unknown key, did you mean "
         "\"stdin_grace_ms\" within \"mcpump\"?"},
        {ENTRY("\"command\": \"a\", \"mcpump\": {\"args\": 1}"),
         PROBLEM(".mcpump.args", "unknown key, did you mean \"args\" beside \"mcpump\"?")},
        {ENTRY("\"command\": \"a\", \"mcpump\": {\"stdinGraceMs\": 1}"),
         PROBLEM(".mcpump.stdinGraceMs", "unknown key, did you mean \"stdin_grace_ms\"?")},
        {ENTRY("\"command\": \"a\", \"zig\\nzag\": 1"), PROBLEM(".zig\\x0azag", "unknown key")},
        {ENTRY("\"command\": \"a\", \"timeout\": 30"),
         PROBLEM(".timeout", "it counts milliseconds: this is below a second")},
        {ENTRY("\"command\": \"a\", \"timeout\": 5000, \"mcpump\": {\"default_timeout_ms\": 1}"),
         PROBLEM(".timeout", "ignored, since there is mcpump.default_timeout_ms")},
        {ENTRY("\"command\": \"a\", \"mcpump\": {\"stderr\": \"discard\", \"stderr_file\": "
               "\"/tmp/x\"}"),
         PROBLEM(".mcpump.stderr_file", "ignored, since stderr is not \"file\"")},
        {"{\"servers\": {},\n\"mcp\": 1}", "/tmp/f.json:2: mcp: unknown key"},
    };
    for (size_t i = 0; i < COUNT(warnings); i++) {
        mcpump_config *config = parse(warnings[i].text);
        cr_expect_str_eq(mcpump_config_problem(config, 0), "", "%s", warnings[i].text);
        cr_expect_eq(mcpump_config_warning_count(config), 1, "%s", warnings[i].text);
        cr_expect_str_eq(mcpump_config_warning(config, 0), warnings[i].problem);
        mcpump_config_free(config);
    }
}

/* What is found out late may stand early in the file. */
Test(problems, lines_go_back)
{
    mcpump_config *config = parse(ENTRY("\n\"timeout\": 30,\n\n\"zag\": 1,\n\"command\": \"a\""));
    cr_assert_eq(mcpump_config_warning_count(config), 2);
    cr_expect_str_eq(mcpump_config_warning(config, 0),
                     "/tmp/f.json:5: mcpServers.x.zag: unknown key");
    cr_expect_str_eq(mcpump_config_warning(config, 1),
                     "/tmp/f.json:3: mcpServers.x.timeout: it counts milliseconds: this is below a "
                     "second");
    mcpump_config_free(config);
}

/* Keys of other hosts, and what people write as comments. */
Test(problems, no_warnings)
{
    mcpump_config *config =
        parse("{\"$schema\": \"\", \"inputs\": [], \"_note\": 1, \"// x\": 2, \"servers\": {"
              "\"x\": {\"type\": \"stdio\", \"command\": \"a\", \"description\": \"\", "
              "\"autoApprove\": [], \"alwaysAllow\": [], \"disabledTools\": [], \"dev\": {}, "
              "\"disabled\": false, \"enabled\": true, \"_x\": 1, \"//\": 2, \"timeout\": 1000, "
              "\"mcpump\": {\"_x\": 1}},"
              /* What is not used is not looked at. */
              "\"off\": {\"disabled\": true, \"zag\": 1}, \"far\": {\"url\": \"\", \"zag\": 1}}}");
    cr_expect_eq(mcpump_config_warning_count(config), 0, "%s", mcpump_config_warning(config, 0));
    cr_expect_eq(mcpump_config_state(config, 0), MCPUMP_ENTRY_USABLE);
    mcpump_config_free(config);
}

/* Long paths show their end, names and keys their beginning; nothing of it can break a terminal. */
Test(problems, are_bounded_and_clean)
{
    char name[600], text[2600], *at = text;
    mcpump_config *config = NULL;
    memset(name, 'd', sizeof(name));
    strcpy(name + sizeof(name) - 8, "/f.json");
    name[100] = '\n';
    at += sprintf(at, "{\"servers\": {\"\\u001b");
    for (size_t i = 0; i < 200; i++)
        *at++ = 'n';
    at += sprintf(at, "\": {\"command\": \"a\", \"\\u001b");
    for (size_t i = 0; i < 2000; i++)
        *at++ = 'k';
    sprintf(at, "\": 1, \"args\": 1}}}");
    cr_assert_eq(mcpump_config_parse(name, text, strlen(text), &config, NULL), MCPUMP_OK);
    const char *problem = mcpump_config_problem(config, 0);
    const char *warning = mcpump_config_warning(config, 0);
    cr_expect_lt(strlen(problem), 500);
    cr_expect_lt(strlen(warning), 500);
    cr_expect_not_null(strstr(problem, "dd/f.json:1: servers.\\x1bnnn"), "%s", problem);
    cr_expect_not_null(strstr(problem, ".args: it must be"), "%s", problem);
    cr_expect_not_null(strstr(warning, ".\\x1bkkk"), "%s", warning);
    cr_expect_null(strpbrk(problem, "\n\x1b"));
    cr_expect_null(strpbrk(warning, "\n\x1b"));
    cr_expect_str_eq(mcpump_config_path(config), name);
    mcpump_config_free(config);
}
