/* SPDX-License-Identifier: Apache-2.0 */
#include "config/relax.h"

#include <stdbool.h>
#include <string.h>

/* Behind a string, from its opening quote. One that is not closed ends with its line: it is found
 * to be wrong later. */
static char *skip_string(char *at, const char *end)
{
    at++;
    while (at < end && *at != '"' && *at != '\n')
        at += *at == '\\' && end - at > 1 && at[1] != '\n' ? 2 : 1;
    return at < end ? at + 1 : at;
}

static void blank(char *from, const char *to)
{
    for (; from < to; from++) {
        if (*from != '\n')
            *from = ' ';
    }
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Behind the comment that starts here; `at` itself when there is none; NULL: it has no end. */
static char *comment_end(char *at, char *end)
{
    if (end - at < 2 || at[0] != '/' || (at[1] != '/' && at[1] != '*'))
        return at;
    if (at[1] == '/') {
        char *line_end = memchr(at, '\n', (size_t)(end - at));
        return line_end != NULL ? line_end : end;
    }
    char *close = memmem(at + 2, (size_t)(end - at) - 2, "*/", 2);
    return close != NULL ? close + 2 : NULL;
}

/* Only a comma behind a value is needless: "[,]" stays what it is. */
const char *mp_relax(char *text, size_t size)
{
    char *at = text, *end = text + size, *comma = NULL;
    bool behind_value = false;
    while (at < end) {
        char *behind = comment_end(at, end);
        if (behind == NULL)
            return at;
        if (behind > at) {
            blank(at, behind);
            at = behind;
            continue;
        }
        if (is_space(*at)) {
            at++;
            continue;
        }
        if ((*at == '}' || *at == ']') && comma != NULL)
            *comma = ' ';
        comma = *at == ',' && behind_value ? at : NULL;
        behind_value = strchr(",:[{", *at) == NULL || *at == '\0';
        at = *at == '"' ? skip_string(at, end) : at + 1;
    }
    return NULL;
}
