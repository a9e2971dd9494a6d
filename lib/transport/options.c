/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/secret.h"
#include "base/text.h"
#include "transport/options_check.h"

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

static void *no_memory_if_null(struct mp_options_check *check, void *pointer)
{
    if (pointer == NULL && check->err == MCPUMP_OK)
        check->err = MCPUMP_ERR_NO_MEMORY;
    return pointer;
}

static char *copy_text(struct mp_options_check *check, const char *text)
{
    return text != NULL ? no_memory_if_null(check, strdup(text)) : NULL;
}

static char **copy_list(struct mp_options_check *check, const char *const *list)
{
    size_t count = 0;
    while (list != NULL && list[count] != NULL)
        count++;
    char **copy = no_memory_if_null(check, calloc(count + 1, sizeof(char *)));
    /* What comes behind a gap would not be freed. */
    for (size_t i = 0; copy != NULL && i < count && check->err == MCPUMP_OK; i++)
        copy[i] = copy_text(check, list[i]);
    return copy;
}

static mcpump_secret_variable *copy_secrets(struct mp_options_check *check,
                                            const mcpump_secret_variable *given)
{
    size_t count = 0;
    while (given != NULL && given[count].name != NULL)
        count++;
    mcpump_secret_variable *copy = no_memory_if_null(check, calloc(count + 1, sizeof(*copy)));
    for (size_t i = 0; copy != NULL && i < count && check->err == MCPUMP_OK; i++) {
        copy[i].name = copy_text(check, given[i].name);
        if (copy[i].name != NULL && given[i].value != NULL)
            copy[i].value =
                no_memory_if_null(check, mcpump_secret_new(mp_secret_text(given[i].value)));
    }
    return copy;
}

static mcpump_rlimit *copy_rlimits(struct mp_options_check *check, const mcpump_rlimit *given,
                                   size_t count)
{
    if (given == NULL || count == 0)
        return NULL;
    mcpump_rlimit *copy = no_memory_if_null(check, calloc(count, sizeof(*copy)));
    if (copy != NULL)
        memcpy(copy, given, count * sizeof(*copy));
    return copy;
}

static void copy_all(struct mp_options_check *check)
{
    const mcpump_transport_options *given = check->given;
    struct mp_options *out = check->out;
    out->command = copy_text(check, given->command);
    out->args = copy_list(check, given->args);
    out->env = copy_list(check, given->env);
    out->inherit_env = copy_list(check, given->inherit_env);
    out->unset_env = copy_list(check, given->unset_env);
    out->secret_env = copy_secrets(check, given->secret_env);
    out->rlimits = copy_rlimits(check, given->rlimits, given->rlimit_count);
    out->rlimit_count = given->rlimit_count;
    out->new_session = given->new_session;
    out->nice = given->nice;
    out->orphans = given->orphans;
    out->guard_path = copy_text(check, given->guard_path);
    out->queue_policy = given->queue_policy;
    out->cwd = copy_text(check, given->cwd);
    out->stderr_file = copy_text(check, given->stderr_file);
    out->stderr_sink = given->stderr_sink;
    out->stderr_fn = given->stderr_fn;
    out->stderr_user = given->stderr_user;
    out->log_fn = given->log_fn;
    out->log_user = given->log_user;
    out->tap_fn = given->tap_fn;
    out->tap_user = given->tap_user;

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
    struct mp_options_check check = {.given = &whole, .out = ret_options, .err = MCPUMP_OK};
    memset(ret_options, 0, sizeof(*ret_options));
    if (!mp_options_import(&whole, sizeof(whole), given))
        return mp_options_refuse_size(given, ret_failure);
    copy_all(&check);
    mp_options_check_all(&check);
    if (check.err == MCPUMP_OK)
        return MCPUMP_OK;
    struct mp_failure_facts facts = {.name = ret_options->label,
                                     .err = check.err,
                                     .phase = MCPUMP_PHASE_OPTIONS,
                                     .subject = check.key,
                                     .detail = check.detail[0] != '\0' ? check.detail : NULL};
    return mp_fail(ret_failure, &facts, NULL);
}

mcpump_err mp_options_find_fault(const mcpump_transport_options *given,
                                 struct mp_options_fault *ret_fault)
{
    struct mp_options copy = {.command = NULL};
    struct mp_options_check check = {.given = given, .out = &copy, .err = MCPUMP_OK};
    copy_all(&check);
    mp_options_check_all(&check);
    mp_options_done(&copy);
    if (check.err == MCPUMP_ERR_INVALID_ARGUMENT) {
        _Static_assert(sizeof(ret_fault->words) >= sizeof(check.detail), "it fits");
        ret_fault->key = check.key;
        memcpy(ret_fault->words, check.detail, sizeof(check.detail));
    }
    return check.err;
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

static void free_secrets(mcpump_secret_variable *secrets)
{
    for (size_t i = 0; secrets != NULL && secrets[i].name != NULL; i++) {
        union {
            const void *in;
            void *out; /* ours: made by copy_secrets */
        } name = {secrets[i].name}, value = {secrets[i].value};
        free(name.out);
        mcpump_secret_free(value.out);
    }
    free(secrets);
}

void mp_options_done(struct mp_options *options)
{
    free(options->command);
    free_list(options->args, true); /* there are tokens in some */
    free_list(options->env, true);
    free_list(options->inherit_env, false);
    free_list(options->unset_env, false);
    free_secrets(options->secret_env);
    free(options->rlimits);
    free(options->guard_path);
    free(options->cwd);
    free(options->stderr_file);
    memset(options, 0, sizeof(*options));
}
