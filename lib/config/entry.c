/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One entry: first what may settle the matter (disabled, remote), then its values, its `mcpump`
 * object and its variables, and at last what a transport would say about the outcome.
 */
#include <string.h>

#include "config/loader.h"
#include "transport/options.h"

struct entry_reader {
    struct mp_loader *loader;
    struct mp_span value;
    /* -- where these stand; absent if they do not */
    struct mp_span own, env, env_file;
    /* -- a bit a key of the two tables: which were there */
    uint64_t seen, seen_own;
};

/* -- what may settle the matter */

static bool is_one_of(struct mp_span value, const char *const *words)
{
    while (*words != NULL && !mp_json_is(value, *words))
        words++;
    return *words != NULL;
}

static void read_type(struct mp_loader *loader, const struct mp_place *place, struct mp_span value)
{
    static const char *const local[] = {"stdio", "local", NULL};
    static const char *const remote[] = {
        "http",   "sse", "streamable-http", "streamableHttp", "streamable_http", "ws", "websocket",
        "remote", NULL};
    if (!mp_value_is(loader, place, value, '"', "a string") || is_one_of(value, local))
        return;
    if (is_one_of(value, remote))
        mp_report_state(loader, MCPUMP_ENTRY_UNSUPPORTED, place,
                        "remote servers are not supported");
    else
        mp_report_problem(loader, place, "it must be \"stdio\"");
}

static void read_switch(struct mp_loader *loader, const struct mp_place *place,
                        struct mp_span value, char off)
{
    char type = mp_json_type(value);
    if (type == off)
        mp_report_state(loader, MCPUMP_ENTRY_DISABLED, place, "the entry is switched off");
    else if (type != 't' && type != 'f')
        mp_value_is(loader, place, value, 't', "true or false");
}

static void settle(struct mp_loader *loader, enum mp_key_kind kind, const struct mp_place *place,
                   struct mp_span value)
{
    switch (kind) {
    case MP_KEY_DISABLED:
        read_switch(loader, place, value, 't');
        break;
    case MP_KEY_ENABLED:
        read_switch(loader, place, value, 'f');
        break;
    case MP_KEY_TYPE:
        read_type(loader, place, value);
        break;
    case MP_KEY_REMOTE:
        mp_report_state(loader, MCPUMP_ENTRY_UNSUPPORTED, place,
                        "remote servers are not supported");
        break;
    default:
        break;
    }
}

/* Of several keys of these kinds the first that says something counts. */
static void settle_by(struct entry_reader *reader, enum mp_key_kind from, enum mp_key_kind to)
{
    struct mp_loader *loader = reader->loader;
    struct mp_json_walk walk;
    struct mp_span key, value;
    for (mp_json_enter(&walk, reader->value); mp_json_next(&walk, &key, &value);) {
        if (mp_json_text(key, loader->decoded, MP_CONFIG_VALUE_BYTES) != NULL)
            continue; /* reported when the keys are read */
        const struct mp_key *known = mp_key_find(&mp_keys_of_entry, loader->decoded);
        struct mp_place place = {key.bytes, {known != NULL ? known->name : NULL}};
        if (known != NULL && known->kind >= from && known->kind <= to)
            settle(loader, known->kind, &place, value);
    }
}

/* -- keys and values */

static void warn_unknown(struct mp_loader *loader, const struct mp_key_table *table,
                         const struct mp_place *place, const char *name)
{
    const struct mp_key_table *where;
    if (loader->config->warning_count == MP_CONFIG_MOST_WARNINGS)
        return; /* guesses cost time */
    const struct mp_key *guess = mp_key_guess(table, name, &where);
    if (guess == NULL)
        mp_report_warning(loader, place, "unknown key");
    else if (where == table)
        mp_report_warning(loader, place, "unknown key, did you mean \"%s\"?", guess->name);
    else
        mp_report_warning(loader, place, "unknown key, did you mean \"%s\" %s \"mcpump\"?",
                          guess->name, where->section != NULL ? "within" : "beside");
}

static void read_value(struct entry_reader *reader, const struct mp_key *key,
                       const struct mp_place *place, struct mp_span value)
{
    if (key->kind == MP_KEY_OWN)
        reader->own = value;
    else if (key->kind == MP_KEY_ENV)
        reader->env = value;
    else if (key->kind == MP_KEY_ENV_FILE)
        reader->env_file = value;
    else
        mp_value_read(reader->loader, key, place, value);
}

static void read_keys(struct entry_reader *reader, const struct mp_key_table *table,
                      struct mp_span object, uint64_t *seen)
{
    struct mp_loader *loader = reader->loader;
    struct mp_json_walk walk;
    struct mp_span key, value;
    for (mp_json_enter(&walk, object); mp_json_next(&walk, &key, &value);) {
        struct mp_place place = {key.bytes, {table->section}};
        const char *name = mp_value_decode(loader, &place, key);
        if (name == NULL)
            return;
        const struct mp_key *known = mp_key_find(table, name);
        place.keys[table->section != NULL] = known != NULL ? known->name : name;
        if (known == NULL) {
            if (!mp_key_is_comment(name))
                warn_unknown(loader, table, &place, name);
            continue;
        }
        uint64_t bit = (uint64_t)1 << (known - table->keys);
        if ((*seen & bit) != 0)
            mp_report_problem(loader, &place, "it stands twice");
        else
            read_value(reader, known, &place, value);
        *seen |= bit;
    }
}

