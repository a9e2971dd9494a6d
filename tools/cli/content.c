/* SPDX-License-Identifier: Apache-2.0 */
#include "content.h"

#include <string.h>

#include "text.h"

/* A member that is a string, else a string without bytes. Borrowed from the tree. */
static struct cli_span text_of(json_object *object, const char *key)
{
    json_object *value = NULL;
    if (!json_object_is_type(object, json_type_object) ||
        !json_object_object_get_ex(object, key, &value) ||
        !json_object_is_type(value, json_type_string))
        return (struct cli_span){"", 0};
    return (struct cli_span){json_object_get_string(value),
                             (size_t)json_object_get_string_len(value)};
}

static struct cli_span find_member(const char *object, size_t size, const char *quoted_key)
{
    struct cli_span rest = {object, size}, key, value, found = {NULL, 0};
    while (cli_json_next_member(&rest, &key, &value)) {
        if (key.size == strlen(quoted_key) && memcmp(key.text, quoted_key, key.size) == 0)
            found = value;
    }
    return found;
}

static bool is_final(json_object *tree)
{
    struct cli_span type = text_of(tree, "resultType");
    return type.size == 0 || strcmp(type.text, "complete") == 0;
}

void cli_content_init(struct cli_content *content, const char *result, size_t size)
{
    *content = (struct cli_content){.tree = cli_json_tree(result, size)};
    content->is_valid = json_object_is_type(content->tree, json_type_object);
    if (!content->is_valid)
        return;
    json_object *value = NULL;
    if (json_object_object_get_ex(content->tree, "content", &value) &&
        json_object_is_type(value, json_type_array))
        content->items = value;
    if (json_object_object_get_ex(content->tree, "isError", &value))
        content->is_error = json_object_get_boolean(value);
    content->wants_input = !is_final(content->tree);
    content->structured = find_member(result, size, "\"structuredContent\"");
}

void cli_content_done(struct cli_content *content)
{
    json_object_put(content->tree);
}

static void write_text(FILE *out, struct cli_span text)
{
    fwrite(text.text, 1, text.size, out);
    if (text.size == 0 || text.text[text.size - 1] != '\n')
        putc('\n', out);
}

static size_t decoded_size(struct cli_span base64)
{
    while (base64.size > 0 && base64.text[base64.size - 1] == '=')
        base64.size--;
    return base64.size * 3 / 4;
}

static void write_part(FILE *out, const char *lead, struct cli_span part)
{
    if (part.size == 0)
        return;
    fputs(lead, out);
    cli_text_clean(out, part.text, part.size, "");
}

/* Type, address, media type and size, as far as the item has them. */
static void write_bracketed(FILE *out, json_object *item)
{
    static const struct {
        const char *key;
        bool is_base64;
    } bodies[] = {{"data", true}, {"blob", true}, {"text", false}};
    json_object *inner = NULL;
    putc('[', out);
    struct cli_span type = text_of(item, "type");
    write_part(out, "", type.size > 0 ? type : (struct cli_span){"unknown", 7});
    if (!json_object_is_type(item, json_type_object) ||
        !json_object_object_get_ex(item, "resource", &inner))
        inner = item;
    write_part(out, " ", text_of(inner, "uri"));
    write_part(out, text_of(inner, "uri").size > 0 ? ", " : " ", text_of(inner, "mimeType"));
    for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++) {
        struct cli_span body = text_of(inner, bodies[i].key);
        if (body.size > 0)
            fprintf(out, ", %zu bytes", bodies[i].is_base64 ? decoded_size(body) : body.size);
    }
    fputs("]\n", out);
}

static void write_item(FILE *out, json_object *item)
{
    struct cli_span type = text_of(item, "type");
    if (strcmp(type.text, "text") == 0)
        write_text(out, text_of(item, "text"));
    else
        write_bracketed(out, item);
}

void cli_content_write(FILE *out, const struct cli_content *content)
{
    size_t count = content->items != NULL ? json_object_array_length(content->items) : 0;
    for (size_t i = 0; i < count; i++)
        write_item(out, json_object_array_get_idx(content->items, i));
    if (count == 0 && content->structured.text != NULL) {
        fwrite(content->structured.text, 1, content->structured.size, out);
        putc('\n', out);
    }
}

/* Descriptions are often indented text whose first line is blank. */
static struct cli_span first_line(struct cli_span text)
{
    size_t start = strspn(text.text, " \t\r\n");
    return (struct cli_span){text.text + start, strcspn(text.text + start, "\r\n")};
}

void cli_content_write_tools(FILE *out, const char *tools)
{
    json_object *tree = cli_json_tree(tools, strlen(tools));
    size_t count = json_object_is_type(tree, json_type_array) ? json_object_array_length(tree) : 0;
    for (size_t i = 0; i < count; i++) {
        json_object *tool = json_object_array_get_idx(tree, i);
        if (!json_object_is_type(tool, json_type_object))
            continue;
        struct cli_span name = text_of(tool, "name");
        struct cli_span description = first_line(text_of(tool, "description"));
        cli_text_clean(out, name.text, name.size, "");
        putc('\t', out);
        cli_text_clean(out, description.text, description.size, "");
        putc('\n', out);
    }
    json_object_put(tree);
}
