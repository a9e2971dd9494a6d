/* SPDX-License-Identifier: Apache-2.0 */
#include "config/env_file.h"

#include <stdbool.h>
#include <string.h>

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Cuts space off both ends. `end` is writable. */
static char *trim(char *at, char *end)
{
    while (at < end && is_space(*at))
        at++;
    while (end > at && is_space(end[-1]))
        end--;
    *end = '\0';
    return at;
}

/* In double quotes \n, \t, \" and \\ have a meaning; other backslashes are plain. */
static void unescape(char *text)
{
    static const char letters[] = "nt\"\\", meanings[] = "\n\t\"\\";
    char *out = text;
    while (*text != '\0') {
        const char *letter = *text == '\\' && text[1] != '\0' ? strchr(letters, text[1]) : NULL;
        *out++ = letter != NULL ? meanings[letter - letters] : *text;
        text += letter != NULL ? 2 : 1;
    }
    *out = '\0';
}

static char *unquote(char *value)
{
    size_t size = strlen(value);
    char quote = value[0];
    if (size < 2 || (quote != '"' && quote != '\'') || value[size - 1] != quote)
        return value;
    value[size - 1] = '\0';
    value++;
    if (quote == '"')
        unescape(value);
    return value;
}

/* A name of letters, digits, _, . and -; more than a shell takes, as other readers of such files.
 */
static bool is_name(const char *text)
{
    static const char known[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    return text[0] != '\0' && text[strspn(text, known)] == '\0';
}

static bool take_apart(char *line, char **ret_name, char **ret_value)
{
    static const char export[] = "export";
    const size_t export_size = sizeof(export) - 1;
    if (strncmp(line, export, export_size) == 0 && is_space(line[export_size]))
        line += export_size + 1;
    char *equals = strchr(line, '=');
    if (equals == NULL)
        return false;
    char *value = equals + 1;
    *ret_value = unquote(trim(value, value + strlen(value)));
    *ret_name = trim(line, equals);
    return is_name(*ret_name);
}

enum mp_env_file_result mp_env_file_next(struct mp_env_file *file, char **ret_name,
                                         char **ret_value)
{
    while (file->at < file->end) {
        char *start = file->at;
        char *line_end = memchr(start, '\n', (size_t)(file->end - start));
        bool is_cut; /* a NUL would hide what stands behind it */
        line_end = line_end != NULL ? line_end : file->end;
        is_cut = memchr(start, '\0', (size_t)(line_end - start)) != NULL;
        file->at = line_end < file->end ? line_end + 1 : file->end;
        file->line++;
        char *line = trim(start, line_end);
        if (is_cut)
            return MP_ENV_FILE_WRONG;
        if (*line == '\0' || *line == '#')
            continue;
        return take_apart(line, ret_name, ret_value) ? MP_ENV_FILE_VARIABLE : MP_ENV_FILE_WRONG;
    }
    return MP_ENV_FILE_END;
}
