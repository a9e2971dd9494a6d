/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/tree.h"

#include <json-c/json.h>
#include <limits.h>
#include <string.h>

#include "base/sync.h"
#include "wire/scan.h"

#define REPLACEMENT "\xEF\xBF\xBD"

mcpump_err mp_tree_parse(struct mp_span text, struct json_object **ret_tree)
{
    if (text.size > INT_MAX)
        return MCPUMP_ERR_INVALID_REPLY;
    struct json_tokener *tokener = json_tokener_new_ex(MP_JSON_MAX_DEPTH + 1);
    if (tokener == NULL)
        return MCPUMP_ERR_NO_MEMORY;
    /* The seed of its hash tables comes from getrandom, a point of cancellation. */
    int state = mp_cancel_disable();
    struct json_object *tree = json_tokener_parse_ex(tokener, text.bytes, (int)text.size);
    enum json_tokener_error error = json_tokener_get_error(tokener);
    /* A number at the end could go on: the NUL says that it does not. */
    if (error == json_tokener_continue) {
        tree = json_tokener_parse_ex(tokener, "", 1);
        error = json_tokener_get_error(tokener);
    }
    mp_cancel_restore(state);
    json_tokener_free(tokener);
    if (error != json_tokener_success)
        return MCPUMP_ERR_INVALID_REPLY;
    *ret_tree = tree;
    return MCPUMP_OK;
}

const char *mp_tree_write(struct json_object *tree)
{
    return json_object_to_json_string_ext(tree,
                                          JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
}

bool mp_tree_add_string(struct mp_buffer *buffer, struct mp_span string)
{
    struct json_object *tree = NULL;
    if (string.size == 0 || string.bytes[0] != '"')
        return false;
    if (mp_tree_parse(string, &tree) != MCPUMP_OK || !json_object_is_type(tree, json_type_string)) {
        json_object_put(tree);
        buffer->failed = true;
        return false;
    }
    const char *at = json_object_get_string(tree);
    const char *end = at + json_object_get_string_len(tree), *nul;
    while ((nul = memchr(at, '\0', (size_t)(end - at))) != NULL) {
        mp_buffer_add(buffer, at, (size_t)(nul - at));
        mp_buffer_add_text(buffer, REPLACEMENT);
        at = nul + 1;
    }
    mp_buffer_add(buffer, at, (size_t)(end - at));
    json_object_put(tree);
    return !buffer->failed;
}

bool mp_tree_integer(struct mp_span number, int64_t *ret_integer)
{
    struct json_object *tree = NULL;
    if (mp_tree_parse(number, &tree) != MCPUMP_OK)
        return false;
    bool is_number =
        json_object_is_type(tree, json_type_int) || json_object_is_type(tree, json_type_double);
    if (is_number)
        *ret_integer = json_object_get_int64(tree);
    json_object_put(tree);
    return is_number;
}
