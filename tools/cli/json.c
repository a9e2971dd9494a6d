/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <limits.h>
#include <string.h>

#include "text.h"

struct cursor {
    const char *at;
    const char *end;
    char open[CLI_JSON_DEPTH]; /* The bracket that opened each level. */
    size_t depth;
};

static void skip_space(struct cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r'))
        c->at++;
}

static bool take(struct cursor *c, char expected)
{
    if (c->at == c->end || *c->at != expected)
        return false;
    c->at++;
    return true;
}

static bool take_word(struct cursor *c, const char *word)
{
    size_t size = strlen(word);
    if ((size_t)(c->end - c->at) < size || memcmp(c->at, word, size) != 0)
        return false;
    c->at += size;
    return true;
}

static size_t take_digits(struct cursor *c)
{
    const char *start = c->at;
    while (c->at < c->end && *c->at >= '0' && *c->at <= '9')
        c->at++;
    return (size_t)(c->at - start);
}

static bool take_number(struct cursor *c)
{
    take(c, '-');
    if (!take(c, '0') && take_digits(c) == 0)
        return false;
    if (take(c, '.') && take_digits(c) == 0)
        return false;
    if (!take(c, 'e') && !take(c, 'E'))
        return true;
    if (!take(c, '+'))
        take(c, '-');
    return take_digits(c) > 0;
}

static bool take_escape(struct cursor *c)
{
    if (c->at == c->end)
        return false;
    char kind = *c->at++;
    if (kind != 'u')
        return kind != '\0' && strchr("\"\\/bfnrt", kind) != NULL;
    for (int i = 0; i < 4; i++, c->at++) {
        if (c->at == c->end || *c->at == '\0' || strchr("0123456789abcdefABCDEF", *c->at) == NULL)
            return false;
    }
    return true;
}

static bool take_string(struct cursor *c)
{
    if (!take(c, '"'))
        return false;
    while (!take(c, '"')) {
        if (take(c, '\\')) {
            if (!take_escape(c))
                return false;
            continue;
        }
        size_t size = cli_text_char_size(c->at, (size_t)(c->end - c->at));
        if (size == 0 || (unsigned char)*c->at < 0x20)
            return false;
        c->at += size;
    }
    return true;
}

static bool take_scalar(struct cursor *c)
{
    if (c->at < c->end && *c->at == '"')
        return take_string(c);
    return take_word(c, "true") || take_word(c, "false") || take_word(c, "null") || take_number(c);
}

static bool take_key(struct cursor *c)
{
    skip_space(c);
    if (!take_string(c))
        return false;
    skip_space(c);
    return take(c, ':');
}

static bool close_level(struct cursor *c)
{
    if (c->depth == 0 || !take(c, c->open[c->depth - 1] == '{' ? '}' : ']'))
        return false;
    c->depth--;
    return true;
}

/* Takes brackets that open, with the key in front of an object's first member, up to a scalar or
 * an empty container. *ret_complete tells that a value has ended. */
static bool take_opening(struct cursor *c, bool *ret_complete)
{
    skip_space(c);
    *ret_complete = true;
    if (c->at == c->end || (*c->at != '{' && *c->at != '['))
        return take_scalar(c);
    if (c->depth == CLI_JSON_DEPTH)
        return false;
    char bracket = *c->at++;
    c->open[c->depth++] = bracket;
    skip_space(c);
    if (close_level(c))
        return true;
    *ret_complete = false;
    return bracket == '[' || take_key(c);
}

/* After a complete value: takes what closes, and a comma with the next key. *ret_more tells that
 * another value has to follow. */
static bool take_closing(struct cursor *c, bool *ret_more)
{
    skip_space(c);
    while (close_level(c))
        skip_space(c);
    *ret_more = c->depth > 0;
    if (c->depth == 0)
        return true;
    return take(c, ',') && (c->open[c->depth - 1] == '[' || take_key(c));
}

bool cli_json_is_valid(const char *text, size_t size)
{
    struct cursor c = {.at = text, .end = text + size};
    for (bool more = true; more;) {
        bool complete;
        if (!take_opening(&c, &complete))
            return false;
        if (complete && !take_closing(&c, &more))
            return false;
    }
    return c.at == c.end;
}

bool cli_json_is_object(const char *text, size_t size)
{
    struct cursor c = {.at = text, .end = text + size};
    skip_space(&c);
    return take(&c, '{') && cli_json_is_valid(text, size);
}

/* Passes over one value of a text that is known to be valid. */
static void pass_value(struct cursor *c)
{
    size_t depth = 0;
    do {
        skip_space(c);
        if (*c->at == '"') {
            take_string(c);
        } else if (strchr("{[", *c->at) != NULL) {
            depth++;
            c->at++;
        } else if (strchr("}]", *c->at) != NULL) {
            depth--;
            c->at++;
        } else if (strchr(",:", *c->at) != NULL) {
            c->at++;
        } else {
            take_scalar(c);
        }
    } while (depth > 0);
}

bool cli_json_next_member(struct cli_span *rest, struct cli_span *ret_key,
                          struct cli_span *ret_value)
{
    struct cursor c = {.at = rest->text, .end = rest->text + rest->size};
    skip_space(&c);
    if (!take(&c, '{'))
        take(&c, ',');
    skip_space(&c);
    if (c.at == c.end || *c.at == '}')
        return false;
    const char *key = c.at;
    take_string(&c);
    *ret_key = (struct cli_span){key, (size_t)(c.at - key)};
    skip_space(&c);
    take(&c, ':');
    skip_space(&c);
    const char *value = c.at;
    pass_value(&c);
    *ret_value = (struct cli_span){value, (size_t)(c.at - value)};
    *rest = (struct cli_span){c.at, (size_t)(c.end - c.at)};
    return true;
}

json_object *cli_json_tree(const char *text, size_t size)
{
    /* json-c counts the values below the deepest container as a level of their own. */
    json_tokener *tokener = json_tokener_new_ex(CLI_JSON_DEPTH + 1);
    if (tokener == NULL)
        return NULL;
    json_object *tree = NULL;
    if (size <= INT_MAX)
        tree = json_tokener_parse_ex(tokener, text, (int)size);
    json_tokener_free(tokener);
    return tree;
}

void cli_json_write_string(FILE *out, const char *text, size_t size)
{
    putc('"', out);
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte == '"' || byte == '\\')
            fprintf(out, "\\%c", byte);
        else if (byte < 0x20)
            fprintf(out, "\\u%04x", byte);
        else
            putc(byte, out);
    }
    putc('"', out);
}
