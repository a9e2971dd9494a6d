/* SPDX-License-Identifier: Apache-2.0 */
/* The public configuration: where its file is, its making, and what can be asked of it. */
#include "mcpump/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/sync.h"
#include "base/vault.h"
#include "config/file.h"
#include "config/loader.h"

/* -- made and freed */

/* Takes the text, which lies in a vault. */
static mcpump_err make(const char *path, char *text, size_t size, mcpump_config **ret_config,
                       mcpump_failure **ret_failure)
{
    mcpump_err err = MCPUMP_ERR_NO_MEMORY;
    mcpump_config *config = calloc(1, sizeof(*config));
    if (config != NULL)
        config->path = mp_arena_text(&config->arena, path, strlen(path));
    if (config != NULL && config->path != NULL)
        err = mp_loader_run(config, text, size, ret_failure);
    mp_vault_free(text);
    if (err == MCPUMP_OK)
        *ret_config = config;
    else
        mcpump_config_free(config);
    return err;
}

/* "PATH: words" and what the errno means. */
static mcpump_err fail(const char *path, const char *words, mcpump_err err, int sys_errno,
                       mcpump_failure **ret_failure)
{
    struct mp_buffer out = MP_BUFFER_INIT;
    mp_report_path(&out, path);
    mp_buffer_addf(&out, ": %s", words);
    err =
        out.failed ? MCPUMP_ERR_NO_MEMORY : mp_report_fail(err, sys_errno, out.bytes, ret_failure);
    mp_buffer_done(&out);
    return err;
}

static mcpump_err refuse_size(const char *path, mcpump_failure **ret_failure)
{
    _Static_assert(MP_CONFIG_MOST_BYTES == 4 << 20, "the phrase names it");
    return fail(path, "it is larger than 4 MiB", MCPUMP_ERR_INVALID_ARGUMENT, 0, ret_failure);
}

/* What comes of reading a file: `err` 0, and its text, or an errno. */
static mcpump_err finish(const char *path, int err, char *text, size_t size,
                         mcpump_config **ret_config, mcpump_failure **ret_failure)
{
    switch (err) {
    case 0:
        return make(path, text, size, ret_config, ret_failure);
    case ENOMEM:
        return MCPUMP_ERR_NO_MEMORY;
    case EFBIG:
        return refuse_size(path, ret_failure);
    default:
        return fail(path, "it cannot be read", MCPUMP_ERR_SYSTEM, err, ret_failure);
    }
}

static mcpump_err load_file(const char *path, mcpump_config **ret_config,
                            mcpump_failure **ret_failure)
{
    char *text = NULL;
    size_t size = 0;
    int err = mp_file_read(path, MP_CONFIG_MOST_BYTES, &text, &size);
    return finish(path, err, text, size, ret_config, ret_failure);
}

static mcpump_err refuse_places(mcpump_failure **ret_failure)
{
    struct mp_buffer words = MP_BUFFER_INIT;
    mp_buffer_add_text(&words, "no configuration was found; tried");
    for (unsigned place = 0; place < MP_FILE_PLACES; place++) {
        struct mp_buffer path = MP_BUFFER_INIT;
        mp_file_place(&path, place);
        if (path.size > 0) {
            mp_buffer_add_text(&words, place > 0 ? " and " : " ");
            mp_report_path(&words, path.bytes);
        }
        words.failed = words.failed || path.failed;
        mp_buffer_done(&path);
    }
    mcpump_err err = MCPUMP_ERR_NO_MEMORY;
    if (!words.failed)
        err = mp_report_fail(MCPUMP_ERR_SYSTEM, ENOENT, words.bytes, ret_failure);
    mp_buffer_done(&words);
    return err;
}

/* Tries the places in turn. One that is there and cannot be read is an error. */
static mcpump_err load_first(mcpump_config **ret_config, mcpump_failure **ret_failure)
{
    for (unsigned place = 0; place < MP_FILE_PLACES; place++) {
        struct mp_buffer path = MP_BUFFER_INIT;
        char *text = NULL;
        size_t size = 0;
        int err = ENOENT;
        mp_file_place(&path, place);
        if (path.failed)
            err = ENOMEM;
        else if (path.size > 0)
            err = mp_file_read(path.bytes, MP_CONFIG_MOST_BYTES, &text, &size);
        bool is_there = err != ENOENT && err != ENOTDIR;
        mcpump_err result = MCPUMP_OK;
        if (is_there)
            result = finish(path.bytes, err, text, size, ret_config, ret_failure);
        mp_buffer_done(&path);
        if (is_there)
            return result;
    }
    return refuse_places(ret_failure);
}

