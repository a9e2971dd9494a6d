/* SPDX-License-Identifier: Apache-2.0 */
/* The file as a whole: its text is checked, its entries are counted, then read one by one. */
#include "config/loader.h"

#include <string.h>

#include "base/buffer.h"
#include "base/vault.h"
#include "config/file.h"

#define MOST_NAME 255

/* The objects at the top that hold entries. */
static const char *const sections[] = {"mcpServers", "servers"};
#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

/* Others at the top that say nothing to us. */
static const char *const ignored[] = {"$schema", "inputs", "globalShortcut", "comment"};
#define IGNORED (sizeof(ignored) / sizeof(ignored[0]))

static size_t find_text(const char *const *list, size_t count, const char *text)
{
    size_t at = 0;
    while (at < count && strcmp(list[at], text) != 0)
        at++;
    return at;
}

/* -- before the entries */

static bool begin(struct mp_loader *loader)
{
    struct mp_buffer shown = MP_BUFFER_INIT, base = MP_BUFFER_INIT;
    const char *path = loader->config->path;
    mp_report_path(&shown, path);
    loader->shown = shown.failed ? NULL : mp_loader_text(loader, shown.size > 0 ? shown.bytes : "");
    bool has_base = mp_file_base(&base, path);
    if (has_base && !base.failed)
        loader->base = mp_loader_text(loader, base.bytes);
    loader->decoded =
        mp_loader_noted(loader, mp_vault_new((size_t)2 * MP_CONFIG_VALUE_BYTES, true));
    loader->expanded = loader->decoded != NULL ? loader->decoded + MP_CONFIG_VALUE_BYTES : NULL;
    loader->no_memory = loader->no_memory || shown.failed || base.failed;
    mp_buffer_done(&shown);
    mp_buffer_done(&base);
    return !loader->no_memory;
}

/* What to say when neither of the sections is there; perhaps a key has one's name nearly. */
static mcpump_err refuse_sections(struct mp_loader *loader, struct mp_span root,
                                  mcpump_failure **ret_failure)
{
    struct mp_json_walk walk;
    struct mp_span key, value;
    struct mp_place place = {root.bytes, {NULL}};
    for (mp_json_enter(&walk, root); mp_json_next(&walk, &key, &value);) {
        const char *why = mp_json_text(key, loader->decoded, MP_CONFIG_VALUE_BYTES);
        if (why != NULL || !mp_key_is_near(loader->decoded, sections[0]))
            continue;
        place = (struct mp_place){key.bytes, {loader->decoded}};
        return mp_report_fault(loader, &place, ret_failure,
                               "unknown key, did you mean \"mcpServers\"?");
    }
    return mp_report_fault(loader, &place, ret_failure,
                           "there is neither \"mcpServers\" nor \"servers\"");
}

static void warn_unknown(struct mp_loader *loader, const struct mp_place *place)
{
    const char *name = place->keys[0];
    if (find_text(ignored, IGNORED, name) == IGNORED && !mp_key_is_comment(name))
        mp_report_warning(loader, place, "unknown key");
}

/* Finds the sections (absent ones stay so), and how many entries they have together. */
static mcpump_err find_sections(struct mp_loader *loader, struct mp_span root,
                                struct mp_span found[SECTIONS], mcpump_failure **ret_failure)
{
    struct mp_json_walk walk;
    struct mp_span key, value;
    size_t count = 0;
    for (mp_json_enter(&walk, root); mp_json_next(&walk, &key, &value);) {
        struct mp_place place = {key.bytes, {loader->decoded}};
        const char *why = mp_json_text(key, loader->decoded, MP_CONFIG_VALUE_BYTES);
        size_t nth = why == NULL ? find_text(sections, SECTIONS, loader->decoded) : SECTIONS;
        if (nth == SECTIONS) {
            warn_unknown(loader, &place);
            continue;
        }
        if (found[nth].bytes != NULL)
            return mp_report_fault(loader, &place, ret_failure, "it stands twice");
        if (mp_json_type(value) != '{')
            return mp_report_fault(loader, &place, ret_failure, "it must be an object, not %s",
                                   mp_json_type_name(value));
        found[nth] = value;
        count += mp_value_count(value);
    }
    if (found[0].bytes == NULL && found[1].bytes == NULL)
        return refuse_sections(loader, root, ret_failure);
    struct mp_place top = {root.bytes, {NULL}};
    if (count > MP_CONFIG_MOST_ENTRIES)
        return mp_report_fault(loader, &top, ret_failure, "there are more than 1024 servers");
    loader->config->entries = mp_loader_array(loader, count, sizeof(*loader->config->entries));
    return loader->config->entries != NULL ? MCPUMP_OK : MCPUMP_ERR_NO_MEMORY;
}
_Static_assert(MP_CONFIG_MOST_ENTRIES == 1024, "the phrase above names it");

