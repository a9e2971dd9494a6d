/* SPDX-License-Identifier: Apache-2.0 */
#include "config/keys.h"

#include <ctype.h>
#include <string.h>

#include "config/json.h"

/* -- the tables */

#define ENTRY(field)     offsetof(struct mp_config_entry, field)
#define SERVER(field)    ENTRY(options.field)
#define TRANSPORT(field) ENTRY(options.transport.field)
#define LENGTH(array)    (sizeof(array) / sizeof((array)[0]))

static const struct mp_key_word stderr_words[] = {{"inherit", MCPUMP_STDERR_INHERIT},
                                                  {"discard", MCPUMP_STDERR_DISCARD},
                                                  {"file", MCPUMP_STDERR_FILE},
                                                  {NULL, 0}};
static const struct mp_key_word policy_words[] = {
    {"close", MCPUMP_QUEUE_CLOSE}, {"reject", MCPUMP_QUEUE_REJECT}, {NULL, 0}};
static const struct mp_key_word orphans_words[] = {{"none", MCPUMP_ORPHANS_NONE},
                                                   {"leader", MCPUMP_ORPHANS_LEADER},
                                                   {"tree", MCPUMP_ORPHANS_TREE},
                                                   {NULL, 0}};
static const struct mp_key_word era_words[] = {{"auto", MCPUMP_ERA_AUTO},
                                               {"legacy", MCPUMP_ERA_LEGACY},
                                               {"modern", MCPUMP_ERA_MODERN},
                                               {NULL, 0}};
static const struct mp_key_word start_words[] = {{"lazy", 0}, {"eager", 1}, {NULL, 0}};

/* Words are written through an int. */
_Static_assert(sizeof(mcpump_stderr_sink) == sizeof(int) &&
                   sizeof(mcpump_queue_policy) == sizeof(int) &&
                   sizeof(mcpump_orphans) == sizeof(int) && sizeof(mcpump_era) == sizeof(int),
               "enums are ints");

#define NUMBER(key, where, lowest)                                                                 \
    {                                                                                              \
        .name = key, .kind = MP_KEY_NUMBER, .offset = where, .least = lowest, .most = MP_JSON_MOST \
    }
#define NUMBER_OR_ZERO(key, where)                                                                 \
    {                                                                                              \
        .name = key, .kind = MP_KEY_NUMBER, .offset = where, .most = MP_JSON_MOST,                 \
        .zero_is_special = true                                                                    \
    }
#define NUMBER_OR_FOREVER(key, where)                                                              \
    {                                                                                              \
        .name = key, .kind = MP_KEY_NUMBER, .offset = where, .least = 1, .most = MP_JSON_MOST,     \
        .may_be_forever = true                                                                     \
    }
#define SIZE(key, where)                                                                           \
    {                                                                                              \
        .name = key, .kind = MP_KEY_SIZE, .offset = where, .least = 1,                             \
        .most = SIZE_MAX / 4 < MP_JSON_MOST ? (int64_t)(SIZE_MAX / 4) : MP_JSON_MOST               \
    }
#define WORD(key, where, list)                                                                     \
    {                                                                                              \
        .name = key, .kind = MP_KEY_WORD, .offset = where, .words = list                           \
    }
#define PLAIN(key, of_kind, where)                                                                 \
    {                                                                                              \
        .name = key, .kind = of_kind, .offset = where                                              \
    }
#define BARE(key, of_kind)                                                                         \
    {                                                                                              \
        .name = key, .kind = of_kind                                                               \
    }

static const struct mp_key entry_keys[] = {
    PLAIN("command", MP_KEY_VALUE, TRANSPORT(command)),
    PLAIN("args", MP_KEY_VALUES, TRANSPORT(args)),
    BARE("env", MP_KEY_ENV),
    BARE("envFile", MP_KEY_ENV_FILE),
    PLAIN("cwd", MP_KEY_PATH, TRANSPORT(cwd)),
    NUMBER("timeout", ENTRY(timeout_ms), 1),
    BARE("mcpump", MP_KEY_OWN),
    BARE("disabled", MP_KEY_DISABLED),
    BARE("enabled", MP_KEY_ENABLED),
    BARE("type", MP_KEY_TYPE),
    BARE("transport", MP_KEY_TYPE),
    BARE("transportType", MP_KEY_TYPE),
    BARE("url", MP_KEY_REMOTE),
    BARE("serverUrl", MP_KEY_REMOTE),
    BARE("httpUrl", MP_KEY_REMOTE),
    BARE("name", MP_KEY_IGNORED),
    BARE("description", MP_KEY_IGNORED),
    BARE("autoApprove", MP_KEY_IGNORED),
    BARE("alwaysAllow", MP_KEY_IGNORED),
    BARE("disabledTools", MP_KEY_IGNORED),
    BARE("enabledTools", MP_KEY_IGNORED),
    BARE("includeTools", MP_KEY_IGNORED),
    BARE("excludeTools", MP_KEY_IGNORED),
    BARE("tools", MP_KEY_IGNORED),
    BARE("trust", MP_KEY_IGNORED),
    BARE("dev", MP_KEY_IGNORED),
    BARE("gallery", MP_KEY_IGNORED),
    BARE("version", MP_KEY_IGNORED),
    BARE("comment", MP_KEY_IGNORED),
};

