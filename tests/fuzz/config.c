/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text is a configuration or is refused with one sentence. What is accepted by the check is
 * JSON for json-c once it was relaxed; entries are usable or say why not, at a line of the file;
 * words are fit to be shown; usable options are those that a transport takes.
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/secret.h"
#include "base/text.h"
#include "check.h"
#include "config/json.h"
#include "mcpump/config.h"
#include "transport/options.h"
#include "wire/scan.h"

#define NAME     "/tmp/f.json"
#define IS_START (strncmp(words, NAME ":", sizeof(NAME)) == 0)

static void check_words(const char *words)
{
    size_t size = strlen(words);
    CHECK(IS_START && size < 1200);
    for (size_t at = 0, step; at < size; at += step) {
        step = mp_text_utf8_size(words + at, size - at);
        CHECK(step > 0);
        CHECK(step > 1 || (unsigned char)words[at] >= 0x20 || words[at] == '\t');
    }
    CHECK(strtoul(words + sizeof(NAME), NULL, 10) >= 1);
}

static void check_usable(const mcpump_server_options *options)
{
    struct mp_options_fault fault;
    CHECK(options->size == sizeof(*options) && options->transport.command != NULL);
    CHECK(mp_options_find_fault(&options->transport, &fault) == MCPUMP_OK);
    const mcpump_secret_variable *secret = options->transport.secret_env;
    for (; secret != NULL && secret->name != NULL; secret++)
        CHECK(strlen(mp_secret_text(secret->value)) < 128 * 1024);
}

static void check_config(const mcpump_config *config)
{
    size_t index;
    for (size_t i = 0; i < mcpump_config_count(config); i++) {
        CHECK(mcpump_config_find(config, mcpump_config_name(config, i), &index) && index == i);
        bool is_usable = mcpump_config_state(config, i) == MCPUMP_ENTRY_USABLE;
        CHECK((mcpump_config_options(config, i) != NULL) == is_usable);
        if (is_usable)
            check_usable(mcpump_config_options(config, i));
        else
            check_words(mcpump_config_problem(config, i));
    }
    for (size_t i = 0; i < mcpump_config_warning_count(config); i++)
        check_words(mcpump_config_warning(config, i));
}

/* Whether it passes the check; then it is valid for others, too, and no longer than it was. */
static bool check_json(const char *text, size_t size)
{
    struct mp_json_fault fault = {NULL, NULL};
    char *copy = malloc(size + 1);
    CHECK(copy != NULL);
    memcpy(copy, text, size);
    bool ok = mp_json_check(copy, size, &fault);
    if (!ok) {
        CHECK(fault.at >= copy && fault.at <= copy + size && fault.why != NULL);
    } else {
        struct json_tokener *tokener = json_tokener_new_ex(MP_JSON_MAX_DEPTH + 1);
        json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
        json_object_put(json_tokener_parse_ex(tokener, copy, (int)size));
        enum json_tokener_error err = json_tokener_get_error(tokener);
        /* A number at the very end could go on. */
        CHECK(err == json_tokener_success || err == json_tokener_continue);
        json_tokener_free(tokener);
    }
    free(copy);
    return ok;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    setenv("HOME", "/tmp", 1);
    /* An envFile may name it. */
    CHECK(freopen("/dev/null", "r", stdin) != NULL);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = size > 0 ? (const char *)data : "";
    mcpump_config *config = NULL;
    mcpump_failure *failure = NULL;
    bool is_json = check_json(text, size);
    mcpump_err err = mcpump_config_parse(NAME, text, size, &config, &failure);
    CHECK((err == MCPUMP_OK) == (config != NULL) && (err == MCPUMP_OK) == (failure == NULL));
    if (err == MCPUMP_OK) {
        CHECK(is_json);
        check_config(config);
    } else {
        CHECK(err == MCPUMP_ERR_INVALID_ARGUMENT);
        check_words(mcpump_failure_message(failure));
    }
    mcpump_failure_free(failure);
    mcpump_config_free(config);
    return 0;
}
