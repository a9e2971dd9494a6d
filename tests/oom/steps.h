/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps of a scene are checked with, and steps that stand in files of their own. */
#ifndef TEST_OOM_STEPS_H
#define TEST_OOM_STEPS_H

#include <stdbool.h>

#include "mcpump/mcpump.h"

void check(bool ok, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* `wanted` is what the step comes to when nothing fails. Takes the failure. */
void check_step(const char *step, mcpump_err err, mcpump_err wanted, mcpump_failure *failure);

/* -- typed.c: typed calls, and what is read out of replies */

/* For the server that they are made of. */
#define TYPED                                                                                      \
    "--on", "logging/setLevel:echo:{}", "--on",                                                    \
        "prompts/list:echo:{\"prompts\":[{\"name\":\"a\"}],\"ttlMs\":3600000}", "--on",            \
        "completion/complete:echo:{\"content\":[{\"type\":\"text\",\"text\":\"\\u0041\"}]}"

void step_typed(mcpump_server *server);

#endif
