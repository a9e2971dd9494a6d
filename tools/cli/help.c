/* SPDX-License-Identifier: Apache-2.0 */
#include "help.h"

#include "options.h"

#define COLUMN 29

static const char exit_statuses[] =
    "Exit status:\n"
    "  0   the server answered\n"
    "  1   the tool said that it failed, or the server answered with an error\n"
    "  2   the command line is wrong\n"
    "  3   the server could not be started\n"
    "  4   the answer did not come in time\n"
    "  5   the connection was lost\n"
    "  6   the answer could not be written, or memory is missing\n"
    "  130 interrupted (128 plus the number of the signal)\n";

static void write_option(FILE *out, const struct cli_option *option)
{
    int used = option->letter != 0 ? fprintf(out, "  -%c, --%s", option->letter, option->name)
                                   : fprintf(out, "  --%s", option->name);
    if (option->metavar != NULL)
        used += fprintf(out, " %s", option->metavar);
    if (used >= COLUMN) {
        putc('\n', out);
        used = 0;
    }
    fprintf(out, "%*s%s\n", COLUMN - used, "", option->help);
}

static void write_options(FILE *out, unsigned verbs)
{
    fputs("\nOptions, with the default at the end:\n", out);
    for (const struct cli_option *option = cli_options_table; option->name != NULL; option++) {
        if ((option->verbs & verbs) == verbs)
            write_option(out, option);
    }
}

static void write_verb(FILE *out, const struct cli_verb *verb)
{
    fprintf(out, "Usage: mcpump %s%s%s [OPTION...] -- COMMAND [ARG...]\n\n%s\n%s", verb->name,
            *verb->words != '\0' ? " " : "", verb->words, verb->help, verb->more);
    write_options(out, verb->bit);
}

static void write_tool(FILE *out)
{
    fputs("Usage: mcpump VERB [OPTION...] [WORD...] -- COMMAND [ARG...]\n\n"
          "Runs COMMAND, which is an MCP server that talks over stdio, asks it one thing, prints\n"
          "the answer and stops it.\n\nVerbs:\n",
          out);
    for (const struct cli_verb *verb = cli_verbs; verb->name != NULL; verb++) {
        int used = fprintf(out, "  %s %s", verb->name, verb->words);
        fprintf(out, "%*s%s\n", COLUMN - used, "", verb->help);
    }
    write_options(out, CLI_ANY);
    fputs("\nmcpump VERB --help shows the options of a verb.\n", out);
}

void cli_help_write(FILE *out, const struct cli_verb *verb)
{
    if (verb != NULL)
        write_verb(out, verb);
    else
        write_tool(out);
    fprintf(out, "\n%s", exit_statuses);
}