/* -- the entries */

/* Decodes a name. NULL, or what is wrong with it. */
static const char *check_name(struct mp_loader *loader, struct mp_span key)
{
    const char *why = mp_json_text(key, loader->decoded, MOST_NAME + 1);
    if (why == NULL && mcpump_config_find(loader->config, loader->decoded, NULL))
        why = "stands twice";
    return why;
}

static mcpump_err read_section(struct mp_loader *loader, struct mp_span section,
                               mcpump_failure **ret_failure)
{
    mcpump_config *config = loader->config;
    struct mp_json_walk walk;
    struct mp_span key, value;
    for (mp_json_enter(&walk, section); mp_json_next(&walk, &key, &value);) {
        loader->entry = NULL;
        const char *why = check_name(loader, key);
        struct mp_place place = {key.bytes, {loader->section, loader->decoded}};
        if (why != NULL)
            return mp_report_fault(loader, &place, ret_failure, "the name %s", why);
        loader->entry = &config->entries[config->count];
        loader->entry->name = mp_loader_text(loader, loader->decoded);
        if (loader->entry->name == NULL)
            return MCPUMP_ERR_NO_MEMORY;
        config->count++;
        mp_entry_read(loader, value);
        if (loader->no_memory)
            return MCPUMP_ERR_NO_MEMORY;
    }
    return MCPUMP_OK;
}

static mcpump_err read_text(struct mp_loader *loader, char *text, size_t size,
                            mcpump_failure **ret_failure)
{
    struct mp_json_fault fault;
    struct mp_span found[SECTIONS] = {{NULL, 0}};
    if (!mp_json_check(text, size, &fault)) {
        struct mp_place place = {fault.at, {NULL}};
        return mp_report_fault(loader, &place, ret_failure, "%s", fault.why);
    }
    struct mp_span root = mp_json_root(text, size);
    struct mp_place top = {root.bytes, {NULL}};
    if (mp_json_type(root) != '{')
        return mp_report_fault(loader, &top, ret_failure, "it must be an object, not %s",
                               mp_json_type_name(root));
    mcpump_err err = find_sections(loader, root, found, ret_failure);
    for (size_t i = 0; i < SECTIONS && err == MCPUMP_OK; i++) {
        loader->section = sections[i];
        if (found[i].bytes != NULL)
            err = read_section(loader, found[i], ret_failure);
    }
    return err == MCPUMP_OK && loader->no_memory ? MCPUMP_ERR_NO_MEMORY : err;
}

mcpump_err mp_loader_run(mcpump_config *config, char *text, size_t size,
                         mcpump_failure **ret_failure)
{
    struct mp_loader loader = {
        .config = config,
        .text = text,
        .lf_from = text,
        .line = 1,
        .values_left = MP_CONFIG_MOST_VALUES,
        .value_bytes_left = MP_CONFIG_ALL_VALUES_BYTES,
    };
    mcpump_err err =
        begin(&loader) ? read_text(&loader, text, size, ret_failure) : MCPUMP_ERR_NO_MEMORY;
    mp_vault_free(loader.decoded);
    return err;
}
