/* SPDX-License-Identifier: Apache-2.0 */
#include "process/environment.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *const always_inherited[] = {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"};
#define ALWAYS_INHERITED (sizeof(always_inherited) / sizeof(always_inherited[0]))

static size_t count(char *const *list)
{
    size_t n = 0;
    while (list != NULL && list[n] != NULL)
        n++;
    return n;
}

/* The entry of a name that is `size` bytes long; the end of the list when there is none. */
static size_t find(char *const *list, const char *name, size_t size)
{
    size_t at = 0;
    while (list[at] != NULL && (strncmp(list[at], name, size) != 0 || list[at][size] != '='))
        at++;
    return at;
}

static void wipe(char *entry)
{
    if (entry != NULL)
        explicit_bzero(entry, strlen(entry));
    free(entry);
}

/* Puts a copy of the entry in place of the one of that name, or at the end. */
static bool set(char **environment, const char *entry)
{
    char *copy = strdup(entry);
    if (copy == NULL)
        return false;
    size_t at = find(environment, entry, strcspn(entry, "="));
    wipe(environment[at]);
    environment[at] = copy;
    return true;
}

/* A value that starts with "()" is a function that some shell exported: code, not a setting. */
static bool inherit(char **environment, char *const *host, const char *name)
{
    size_t size = strlen(name), at = find(host, name, size);
    if (host[at] == NULL || strncmp(host[at] + size + 1, "()", 2) == 0)
        return true;
    return set(environment, host[at]);
}

char **mp_environment_new(char *const *host, char *const *inherited, char *const *own)
{
    size_t inherits = count(inherited), owns = count(own);
    char **environment = calloc(ALWAYS_INHERITED + inherits + owns + 1, sizeof(*environment));
    bool ok = environment != NULL;
    for (size_t i = 0; ok && i < ALWAYS_INHERITED; i++)
        ok = inherit(environment, host, always_inherited[i]);
    for (size_t i = 0; ok && i < inherits; i++)
        ok = inherit(environment, host, inherited[i]);
    for (size_t i = 0; ok && i < owns; i++)
        ok = set(environment, own[i]);
    if (ok)
        return environment;
    mp_environment_free(environment);
    return NULL;
}

void mp_environment_free(char **environment)
{
    size_t entries = count(environment);
    for (size_t i = 0; i < entries; i++)
        wipe(environment[i]);
    free(environment);
}

const char *mp_environment_get(char *const *environment, const char *name)
{
    size_t size = strlen(name), at = find(environment, name, size);
    return environment[at] != NULL ? environment[at] + size + 1 : NULL;
}
