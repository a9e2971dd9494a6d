/* SPDX-License-Identifier: Apache-2.0 */
/* How it ends when it does not end well: exit statuses, sentences, signals, nothing left behind. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "peer.h"
#include "runner.h"

#define HAS(process, part)                                                                         \
    cr_assert(strstr((process).err.bytes, part) != NULL, "\"%s\" is not in stderr: %s", part,      \
              (process).err.bytes)
#define STATUS(process, wanted)                                                                    \
    cr_assert_eq((process).status, wanted, "exit status %d, not %d; stderr: %s", (process).status, \
                 wanted, (process).err.bytes)
#define NO_OUTPUT(process) cr_assert_eq((process).out.size, 0, "%s", (process).out.bytes)
#define NOBODY_LEFT(process)                                                                       \
    cr_assert_not(cli_is_alive(cli_pid_in((process).err.bytes)), "the server is still there")

/* The demo server, with its pid on stderr. */
#define TRACED_DEMO "sh", "-c", "echo \"pid $$\" >&2; exec \"$0\"", DEMO

/* How often a text stands in another. */
static size_t count(const char *text, const char *part)
{
    size_t found = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        found++;
    return found;
}

Test(endings, a_missing_command)
{
    struct cli_process process;
    RUN(&process, "tools", "--", "no-such-command-anywhere", "secret");
    HAS(process, "no-such-command-anywhere");
    HAS(process, "PATH");
    cr_assert_eq(count(process.err.bytes, "\n"), 1, "%s", process.err.bytes);
    NO_OUTPUT(process);
    STATUS(process, 3);
    cli_process_free(&process);

    RUN(&process, "tools", "--", "/no/such/file");
    HAS(process, "/no/such/file");
    HAS(process, "No such file or directory");
    STATUS(process, 3);
    cli_process_free(&process);
}

Test(endings, a_server_that_says_why_and_exits)
{
    static const char *const eras[] = {"auto", "legacy", "modern"};
    for (size_t i = 0; i < sizeof(eras) / sizeof(*eras); i++) {
        struct cli_process process;
        RUN(&process, "tools", "--era", eras[i], "--stderr", "discard", "--", "sh", "-c",
            "echo 'the license has expired' >&2; exit 7");
        HAS(process, "status 7");
        HAS(process, "the license has expired");
        cr_assert(strstr(process.err.bytes, "probe") != NULL ||
                      strstr(process.err.bytes, "handshake") != NULL,
                  "%s: no phase in: %s", eras[i], process.err.bytes);
        cr_assert_eq(count(process.err.bytes, "\n"), 1, "%s", process.err.bytes);
        NO_OUTPUT(process);
        STATUS(process, 3);
        cli_process_free(&process);
    }
}

Test(endings, verbose_shows_the_last_lines_of_stderr)
{
    struct cli_process process;
    RUN(&process, "-v", "tools", "--era=legacy", "--stderr", "discard", "--", "sh", "-c",
        "echo one >&2; echo two >&2; exit 7");
    HAS(process, "one\n");
    HAS(process, "two\n");
    STATUS(process, 3);
    cli_process_free(&process);
}

Test(endings, a_server_that_never_answers)
{
    struct cli_process process;
    RUN(&process, "tools", "--connect-timeout", "0.2", "--", "sh", "-c",
        "echo \"pid $$\" >&2; exec cat >/dev/null");
    NO_OUTPUT(process);
    STATUS(process, 3);
    NOBODY_LEFT(process);
    cli_process_free(&process);
}

Test(endings, a_call_that_takes_too_long)
{
    struct cli_process process;
    RUN(&process, "call", "slow", "ms=600000", "--timeout", "0.2", "--", TRACED_DEMO);
    HAS(process, "tools/call");
    NO_OUTPUT(process);
    STATUS(process, 4);
    NOBODY_LEFT(process);
    cli_process_free(&process);
}

static const struct {
    const char *what;
    const char *then;
    const char *says;
} lost_rows[] = {
    {"exit", "echo 'out of paper' >&2; exit 9", "status 9"},
    {"last words", "echo 'out of paper' >&2; exit 9", "out of paper"},
    {"signal", "kill -KILL $$", "signal 9"},
    {"closed stdout", "exec >&-", "closed its standard output"},
    {"junk", "for i in 1 2 3 4; do echo junk $i; done", "not messages"},
    {"too large", "reply \"\\\"result\\\":{\\\"a\\\":\\\"$(printf '%09999d' 0)\\\"}\"",
     "too large"},
};

