/* SPDX-License-Identifier: Apache-2.0 */
/* What servers answer, as text for people: the result of tools/call, and lists of tools. */
#ifndef CLI_CONTENT_H
#define CLI_CONTENT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

#include "json.h"

/* A result of tools/call. */
struct cli_content {
    json_object *tree;          /* Owned. */
    json_object *items;         /* The array `content`, or NULL. */
    struct cli_span structured; /* `structuredContent` as it is spelled; text NULL when absent. */
    bool is_valid;              /* It is an object. */
    bool is_error;
    bool wants_input; /* No final answer: MCP 2026-07-28, multi round-trip. */
};

/* Borrows the text, which is valid JSON, until cli_content_done. */
void cli_content_init(struct cli_content *content, const char *result, size_t size);
void cli_content_done(struct cli_content *content);

/*
 * Text items verbatim, each ended by a line end; other items as one line in brackets. The
 * structured content only when there are no items.
 */
void cli_content_write(FILE *out, const struct cli_content *content);

/* An array of tools: name, tab, first line of the description. */
void cli_content_write_tools(FILE *out, const char *tools);

#endif
