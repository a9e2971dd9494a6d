/* SPDX-License-Identifier: Apache-2.0 */
/* What goes to stderr, one sentence a failure, and the exit status that goes with it. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <mcpump/mcpump.h>
#include <stdbool.h>

enum cli_exit {
    CLI_EXIT_OK = 0,
    CLI_EXIT_ANSWER = 1,      /* The tool said isError, or the server answered with an error. */
    CLI_EXIT_USAGE = 2,       /* The command line is wrong. */
    CLI_EXIT_NOT_STARTED = 3, /* Spawn or handshake failed. */
    CLI_EXIT_TIMEOUT = 4,     /* A call took too long. */
    CLI_EXIT_LOST = 5,        /* The connection ended during a call. */
    CLI_EXIT_OUTPUT = 6,      /* The answer could not be written, or memory is missing. */
    CLI_EXIT_SIGNAL = 128,    /* Plus the number of the signal that interrupted us. */
};

/* Prints "mcpump: ", the sentence and a line end; control characters are neutralised. */
void cli_say(const char *format, ...) MCPUMP_PRINTF(1, 2);

/* As cli_say, and points to the help. Returns CLI_EXIT_USAGE. */
int cli_say_usage(const char *format, ...) MCPUMP_PRINTF(1, 2);

/* Says what failed and returns the exit status. *failure is freed and may be NULL. */
int cli_report_failure(mcpump_err err, mcpump_failure *failure, bool with_stderr);

/* Says which error the server answered to `method`. Returns CLI_EXIT_ANSWER. */
int cli_report_error_reply(mcpump_server *server, const char *method, const mcpump_reply *reply);

/* Says that memory is missing. Returns CLI_EXIT_OUTPUT. */
int cli_report_no_memory(void);

/* Passes a pointer through; ends the program when it is NULL. For use before a server runs. */
void *cli_need(void *pointer);

#endif
