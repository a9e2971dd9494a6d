/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <json-c/json.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interrupt.h"
#include "json.h"
#include "text.h"

/* The pieces of one sentence leave in one write, so that log lines of other threads do not fall
 * in between. */
static void MCPUMP_PRINTF(1, 0) say(const char *format, va_list args, const char *ending)
{
    char *sentence = NULL, *line = NULL;
    size_t size = 0;
    FILE *stream = NULL;
    int length = vasprintf(&sentence, format, args);
    if (length >= 0)
        stream = open_memstream(&line, &size);
    if (stream != NULL) {
        fputs("mcpump: ", stream);
        cli_text_clean(stream, sentence, (size_t)length, "");
        fprintf(stream, "%s\n", ending);
        fclose(stream);
    }
    fputs(line != NULL ? line : "mcpump: out of memory\n", stderr);
    free(line);
    if (length >= 0)
        free(sentence);
}

void cli_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args, "");
    va_end(args);
}

int cli_say_usage(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args, " (see mcpump --help)");
    va_end(args);
    return CLI_EXIT_USAGE;
}

static bool is_starting(mcpump_phase phase)
{
    return phase == MCPUMP_PHASE_START || phase == MCPUMP_PHASE_PROBE ||
           phase == MCPUMP_PHASE_HANDSHAKE;
}

static int exit_status(mcpump_err err, mcpump_phase phase)
{
    switch (err) {
    case MCPUMP_OK:
        return CLI_EXIT_OK;
    case MCPUMP_ERR_INVALID_ARGUMENT:
    case MCPUMP_ERR_INVALID_REQUEST:
        return CLI_EXIT_USAGE;
    case MCPUMP_ERR_SPAWN:
    case MCPUMP_ERR_HANDSHAKE:
        return CLI_EXIT_NOT_STARTED;
    case MCPUMP_ERR_INTERRUPTED:
    case MCPUMP_ERR_CANCELLED:
        return cli_interrupt_exit();
    case MCPUMP_ERR_INVALID_REPLY:
    case MCPUMP_ERR_SERVER_ERROR:
        return is_starting(phase) ? CLI_EXIT_NOT_STARTED : CLI_EXIT_ANSWER;
    case MCPUMP_ERR_TIMEOUT:
        return is_starting(phase) ? CLI_EXIT_NOT_STARTED : CLI_EXIT_TIMEOUT;
    case MCPUMP_ERR_CLOSED:
    case MCPUMP_ERR_NOT_OPEN:
    case MCPUMP_ERR_ALREADY_OPEN:
    case MCPUMP_ERR_QUEUE_FULL:
    case MCPUMP_ERR_UNAVAILABLE:
        return is_starting(phase) ? CLI_EXIT_NOT_STARTED : CLI_EXIT_LOST;
    case MCPUMP_ERR_NO_MEMORY:
    case MCPUMP_ERR_SYSTEM:
    case MCPUMP_ERR_FORKED:
        break;
    }
    return CLI_EXIT_OUTPUT;
}

int cli_report_failure(mcpump_err err, mcpump_failure *failure, bool with_stderr)
{
    mcpump_phase phase = MCPUMP_PHASE_REQUEST;
    if (failure != NULL) {
        phase = mcpump_failure_phase(failure);
        cli_say("%s", mcpump_failure_message(failure));
        if (with_stderr)
            fputs(mcpump_failure_stderr(failure), stderr);
    } else {
        cli_say("%s", mcpump_err_text(err));
    }
    mcpump_failure_free(failure);
    return exit_status(err, phase);
}

int cli_report_error_reply(mcpump_server *server, const char *method, const mcpump_reply *reply)
{
    size_t size;
    const char *error = mcpump_reply_value(reply, &size);
    json_object *tree = cli_json_tree(error, size), *code = NULL, *message = NULL;
    if (json_object_is_type(tree, json_type_object)) {
        json_object_object_get_ex(tree, "code", &code);
        json_object_object_get_ex(tree, "message", &message);
    }
    cli_say("%s: %s: the server answered error %s: %s",
            mcpump_transport_display_name(mcpump_server_transport(server)), method,
            code != NULL ? json_object_get_string(code) : "without a code",
            message != NULL ? json_object_get_string(message) : "(no message)");
    json_object_put(tree);
    return CLI_EXIT_ANSWER;
}

int cli_report_no_memory(void)
{
    cli_say("out of memory");
    return CLI_EXIT_OUTPUT;
}

void *cli_need(void *pointer)
{
    if (pointer == NULL)
        exit(cli_report_no_memory());
    return pointer;
}
