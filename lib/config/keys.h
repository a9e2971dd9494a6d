/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of an entry and of its `mcpump` object: two tables, which say where each value goes. */
#ifndef MP_CONFIG_KEYS_H
#define MP_CONFIG_KEYS_H

#include <stdbool.h>

#include "mcpump/config.h"

struct mp_config_entry {
    /* -- filled in by offset, as the tables say */
    mcpump_server_options options;
    int64_t timeout_ms; /* the `timeout` of others; 0: not given */
    int is_eager;

    const char *name;
    mcpump_entry_state state;
    const char *problem; /* NULL: none */
};

enum mp_key_kind {
    MP_KEY_IGNORED, /* of other hosts, without meaning here */
    /* -- what may settle the matter, looked at first */
    MP_KEY_DISABLED, /* true ends it */
    MP_KEY_ENABLED,  /* false ends it */
    MP_KEY_TYPE,     /* of the transport: stdio, or remote */
    MP_KEY_REMOTE,   /* that it stands there ends it */
    /* -- read when all others have been */
    MP_KEY_OWN,
    MP_KEY_ENV,
    MP_KEY_ENV_FILE,
    /* -- values */
    MP_KEY_TEXT,    /* const char * */
    MP_KEY_VALUE,   /* the same, expanded */
    MP_KEY_PATH,    /* the same, made absolute */
    MP_KEY_NAMES,   /* an array: const char *const * */
    MP_KEY_VALUES,  /* the same, expanded */
    MP_KEY_NUMBER,  /* int64_t */
    MP_KEY_SIZE,    /* size_t */
    MP_KEY_INT,     /* int */
    MP_KEY_BOOL,    /* bool */
    MP_KEY_WORD,    /* an enum, or int: one of some words */
    MP_KEY_RLIMITS, /* rlimits and rlimit_count */
};

struct mp_key_word {
    const char *text; /* NULL: the end of the list */
    int value;
};

struct mp_key {
    const char *name;
    enum mp_key_kind kind;
    size_t offset; /* within struct mp_config_entry */
    /* Of numbers. Where 0 stands for the default in the options, it is written as MCPUMP_ZERO, or
     * `least` forbids it. */
    int64_t least, most;
    bool zero_is_special; /* 0 is written as MCPUMP_ZERO */
    bool may_be_forever;  /* -1 and "forever" are written as MCPUMP_FOREVER */
    const struct mp_key_word *words;
};

struct mp_key_table {
    const char *section; /* NULL: the entry itself */
    const struct mp_key *keys;
    unsigned count; /* at most 64 */
};

extern const struct mp_key_table mp_keys_of_entry;
extern const struct mp_key_table mp_keys_of_own;

/* NULL: unknown. */
const struct mp_key *mp_key_find(const struct mp_key_table *table, const char *name);

/* Whether people write such keys as comments: those that start with _ or //. */
bool mp_key_is_comment(const char *name);

/* Whether one may have been written for the other; case and underscores do not count. */
bool mp_key_is_near(const char *name, const char *known);

/* The known key that was probably meant by an unknown one, and its table; NULL: no idea. */
const struct mp_key *mp_key_guess(const struct mp_key_table *table, const char *name,
                                  const struct mp_key_table **ret_table);

#endif
