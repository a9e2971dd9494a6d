/* SPDX-License-Identifier: Apache-2.0 */
#include "arguments.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "report.h"
#include "text.h"

/* Both borrowed from argv. */
struct pair {
    struct cli_span key;
    struct cli_span value;
    bool is_written;
};

static bool same(struct cli_span a, const char *text, size_t size)
{
    return a.size == size && memcmp(a.text, text, size) == 0;
}

static struct pair *find(struct pair *pairs, size_t count, const char *key, size_t size)
{
    for (size_t i = 0; i < count; i++) {
        if (same(pairs[i].key, key, size))
            return &pairs[i];
    }
    return NULL;
}

static int read_word(const char *word, struct pair *pairs, size_t index)
{
    const char *equals = strchr(word, '=');
    if (equals == NULL)
        return cli_say_usage("call: %s: expected KEY=VALUE", word);
    int size = (int)(equals - word);
    if (size == 0)
        return cli_say_usage("call: there is no key before the = of word %zu", index + 1);
    if (!cli_text_is_utf8(word, strlen(word)))
        return cli_say_usage("call: %.*s: not valid UTF-8", size, word);
    if (find(pairs, index, word, (size_t)size) != NULL)
        return cli_say_usage("call: %.*s is given twice", size, word);
    pairs[index] =
        (struct pair){.key = {word, (size_t)size}, .value = {equals + 1, strlen(equals + 1)}};
    return CLI_EXIT_OK;
}

static void write_value(FILE *out, struct pair *pair)
{
    if (cli_json_is_valid(pair->value.text, pair->value.size))
        fwrite(pair->value.text, 1, pair->value.size, out);
    else
        cli_json_write_string(out, pair->value.text, pair->value.size);
    pair->is_written = true;
}

/* The members of --json in their order, each with its own value or that of a word. */
static void write_members(FILE *out, const char *json, struct pair *pairs, size_t count)
{
    struct cli_span rest = {json, strlen(json)}, key, value;
    for (const char *comma = ""; cli_json_next_member(&rest, &key, &value); comma = ",") {
        json_object *name = cli_need(cli_json_tree(key.text, key.size));
        struct pair *pair = find(pairs, count, json_object_get_string(name),
                                 (size_t)json_object_get_string_len(name));
        json_object_put(name);
        fprintf(out, "%s%.*s:", comma, (int)key.size, key.text);
        if (pair != NULL)
            write_value(out, pair);
        else
            fwrite(value.text, 1, value.size, out);
    }
}

static char *write_object(const char *json, struct pair *pairs, size_t count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = cli_need(open_memstream(&text, &size));
    putc('{', out);
    write_members(out, json, pairs, count);
    fflush(out);
    bool is_first = size == 1;
    for (size_t i = 0; i < count; i++) {
        if (pairs[i].is_written)
            continue;
        if (!is_first)
            putc(',', out);
        is_first = false;
        cli_json_write_string(out, pairs[i].key.text, pairs[i].key.size);
        putc(':', out);
        write_value(out, &pairs[i]);
    }
    putc('}', out);
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed)
        cli_need(NULL);
    return text;
}

int cli_arguments_build(const char *const *words, size_t count, const char *json,
                        char **ret_arguments)
{
    if (json != NULL && !cli_json_is_object(json, strlen(json)))
        return cli_say_usage("--json: not a JSON object");
    if (count == 0) {
        *ret_arguments = json != NULL ? cli_need(strdup(json)) : NULL;
        return CLI_EXIT_OK;
    }
    struct pair *pairs = cli_need(calloc(count, sizeof(*pairs)));
    int status = CLI_EXIT_OK;
    for (size_t i = 0; i < count && status == CLI_EXIT_OK; i++)
        status = read_word(words[i], pairs, i);
    if (status == CLI_EXIT_OK)
        *ret_arguments = write_object(json != NULL ? json : "{}", pairs, count);
    free(pairs);
    return status;
}
