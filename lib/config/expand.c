/* SPDX-License-Identifier: Apache-2.0 */
#include "config/expand.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/framer.h"

#define MOST_NAME 128

struct expander {
    const char *base;
    char *out;
    size_t size, capacity;
    char *why;
};

static bool fail(struct expander *expander, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool fail(struct expander *expander, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(expander->why, MP_EXPAND_WHY, format, args);
    va_end(args);
    return false;
}

static bool add(struct expander *expander, const char *text, size_t size)
{
    if (size >= expander->capacity - expander->size)
        return fail(expander, "it becomes longer than %zu bytes", expander->capacity - 1);
    memcpy(expander->out + expander->size, text, size);
    expander->size += size;
    return true;
}

static bool add_text(struct expander *expander, const char *text)
{
    return add(expander, text, strlen(text));
}

/* -- what may stand between the braces */

static bool is(struct mp_span text, const char *word)
{
    return text.size == strlen(word) && memcmp(text.bytes, word, text.size) == 0;
}

/* Takes the prefix off. */
static bool skip(struct mp_span *text, const char *prefix)
{
    size_t size = strlen(prefix);
    if (text->size < size || memcmp(text->bytes, prefix, size) != 0)
        return false;
    text->bytes += size;
    text->size -= size;
    return true;
}

/* Letters, digits and _; names of inputs have . and - too. Only such a name is ever shown. */
static bool is_name(struct mp_span text, const char *also)
{
    static const char first[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    if (text.size == 0 || text.size > MOST_NAME || strchr(first, text.bytes[0]) == NULL)
        return false;
    for (size_t i = 1; i < text.size; i++) {
        char c = text.bytes[i];
        if (strchr(first, c) == NULL && strchr(also, c) == NULL)
            return false;
    }
    return true;
}

static bool refuse_reference(struct expander *expander)
{
    return fail(expander, "it holds a ${...} that means nothing here");
}

static bool add_home(struct expander *expander)
{
    const char *home = getenv("HOME");
    if (home == NULL || home[0] == '\0')
        return fail(expander, "${userHome} is not known: the variable HOME is not set");
    return add_text(expander, home);
}

static bool add_base(struct expander *expander, bool whole)
{
    const char *base = expander->base;
    if (base == NULL)
        return fail(expander, "${workspaceFolder} is not known: the current directory is gone");
    return add_text(expander, whole ? base : strrchr(base, '/') + 1);
}

static bool add_variable(struct expander *expander, struct mp_span reference)
{
    struct mp_span name = reference;
    const char *fallback = memmem(reference.bytes, reference.size, ":-", 2);
    if (fallback != NULL)
        name.size = (size_t)(fallback - name.bytes);
    if (!is_name(name, "0123456789"))
        return refuse_reference(expander);
    if (memmem(reference.bytes, reference.size, "${", 2) != NULL)
        return fail(expander, "the default of %.*s may not hold another ${", (int)name.size,
                    name.bytes);
    char text[MOST_NAME + 1];
    memcpy(text, name.bytes, name.size);
    text[name.size] = '\0';
    const char *value = getenv(text);
    if (fallback != NULL && (value == NULL || value[0] == '\0'))
        return add(expander, fallback + 2, reference.size - name.size - 2);
    if (value == NULL)
        return fail(expander, "the variable %s is not set, and no default is given", text);
    return add_text(expander, value);
}

static bool add_reference(struct expander *expander, struct mp_span reference)
{
    if (is(reference, "workspaceFolder"))
        return add_base(expander, true);
    if (is(reference, "workspaceFolderBasename"))
        return add_base(expander, false);
    if (is(reference, "userHome"))
        return add_home(expander);
    if (is(reference, "pathSeparator") || is(reference, "/"))
        return add_text(expander, "/");
    if (skip(&reference, "input:")) {
        bool is_shown = is_name(reference, "0123456789.-");
        return fail(expander, "${input:%.*s}: inputs are asked for by VS Code only",
                    is_shown ? (int)reference.size : 3, is_shown ? reference.bytes : "...");
    }
    skip(&reference, "env:");
    return add_variable(expander, reference);
}

bool mp_expand(const char *text, const char *base, char *out, size_t capacity,
               char ret_why[MP_EXPAND_WHY])
{
    struct expander expander = {base, out, 0, capacity, ret_why};
    for (const char *open; (open = strstr(text, "${")) != NULL;) {
        const char *close = strchr(open, '}');
        if (close == NULL)
            return fail(&expander, "a ${ is not closed by }");
        struct mp_span reference = {open + 2, (size_t)(close - open) - 2};
        if (!add(&expander, text, (size_t)(open - text)) || !add_reference(&expander, reference))
            return false;
        text = close + 1;
    }
    if (!add_text(&expander, text))
        return false;
    out[expander.size] = '\0';
    return true;
}
