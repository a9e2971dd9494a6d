/* SPDX-License-Identifier: Apache-2.0 */
/* Single values: the type is checked, strings are decoded and expanded, and what comes of it is
 * written where the table of keys says. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config/expand.h"
#include "config/loader.h"

/* -- memory */

void *mp_loader_noted(struct mp_loader *loader, void *made)
{
    loader->no_memory = loader->no_memory || made == NULL;
    return made;
}

char *mp_loader_text(struct mp_loader *loader, const char *text)
{
    return mp_loader_noted(loader, mp_arena_text(&loader->config->arena, text, strlen(text)));
}

void *mp_loader_array(struct mp_loader *loader, size_t count, size_t size)
{
    return mp_loader_noted(loader, mp_arena_array(&loader->config->arena, count, size));
}

static void *target(struct mp_loader *loader, const struct mp_key *key)
{
    return (char *)loader->entry + key->offset;
}

/* -- strings */

bool mp_value_is(struct mp_loader *loader, const struct mp_place *place, struct mp_span value,
                 char type, const char *wanted)
{
    if (mp_json_type(value) == type)
        return true;
    mp_report_problem(loader, place, "it must be %s, not %s", wanted, mp_json_type_name(value));
    return false;
}

const char *mp_value_decode(struct mp_loader *loader, const struct mp_place *place,
                            struct mp_span value)
{
    if (!mp_value_is(loader, place, value, '"', "a string"))
        return NULL;
    const char *why = mp_json_text(value, loader->decoded, MP_CONFIG_VALUE_BYTES);
    if (why == NULL)
        return loader->decoded;
    mp_report_problem(loader, place, "it %s", why);
    return NULL;
}

bool mp_value_charge(struct mp_loader *loader, const struct mp_place *place, size_t size)
{
    if (loader->values_left == 0 || loader->value_bytes_left < size) {
        mp_report_problem(loader, place, "the values of the file are too many or too large");
        return false;
    }
    loader->values_left--;
    loader->value_bytes_left -= size;
    return true;
}

const char *mp_value_expand(struct mp_loader *loader, const struct mp_place *place,
                            struct mp_span value)
{
    char why[MP_EXPAND_WHY];
    const char *text = mp_value_decode(loader, place, value);
    if (text == NULL)
        return NULL;
    if (!mp_expand(text, loader->base, loader->expanded, MP_CONFIG_VALUE_BYTES, why)) {
        mp_report_problem(loader, place, "%s", why);
        return NULL;
    }
    bool is_charged = mp_value_charge(loader, place, strlen(loader->expanded));
    return is_charged ? loader->expanded : NULL;
}

const char *mp_value_spelled(struct mp_loader *loader, const struct mp_place *place,
                             struct mp_span value)
{
    if (value.size >= MP_CONFIG_VALUE_BYTES) {
        mp_report_problem(loader, place, "it is too long");
        return NULL;
    }
    memcpy(loader->expanded, value.bytes, value.size);
    loader->expanded[value.size] = '\0';
    return mp_value_charge(loader, place, value.size) ? loader->expanded : NULL;
}

const char *mp_value_path(struct mp_loader *loader, const struct mp_place *place,
                          struct mp_span value)
{
    const char *path = mp_value_expand(loader, place, value);
    if (path == NULL || path[0] == '/')
        return path != NULL ? mp_loader_text(loader, path) : NULL;
    if (path[0] == '\0' || loader->base == NULL) {
        mp_report_problem(loader, place,
                          path[0] == '\0' ? "it is empty"
                                          : "it is relative, and the current directory is gone");
        return NULL;
    }
    size_t size = strlen(loader->base) + 1 + strlen(path) + 1;
    char *whole = mp_loader_array(loader, size, 1);
    if (whole != NULL)
        snprintf(whole, size, "%s%s%s", loader->base, loader->base[1] != '\0' ? "/" : "", path);
    return whole;
}

/* -- arrays */

size_t mp_value_count(struct mp_span value)
{
    struct mp_json_walk walk;
    struct mp_span key, element;
    size_t count = 0;
    for (mp_json_enter(&walk, value); mp_json_next(&walk, &key, &element);)
        count++;
    return count;
}

static void read_list(struct mp_loader *loader, const struct mp_key *key,
                      const struct mp_place *place, struct mp_span value)
{
    struct mp_json_walk walk;
    struct mp_span none, element;
    if (!mp_value_is(loader, place, value, '[', "an array of strings"))
        return;
    const char **list = mp_loader_array(loader, mp_value_count(value) + 1, sizeof(*list));
    mp_json_enter(&walk, value);
    for (size_t i = 0; list != NULL && mp_json_next(&walk, &none, &element); i++) {
        struct mp_place there = *place;
        there.at = element.bytes;
        if (mp_json_type(element) != '"') {
            mp_report_problem(loader, &there, "entry %zu must be a string, not %s", i + 1,
                              mp_json_type_name(element));
            return;
        }
        const char *text = key->kind == MP_KEY_VALUES ? mp_value_expand(loader, &there, element)
                                                      : mp_value_decode(loader, &there, element);
        list[i] = text != NULL ? mp_loader_text(loader, text) : NULL;
        if (list[i] == NULL)
            return;
    }
    *(const char *const **)target(loader, key) = list;
}

