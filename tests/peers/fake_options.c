/* SPDX-License-Identifier: Apache-2.0 */
/* The fake server's switches, and --help, which lists them and all rows of the other tables. */
#include "fake.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum option_kind { FLAG, NUMBER, WORD, TEXTS };

struct option_row {
    const char *name;
    enum option_kind kind;
    const char *argument; /* its name in the help; NULL for a flag */
    size_t offset;
    const char *help;
};

#define AT(field) offsetof(struct fake_options, field)

static const struct option_row option_rows[] = {
    {"era", WORD, "ERA", AT(era), "legacy, modern or both (default)"},
    {"supported", WORD, "V,V", AT(supported), "versions that server/discover lists"},
    {"probe", WORD, "HOW", AT(probe), "what server/discover does, see below"},
    {"after-probe", WORD, "HOW", AT(after_probe),
     "what each message after a probe does: exit, silent or error"},
    {"init", WORD, "HOW", AT(init), "what initialize does, see below"},
    {"on", TEXTS, "METHOD:NAME[:PARAMS]", AT(on),
     "METHOD does what test/NAME does, with PARAMS (JSON) in place of its own"},
    {"banner", TEXTS, "TEXT", AT(banner),
     "TEXT on stdout at the start, as it is: \\n \\r \\t \\0 \\e \\\\ \\xHH are understood"},
    {"bom", FLAG, NULL, AT(bom), "a byte order mark before anything else on stdout"},
    {"stderr-text", TEXTS, "TEXT", AT(stderr_text), "TEXT on stderr at the start"},
    {"stderr-bytes", NUMBER, "N", AT(stderr_bytes), "N bytes of lines on stderr at the start"},
    {"stderr-no-newline", FLAG, NULL, AT(stderr_no_newline), "these bytes are one line"},
    {"stderr-before-reply", NUMBER, "N", AT(stderr_before_reply),
     "N bytes of lines on stderr before each result"},
    {"delay-start", NUMBER, "MS", AT(delay_start), "does nothing for so long at the start"},
    {"exit-now", WORD, "STATUS", AT(exit_now), "exits after all that, before it reads anything"},
    {"ids", WORD, "HOW", AT(ids), "numbers as ids come back as: same (default), string or double"},
    {"crlf", FLAG, NULL, AT(crlf), "each line ends in CR LF"},
    {"split", FLAG, NULL, AT(split), "each byte of stdout is a write of its own"},
    {"echo-per-byte", FLAG, NULL, AT(echo_per_byte),
     "a LF is written for each byte read, before it is looked at"},
    {"ignore-eof", FLAG, NULL, AT(ignore_eof), "lives on after the end of stdin"},
    {"ignore-term", FLAG, NULL, AT(ignore_term), "SIGTERM is ignored, by its children too"},
    {"flush-on-eof", NUMBER, "BYTES", AT(flush_on_eof),
     "writes notifications, at least so many bytes, before it exits at the end of stdin"},
    {"launcher", FLAG, NULL, AT(launcher),
     "the server is a child; its parent waits for it and exits as it did"},
    {"launcher-exits-first", FLAG, NULL, AT(launcher_exits_first),
     "the server is a child; its parent exits at once with 0"},
    {"grandchild", WORD, "KIND", AT(grandchild),
     "forks a sleeping child: hold (keeps stdout and stderr open), quiet, detached (quiet, in a "
     "session of its own)"},
    {"log", WORD, "FILE", AT(log),
     "appends to FILE: start PID, grandchild PID, recv LINE, eof, exit STATUS"},
    {"lifetime", NUMBER, "S", AT(lifetime), "dies of SIGALRM after so long (default 120)"},
};
#define OPTION_COUNT (sizeof(option_rows) / sizeof(option_rows[0]))

/* Methods and behaviours alike. */
#define PRINT_TABLE(title, table)                                                                  \
    do {                                                                                           \
        printf("\n%s\n", title);                                                                   \
        for (size_t i = 0; (table)[i].name != NULL; i++)                                           \
            printf("  %-28s %s\n", (table)[i].name, (table)[i].help);                              \
    } while (0)

static void print_help(void)
{
    puts("fake_server: an MCP server that misbehaves on demand. Switches:");
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = &option_rows[i];
        printf("  --%s %s\n        %s\n", row->name, row->argument != NULL ? row->argument : "",
               row->help);
    }
    PRINT_TABLE("--probe HOW", fake_probe_behaviours);
    PRINT_TABLE("--init HOW", fake_init_behaviours);
    PRINT_TABLE("Methods that every server has", fake_standard_methods);
    PRINT_TABLE("Methods: replies and requests", fake_reply_methods);
    PRINT_TABLE("Methods: bytes and endings", fake_byte_methods);
    PRINT_TABLE("Methods: what the client did", fake_report_methods);
}

static _Noreturn void usage_error(const char *what)
{
    fprintf(stderr, "fake_server: wrong switch or value: %s; see --help\n", what);
    exit(2);
}

static void set_option(struct fake_options *options, const struct option_row *row,
                       const char *value)
{
    char *field = (char *)options + row->offset;
    char *end = NULL;
    switch (row->kind) {
    case FLAG:
        *(bool *)(void *)field = true;
        break;
    case NUMBER:
        *(int64_t *)(void *)field = strtoll(value, &end, 10);
        if (end == value || *end != '\0')
            usage_error(value);
        break;
    case WORD:
        *(const char **)(void *)field = value;
        break;
    case TEXTS: {
        struct fake_texts *texts = (struct fake_texts *)(void *)field;
        if (texts->count == FAKE_MAX_REPEATS)
            usage_error(value);
        texts->items[texts->count++] = value;
        break;
    }
    }
}

static const struct option_row *find_option(const char *argument)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (strncmp(argument, "--", 2) == 0 && strcmp(argument + 2, option_rows[i].name) == 0)
            return &option_rows[i];
    }
    usage_error(argument);
}

void fake_options_parse(struct fake_options *options, int argc, char **argv)
{
    *options = (struct fake_options){.era = "both", .ids = "same", .lifetime = 120};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            print_help();
            exit(0);
        }
        const struct option_row *row = find_option(argv[i]);
        if (row->kind != FLAG && i + 1 == argc)
            usage_error(argv[i]);
        set_option(options, row, row->kind != FLAG ? argv[++i] : NULL);
    }
    bool legacy = strcmp(options->era, "legacy") == 0;
    if (!legacy && strcmp(options->era, "modern") != 0 && strcmp(options->era, "both") != 0)
        usage_error(options->era);
    if (options->probe == NULL)
        options->probe = legacy ? "error:-32601" : "discover";
    if (options->init == NULL)
        options->init = strcmp(options->era, "modern") == 0 ? "modern-error" : "reply";
    if (options->supported == NULL)
        options->supported = strcmp(options->era, "both") == 0 ? "2026-07-28,2025-11-25"
                             : legacy                          ? "2025-11-25"
                                                               : "2026-07-28";
}