static bool was_seen(const struct entry_reader *reader, const struct mp_key_table *table,
                     const char *name)
{
    uint64_t seen = table == &mp_keys_of_own ? reader->seen_own : reader->seen;
    return (seen >> (mp_key_find(table, name) - table->keys) & 1) != 0;
}

/* -- what several keys say together */

/* Where a key of an object stands; if it does not, where the object, or else the entry, starts. */
static const char *find_key(const struct entry_reader *reader, struct mp_span object,
                            const char *name)
{
    struct mp_json_walk walk;
    struct mp_span key, value;
    if (object.bytes == NULL)
        return reader->value.bytes;
    for (mp_json_enter(&walk, object); mp_json_next(&walk, &key, &value);) {
        if (mp_json_is(key, name))
            return key.bytes;
    }
    return object.bytes;
}

static struct mp_place own_place(const struct entry_reader *reader, const char *name)
{
    return (struct mp_place){find_key(reader, reader->own, name), {"mcpump", name}};
}

/* `timeout` is what other hosts have, most of them in milliseconds, some in seconds. */
static void settle_timeout(struct entry_reader *reader)
{
    struct mp_config_entry *entry = reader->loader->entry;
    mcpump_transport_options *options = &entry->options.transport;
    struct mp_place place = {find_key(reader, reader->value, "timeout"), {"timeout"}};
    if (entry->timeout_ms == 0)
        return;
    if (options->default_timeout_ms != 0)
        mp_report_warning(reader->loader, &place,
                          "ignored, since there is mcpump.default_timeout_ms");
    else if (entry->timeout_ms < 1000)
        mp_report_warning(reader->loader, &place, "it counts milliseconds: this is below a second");
    if (options->default_timeout_ms == 0)
        options->default_timeout_ms = entry->timeout_ms;
}

static void settle_stderr(struct entry_reader *reader)
{
    mcpump_transport_options *options = &reader->loader->entry->options.transport;
    struct mp_place place = own_place(reader, "stderr_file");
    bool has_file = was_seen(reader, &mp_keys_of_own, "stderr_file");
    if (has_file && !was_seen(reader, &mp_keys_of_own, "stderr"))
        options->stderr_sink = MCPUMP_STDERR_FILE;
    if (has_file && options->stderr_sink != MCPUMP_STDERR_FILE)
        mp_report_warning(reader->loader, &place, "ignored, since stderr is not \"file\"");
    if (!has_file && options->stderr_sink == MCPUMP_STDERR_FILE)
        mp_report_problem(reader->loader, &place, "it is required with \"stderr\": \"file\"");
}

/* What the options are called in the file, where that is another name. */
static struct mp_place place_of_option(const struct entry_reader *reader, const char *option)
{
    static const struct {
        const char *option, *key;
    } others[] = {{"secret_env", "env"}, {"stderr_sink", "stderr"}};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (strcmp(option, others[i].option) == 0)
            option = others[i].key;
    }
    if (mp_key_find(&mp_keys_of_entry, option) == NULL)
        return own_place(reader, option);
    return (struct mp_place){find_key(reader, reader->value, option), {option}};
}

static void check_options(struct entry_reader *reader)
{
    struct mp_loader *loader = reader->loader;
    struct mp_options_fault fault;
    mcpump_err err = mp_options_find_fault(&loader->entry->options.transport, &fault);
    if (err == MCPUMP_ERR_NO_MEMORY) {
        mp_loader_noted(loader, NULL);
    } else if (err != MCPUMP_OK) {
        struct mp_place place = place_of_option(reader, fault.key);
        mp_report_problem(loader, &place, "%s", fault.words);
    }
}

/* -- all of it */

static void read_own(struct entry_reader *reader)
{
    struct mp_place place = {reader->own.bytes, {"mcpump"}};
    if (reader->own.bytes == NULL)
        return;
    if (mp_value_is(reader->loader, &place, reader->own, '{', "an object"))
        read_keys(reader, &mp_keys_of_own, reader->own, &reader->seen_own);
    else
        reader->own.bytes = NULL;
}

void mp_entry_read(struct mp_loader *loader, struct mp_span value)
{
    struct mp_config_entry *entry = loader->entry;
    struct entry_reader reader = {.loader = loader, .value = value};
    struct mp_place place = {value.bytes, {NULL}};
    entry->options = (mcpump_server_options)MCPUMP_SERVER_OPTIONS_INIT;
    entry->options.transport.display_name = entry->name;
    if (!mp_value_is(loader, &place, value, '{', "an object"))
        return;
    settle_by(&reader, MP_KEY_DISABLED, MP_KEY_ENABLED);
    settle_by(&reader, MP_KEY_REMOTE, MP_KEY_REMOTE);
    settle_by(&reader, MP_KEY_TYPE, MP_KEY_TYPE);
    if (entry->name[0] == '\0')
        mp_report_problem(loader, &place, "the name is empty");
    if (entry->state != MCPUMP_ENTRY_USABLE)
        return;
    read_keys(&reader, &mp_keys_of_entry, value, &reader.seen);
    read_own(&reader);
    mp_variables_read(loader, reader.env, reader.env_file);
    settle_timeout(&reader);
    settle_stderr(&reader);
    if (entry->state == MCPUMP_ENTRY_USABLE && !loader->no_memory)
        check_options(&reader);
}
