/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON as text. json-c reads numbers into machine words and accepts more than RFC 8259 does, so
 * what the user typed is checked and taken apart here and reaches the server as it was spelled.
 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define CLI_JSON_DEPTH 128

struct cli_span {
    const char *text;
    size_t size;
};

/* Whether the text is one JSON value by RFC 8259, in UTF-8, no deeper than CLI_JSON_DEPTH. */
bool cli_json_is_valid(const char *text, size_t size);

/* Whether it is a valid JSON object. */
bool cli_json_is_object(const char *text, size_t size);

/*
 * Walks over the members of a valid object: *rest starts as the whole object. False at its end.
 * The key still has its quotes and escapes.
 */
bool cli_json_next_member(struct cli_span *rest, struct cli_span *ret_key,
                          struct cli_span *ret_value);

/* The tree of a valid object, array or string, to be put; NULL for other values and when memory is
 * missing. */
json_object *cli_json_tree(const char *text, size_t size);

/* Writes valid UTF-8 text as a JSON string. */
void cli_json_write_string(FILE *out, const char *text, size_t size);

#endif