/* A thread that is cancelled while it reads would leave the text behind. */
mcpump_err mcpump_config_load(const char *path, mcpump_config **ret_config,
                              mcpump_failure **ret_failure)
{
    if (ret_failure != NULL)
        *ret_failure = NULL;
    if (ret_config == NULL)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    int state = mp_cancel_disable();
    mcpump_err err = path != NULL ? load_file(path, ret_config, ret_failure)
                                  : load_first(ret_config, ret_failure);
    mp_cancel_restore(state);
    return err;
}

mcpump_err mcpump_config_parse(const char *name, const char *text, size_t size,
                               mcpump_config **ret_config, mcpump_failure **ret_failure)
{
    if (ret_failure != NULL)
        *ret_failure = NULL;
    if (name == NULL || (text == NULL && size > 0) || ret_config == NULL)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    if (size > MP_CONFIG_MOST_BYTES)
        return refuse_size(name, ret_failure);
    int state = mp_cancel_disable();
    mcpump_err err = MCPUMP_ERR_NO_MEMORY;
    char *copy = mp_vault_new(size, true);
    if (copy != NULL && size > 0)
        memcpy(copy, text, size);
    if (copy != NULL)
        err = make(name, copy, size, ret_config, ret_failure);
    mp_cancel_restore(state);
    return err;
}

void mcpump_config_free(mcpump_config *config)
{
    if (config == NULL)
        return;
    for (size_t i = 0; i < config->count; i++) {
        const mcpump_secret_variable *secrets = config->entries[i].options.transport.secret_env;
        for (; secrets != NULL && secrets->name != NULL; secrets++) {
            union {
                const mcpump_secret *in;
                mcpump_secret *out; /* ours: made by variables.c */
            } value = {secrets->value};
            mcpump_secret_free(value.out);
        }
    }
    mp_arena_done(&config->arena);
    free(config);
}

/* -- asked */

/* NULL: out of range. */
static const struct mp_config_entry *entry_at(const mcpump_config *config, size_t index)
{
    return index < config->count ? &config->entries[index] : NULL;
}

const char *mcpump_config_path(const mcpump_config *config)
{
    return config->path;
}

size_t mcpump_config_count(const mcpump_config *config)
{
    return config->count;
}

const char *mcpump_config_name(const mcpump_config *config, size_t index)
{
    const struct mp_config_entry *entry = entry_at(config, index);
    return entry != NULL ? entry->name : "";
}

bool mcpump_config_find(const mcpump_config *config, const char *name, size_t *ret_index)
{
    size_t index = 0;
    while (index < config->count && strcmp(config->entries[index].name, name) != 0)
        index++;
    if (index < config->count && ret_index != NULL)
        *ret_index = index;
    return index < config->count;
}

mcpump_entry_state mcpump_config_state(const mcpump_config *config, size_t index)
{
    const struct mp_config_entry *entry = entry_at(config, index);
    return entry != NULL ? entry->state : MCPUMP_ENTRY_INVALID;
}

const char *mcpump_config_problem(const mcpump_config *config, size_t index)
{
    const struct mp_config_entry *entry = entry_at(config, index);
    return entry != NULL && entry->problem != NULL ? entry->problem : "";
}

const mcpump_server_options *mcpump_config_options(const mcpump_config *config, size_t index)
{
    const struct mp_config_entry *entry = entry_at(config, index);
    return entry != NULL && entry->state == MCPUMP_ENTRY_USABLE ? &entry->options : NULL;
}

bool mcpump_config_is_eager(const mcpump_config *config, size_t index)
{
    const struct mp_config_entry *entry = entry_at(config, index);
    return entry != NULL && entry->is_eager != 0;
}

size_t mcpump_config_warning_count(const mcpump_config *config)
{
    return config->warning_count;
}

const char *mcpump_config_warning(const mcpump_config *config, size_t index)
{
    return index < config->warning_count ? config->warnings[index] : "";
}
