/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/options.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/text.h"

#define DETAIL_BYTES 512
#define MIB          (1024 * 1024)

bool mp_options_import(void *ret_ours, size_t our_size, const void *given)
{
    size_t given_size;
    memcpy(&given_size, given, sizeof(given_size));
    if (given_size < sizeof(given_size))
        return false;
    const char *bytes = given;
    for (size_t i = our_size; i < given_size; i++) {
        if (bytes[i] != 0)
            return false;
    }
    memset(ret_ours, 0, our_size);
    memcpy(ret_ours, given, given_size < our_size ? given_size : our_size);
    return true;
}

mcpump_err mp_options_refuse_size(const void *given, mcpump_failure **ret_failure)
{
    size_t size;
    char words[96];
    memcpy(&size, given, sizeof(size));
    snprintf(words, sizeof(words), "%zu is %s", size,
             size < sizeof(size) ? "too small"
                                 : "larger than known here, and the rest is not zero");
    struct mp_failure_facts facts = {.name = "server",
                                     .err = MCPUMP_ERR_INVALID_ARGUMENT,
                                     .phase = MCPUMP_PHASE_OPTIONS,
                                     .subject = "size",
                                     .detail = words};
    return mp_fail(ret_failure, &facts, NULL);
}

int mp_options_check_directory(const char *directory)
{
    struct stat info;
    if (directory[0] != '/')
        return EINVAL;
    if (stat(directory, &info) != 0)
        return errno;
    return S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
}

/* Carries the first complaint through the checks. */
struct check {
    const mcpump_transport_options *given;
    struct mp_options *out;
    mcpump_err err;
    const char *key;
    char detail[DETAIL_BYTES];
};

static void complain(struct check *check, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void complain(struct check *check, const char *key, const char *format, ...)
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

static void *no_memory_if_null(struct check *check, void *pointer)
{
    if (pointer == NULL && check->err == MCPUMP_OK)
        check->err = MCPUMP_ERR_NO_MEMORY;
    return pointer;
}

static char *copy_text(struct check *check, const char *text)
{
    return text != NULL ? no_memory_if_null(check, strdup(text)) : NULL;
}

static char **copy_list(struct check *check, const char *const *list)
{
    size_t count = 0;
    while (list != NULL && list[count] != NULL)
        count++;
    char **copy = no_memory_if_null(check, calloc(count + 1, sizeof(char *)));
    for (size_t i = 0; copy != NULL && i < count; i++)
        copy[i] = copy_text(check, list[i]);
    return copy;
}

static bool ends_with(const char *text, const char *end)
{
    size_t text_size = strlen(text), end_size = strlen(end);
    return text_size >= end_size && strcasecmp(text + text_size - end_size, end) == 0;
}

static void check_command(struct check *check)
{
    const char *command = check->given->command;
    if (command == NULL || command[0] == '\0') {
        complain(check, "command", "it is required");
        return;
    }
    for (const char *at = command; *at != '\0'; at++) {
        if (isspace((unsigned char)*at))
            complain(check, "command", "\"%s\" holds white space; arguments belong into args",
                     command);
    }
    if (ends_with(command, ".bat") || ends_with(command, ".cmd"))
        complain(check, "command", "\"%s\" is a batch file", command);
}

/* The value may be a secret: it is not shown, and neither is what stands in place of a name. */
static void check_env(struct check *check)
{
    char *const *env = check->out->env;
    for (size_t i = 0; env != NULL && env[i] != NULL; i++) {
        const char *equals = strchr(env[i], '=');
        if (equals == NULL || equals == env[i])
            complain(check, "env", "entry %zu is not of the form NAME=VALUE", i + 1);
    }
    char *const *names = check->out->inherit_env;
    for (size_t i = 0; names != NULL && names[i] != NULL; i++) {
        if (names[i][0] == '\0' || strchr(names[i], '=') != NULL)
            complain(check, "inherit_env", "entry %zu is not the name of a variable", i + 1);
    }
}

static void check_cwd(struct check *check)
{
    char scratch[MP_TEXT_ERRNO_SIZE];
    const char *cwd = check->given->cwd;
    int err = cwd != NULL ? mp_options_check_directory(cwd) : 0;
    if (err == EINVAL)
        complain(check, "cwd", "\"%s\" is not an absolute path", cwd);
    else if (err != 0)
        complain(check, "cwd", "\"%s\": %s", cwd, mp_text_errno(err, scratch));
}

static void check_stderr(struct check *check)
{
    const mcpump_transport_options *given = check->given;
    const char *file = given->stderr_file;
    if ((int)given->stderr_sink < 0 || given->stderr_sink > MCPUMP_STDERR_CALLBACK)
        complain(check, "stderr_sink", "%d is none", (int)given->stderr_sink);
    if (given->stderr_sink == MCPUMP_STDERR_FILE && (file == NULL || file[0] != '/'))
        complain(check, "stderr_file", "\"%s\" is not an absolute path", file != NULL ? file : "");
    if (given->stderr_sink == MCPUMP_STDERR_CALLBACK && given->stderr_fn == NULL)
        complain(check, "stderr_fn", "it is required with this stderr_sink");
}

/* 0 becomes the default, -1 what `minus_one` says. */
static int64_t number(struct check *check, const char *key, int64_t given, int64_t by_default,
                      int64_t minus_one)
{
    if (given == 0)
        return by_default;
    if (given == -1)
        return minus_one;
    if (given < 0 || given > MP_OPTIONS_MOST)
        complain(check, key, "%" PRId64 " is out of range", given);
    return given;
}

static size_t bytes(struct check *check, const char *key, size_t given, size_t by_default)
{
    if (given > (size_t)MP_OPTIONS_MOST)
        complain(check, key, "%zu is out of range", given);
    return given != 0 ? given : by_default;
}

static void check_numbers(struct check *check)
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
        complain(check, "log_level", "%d is none", (int)given->log_level);
    out->log_level = given->log_level != 0 ? given->log_level : MCPUMP_LOG_WARNING;
}

