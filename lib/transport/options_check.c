/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of a transport's options; each complaint names the key and the value. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "transport/options_check.h"

#define MIB (1024 * 1024)
/* The whole range of niceness, either way. */
#define MOST_NICE 40

void mp_options_complain(struct mp_options_check *check, const char *key, const char *format, ...)
{
    if (check->err != MCPUMP_OK)
        return;
    check->err = MCPUMP_ERR_INVALID_ARGUMENT;
    check->key = key;
    va_list args;
    va_start(args, format);
    vsnprintf(check->detail, sizeof(check->detail), format, args);
    va_end(args);
}

static bool ends_with(const char *text, const char *end)
{
    size_t text_size = strlen(text), end_size = strlen(end);
    return text_size >= end_size && strcasecmp(text + text_size - end_size, end) == 0;
}

static void check_command(struct mp_options_check *check)
{
    const char *command = check->given->command;
    if (command == NULL || command[0] == '\0') {
        mp_options_complain(check, "command", "it is required");
        return;
    }
    for (const char *at = command; *at != '\0'; at++) {
        if (isspace((unsigned char)*at))
            mp_options_complain(check, "command",
                                "\"%s\" holds white space; arguments belong into args", command);
    }
    if (!ends_with(command, ".bat") && !ends_with(command, ".cmd"))
        return;
    if (!check->given->allow_batch_files)
        mp_options_complain(check, "command", "\"%s\" is a batch file, see allow_batch_files",
                            command);
    for (char **arg = check->out->args; arg != NULL && *arg != NULL; arg++) {
        if (strpbrk(*arg, "\"%^&|<>") != NULL)
            mp_options_complain(check, "args",
                                "\"%s\" holds one of \"%%^&|<>, which a batch file would interpret",
                                *arg);
    }
}

static bool is_name(const char *text)
{
    return text[0] != '\0' && strchr(text, '=') == NULL;
}

static void check_names(struct mp_options_check *check, const char *key, char *const *names)
{
    for (size_t i = 0; names != NULL && names[i] != NULL; i++) {
        if (!is_name(names[i]))
            mp_options_complain(check, key, "entry %zu is not the name of a variable", i + 1);
    }
}

/* The value may be a secret: it is not shown, and neither is what stands in place of a name. */
static void check_env(struct mp_options_check *check)
{
    char *const *env = check->out->env;
    for (size_t i = 0; env != NULL && env[i] != NULL; i++) {
        const char *equals = strchr(env[i], '=');
        if (equals == NULL || equals == env[i])
            mp_options_complain(check, "env", "entry %zu is not of the form NAME=VALUE", i + 1);
    }
    check_names(check, "inherit_env", check->out->inherit_env);
    check_names(check, "unset_env", check->out->unset_env);
    const mcpump_secret_variable *secrets = check->given->secret_env;
    for (size_t i = 0; secrets != NULL && secrets[i].name != NULL; i++) {
        if (!is_name(secrets[i].name))
            mp_options_complain(check, "secret_env", "entry %zu has no valid name", i + 1);
        if (secrets[i].value == NULL)
            mp_options_complain(check, "secret_env", "%s has no value", secrets[i].name);
    }
}

static void check_cwd(struct mp_options_check *check)
{
    char scratch[MP_TEXT_ERRNO_SIZE];
    const char *cwd = check->given->cwd;
    int err = cwd != NULL ? mp_options_check_directory(cwd) : 0;
    if (err == EINVAL)
        mp_options_complain(check, "cwd", "\"%s\" is not an absolute path", cwd);
    else if (err != 0)
        mp_options_complain(check, "cwd", "\"%s\": %s", cwd, mp_text_errno(err, scratch));
}

