/* SPDX-License-Identifier: Apache-2.0 */
/* argv to options. */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include "options.h"

/*
 * Reads the command line. Options may stand anywhere before "--"; --help and --version excuse what
 * is missing. Returns CLI_EXIT_OK, or CLI_EXIT_USAGE after saying what is wrong. `options` was
 * initialised and keeps pointing into argv.
 */
int cli_args_parse(struct cli_options *options, int argc, const char *const *argv);

#endif