Test(endings, a_connection_that_is_lost)
{
    for (size_t i = 0; i < sizeof(lost_rows) / sizeof(*lost_rows); i++) {
        struct cli_process process;
        RUN(&process, "call", "t", "--era=legacy", "--max-junk-lines=3", "--max-message-bytes=8K",
            "--", PEER(lost_rows[i].then, ""));
        cr_assert_eq(process.status, 5, "%s: exit status %d: %s", lost_rows[i].what, process.status,
                     process.err.bytes);
        HAS(process, lost_rows[i].says);
        NO_OUTPUT(process);
        NOBODY_LEFT(process);
        cli_process_free(&process);
    }
}

Test(endings, no_junk_at_all)
{
    struct cli_process process;
    RUN(&process, "ping", "--era=legacy", "--max-junk-lines=0", "--", "sh", "-c",
        "echo hello; exec \"$0\"", DEMO);
    STATUS(process, 3);
    HAS(process, "hello");
    cli_process_free(&process);

    RUN(&process, "ping", "--era=legacy", "--max-junk-lines=1", "--", "sh", "-c",
        "echo hello; exec \"$0\"", DEMO);
    STATUS(process, 0);
    cli_process_free(&process);
}

/* Whether a call is under way is known from the server. */
#define SLOW_PEER PEER("echo called >&2; next", "")

static void interrupt_with(int number, int wanted)
{
    struct cli_process process;
    START(&process, CLI_PIPE, "call", "t", "--era=legacy", "--timeout=none", "--", SLOW_PEER);
    cli_await_err(&process, "called");
    kill(process.pid, number);
    cli_finish(&process);
    STATUS(process, wanted);
    HAS(process, "interrupted");
    NO_OUTPUT(process);
    NOBODY_LEFT(process);
    cli_process_free(&process);
}

Test(endings, interrupted_during_a_call)
{
    interrupt_with(SIGINT, 130);
    interrupt_with(SIGTERM, 128 + SIGTERM);
    interrupt_with(SIGHUP, 128 + SIGHUP);
}

Test(endings, interrupted_during_the_handshake)
{
    struct cli_process process;
    START(&process, CLI_PIPE, "tools", "--era=legacy", "--connect-timeout=none", "--", "sh", "-c",
          "echo \"pid $$\" >&2; read -r line; echo asked >&2; exec cat >/dev/null");
    cli_await_err(&process, "asked");
    kill(process.pid, SIGINT);
    cli_finish(&process);
    STATUS(process, 130);
    NOBODY_LEFT(process);
    cli_process_free(&process);
}

/* By itself the end of a server that is stopped takes the two graces of the ladder, four seconds.
 */
Test(endings, a_second_signal_hastens)
{
    struct cli_process process;
    struct timespec start, end;
    START(&process, CLI_PIPE, "call", "t", "--era=legacy", "--",
          PEER("echo called >&2; kill -STOP $$", ""));
    cli_await_err(&process, "called");
    clock_gettime(CLOCK_MONOTONIC, &start);
    kill(process.pid, SIGINT);
    cli_await_err(&process, "interrupted");
    kill(process.pid, SIGINT);
    cli_finish(&process);
    clock_gettime(CLOCK_MONOTONIC, &end);
    STATUS(process, 130);
    NOBODY_LEFT(process);
    cr_assert_lt(end.tv_sec - start.tv_sec, 4);
    cli_process_free(&process);
}

Test(endings, a_reader_that_goes_away)
{
    struct cli_process process;
    START(&process, CLI_PIPE, "call", "echo", "size=8000000", "--max-message-bytes=16M", "--",
          TRACED_DEMO);
    cli_await_out(&process, 1);
    cli_stop_reading(&process);
    cli_finish(&process);
    STATUS(process, 0);
    NOBODY_LEFT(process);
    cr_assert_eq(count(process.err.bytes, "mcpump"), 0, "%s", process.err.bytes);
    cli_process_free(&process);
}

