/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs print when all is well, or when the server says that it is not. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "peer.h"
#include "runner.h"

#define HAS(text, part) cr_assert(strstr(text, part) != NULL, "\"%s\" is not in: %s", part, text)

static void expect(struct cli_process *process, const char *what, int status, const char *out)
{
    cr_assert_eq(process->status, status, "%s: exit status %d, not %d; stderr: %s", what,
                 process->status, status, process->err.bytes);
    cr_assert_str_eq(process->out.bytes, out, "%s: stdout is: %s", what, process->out.bytes);
    cli_process_free(process);
}

#define TOOL_LIST                                                                                  \
    "echo\tReturns the message, or a text of a given size.\n"                                      \
    "add\tAdds two numbers.\n"                                                                     \
    "slow\tTakes its time and reports progress.\n"                                                 \
    "fail\tAlways fails.\n"

Test(answers, tools)
{
    static const struct {
        const char *era;
        const char *page_size;
    } rows[] = {{"both", "100"}, {"legacy", "1"}, {"modern", "2"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct cli_process process;
        RUN(&process, "tools", "--", DEMO, "--era", rows[i].era, "--page-size", rows[i].page_size);
        cr_expect_str_eq(process.err.bytes, "");
        expect(&process, rows[i].era, 0, TOOL_LIST);
    }
}

Test(answers, tools_as_json_are_one_array_on_one_line)
{
    struct cli_process process;
    RUN(&process, "tools", "--output", "json", "--", DEMO, "--page-size", "1");
    cr_assert_eq(process.status, 0, "%s", process.err.bytes);
    cr_assert_eq(strncmp(process.out.bytes, "[{\"name\":\"echo\",", 16), 0, "%s",
                 process.out.bytes);
    cr_assert_eq(strchr(process.out.bytes, '\n'), process.out.bytes + process.out.size - 1);
    cr_assert_eq(process.out.bytes[process.out.size - 2], ']');
    cli_process_free(&process);
}

Test(answers, tools_with_hostile_names)
{
    struct cli_process process;
    RUN(&process, "tools", "--era=legacy", "--",
        PEER_RESULT("{\"tools\":[{\"name\":\"a\\tb\\u001b[2J\",\"description\":\"\\n  "
                    "One\\u009b \\r\\nTwo\"},{\"name\":\"c\"}]}"));
    expect(&process, "hostile", 0, "a\\u0009b\\u001b[2J\tOne\\u009b \nc\t\n");
}

Test(answers, request)
{
    struct cli_process process;
    RUN(&process, "request", "--era=legacy", "any/thing", "{\"a\": 1e2}", "--",
        PEER("reply \"\\\"result\\\":$line\"", ""));
    cr_assert_eq(process.status, 0, "%s", process.err.bytes);
    HAS(process.out.bytes, "\"method\":\"any/thing\"");
    HAS(process.out.bytes, "\"a\": 1e2");
    cr_assert_eq(strchr(process.out.bytes, '\n'), process.out.bytes + process.out.size - 1);
    cli_process_free(&process);
}

Test(answers, request_keeps_the_spelling_of_the_result)
{
    struct cli_process process;
    RUN(&process, "request", "x", "--era=legacy", "--",
        PEER_RESULT("{ \"n\":123456789012345678901234567890, \"f\":1.50,\"u\":\"\\u00e4\"}"));
    expect(&process, "spelling", 0,
           "{ \"n\":123456789012345678901234567890, \"f\":1.50,\"u\":\"\\u00e4\"}\n");
}

Test(answers, errors_of_the_server)
{
    struct cli_process process;
    RUN(&process, "request", "no/such", "--", DEMO);
    HAS(process.err.bytes, "mcpump: mcpump-demo-server: no/such: the server answered error -32601");
    expect(&process, "unknown method", 1, "");

    RUN(&process, "call", "nothing", "--output=json", "--", DEMO);
    HAS(process.err.bytes, "tools/call: the server answered error -32602: Unknown tool");
    expect(&process, "unknown tool", 1, "");

    RUN(&process, "tools", "--era=legacy", "--",
        PEER("reply '\"error\":{\"code\":-7,\"message\":\"out\\nof\\u001border\"}'", ""));
    HAS(process.err.bytes, "-7");
    HAS(process.err.bytes, "order");
    cr_assert(strchr(process.err.bytes, '\x1b') == NULL);
    expect(&process, "tools", 1, "");
}

Test(answers, ping)
{
    struct cli_process process;
    unsigned whole, part;
    long long us;
    char rest;
    RUN(&process, "ping", "--", DEMO);
    cr_assert_eq(process.status, 0, "%s", process.err.bytes);
    cr_assert_eq(sscanf(process.out.bytes, "%u.%3u ms%c", &whole, &part, &rest), 3, "%s",
                 process.out.bytes);
    cr_assert_eq(rest, '\n');
    cli_process_free(&process);

    RUN(&process, "ping", "--output", "json", "--", DEMO, "--era", "legacy");
    cr_assert_eq(process.status, 0, "%s", process.err.bytes);
    cr_assert_eq(sscanf(process.out.bytes, "{\"round_trip_us\":%lld}%c", &us, &rest), 2, "%s",
                 process.out.bytes);
    cr_assert_geq(us, 0);
    cli_process_free(&process);
}

Test(answers, call)
{
    struct cli_process process;
    RUN(&process, "call", "echo", "message=hello", "--", DEMO);
    expect(&process, "echo", 0, "Echo: hello\n");
    RUN(&process, "--timeout=20", "call", "add", "a=2", "--json", "{\"b\":40}", "--", DEMO);
    expect(&process, "add", 0, "42\n");
    RUN(&process, "call", "--era", "legacy", "echo", "--", DEMO, "--era", "legacy");
    HAS(process.err.bytes, "message is a string and required");
    expect(&process, "no arguments", 1, "");
    RUN(&process, "call", "fail", "--", DEMO);
    cr_expect_str_eq(process.err.bytes, "");
    expect(&process, "isError", 1, "This tool always fails.\n");
    RUN(&process, "call", "fail", "--output", "json", "--", DEMO);
    HAS(process.out.bytes, "\"isError\":true");
    cr_assert_eq(process.status, 1);
    cli_process_free(&process);
}

static const struct {
    const char *what;
    const char *result;
    const char *out;
    int status;
} content_rows[] = {
    {"one text", "{\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}", "a\n", 0},
    {"two texts, one ended",
     "{\"content\":[{\"type\":\"text\",\"text\":\"a\\n\"},{\"type\":\"text\",\"text\":\"b\"}]}",
     "a\nb\n", 0},
    {"empty text", "{\"content\":[{\"type\":\"text\",\"text\":\"\"}]}", "\n", 0},
    {"escapes go out as they are",
     "{\"content\":[{\"type\":\"text\",\"text\":\"\\u001b[1m\\u009b\"}]}", "\x1b[1m\xc2\x9b\n", 0},
    {"image", "{\"content\":[{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"AAAA\"}]}",
     "[image image/png, 3 bytes]\n", 0},
    {"padded audio",
     "{\"content\":[{\"type\":\"audio\",\"mimeType\":\"audio/wav\",\"data\":\"AA==\"}]}",
     "[audio audio/wav, 1 bytes]\n", 0},
    {"embedded resource",
     "{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"a:b\",\"mimeType\":\"t/"
     "p\",\"text\":\"abc\"}}]}",
     "[resource a:b, t/p, 3 bytes]\n", 0},
    {"link", "{\"content\":[{\"type\":\"resource_link\",\"uri\":\"a:\\u001b\"}]}",
     "[resource_link a:\\u001b]\n", 0},
    {"a kind of the future", "{\"content\":[{\"type\":\"hologram\"}]}", "[hologram]\n", 0},
    {"items that are none", "{\"content\":[5,{},null]}", "[unknown]\n[unknown]\n[unknown]\n", 0},
    {"structure beside content",
     "{\"content\":[{\"type\":\"text\",\"text\":\"a\"}],\"structuredContent\":{\"b\":1}}", "a\n",
     0},
    {"structure alone, as spelled",
     "{\"content\":[],\"structuredContent\":{\"b\": 12345678901234567890123}}",
     "{\"b\": 12345678901234567890123}\n", 0},
    {"isError", "{\"content\":[{\"type\":\"text\",\"text\":\"no\"}],\"isError\":true}", "no\n", 1},
    {"empty", "{\"content\":[]}", "", 0},
};

Test(answers, content)
{
    for (size_t i = 0; i < sizeof(content_rows) / sizeof(*content_rows); i++) {
        struct cli_process process;
        RUN(&process, "call", "t", "--era", "legacy", "--", PEER_RESULT(content_rows[i].result));
        expect(&process, content_rows[i].what, content_rows[i].status, content_rows[i].out);
    }
}

Test(answers, a_request_for_input_is_no_answer)
{
    struct cli_process process;
    RUN(&process, "call", "t", "--era", "legacy", "--",
        PEER_RESULT("{\"resultType\":\"input_required\",\"requestState\":\"x\"}"));
    cr_assert_gt(process.err.size, 0);
    expect(&process, "input_required", 1, "");
}

Test(answers, a_terminal_sees_no_escape_sequences)
{
    struct cli_process process;
    START(&process, CLI_TERMINAL, "call", "t", "--era", "legacy", "--",
          PEER_RESULT("{\"content\":[{\"type\":\"text\",\"text\":\"a\\tb\\u001b[2Jc\\u009bd\\r\\n"
                      "e\\rf\"}]}"));
    cli_finish(&process);
    /* The terminal itself puts a CR in front of each LF. */
    expect(&process, "terminal", 0, "a\tb\\u001b[2Jc\\u009bd\r\r\ne\\u000df\r\n");
}

static const struct {
    const char *what;
    const char *words[4];
    const char *json;
    const char *arguments;
} argument_rows[] = {
    {"number", {"n=3"}, NULL, "{\"n\":3}"},
    {"number as spelled",
     {"n=-1.50e+3", "m=123456789012345678901234567890"},
     NULL,
     "{\"n\":-1.50e+3,\"m\":123456789012345678901234567890}"},
    {"literals", {"a=true", "b=false", "c=null"}, NULL, "{\"a\":true,\"b\":false,\"c\":null}"},
    {"object", {"o={\"a\":[1,{}]}"}, NULL, "{\"o\":{\"a\":[1,{}]}}"},
    {"JSON string", {"s=\"3\""}, NULL, "{\"s\":\"3\"}"},
    {"string", {"s=it's"}, NULL, "{\"s\":\"it's\"}"},
    {"empty", {"s="}, NULL, "{\"s\":\"\"}"},
    {"equals sign in the value", {"s=a=b"}, NULL, "{\"s\":\"a=b\"}"},
    {"characters to escape", {"s=a\"b\\c\n\x01"}, NULL, "{\"s\":\"a\\\"b\\\\c\\u000a\\u0001\"}"},
    {"UTF-8", {"\xc3\xa4=\xf0\x9f\x98\x80"}, NULL, "{\"\xc3\xa4\":\"\xf0\x9f\x98\x80\"}"},
    {"no JSON: leading zero", {"n=01"}, NULL, "{\"n\":\"01\"}"},
    {"no JSON: plus, point",
     {"n=+1", "m=1.", "o=.5"},
     NULL,
     "{\"n\":\"+1\",\"m\":\"1.\",\"o\":\".5\"}"},
    {"no JSON: NaN, Infinity", {"n=NaN", "m=Infinity"}, NULL, "{\"n\":\"NaN\",\"m\":\"Infinity\"}"},
    {"no JSON: trailing comma", {"n=[1,]"}, NULL, "{\"n\":\"[1,]\"}"},
    {"no JSON: single quotes", {"n={'a':1}"}, NULL, "{\"n\":\"{'a':1}\"}"},
    {"no JSON: two values", {"n=1 2"}, NULL, "{\"n\":\"1 2\"}"},
    {"no JSON: open",
     {"n={\"a\":1", "m=[", "o=\"x"},
     NULL,
     "{\"n\":\"{\\\"a\\\":1\",\"m\":\"[\",\"o\":\"\\\"x\"}"},
    {"--json alone stays as it is", {NULL}, "{ \"a\": 1.0}", "{ \"a\": 1.0}"},
    {"words win over --json",
     {"b=2", "c=3", "name=x"},
     "{\"a\":1.0,\"b\":[1],\"n\\u0061me\":1}",
     "{\"a\":1.0,\"b\":2,\"n\\u0061me\":\"x\",\"c\":3}"},
    {"words beside an empty --json", {"b=2"}, " { } ", "{\"b\":2}"},
};

Test(answers, key_value_words)
{
    for (size_t i = 0; i < sizeof(argument_rows) / sizeof(*argument_rows); i++) {
        const char *args[16] = {"call", "t", "--era", "legacy"};
        size_t count = 4;
        for (size_t j = 0; j < 4 && argument_rows[i].words[j] != NULL; j++)
            args[count++] = argument_rows[i].words[j];
        if (argument_rows[i].json != NULL) {
            args[count++] = "--json";
            args[count++] = argument_rows[i].json;
        }
        /* The peer shows the request that it got. */
        const char *peer[] = {
            "--", PEER("reply \"\\\"result\\\":{\\\"structuredContent\\\":$line}\"", ""), NULL};
        memcpy(args + count, peer, sizeof(peer));
        struct cli_process process;
        cli_run(&process, args);
        char expected[256];
        snprintf(expected, sizeof(expected), "\"arguments\":%s", argument_rows[i].arguments);
        cr_assert(strstr(process.out.bytes, expected) != NULL, "%s: %s%s", argument_rows[i].what,
                  process.out.bytes, process.err.bytes);
        cli_process_free(&process);
    }
}
