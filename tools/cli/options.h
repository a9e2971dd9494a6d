/* SPDX-License-Identifier: Apache-2.0 */
/* The options: one table that the parser reads and the help prints. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <mcpump/mcpump.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verbs.h"

/* What the command line said. Texts are argv's unless a comment says otherwise. */
struct cli_options {
    const struct cli_verb *verb;
    const char **words; /* Owned array: what follows the verb and is no option. */
    size_t word_count;
    const char *const *command; /* What follows "--", ended by NULL; NULL when there is none. */

    bool help;
    bool version;
    bool json; /* --output json */
    int verbosity;
    const char *json_arguments;
    int64_t listen_ms; /* 0: for ever. */
    const char *trace_file;
    const char **env; /* Owned array with room for every word of argv, ended by NULL. */
    size_t env_count;
    char *cwd;         /* Owned. */
    char *stderr_file; /* Owned. */
    mcpump_server_options server;
    mcpump_call_options call;

    char *params; /* Owned: made by the verb from its words. */
};

/* How an option that takes no value is told apart from one that does: by its lack of a metavar. */
struct cli_option {
    const char *name; /* Without the dashes. */
    char letter;      /* 0: none. */
    const char *metavar;
    unsigned verbs; /* Bits of enum cli_verb_bit. */
    /* Stores the value, at `field` or elsewhere in `options`. Returns NULL, or what was wrong. */
    const char *(*set)(struct cli_options *options, void *field, const char *value);
    size_t offset;  /* Of the field. */
    bool is_secret; /* The value stands in no message. */
    const char *help;
};

/* Ended by a row without name. */
extern const struct cli_option cli_options_table[];

/* Starts with the defaults; `room` is the number of words in argv. */
void cli_options_init(struct cli_options *options, size_t room);
void cli_options_done(struct cli_options *options);

/* Whether a failure shows the last lines of stderr: only when they were not shown one by one. */
bool cli_options_want_stderr(const struct cli_options *options);

#endif
