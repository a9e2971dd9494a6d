/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines: what is refused, with which words, and what the help says. */
#include <criterion/criterion.h>
#include <string.h>

#include "runner.h"

/* Nothing of this may start the server: it would say so. */
#define SERVER "--", "sh", "-c", "echo started >&2"

static const struct {
    const char *args[16];
    const char *says;
} usage_rows[] = {
    {{NULL}, "no verb given"},
    {{SERVER}, "no verb given"},
    {{"frobnicate", SERVER}, "frobnicate: no such verb"},
    {{"tools"}, "tools: no server"},
    {{"tools", "--"}, "tools: no server"},
    {{"tools", "ls"}, "one word too many: ls"},
    {{"ping", "a", SERVER}, "one word too many: a"},
    {{"request", "a", "{}", "b", SERVER}, "one word too many: b"},
    {{"request", SERVER}, "request needs METHOD"},
    {{"request", "", SERVER}, "the method is empty"},
    {{"request", "a", "[1]", SERVER}, "the params are not a JSON object"},
    {{"request", "a", "{\"a\":1} x", SERVER}, "the params are not a JSON object"},
    {{"call", SERVER}, "call needs TOOL"},
    {{"call", "t", "word", SERVER}, "word: expected KEY=VALUE"},
    {{"call", "t", "a=1", "=secret", SERVER}, "no key before the = of word 2"},
    {{"call", "t", "a=1", "b=2", "a=3", SERVER}, "a is given twice"},
    {{"call", "t", "a=\xff", SERVER}, "a: not valid UTF-8"},
    {{"call", "t", "--json", "[1]", SERVER}, "--json: not a JSON object"},
    {{"call", "t", "--json", "", SERVER}, "--json: not a JSON object"},
    {{"call", "t", "--json", "{\"a\":\"secret}", SERVER}, "--json: not a JSON object"},
    {{"tools", "--json", "{}", SERVER}, "tools takes no --json"},
    {{"--output", "json", "request", "a", SERVER}, "request takes no --output"},
    {{"tools", "--no-such", SERVER}, "--no-such: no such option"},
    {{"tools", "--tim=3", SERVER}, "--tim: no such option"},
    {{"tools", "-x", SERVER}, "-x: no such option"},
    {{"tools", "-vx", SERVER}, "-vx: no such option"},
    {{"tools", "--help=yes", SERVER}, "--help takes no value"},
    {{"tools", "--timeout"}, "--timeout needs a value: SECONDS"},
    {{"tools", "--timeout", SERVER}, "--timeout needs a value: SECONDS"},
    {{"tools", "--timeout", "0", SERVER}, "--timeout 0: expected a number of seconds"},
    {{"tools", "--timeout", "0.000", SERVER}, "--timeout 0.000: expected"},
    {{"tools", "--timeout", "-1", SERVER}, "--timeout -1: expected"},
    {{"tools", "--timeout=", SERVER}, "--timeout : expected"},
    {{"tools", "--timeout", "1e3", SERVER}, "--timeout 1e3: expected"},
    {{"tools", "--timeout", "1.", SERVER}, "--timeout 1.: expected"},
    {{"tools", "--timeout", ".", SERVER}, "--timeout .: expected"},
    {{"tools", "--timeout", "0x10", SERVER}, "--timeout 0x10: expected"},
    {{"tools", "--timeout", " 1", SERVER}, "--timeout  1: expected"},
    {{"tools", "--timeout", "inf", SERVER}, "or none"},
    {{"tools", "--timeout", "1000000000.1", SERVER}, "--timeout 1000000000.1: expected"},
    {{"tools", "--timeout", "99999999999999999999999", SERVER}, "999: expected"},
    {{"tools", "--connect-timeout", "soon", SERVER}, "--connect-timeout soon: expected"},
    {{"tools", "--probe-timeout", "none", SERVER}, "--probe-timeout none: expected"},
    {{"tools", "--era", "stone", SERVER}, "--era stone: expected auto, legacy or modern"},
    {{"tools", "--orphans", "all", SERVER}, "--orphans all: expected none, leader or tree"},
    {{"tools", "--output", "xml", SERVER}, "--output xml: expected text or json"},
    {{"tools", "--max-message-bytes", "0", SERVER}, "--max-message-bytes 0: expected"},
    {{"tools", "--max-message-bytes", "-1", SERVER}, "--max-message-bytes -1: expected"},
    {{"tools", "--max-message-bytes", "8MB", SERVER}, "--max-message-bytes 8MB: expected"},
    {{"tools", "--max-message-bytes", "8T", SERVER}, "--max-message-bytes 8T: expected"},
    {{"tools", "--max-message-bytes", "17179869184G", SERVER}, "17179869184G: expected"},
    {{"tools", "--max-message-bytes", "18446744073709551616", SERVER}, "1616: expected"},
    {{"tools", "--max-junk-lines", "-1", SERVER}, "--max-junk-lines -1: expected"},
    {{"tools", "--max-junk-lines", "few", SERVER}, "--max-junk-lines few: expected"},
    {{"tools", "--env", "secret", SERVER}, "--env: expected NAME=VALUE"},
    {{"tools", "--env", "=secret", SERVER}, "--env: expected NAME=VALUE"},
    {{"tools", "--cwd", "", SERVER}, "--cwd : expected a path"},
    {{"tools", "--cwd", "/no/such/directory", SERVER}, "/no/such/directory"},
    {{"tools", "--stderr", "", SERVER}, "--stderr : expected a path"},
};