/* -- numbers and words */

static void refuse_number(struct mp_loader *loader, const struct mp_key *key,
                          const struct mp_place *place)
{
    mp_report_problem(loader, place, "it must be a whole number from %" PRId64 " to %" PRId64 "%s",
                      key->least, key->most, key->may_be_forever ? ", or -1 or \"forever\"" : "");
}

static bool is_forever(const struct mp_key *key, struct mp_span value, int64_t number)
{
    return key->may_be_forever &&
           (mp_json_type(value) == '"' ? mp_json_is(value, "forever") : number == -1);
}

static bool read_number(struct mp_loader *loader, const struct mp_key *key,
                        const struct mp_place *place, struct mp_span value, int64_t *ret_number)
{
    int64_t number = 0;
    bool is_whole = mp_json_type(value) == '0' && mp_json_number(value, &number);
    if (is_forever(key, value, number)) {
        *ret_number = MCPUMP_FOREVER;
        return true;
    }
    if (!is_whole || number < key->least || number > key->most) {
        refuse_number(loader, key, place);
        return false;
    }
    *ret_number = number == 0 && key->zero_is_special ? MCPUMP_ZERO : number;
    return true;
}

static void read_any_number(struct mp_loader *loader, const struct mp_key *key,
                            const struct mp_place *place, struct mp_span value)
{
    int64_t number;
    if (!read_number(loader, key, place, value, &number))
        return;
    void *there = target(loader, key);
    if (key->kind == MP_KEY_NUMBER)
        *(int64_t *)there = number;
    else if (key->kind == MP_KEY_SIZE)
        *(size_t *)there = (size_t)number;
    else
        *(int *)there = (int)number;
}

static void read_bool(struct mp_loader *loader, const struct mp_key *key,
                      const struct mp_place *place, struct mp_span value)
{
    char type = mp_json_type(value);
    if (type == 'f' || mp_value_is(loader, place, value, 't', "true or false"))
        *(bool *)target(loader, key) = type == 't';
}

static void refuse_word(struct mp_loader *loader, const struct mp_key_word *words,
                        const struct mp_place *place)
{
    char list[128] = "";
    for (size_t i = 0, size = 0; words[i].text != NULL && size < sizeof(list); i++)
        size += (size_t)snprintf(list + size, sizeof(list) - size, "%s\"%s\"",
                                 i == 0                      ? ""
                                 : words[i + 1].text == NULL ? " or "
                                                             : ", ",
                                 words[i].text);
    mp_report_problem(loader, place, "it must be %s", list);
}

static void read_word(struct mp_loader *loader, const struct mp_key *key,
                      const struct mp_place *place, struct mp_span value)
{
    const struct mp_key_word *word = key->words;
    if (!mp_value_is(loader, place, value, '"', "a string"))
        return;
    while (word->text != NULL && !mp_json_is(value, word->text))
        word++;
    if (word->text != NULL)
        memcpy(target(loader, key), &word->value, sizeof(word->value));
    else
        refuse_word(loader, key->words, place);
}

/* -- all of them */

static void read_string(struct mp_loader *loader, const struct mp_key *key,
                        const struct mp_place *place, struct mp_span value)
{
    const char *text = key->kind == MP_KEY_TEXT ? mp_value_decode(loader, place, value)
                                                : mp_value_expand(loader, place, value);
    if (text != NULL)
        *(const char **)target(loader, key) = mp_loader_text(loader, text);
}

void mp_value_read(struct mp_loader *loader, const struct mp_key *key, const struct mp_place *place,
                   struct mp_span value)
{
    switch (key->kind) {
    case MP_KEY_TEXT:
    case MP_KEY_VALUE:
        read_string(loader, key, place, value);
        break;
    case MP_KEY_PATH:
        *(const char **)target(loader, key) = mp_value_path(loader, place, value);
        break;
    case MP_KEY_NAMES:
    case MP_KEY_VALUES:
        read_list(loader, key, place, value);
        break;
    case MP_KEY_NUMBER:
    case MP_KEY_SIZE:
    case MP_KEY_INT:
        read_any_number(loader, key, place, value);
        break;
    case MP_KEY_BOOL:
        read_bool(loader, key, place, value);
        break;
    case MP_KEY_WORD:
        read_word(loader, key, place, value);
        break;
    case MP_KEY_RLIMITS:
        mp_limits_read(loader, place, value);
        break;
    default:
        break;
    }
}
