/* SPDX-License-Identifier: Apache-2.0 */
/* Configurations from text, for tests. */
#ifndef UNIT_CONFIG_SUPPORT_H
#define UNIT_CONFIG_SUPPORT_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/secret.h"
#include "mcpump/config.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
/* Where the file would be; the folder exists. */
#define NAME "/tmp/f.json"
/* A file with one entry, `x`, of these members, on line 2. */
#define ENTRY(members) "{\"mcpServers\": {\n\"x\": {" members "}}}"

static inline mcpump_config *parse(const char *text)
{
    mcpump_config *config = NULL;
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_config_parse(NAME, text, strlen(text), &config, &failure);
    cr_assert_eq(err, MCPUMP_OK, "%s: %s", text, mcpump_failure_message(failure));
    cr_assert_null(failure);
    return config;
}

/* The transport's options of the first entry, which must be usable. */
static inline const mcpump_transport_options *first(const mcpump_config *config)
{
    cr_assert_eq(mcpump_config_state(config, 0), MCPUMP_ENTRY_USABLE, "%s",
                 mcpump_config_problem(config, 0));
    return &mcpump_config_options(config, 0)->transport;
}

/* "NAME=VALUE" of the variables, a space behind each. */
static inline const char *show_secrets(const mcpump_transport_options *options)
{
    static char text[1024];
    size_t size = 0;
    text[0] = '\0';
    const mcpump_secret_variable *secret = options->secret_env;
    for (; secret != NULL && secret->name != NULL; secret++)
        size += (size_t)snprintf(text + size, sizeof(text) - size, "%s=%s ", secret->name,
                                 mp_secret_text(secret->value));
    return text;
}

/* The strings, a space behind each. */
static inline const char *show_list(const char *const *list)
{
    static char text[1024];
    size_t size = 0;
    text[0] = '\0';
    for (; list != NULL && *list != NULL; list++)
        size += (size_t)snprintf(text + size, sizeof(text) - size, "%s ", *list);
    return text;
}

#endif
