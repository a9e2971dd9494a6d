/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <stdio.h>
#include <unistd.h>

#include "interrupt.h"
#include "report.h"

/* Any thread of the library. */
static void print_log(void *user, mcpump_log_level level, const char *name, const char *message)
{
    static const char *const levels[] = {
        [MCPUMP_LOG_ERROR] = "error",
        [MCPUMP_LOG_WARNING] = "warning",
        [MCPUMP_LOG_INFO] = "info",
        [MCPUMP_LOG_DEBUG] = "debug",
    };
    (void)user;
    dprintf(STDERR_FILENO, "mcpump: [%s] %s: %s\n", name, levels[level], message);
}

static void fill_in(struct cli_options *options)
{
    mcpump_transport_options *transport = &options->server.transport;
    transport->command = options->command[0];
    transport->args = options->command + 1;
    transport->env = options->env;
    transport->cwd = options->cwd;
    transport->stderr_file = options->stderr_file;
    if (options->verbosity > 0) {
        transport->log_fn = print_log;
        transport->log_level = options->verbosity > 1 ? MCPUMP_LOG_DEBUG : MCPUMP_LOG_INFO;
    }
}

static int connect_and_run(const struct cli_options *options, mcpump_server *server)
{
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_server_connect(server, &failure);
    if (err != MCPUMP_OK)
        return cli_report_failure(err, failure, cli_options_want_stderr(options));
    /* An open clears the latch: a signal that came just before it is found here. */
    return cli_interrupt_signal() != 0 ? cli_interrupt_exit() : options->verb->run(options, server);
}

int cli_session_run(struct cli_options *options)
{
    fill_in(options);
    mcpump_failure *failure = NULL;
    mcpump_server *server = NULL;
    mcpump_err err = mcpump_server_new(&options->server, &server, &failure);
    if (err != MCPUMP_OK)
        return cli_report_failure(err, failure, false);
    cli_interrupt_watch(server);
    int status = connect_and_run(options, server);
    cli_interrupt_close(server);
    mcpump_server_free(server);
    return cli_interrupt_signal() != 0 ? cli_interrupt_exit() : status;
}