static void copy_all(struct check *check)
{
    const mcpump_transport_options *given = check->given;
    struct mp_options *out = check->out;
    out->command = copy_text(check, given->command);
    out->args = copy_list(check, given->args);
    out->env = copy_list(check, given->env);
    out->inherit_env = copy_list(check, given->inherit_env);
    out->cwd = copy_text(check, given->cwd);
    out->stderr_file = copy_text(check, given->stderr_file);
    out->stderr_sink = given->stderr_sink;
    out->stderr_fn = given->stderr_fn;
    out->stderr_user = given->stderr_user;
    out->log_fn = given->log_fn;
    out->log_user = given->log_user;

    const char *name = given->display_name;
    if (name == NULL && given->command != NULL) {
        const char *slash = strrchr(given->command, '/');
        name = slash != NULL ? slash + 1 : given->command;
    }
    mp_text_label(name != NULL ? name : "", out->label, sizeof(out->label));
}

mcpump_err mp_options_init(struct mp_options *ret_options, const mcpump_transport_options *given,
                           mcpump_failure **ret_failure)
{
    mcpump_transport_options whole;
    struct check check = {.given = &whole, .out = ret_options, .err = MCPUMP_OK};
    memset(ret_options, 0, sizeof(*ret_options));
    if (!mp_options_import(&whole, sizeof(whole), given))
        return mp_options_refuse_size(given, ret_failure);
    copy_all(&check);
    check_command(&check);
    check_env(&check);
    check_cwd(&check);
    check_stderr(&check);
    check_numbers(&check);
    if (check.err == MCPUMP_OK)
        return MCPUMP_OK;
    struct mp_failure_facts facts = {.name = ret_options->label,
                                     .err = check.err,
                                     .phase = MCPUMP_PHASE_OPTIONS,
                                     .subject = check.key,
                                     .detail = check.detail[0] != '\0' ? check.detail : NULL};
    return mp_fail(ret_failure, &facts, NULL);
}

static void free_list(char **list, bool wipe)
{
    for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
        if (wipe)
            explicit_bzero(list[i], strlen(list[i]));
        free(list[i]);
    }
    free(list);
}

void mp_options_done(struct mp_options *options)
{
    free(options->command);
    free_list(options->args, false);
    free_list(options->env, true);
    free_list(options->inherit_env, false);
    free(options->cwd);
    free(options->stderr_file);
    memset(options, 0, sizeof(*options));
}