static const struct mp_key own_keys[] = {
    PLAIN("display_name", MP_KEY_TEXT, TRANSPORT(display_name)),
    WORD("start", ENTRY(is_eager), start_words),
    WORD("era", SERVER(era), era_words),
    PLAIN("inherit_env", MP_KEY_NAMES, TRANSPORT(inherit_env)),
    PLAIN("unset_env", MP_KEY_NAMES, TRANSPORT(unset_env)),
    WORD("stderr", TRANSPORT(stderr_sink), stderr_words),
    PLAIN("stderr_file", MP_KEY_PATH, TRANSPORT(stderr_file)),
    SIZE("max_message_bytes", TRANSPORT(max_message_bytes)),
    NUMBER_OR_ZERO("max_junk_lines", TRANSPORT(max_junk_lines)),
    SIZE("write_queue_bytes", TRANSPORT(write_queue_bytes)),
    WORD("queue_policy", TRANSPORT(queue_policy), policy_words),
    NUMBER_OR_FOREVER("default_timeout_ms", TRANSPORT(default_timeout_ms)),
    NUMBER("probe_timeout_ms", SERVER(probe_timeout_ms), 1),
    NUMBER_OR_FOREVER("connect_timeout_ms", SERVER(connect_timeout_ms)),
    NUMBER_OR_ZERO("stdin_grace_ms", TRANSPORT(stdin_grace_ms)),
    NUMBER_OR_ZERO("term_grace_ms", TRANSPORT(term_grace_ms)),
    NUMBER("backoff_first_ms", SERVER(backoff_first_ms), 1),
    NUMBER("backoff_most_ms", SERVER(backoff_most_ms), 1),
    NUMBER("stable_ms", SERVER(stable_ms), 1),
    NUMBER_OR_ZERO("max_reconnects", SERVER(max_reconnects)),
    NUMBER("idle_timeout_ms", SERVER(idle_timeout_ms), 0),
    WORD("orphans", TRANSPORT(orphans), orphans_words),
    PLAIN("allow_batch_files", MP_KEY_BOOL, TRANSPORT(allow_batch_files)),
    PLAIN("new_session", MP_KEY_BOOL, TRANSPORT(new_session)),
    {.name = "nice", .kind = MP_KEY_INT, .offset = TRANSPORT(nice), .least = -40, .most = 40},
    PLAIN("rlimits", MP_KEY_RLIMITS, 0),
};

_Static_assert(LENGTH(entry_keys) <= 64 && LENGTH(own_keys) <= 64, "a bit for each key");

const struct mp_key_table mp_keys_of_entry = {NULL, entry_keys, LENGTH(entry_keys)};
const struct mp_key_table mp_keys_of_own = {"mcpump", own_keys, LENGTH(own_keys)};

const struct mp_key *mp_key_find(const struct mp_key_table *table, const char *name)
{
    for (unsigned i = 0; i < table->count; i++) {
        if (strcmp(table->keys[i].name, name) == 0)
            return &table->keys[i];
    }
    return NULL;
}

bool mp_key_is_comment(const char *name)
{
    return name[0] == '_' || strncmp(name, "//", 2) == 0;
}

/* -- guesses */

#define MOST_GUESSED 32

/* Lower case, without underscores and dashes: "stdinGraceMs" is "stdin_grace_ms". False: longer
 * than any key. */
static bool simplify(const char *name, char out[MOST_GUESSED], unsigned *ret_size)
{
    unsigned size = 0;
    for (; *name != '\0'; name++) {
        if (*name == '_' || *name == '-')
            continue;
        if (size == MOST_GUESSED)
            return false;
        out[size++] = (char)tolower((unsigned char)*name);
    }
    *ret_size = size;
    return true;
}

static unsigned least_of(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* How many letters have to be changed, added or taken away; MOST_GUESSED: too many. */
static unsigned distance(const char *name, const char *known)
{
    char a[MOST_GUESSED], b[MOST_GUESSED];
    unsigned a_size, b_size, row[MOST_GUESSED + 1];
    if (!simplify(name, a, &a_size) || !simplify(known, b, &b_size))
        return MOST_GUESSED;
    for (unsigned j = 0; j <= b_size; j++)
        row[j] = j;
    for (unsigned i = 1; i <= a_size; i++) {
        unsigned above_left = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= b_size; j++) {
            unsigned changed = above_left + (a[i - 1] != b[j - 1]);
            above_left = row[j];
            row[j] = least_of(changed, least_of(row[j], row[j - 1]) + 1);
        }
    }
    return row[b_size] <= b_size / 3 ? row[b_size] : MOST_GUESSED;
}

bool mp_key_is_near(const char *name, const char *known)
{
    return distance(name, known) < MOST_GUESSED;
}

const struct mp_key *mp_key_guess(const struct mp_key_table *table, const char *name,
                                  const struct mp_key_table **ret_table)
{
    const struct mp_key_table *tables[] = {table, table == &mp_keys_of_own ? &mp_keys_of_entry
                                                                           : &mp_keys_of_own};
    const struct mp_key *best = NULL;
    unsigned least = MOST_GUESSED;
    for (unsigned t = 0; t < LENGTH(tables); t++) {
        for (unsigned i = 0; i < tables[t]->count; i++) {
            const struct mp_key *key = &tables[t]->keys[i];
            unsigned far = key->kind != MP_KEY_IGNORED ? distance(name, key->name) : MOST_GUESSED;
            if (far >= least)
                continue;
            least = far;
            best = key;
            *ret_table = tables[t];
        }
    }
    return best;
}
