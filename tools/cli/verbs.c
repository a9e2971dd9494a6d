/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "arguments.h"
#include "content.h"
#include "json.h"
#include "options.h"
#include "report.h"
#include "tap.h"

static int run_tools(const struct cli_options *options, mcpump_server *server)
{
    mcpump_failure *failure = NULL;
    char *tools = NULL;
    mcpump_err err = mcpump_server_list_tools(server, &options->call, &tools, &failure);
    if (err != MCPUMP_OK)
        return cli_report_failure(err, failure, cli_options_want_stderr(options));

    struct cli_answer answer;
    if (!cli_answer_begin(&answer)) {
        mcpump_text_free(tools);
        return cli_report_no_memory();
    }
    if (options->json)
        fprintf(answer.stream, "%s\n", tools);
    else
        cli_content_write_tools(answer.stream, tools);
    mcpump_text_free(tools);
    return cli_answer_end(&answer, CLI_EXIT_OK);
}

/* Prints a result as it was written. */
static int print_result(const char *result, size_t size, int verdict)
{
    struct cli_answer answer;
    if (!cli_answer_begin(&answer))
        return cli_report_no_memory();
    fwrite(result, 1, size, answer.stream);
    putc('\n', answer.stream);
    return cli_answer_end(&answer, verdict);
}

static int print_content(const struct cli_content *content, int verdict)
{
    struct cli_answer answer;
    if (!cli_answer_begin(&answer))
        return cli_report_no_memory();
    cli_content_write(answer.stream, content);
    return cli_answer_end(&answer, verdict);
}

static int prepare_call(struct cli_options *options)
{
    return cli_arguments_build(options->words + 1, options->word_count - 1, options->json_arguments,
                               &options->params);
}

/* The exit status that a result of tools/call stands for, with a sentence where it needs one. */
static int judge_call(mcpump_server *server, const struct cli_content *content)
{
    const char *name = mcpump_transport_display_name(mcpump_server_transport(server));
    if (!content->is_valid)
        cli_say("%s: tools/call: the result is not an object", name);
    else if (content->wants_input)
        cli_say("%s: tools/call: the server asks for input, which nobody here can give", name);
    else if (!content->is_error)
        return CLI_EXIT_OK;
    return CLI_EXIT_ANSWER;
}

static int print_call(const struct cli_options *options, mcpump_server *server,
                      const mcpump_reply *reply)
{
    if (mcpump_reply_is_error(reply))
        return cli_report_error_reply(server, "tools/call", reply);
    size_t size;
    const char *result = mcpump_reply_value(reply, &size);
    struct cli_content content;
    cli_content_init(&content, result, size);
    int verdict = judge_call(server, &content);
    int status =
        options->json ? print_result(result, size, verdict) : print_content(&content, verdict);
    cli_content_done(&content);
    return status;
}

static int run_call(const struct cli_options *options, mcpump_server *server)
{
    mcpump_failure *failure = NULL;
    mcpump_reply *reply = NULL;
    mcpump_err err = mcpump_server_call_tool(server, options->words[0], options->params,
                                             &options->call, &reply, &failure);
    if (err != MCPUMP_OK)
        return cli_report_failure(err, failure, cli_options_want_stderr(options));
    int status = print_call(options, server, reply);
    mcpump_reply_free(reply);
    return status;
}

static int prepare_request(struct cli_options *options)
{
    if (*options->words[0] == '\0')
        return cli_say_usage("%s: the method is empty", options->verb->name);
    if (options->word_count < 2)
        return CLI_EXIT_OK;
    const char *params = options->words[1];
    if (!cli_json_is_object(params, strlen(params)))
        return cli_say_usage("%s: the params are not a JSON object", options->verb->name);
    options->params = cli_need(strdup(params));
    return CLI_EXIT_OK;
}

static int prepare_tap(struct cli_options *options)
{
    int status = options->word_count > 0 ? prepare_request(options) : CLI_EXIT_OK;
    return status == CLI_EXIT_OK ? cli_tap_watch(options) : status;
}

static int run_request(const struct cli_options *options, mcpump_server *server)
{
    const char *method = options->words[0];
    mcpump_failure *failure = NULL;
    mcpump_reply *reply = NULL;
    mcpump_err err =
        mcpump_server_request(server, method, options->params, &options->call, &reply, &failure);
    if (err != MCPUMP_OK)
        return cli_report_failure(err, failure, cli_options_want_stderr(options));
    int status;
    if (mcpump_reply_is_error(reply)) {
        status = cli_report_error_reply(server, method, reply);
    } else {
        size_t size;
        const char *result = mcpump_reply_value(reply, &size);
        status = print_result(result, size, CLI_EXIT_OK);
    }
    mcpump_reply_free(reply);
    return status;
}

static int run_ping(const struct cli_options *options, mcpump_server *server)
{
    mcpump_failure *failure = NULL;
    int64_t us = 0;
    mcpump_err err = mcpump_server_ping(server, &options->call, &us, &failure);
    if (err != MCPUMP_OK)
        return cli_report_failure(err, failure, cli_options_want_stderr(options));
    struct cli_answer answer;
    if (!cli_answer_begin(&answer))
        return cli_report_no_memory();
    if (options->json)
        fprintf(answer.stream, "{\"round_trip_us\":%" PRId64 "}\n", us);
    else
        fprintf(answer.stream, "%" PRId64 ".%03" PRId64 " ms\n", us / 1000, us % 1000);
    return cli_answer_end(&answer, CLI_EXIT_OK);
}

const struct cli_verb cli_verbs[] = {
    {"tools", CLI_TOOLS, "", 0, 0, NULL, run_tools, "Lists the server's tools.",
     "One tool a line: its name, a tab, the first line of its description.\n"},
    {"call", CLI_CALL, "TOOL [KEY=VALUE...]", 1, SIZE_MAX, prepare_call, run_call,
     "Calls a tool and prints the text that it answers.",
     "A VALUE that is valid JSON is taken as such (n=3, b=true, o={\"a\":1}), any other\n"
     "is a string.\n"},
    {"request", CLI_REQUEST, "METHOD [PARAMS]", 1, 2, prepare_request, run_request,
     "Sends any request and prints the result.", "PARAMS is a JSON object.\n"},
    {"ping", CLI_PING, "", 0, 0, NULL, run_ping, "Prints how long a round trip takes.", ""},
    {"tap", CLI_TAP, "[METHOD [PARAMS]]", 0, 2, prepare_tap, cli_tap_listen,
     "Shows the traffic of the server, secrets masked.",
     "One JSON object a message: "
     "{\"t\":TIME,\"dir\":\"to_server\"|\"from_server\",\"line\":MESSAGE}.\n"
     "With METHOD, sends that request. Goes on until Ctrl-C, or the server ends.\n"},
    {.name = NULL},
};
