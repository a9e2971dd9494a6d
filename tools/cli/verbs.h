/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs: one table that dispatch, parser and help read. */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include <mcpump/mcpump.h>
#include <stddef.h>

struct cli_options;

enum cli_verb_bit {
    CLI_TOOLS = 1,
    CLI_CALL = 2,
    CLI_REQUEST = 4,
    CLI_PING = 8,
    CLI_TAP = 256,
    CLI_ANY = CLI_TOOLS | CLI_CALL | CLI_REQUEST | CLI_PING | CLI_TAP,
};

struct cli_verb {
    const char *name;
    enum cli_verb_bit bit;
    const char *words; /* For the usage line; "" when it takes none. */
    size_t least_words;
    size_t most_words;
    /* Reads the words before anything is started. NULL: nothing to do. Returns an exit status. */
    int (*prepare)(struct cli_options *options);
    /* Asks the server and prints the answer. Returns an exit status. */
    int (*run)(const struct cli_options *options, mcpump_server *server);
    const char *help; /* One line. */
    const char *more; /* For the help of the verb alone; "" when there is nothing to add. */
};

/* Ended by a row without name. */
extern const struct cli_verb cli_verbs[];

#endif