/* The tool stands in a write that nobody reads. */
Test(endings, interrupted_while_writing)
{
    struct cli_process process;
    START(&process, CLI_PIPE, "call", "echo", "size=8000000", "--max-message-bytes=16M", "--",
          TRACED_DEMO);
    cli_await_out(&process, 1);
    int unread = process.out.fd;
    process.out.fd = -1;
    kill(process.pid, SIGINT);
    cli_finish(&process);
    close(unread);
    STATUS(process, 130);
    NOBODY_LEFT(process);
    cli_process_free(&process);
}

Test(endings, a_full_disk)
{
    struct cli_process process;
    START(&process, CLI_FULL_DISK, "tools", "--", TRACED_DEMO);
    cli_finish(&process);
    STATUS(process, 6);
    HAS(process, "No space left on device");
    NOBODY_LEFT(process);
    cli_process_free(&process);
}

Test(endings, a_chatty_server_does_not_spoil_the_answer)
{
    struct cli_process process;
    RUN(&process, "call", "echo", "message=x", "--output=json", "-vv", "--", "sh", "-c",
        "i=0; while [ $i -lt 3000 ]; do echo \"{\\\"noise\\\":$i}\" >&2; i=$((i + 1)); done\n"
        "exec \"$0\"",
        DEMO);
    STATUS(process, 0);
    cr_assert(strncmp(process.out.bytes, "{", 1) == 0, "%s", process.out.bytes);
    cr_assert_eq(count(process.out.bytes, "noise"), 0);
    cr_assert_eq(count(process.out.bytes, "\n"), 1);
    cr_assert_eq(count(process.err.bytes, "{\"noise\":"), 3000);
    cli_process_free(&process);
}

Test(endings, where_stderr_goes)
{
    char path[] = "/tmp/mcpump-cli-XXXXXX", content[256] = "";
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    struct cli_process process;
    cr_assert_eq(chdir("/tmp"), 0);
    RUN(&process, "ping", "--name", "demo", "--stderr", path + strlen("/tmp/"), "--", TRACED_DEMO);
    STATUS(process, 0);
    cr_assert_eq(process.err.size, 0, "%s", process.err.bytes);
    cli_process_free(&process);
    cr_assert_gt(read(fd, content, sizeof(content) - 1), 0);
    cr_assert_eq(strncmp(content, "[demo] pid ", 11), 0, "%s", content);
    close(fd);
    unlink(path);

    RUN(&process, "ping", "--stderr=discard", "--", TRACED_DEMO);
    STATUS(process, 0);
    cr_assert_eq(process.err.size, 0, "%s", process.err.bytes);
    cli_process_free(&process);

    RUN(&process, "ping", "--stderr=inherit", "--name=demo", "--", TRACED_DEMO);
    STATUS(process, 0);
    cr_assert_eq(strncmp(process.err.bytes, "[demo] pid ", 11), 0, "%s", process.err.bytes);
    cli_process_free(&process);
}

#define SHOW  "reply \"\\\"result\\\":{\\\"content\\\":[{\\\"type\\\":\\\"text\\\",\\\"text\\\":\\\""
#define SHOWN "\\\"}]}\""

Test(endings, environment_and_directory)
{
    struct cli_process process;
    setenv("CLI_HOST_SECRET", "host", 1);
    cr_assert_eq(chdir("/"), 0);
    RUN(&process, "call", "t", "--era=legacy", "-vv", "--env", "CLI_A=s3cret", "--env=CLI_B=b=c",
        "--env", "CLI_C=", "--cwd", "tmp", "--",
        PEER(SHOW
             "$CLI_A,$CLI_B,${CLI_C-unset},${CLI_HOST_SECRET-unset},${PATH:+path},$(pwd)" SHOWN,
             ""));
    STATUS(process, 0);
    cr_assert_str_eq(process.out.bytes, "s3cret,b=c,,unset,path,/tmp\n");
    cr_assert_eq(count(process.err.bytes, "s3cret"), 0, "%s", process.err.bytes);
    cli_process_free(&process);
}

Test(endings, arguments_arrive_byte_for_byte)
{
    struct cli_process process;
    RUN(&process, "call", "t", "--era=legacy", "--", "sh", "-c",
        peer_script("printf '<%s>' \"$@\" >&2; " SHOW "ok" SHOWN), "peer", "", "a b", "*", "--",
        "--timeout=1", "; rm -rf ~", "$HOME");
    STATUS(process, 0);
    HAS(process, "<><a b><*><--><--timeout=1><; rm -rf ~><$HOME>");
    cli_process_free(&process);
}
