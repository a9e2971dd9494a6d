/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the reading of a file carries along. The file's text and the values taken out of it lie in
 * vaults; what stays lies in the arena of the configuration. A missing piece of memory is noted,
 * and ends the load after the entry that met it.
 */
#ifndef MP_CONFIG_LOADER_H
#define MP_CONFIG_LOADER_H

#include "base/buffer.h"
#include "config/arena.h"
#include "config/json.h"
#include "config/keys.h"

#define MP_CONFIG_MOST_BYTES    (4 * 1024 * 1024) /* of a file */
#define MP_CONFIG_MOST_WARNINGS 100
#define MP_CONFIG_MOST_ENTRIES  1024
/* Of one string: Linux takes no longer one as an argument or variable (MAX_ARG_STRLEN). */
#define MP_CONFIG_VALUE_BYTES (128 * 1024)
/* Of all strings of a file, expanded, and how many they may be. */
#define MP_CONFIG_ALL_VALUES_BYTES (16 * 1024 * 1024)
#define MP_CONFIG_MOST_VALUES      16384

struct mcpump_config {
    struct mp_arena arena; /* of all that is below */
    const char *path;
    struct mp_config_entry *entries;
    size_t count;
    const char *warnings[MP_CONFIG_MOST_WARNINGS];
    size_t warning_count;
};

struct mp_loader {
    mcpump_config *config;
    const char *shown;   /* the path, fit to be shown */
    const char *base;    /* what relative paths count from; NULL: not known */
    const char *text;    /* in a vault */
    const char *lf_from; /* line `line` goes on here */
    size_t line;
    char *decoded; /* MP_CONFIG_VALUE_BYTES each, in one vault; the value in hand */
    char *expanded;
    size_t values_left, value_bytes_left;
    bool no_memory;

    /* -- of the entry that is being read */
    const char *section;           /* "mcpServers" or "servers" */
    struct mp_config_entry *entry; /* NULL: none is */
};

/* Where something stands in the text, and the keys that lead to it from the entry that is being
 * read, or else from the top. */
#define MP_PLACE_KEYS 3
struct mp_place {
    const char *at;
    const char *keys[MP_PLACE_KEYS]; /* NULL: no more */
};

/* -- report.c: what is told about the file */

/* Makes the entry unusable, unless it is already; the words say what is wrong at the place. */
void mp_report_problem(struct mp_loader *loader, const struct mp_place *place, const char *format,
                       ...) __attribute__((format(printf, 3, 4)));
/* The same with another state. */
void mp_report_state(struct mp_loader *loader, mcpump_entry_state state,
                     const struct mp_place *place, const char *words);
void mp_report_warning(struct mp_loader *loader, const struct mp_place *place, const char *format,
                       ...) __attribute__((format(printf, 3, 4)));
/* Of the file as a whole: INVALID_ARGUMENT, or NO_MEMORY. */
mcpump_err mp_report_fault(struct mp_loader *loader, const struct mp_place *place,
                           mcpump_failure **ret_failure, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A failure whose sentence is these words, and what the errno means. */
mcpump_err mp_report_fail(mcpump_err err, int sys_errno, const char *words,
                          mcpump_failure **ret_failure);
/* Appends a path, fit to be shown; of a long one, the end. */
void mp_report_path(struct mp_buffer *out, const char *path);

/* -- value.c: single values */

/* Checks the type of a value ('"', '{', ...); `wanted` is what it should be. */
bool mp_value_is(struct mp_loader *loader, const struct mp_place *place, struct mp_span value,
                 char type, const char *wanted);
/* Decodes a string. NULL: it was reported. Borrowed until the next value. */
const char *mp_value_decode(struct mp_loader *loader, const struct mp_place *place,
                            struct mp_span value);
/* The same, expanded. */
const char *mp_value_expand(struct mp_loader *loader, const struct mp_place *place,
                            struct mp_span value);
/* A number as it is spelled. */
const char *mp_value_spelled(struct mp_loader *loader, const struct mp_place *place,
                             struct mp_span value);
/* A string, expanded and made absolute: a copy in the arena. */
const char *mp_value_path(struct mp_loader *loader, const struct mp_place *place,
                          struct mp_span value);
/* Takes a value of `size` bytes off what all of them may be. False: it was reported. */
bool mp_value_charge(struct mp_loader *loader, const struct mp_place *place, size_t size);
/* What a function that allocates has returned; notes that it is NULL. */
void *mp_loader_noted(struct mp_loader *loader, void *made);
char *mp_loader_text(struct mp_loader *loader, const char *text);
void *mp_loader_array(struct mp_loader *loader, size_t count, size_t size);
/* How many members or elements there are. */
size_t mp_value_count(struct mp_span value);

/* Reads a value of one of the kinds that are values into the entry. */
void mp_value_read(struct mp_loader *loader, const struct mp_key *key, const struct mp_place *place,
                   struct mp_span value);

/* -- limits.c */

void mp_limits_read(struct mp_loader *loader, const struct mp_place *place, struct mp_span value);

/* -- variables.c: `env` and `envFile`, either of which may be absent; their values are secrets */

void mp_variables_read(struct mp_loader *loader, struct mp_span env, struct mp_span env_file);

/* -- entry.c */

/* Reads loader->entry from its value. */
void mp_entry_read(struct mp_loader *loader, struct mp_span value);

/* -- loader.c */

/* Reads a file's text, `size` bytes in a vault, into the configuration, which has its path. */
mcpump_err mp_loader_run(mcpump_config *config, char *text, size_t size,
                         mcpump_failure **ret_failure);

#endif
