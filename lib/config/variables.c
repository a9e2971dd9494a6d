/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `env` and `envFile` become secret variables. The list belongs to the entry from its beginning, so
 * that what it holds is freed with it. Nothing here puts a value, or what stands in place of a
 * name, into a message.
 */
#include <errno.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "base/vault.h"
#include "config/env_file.h"
#include "config/file.h"
#include "config/loader.h"

#define MOST_VARIABLES 1024 /* of an env, and of a file */
#define ENV_FILE_BYTES (1024 * 1024)

struct variables {
    struct mp_loader *loader;
    mcpump_secret_variable *list; /* ended by an entry without name, as the next one is by NULL */
    size_t count;
    const char **unset;
    size_t unset_count, unset_given; /* those of the given ones that are in front */
};

static void add(struct variables *variables, const char *name, const char *value)
{
    mcpump_secret *secret = mp_loader_noted(variables->loader, mcpump_secret_new(value));
    if (name != NULL && secret != NULL)
        variables->list[variables->count++] = (mcpump_secret_variable){name, secret};
    else
        mcpump_secret_free(secret);
}

/* Whether `env` has it, were it null; only what comes first counts. */
static bool is_in_env(const struct variables *variables, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(variables->list[i].name, name) == 0)
            return true;
    }
    for (size_t i = variables->unset_given; i < variables->unset_count; i++) {
        if (strcmp(variables->unset[i], name) == 0)
            return true;
    }
    return false;
}

/* -- env */

static void read_value(struct variables *variables, const struct mp_place *place,
                       struct mp_span value)
{
    struct mp_loader *loader = variables->loader;
    const char *text = NULL;
    switch (mp_json_type(value)) {
    case 'n': /* not even inherited */
        variables->unset[variables->unset_count++] = place->keys[1];
        return;
    case '"':
        text = mp_value_expand(loader, place, value);
        break;
    case '0':
        text = mp_value_spelled(loader, place, value);
        break;
    default:
        mp_value_is(loader, place, value, '"', "a string");
        return;
    }
    if (text != NULL)
        add(variables, place->keys[1], text);
}

static void read_variable(struct variables *variables, size_t nth, struct mp_span key,
                          struct mp_span value)
{
    struct mp_loader *loader = variables->loader;
    struct mp_place place = {key.bytes, {"env"}};
    const char *name = mp_value_decode(loader, &place, key);
    if (name == NULL)
        return;
    if (name[0] == '\0' || strchr(name, '=') != NULL) {
        mp_report_problem(loader, &place, "entry %zu has no valid name", nth);
        return;
    }
    place.keys[1] = mp_loader_text(loader, name);
    if (place.keys[1] == NULL)
        return;
    if (is_in_env(variables, variables->count, place.keys[1]))
        mp_report_problem(loader, &place, "it stands twice");
    else
        read_value(variables, &place, value);
}

static void read_env(struct variables *variables, struct mp_span env)
{
    struct mp_json_walk walk;
    struct mp_span key, value;
    mp_json_enter(&walk, env);
    for (size_t nth = 1; mp_json_next(&walk, &key, &value); nth++)
        read_variable(variables, nth, key, value);
}

/* -- envFile */

/* `line` 0: the file as a whole. */
static void report_file(struct mp_loader *loader, const struct mp_place *place, const char *path,
                        size_t line, const char *why)
{
    struct mp_buffer shown = MP_BUFFER_INIT;
    mp_report_path(&shown, path);
    if (shown.failed)
        mp_loader_noted(loader, NULL);
    else if (line == 0)
        mp_report_problem(loader, place, "\"%s\": %s", shown.bytes, why);
    else
        mp_report_problem(loader, place, "line %zu of \"%s\" %s", line, shown.bytes, why);
    mp_buffer_done(&shown);
}

/* Of a name that stands twice the later one wins, as everywhere in an environment. */
static void read_lines(struct variables *variables, const struct mp_place *place, const char *path,
                       struct mp_env_file *file)
{
    struct mp_loader *loader = variables->loader;
    const size_t of_env = variables->count;
    for (;;) {
        char *name, *value;
        enum mp_env_file_result result = mp_env_file_next(file, &name, &value);
        if (result == MP_ENV_FILE_WRONG)
            report_file(loader, place, path, file->line, "is not of the form NAME=VALUE");
        if (result != MP_ENV_FILE_VARIABLE)
            return;
        if (is_in_env(variables, of_env, name))
            continue;
        if (variables->count - of_env == MOST_VARIABLES) {
            report_file(loader, place, path, 0, "it holds more than 1024 variables");
            return;
        }
        if (!mp_value_charge(loader, place, strlen(value)))
            return;
        add(variables, mp_loader_text(loader, name), value);
    }
}
_Static_assert(MOST_VARIABLES == 1024, "two phrases name it");

static void read_file(struct variables *variables, struct mp_span value)
{
    struct mp_loader *loader = variables->loader;
    struct mp_place place = {value.bytes, {"envFile"}};
    char *text, scratch[MP_TEXT_ERRNO_SIZE];
    size_t size;
    const char *path = mp_value_path(loader, &place, value);
    if (path == NULL)
        return;
    int err = mp_file_read(path, ENV_FILE_BYTES, &text, &size);
    if (err == ENOMEM)
        mp_loader_noted(loader, NULL);
    else if (err != 0)
        report_file(loader, &place, path, 0, mp_text_errno(err, scratch));
    if (err != 0)
        return;
    struct mp_env_file file = {text, text + size, 0};
    read_lines(variables, &place, path, &file);
    mp_vault_free(text);
}

/* -- both */

/* Room for all that may come. False: no memory. */
static bool begin(struct variables *variables, size_t of_env, size_t of_file)
{
    struct mp_loader *loader = variables->loader;
    mcpump_transport_options *options = &loader->entry->options.transport;
    const char *const *given = options->unset_env;
    while (given != NULL && given[variables->unset_given] != NULL)
        variables->unset_given++;
    variables->list = mp_loader_array(loader, of_env + of_file + 1, sizeof(*variables->list));
    variables->unset =
        mp_loader_array(loader, variables->unset_given + of_env + 1, sizeof(*variables->unset));
    if (variables->list == NULL || variables->unset == NULL)
        return false;
    for (; variables->unset_count < variables->unset_given; variables->unset_count++)
        variables->unset[variables->unset_count] = given[variables->unset_count];
    options->secret_env = variables->list;
    options->unset_env = variables->unset;
    return true;
}

void mp_variables_read(struct mp_loader *loader, struct mp_span env, struct mp_span env_file)
{
    struct variables variables = {.loader = loader};
    struct mp_place place = {env.bytes, {"env"}};
    size_t of_env = 0, of_file = env_file.bytes != NULL ? MOST_VARIABLES : 0;
    if (env.bytes != NULL) {
        if (!mp_value_is(loader, &place, env, '{', "an object"))
            return;
        of_env = mp_value_count(env);
    }
    if (of_env > MOST_VARIABLES) {
        mp_report_problem(loader, &place, "it holds more than 1024 variables");
        return;
    }
    if (of_env + of_file == 0 || !begin(&variables, of_env, of_file))
        return;
    if (env.bytes != NULL)
        read_env(&variables, env);
    if (env_file.bytes != NULL)
        read_file(&variables, env_file);
}
