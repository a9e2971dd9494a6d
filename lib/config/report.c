/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages about a file: "FILE:LINE: section.NAME.key: words". Names, keys and words are made fit
 * to be shown and are bounded. No value of an `env` is ever given to a function here.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "config/loader.h"
#include "transport/failure.h"

#define PATH_BYTES  200
#define KEY_BYTES   64
#define WORDS_BYTES 512

static void add_clean(struct mp_buffer *out, const char *text, size_t most)
{
    char clean[WORDS_BYTES];
    mp_buffer_add(out, clean, mp_text_clean(text, strlen(text), clean, most));
}

void mp_report_path(struct mp_buffer *out, const char *path)
{
    size_t size = strlen(path);
    if (size >= PATH_BYTES) {
        path += size - (PATH_BYTES - 8);
        while (((unsigned char)*path & 0xC0) == 0x80)
            path++;
        mp_buffer_add_text(out, "...");
    }
    add_clean(out, path, WORDS_BYTES);
}

/* Places are asked for mostly in their order, so that each part of the text is counted once. */
static size_t line_of(struct mp_loader *loader, const char *at)
{
    if (at < loader->lf_from) {
        loader->lf_from = loader->text;
        loader->line = 1;
    }
    const char *lf;
    while ((lf = memchr(loader->lf_from, '\n', (size_t)(at - loader->lf_from))) != NULL) {
        loader->lf_from = lf + 1;
        loader->line++;
    }
    return loader->line;
}

static void compose(struct mp_loader *loader, struct mp_buffer *out, const struct mp_place *place,
                    const char *words)
{
    bool in_entry = loader->entry != NULL;
    mp_buffer_addf(out, "%s:%zu: ", loader->shown, line_of(loader, place->at));
    if (in_entry) {
        mp_buffer_addf(out, "%s.", loader->section);
        add_clean(out, loader->entry->name, KEY_BYTES);
    }
    for (size_t i = 0; i < MP_PLACE_KEYS && place->keys[i] != NULL; i++) {
        mp_buffer_add_text(out, i > 0 || in_entry ? "." : "");
        add_clean(out, place->keys[i], KEY_BYTES);
    }
    mp_buffer_add_text(out, in_entry || place->keys[0] != NULL ? ": " : "");
    add_clean(out, words, WORDS_BYTES);
}

/* The same as a text in the arena. */
static const char *keep(struct mp_loader *loader, const struct mp_place *place, const char *words)
{
    struct mp_buffer out = MP_BUFFER_INIT;
    compose(loader, &out, place, words);
    const char *text =
        mp_loader_noted(loader, out.failed ? NULL : mp_loader_text(loader, out.bytes));
    mp_buffer_done(&out);
    return text;
}

void mp_report_state(struct mp_loader *loader, mcpump_entry_state state,
                     const struct mp_place *place, const char *words)
{
    struct mp_config_entry *entry = loader->entry;
    if (entry->state != MCPUMP_ENTRY_USABLE)
        return;
    entry->state = state;
    entry->problem = keep(loader, place, words);
}

void mp_report_problem(struct mp_loader *loader, const struct mp_place *place, const char *format,
                       ...)
{
    char words[WORDS_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof(words), format, args);
    va_end(args);
    mp_report_state(loader, MCPUMP_ENTRY_INVALID, place, words);
}

void mp_report_warning(struct mp_loader *loader, const struct mp_place *place, const char *format,
                       ...)
{
    mcpump_config *config = loader->config;
    char words[WORDS_BYTES];
    va_list args;
    if (config->warning_count == MP_CONFIG_MOST_WARNINGS)
        return;
    va_start(args, format);
    vsnprintf(words, sizeof(words), format, args);
    va_end(args);
    const char *text = keep(loader, place, words);
    if (text != NULL)
        config->warnings[config->warning_count++] = text;
}

mcpump_err mp_report_fail(mcpump_err err, int sys_errno, const char *words,
                          mcpump_failure **ret_failure)
{
    struct mp_failure_facts facts = {
        .err = err, .phase = MCPUMP_PHASE_OPTIONS, .sys_errno = sys_errno, .detail = words};
    return mp_fail(ret_failure, &facts, NULL);
}

mcpump_err mp_report_fault(struct mp_loader *loader, const struct mp_place *place,
                           mcpump_failure **ret_failure, const char *format, ...)
{
    struct mp_buffer out = MP_BUFFER_INIT;
    char words[WORDS_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof(words), format, args);
    va_end(args);
    compose(loader, &out, place, words);
    mcpump_err err = MCPUMP_ERR_NO_MEMORY;
    if (!out.failed)
        err = mp_report_fail(MCPUMP_ERR_INVALID_ARGUMENT, 0, out.bytes, ret_failure);
    mp_buffer_done(&out);
    return err;
}
