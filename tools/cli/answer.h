/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer on stdout. It is collected first and written at once, so that stdout carries the
 * whole answer or the exit status says that it does not.
 */
#ifndef CLI_ANSWER_H
#define CLI_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct cli_answer {
    FILE *stream; /* Print here. */
    char *bytes;
    size_t size;
};

/* False when memory is missing; then there is nothing to end. */
bool cli_answer_begin(struct cli_answer *answer);

/*
 * Writes the answer and frees it. On a terminal, control characters but line ends and tabs are
 * neutralised; elsewhere it goes out byte for byte. A reader that closed its end early (`| head`)
 * has what it wanted. Returns `status`, or another exit status when the answer did not get out.
 */
int cli_answer_end(struct cli_answer *answer, int status);

#endif
