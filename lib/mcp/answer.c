/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/answer.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "mcp/tree.h"
#include "wire/member.h"

#define UNSUPPORTED_VERSION       (-32022)
#define UNSUPPORTED_VERSION_DRAFT (-32004) /* an older draft's; it means that only with a list */

/* As a tree; NULL: no memory, or `null`. */
static json_object *parse_text(struct mp_span text)
{
    json_object *tree = NULL;
    mp_tree_parse(text, &tree);
    return tree;
}

/* The value of the reply. */
static json_object *parse(const mcpump_reply *reply)
{
    struct mp_span value;
    value.bytes = mcpump_reply_value(reply, &value.size);
    return parse_text(value);
}

/* NULL unless `object` is an object with such a member. */
static json_object *member(json_object *object, const char *key, enum json_type type)
{
    json_object *value = NULL;
    if (!json_object_is_type(object, json_type_object) ||
        !json_object_object_get_ex(object, key, &value) || !json_object_is_type(value, type))
        return NULL;
    return value;
}

static bool is_list_of_strings(json_object *list)
{
    if (!json_object_is_type(list, json_type_array))
        return false;
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        if (!json_object_is_type(json_object_array_get_idx(list, i), json_type_string))
            return false;
    }
    return true;
}

/* The newest version of the era that stands in the list, is known to us, and is not `but`. Versions
 * are dates, so that they sort as text. */
static const struct mp_revision *best_of(json_object *list, mcpump_era era, const char *but)
{
    const struct mp_revision *best = NULL;
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        const char *version = json_object_get_string(json_object_array_get_idx(list, i));
        const struct mp_revision *found = version != NULL ? mp_revision_find(version) : NULL;
        if (found == NULL || found->era != era || strcmp(version, but) == 0)
            continue;
        if (best == NULL || strcmp(found->version, best->version) > 0)
            best = found;
    }
    return best;
}

static enum mp_discovery judge_result(json_object *result, const struct mp_revision **ret_revision)
{
    json_object *list = member(result, "supportedVersions", json_type_array);
    if (list == NULL)
        return MP_DISCOVERY_LEGACY; /* whatever it answered, it was not this question */
    const struct mp_revision *modern = best_of(list, MCPUMP_ERA_MODERN, "");
    if (modern != NULL) {
        *ret_revision = modern;
        return MP_DISCOVERY_MODERN;
    }
    return best_of(list, MCPUMP_ERA_LEGACY, "") != NULL ? MP_DISCOVERY_LEGACY
                                                        : MP_DISCOVERY_HOPELESS;
}

static enum mp_discovery judge_error(json_object *error, const char *asked,
                                     const struct mp_revision **ret_revision)
{
    json_object *code = member(error, "code", json_type_int);
    json_object *list =
        member(member(error, "data", json_type_object), "supported", json_type_array);
    bool has_list = list != NULL && is_list_of_strings(list);
    int64_t number = code != NULL ? json_object_get_int64(code) : 0;
    if (number != UNSUPPORTED_VERSION && !(number == UNSUPPORTED_VERSION_DRAFT && has_list))
        return MP_DISCOVERY_LEGACY;
    const struct mp_revision *other = has_list ? best_of(list, MCPUMP_ERA_MODERN, asked) : NULL;
    if (other == NULL)
        return MP_DISCOVERY_HOPELESS;
    *ret_revision = other;
    return MP_DISCOVERY_REFUSED;
}

enum mp_discovery mp_answer_discovery(const mcpump_reply *reply, const char *asked,
                                      const struct mp_revision **ret_revision)
{
    json_object *tree = parse(reply);
    enum mp_discovery found = mcpump_reply_is_error(reply) ? judge_error(tree, asked, ret_revision)
                                                           : judge_result(tree, ret_revision);
    json_object_put(tree);
    return found;
}

const struct mp_revision *mp_answer_initialize(const mcpump_reply *reply, char *ret_words,
                                               size_t size)
{
    json_object *result = parse(reply);
    json_object *version = member(result, "protocolVersion", json_type_string);
    const struct mp_revision *found = NULL;
    if (version == NULL) {
        snprintf(ret_words, size, "its answer to initialize has no protocolVersion");
    } else {
        const char *text = json_object_get_string(version);
        found = mp_revision_find(text);
        if (found != NULL && found->era != MCPUMP_ERA_LEGACY)
            found = NULL;
        if (found == NULL)
            snprintf(ret_words, size, "it speaks protocol version \"%s\", which is not known here",
                     text);
    }
    json_object_put(result);
    return found;
}

static void copy_clean(json_object *object, const char *key, char *out, size_t size)
{
    json_object *value = member(object, key, json_type_string);
    const char *text = value != NULL ? json_object_get_string(value) : "";
    mp_text_clean(text, strlen(text), out, size);
}

bool mp_answer_info(const char *hello, struct mp_span *ret_info)
{
    struct mp_span result = {hello, strlen(hello)}, meta;
    return mp_member_find(result, "serverInfo", ret_info) ||
           (mp_member_find(result, "_meta", &meta) &&
            mp_member_find(meta, "io.modelcontextprotocol/serverInfo", ret_info));
}

void mp_answer_server_info(const char *hello, char *ret_name, size_t name_size, char *ret_version,
                           size_t version_size)
{
    struct mp_span info;
    json_object *tree = mp_answer_info(hello, &info) ? parse_text(info) : NULL;
    copy_clean(tree, "name", ret_name, name_size);
    copy_clean(tree, "version", ret_version, version_size);
    json_object_put(tree);
}

void mp_answer_error(const mcpump_reply *reply, char *ret_words, size_t size)
{
    json_object *error = parse(reply);
    json_object *code = member(error, "code", json_type_int);
    json_object *message = member(error, "message", json_type_string);
    const char *words = message != NULL ? json_object_get_string(message) : "";
    if (code != NULL)
        snprintf(ret_words, size, "error %lld: %s", (long long)json_object_get_int64(code), words);
    else
        snprintf(ret_words, size, "an error without code: %s", words);
    json_object_put(error);
}