static void check_stderr(struct mp_options_check *check)
{
    const mcpump_transport_options *given = check->given;
    const char *file = given->stderr_file;
    if ((int)given->stderr_sink < 0 || given->stderr_sink > MCPUMP_STDERR_CALLBACK)
        mp_options_complain(check, "stderr_sink", "%d is none", (int)given->stderr_sink);
    if (given->stderr_sink == MCPUMP_STDERR_FILE && (file == NULL || file[0] != '/'))
        mp_options_complain(check, "stderr_file", "\"%s\" is not an absolute path",
                            file != NULL ? file : "");
    if (given->stderr_sink == MCPUMP_STDERR_CALLBACK && given->stderr_fn == NULL)
        mp_options_complain(check, "stderr_fn", "it is required with this stderr_sink");
}

/* 0 becomes the default, -1 what `minus_one` says. */
static int64_t number(struct mp_options_check *check, const char *key, int64_t given,
                      int64_t by_default, int64_t minus_one)
{
    if (given == 0)
        return by_default;
    if (given == -1)
        return minus_one;
    if (given < 0 || given > MP_OPTIONS_MOST)
        mp_options_complain(check, key, "%" PRId64 " is out of range", given);
    return given;
}

static size_t bytes(struct mp_options_check *check, const char *key, size_t given,
                    size_t by_default)
{
    if (given > (size_t)MP_OPTIONS_MOST)
        mp_options_complain(check, key, "%zu is out of range", given);
    return given != 0 ? given : by_default;
}

static void check_numbers(struct mp_options_check *check)
{
    const mcpump_transport_options *given = check->given;
    struct mp_options *out = check->out;
    out->max_message_bytes = bytes(check, "max_message_bytes", given->max_message_bytes, 8 * MIB);
    out->write_queue_bytes = bytes(check, "write_queue_bytes", given->write_queue_bytes, 16 * MIB);
    out->max_junk_lines = number(check, "max_junk_lines", given->max_junk_lines, 10, 0);
    out->default_timeout_ms =
        number(check, "default_timeout_ms", given->default_timeout_ms, 30000, MCPUMP_FOREVER);
    out->stdin_grace_ms = number(check, "stdin_grace_ms", given->stdin_grace_ms, 2000, 0);
    out->term_grace_ms = number(check, "term_grace_ms", given->term_grace_ms, 2000, 0);
    if ((int)given->log_level < 0 || given->log_level > MCPUMP_LOG_DEBUG)
        mp_options_complain(check, "log_level", "%d is none", (int)given->log_level);
    out->log_level = given->log_level != 0 ? given->log_level : MCPUMP_LOG_WARNING;
}

static void check_process(struct mp_options_check *check)
{
    const mcpump_transport_options *given = check->given;
    const char *guard = given->guard_path;
    if (given->nice < -MOST_NICE || given->nice > MOST_NICE)
        mp_options_complain(check, "nice", "%d is out of range", given->nice);
    if (given->rlimits == NULL && given->rlimit_count > 0)
        mp_options_complain(check, "rlimits", "%zu of them are announced, and none is there",
                            given->rlimit_count);
    for (size_t i = 0; given->rlimits != NULL && i < given->rlimit_count; i++) {
        if (given->rlimits[i].resource < 0 || given->rlimits[i].soft > given->rlimits[i].hard)
            mp_options_complain(check, "rlimits", "entry %zu is not valid", i + 1);
    }
    if ((int)given->orphans < 0 || given->orphans > MCPUMP_ORPHANS_TREE)
        mp_options_complain(check, "orphans", "%d is none", (int)given->orphans);
    if (guard != NULL && guard[0] != '/')
        mp_options_complain(check, "guard_path", "\"%s\" is not an absolute path", guard);
    if ((int)given->queue_policy < 0 || given->queue_policy > MCPUMP_QUEUE_REJECT)
        mp_options_complain(check, "queue_policy", "%d is none", (int)given->queue_policy);
}

void mp_options_check_all(struct mp_options_check *check)
{
    check_command(check);
    check_env(check);
    check_cwd(check);
    check_stderr(check);
    check_numbers(check);
    check_process(check);
}
