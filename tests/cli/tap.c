/* SPDX-License-Identifier: Apache-2.0 */
/* The verb tap, and the option --trace. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"
#include "runner.h"

/* The parts stand in the text in this order. */
static void expect_order(const char *text, const char *const *parts)
{
    const char *at = text;
    for (; *parts != NULL; parts++) {
        const char *found = strstr(at, *parts);
        cr_assert(found != NULL, "%s is not in, or not behind the others: %s", *parts, text);
        at = found + strlen(*parts);
    }
}
#define IN_ORDER(text, ...) expect_order(text, (const char *const[]){__VA_ARGS__, NULL})

static void expect_status(struct cli_process *process, int status)
{
    cr_assert_eq(process->status, status, "%d, not %d: %s", process->status, status,
                 process->err.bytes);
}

static const char to[] = "\"dir\":\"to_server\",\"line\":{\"jsonrpc\":\"2.0\"";
static const char from[] = "\"dir\":\"from_server\",\"line\":{\"jsonrpc\":\"2.0\"";

Test(tap, handshake_and_request)
{
    struct cli_process process;
    RUN(&process, "tap", "--era=legacy", "--for", "0.05", "tools/call",
        "{\"name\":\"add\",\"arguments\":{\"a\":1,\"b\":2}}", "--", DEMO);
    expect_status(&process, 0);
    IN_ORDER(process.out.bytes, "{\"t\":\"20", "Z\",", to, "initialize", "}}\n{\"t\":\"", from,
             "protocolVersion", to, "notifications/initialized", to, "tools/call", from, "\"3\"");
    cli_process_free(&process);
}

Test(tap, lines_that_are_no_json)
{
    struct cli_process process;
    RUN(&process, "tap", "--era=legacy", "--for=0.05", "x", "--",
        PEER("printf 'ju\"nk\\377\\n'; reply '\"result\":{}'; cat >/dev/null", ""));
    expect_status(&process, 0);
    IN_ORDER(process.out.bytes, "\"method\":\"x\"",
             "\"dir\":\"from_server\",\"line\":\"ju\\\"nk\xEF\xBF\xBD\"}\n", from, "\"result\":{}");
    cli_process_free(&process);
}

Test(tap, ends_with_a_signal)
{
    struct cli_process process;
    START(&process, CLI_PIPE, "tap", "--", DEMO);
    cli_await_out(&process, 100);
    kill(process.pid, SIGINT);
    cli_finish(&process);
    expect_status(&process, 130);
    cli_process_free(&process);
}

Test(tap, ends_with_the_server)
{
    struct cli_process process;
    RUN(&process, "tap", "--era=legacy", "x", "--", PEER("reply '\"result\":{}'; exit 0", ""));
    expect_status(&process, 5);
    IN_ORDER(process.out.bytes, "\"method\":\"x\"", "\"result\":{}");
    IN_ORDER(process.err.bytes, "the server ended");
    cli_process_free(&process);
}

Test(tap, ends_with_its_reader)
{
    struct cli_process process;
    START(&process, CLI_PIPE, "tap", "--", DEMO);
    cli_await_out(&process, 100);
    cli_stop_reading(&process);
    cli_finish(&process);
    expect_status(&process, 0);
    cli_process_free(&process);
}

/* Nobody reads, and a pipe does not hold it all: that holds up neither the server nor a signal. */
Test(tap, a_reader_that_does_not_read)
{
    struct cli_process process;
    START(&process, CLI_PIPE, "tap", "--era=legacy", "x", "--",
          PEER("i=0; while [ $i -lt 3000 ]; do printf '{\"jsonrpc\":\"2.0\",\"method\":"
               "\"notifications/many\",\"params\":{\"number\":%d}}\\n' $i; i=$((i+1)); done;"
               "echo done >&2; cat >/dev/null",
               ""));
    int unread = process.out.fd;
    process.out.fd = -1;
    cli_await_err(&process, "done");
    kill(process.pid, SIGINT);
    cli_finish(&process);
    expect_status(&process, 130);
    close(unread);
    cli_process_free(&process);
}

Test(tap, a_full_disk)
{
    struct cli_process process;
    START(&process, CLI_FULL_DISK, "tap", "--", DEMO);
    cli_finish(&process);
    expect_status(&process, 6);
    IN_ORDER(process.err.bytes, "No space left");
    cli_process_free(&process);
}

Test(tap, a_server_that_does_not_get_ready)
{
    struct cli_process process;
    RUN(&process, "tap", "--era=legacy", "--connect-timeout=0.1", "--", "sleep", "60");
    expect_status(&process, 3);
    IN_ORDER(process.out.bytes, to, "initialize");
    cli_process_free(&process);
}

Test(tap, usage)
{
    static const struct {
        const char *args[8];
        const char *says;
    } rows[] = {
        {{"tap", "", "--", "true"}, "tap: the method is empty"},
        {{"tap", "x", "[]", "--", "true"}, "tap: the params are not a JSON object"},
        {{"tap", "x", "{}", "y", "--", "true"}, "one word too many"},
        {{"tap", "--for", "0", "--", "true"}, "--for 0: "},
        {{"ping", "--for", "1", "--", "true"}, "ping takes no --for"},
        {{"ping", "--trace", "/nowhere/x", "--", "true"}, "--trace: /nowhere/x: No such file"},
        {{"ping", "--trace=", "--", "true"}, "--trace: a trace needs a file"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct cli_process process;
        cli_run(&process, rows[i].args);
        expect_status(&process, 2);
        cr_expect_str_eq(process.out.bytes, "");
        IN_ORDER(process.err.bytes, rows[i].says);
        cli_process_free(&process);
    }
}

Test(trace, a_file_for_the_viewer)
{
    struct cli_process process;
    char path[] = "/tmp/mcpump-trace-XXXXXX", text[8192];
    int fd = mkstemp(path);
    RUN(&process, "ping", "--era=legacy", "--trace", path, "--", DEMO);
    expect_status(&process, 0);
    cli_process_free(&process);
    ssize_t size = read(fd, text, sizeof(text) - 1);
    cr_assert_gt(size, 0);
    text[size] = '\0';
    IN_ORDER(text, "[\n{", "process_name", "spawned", "\"name\":\"initialize\"",
             "\"name\":\"queued\"", "\"name\":\"on the wire\"", "\"name\":\"waking\"",
             "\"name\":\"ping\"", "\"outcome\":\"OK\"", "\"dropped\":0}}\n]\n");
    close(fd);
    unlink(path);
}
