/* SPDX-License-Identifier: Apache-2.0 */
/* What --help prints, made from the tables. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdio.h>

#include "verbs.h"

/* The help of one verb, or with NULL that of the whole tool. */
void cli_help_write(FILE *out, const struct cli_verb *verb);

#endif