Test(usage, what_is_refused)
{
    for (size_t i = 0; i < sizeof(usage_rows) / sizeof(*usage_rows); i++) {
        struct cli_process process;
        cli_run(&process, usage_rows[i].args);
        const char *says = usage_rows[i].says, *err = process.err.bytes;
        cr_expect_eq(process.status, 2, "%s: exit status %d: %s", says, process.status, err);
        cr_expect_eq(process.out.size, 0, "%s: stdout: %s", says, process.out.bytes);
        cr_expect(strstr(err, says) != NULL, "\"%s\" is not in: %s", says, err);
        cr_expect(strncmp(err, "mcpump: ", 8) == 0, "%s", err);
        cr_expect_eq(strchr(err, '\n'), err + process.err.size - 1, "not one line: %s", err);
        cr_expect(strstr(err, "started") == NULL, "%s: started", says);
        cr_expect(strstr(err, "secret") == NULL, "shown: %s", err);
        cli_process_free(&process);
    }
}

/* The server is the demo, and each is a ping. */
static const char *const accepted_rows[][4] = {
    {"--timeout", "none"},
    {"--timeout=20.0001"},
    {"--timeout", "1000000000"},
    {"--connect-timeout=none", "--probe-timeout=.5"},
    {"--era", "auto"},
    {"--era=modern"},
    {"--max-message-bytes", "64k"},
    {"--max-message-bytes=1G"},
    {"--max-junk-lines", "0"},
    {"--name", "[a]\nb"},
    {"-v", "--stderr", "discard"},
    {"--orphans", "none"},
    {"--orphans=leader"},
    {"-vv", "--verbose"},
};

Test(usage, what_is_accepted)
{
    for (size_t i = 0; i < sizeof(accepted_rows) / sizeof(*accepted_rows); i++) {
        const char *args[8] = {NULL};
        size_t count = 0;
        for (; count < 4 && accepted_rows[i][count] != NULL; count++)
            args[count] = accepted_rows[i][count];
        const char *rest[] = {"ping", "--", DEMO, NULL};
        memcpy(args + count, rest, sizeof(rest));
        struct cli_process process;
        cli_run(&process, args);
        cr_expect_eq(process.status, 0, "%s: %s", args[0], process.err.bytes);
        cr_expect(strstr(process.out.bytes, " ms\n") != NULL, "%s", args[0]);
        cli_process_free(&process);
    }
}

Test(usage, help)
{
    static const struct {
        const char *args[4];
        const char *has;
        const char *lacks;
    } rows[] = {
        {{"--help"}, "Usage: mcpump VERB", "--json JSON"},
        {{"-h"}, "request METHOD [PARAMS]", "--output"},
        {{"call", "--help"}, "Usage: mcpump call TOOL [KEY=VALUE...]", "request METHOD"},
        {{"--help", "call"}, "--json JSON", "request METHOD"},
        {{"tools", "-h"}, "--output text|json", "--json JSON"},
        {{"--version"}, "mcpump ", "Usage"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct cli_process process;
        cli_run(&process, rows[i].args);
        const char *out = process.out.bytes;
        cr_expect_eq(process.status, 0);
        cr_expect_str_eq(process.err.bytes, "");
        cr_expect(strstr(out, rows[i].has) != NULL, "\"%s\" is not in: %s", rows[i].has, out);
        cr_expect(strstr(out, rows[i].lacks) == NULL, "\"%s\" is in: %s", rows[i].lacks, out);
        cli_process_free(&process);
    }
}

/* A help text that was written to a full disk was not given. */
Test(usage, help_on_a_full_disk)
{
    struct cli_process process;
    START(&process, CLI_FULL_DISK, "--help");
    cli_finish(&process);
    cr_assert_eq(process.status, 6);
    cr_assert(strstr(process.err.bytes, "No space left on device") != NULL);
    cli_process_free(&process);
}
