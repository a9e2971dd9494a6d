/* SPDX-License-Identifier: Apache-2.0 */
/* mcpump: runs an MCP server, asks it one thing, prints the answer and stops it. */
#include <signal.h>

#include "answer.h"
#include "args.h"
#include "help.h"
#include "options.h"
#include "report.h"
#include "session.h"
#include "tap.h"

static int print_about(const struct cli_options *options)
{
    struct cli_answer answer;
    if (!cli_answer_begin(&answer))
        return cli_report_no_memory();
    if (options->help)
        cli_help_write(answer.stream, options->verb);
    else
        fprintf(answer.stream, "mcpump %s\n", mcpump_version());
    return cli_answer_end(&answer, CLI_EXIT_OK);
}

static int start_trace(const char *file)
{
    mcpump_failure *failure = NULL;
    if (file == NULL || mcpump_trace_start(file, &failure) == MCPUMP_OK)
        return CLI_EXIT_OK;
    cli_say("--trace: %s", mcpump_failure_message(failure));
    mcpump_failure_free(failure);
    return CLI_EXIT_USAGE;
}

static int run(struct cli_options *options)
{
    if (options->help || options->version)
        return print_about(options);
    int status = start_trace(options->trace_file);
    if (status == CLI_EXIT_OK && options->verb->prepare != NULL)
        status = options->verb->prepare(options);
    if (status == CLI_EXIT_OK)
        status = cli_tap_end(cli_session_run(options));
    mcpump_trace_stop();
    return status;
}

int main(int argc, char **argv)
{
    /* A reader that goes away must not keep us from stopping the server in good order. */
    signal(SIGPIPE, SIG_IGN);
    struct cli_options options;
    cli_options_init(&options, (size_t)argc);
    int status = cli_args_parse(&options, argc, (const char *const *)argv);
    if (status == CLI_EXIT_OK)
        status = run(&options);
    cli_options_done(&options);
    return status;
}
