/* SPDX-License-Identifier: Apache-2.0 */
#include "process/environment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/secret.h"
#include "base/vault.h"

static const char always_inherited[][8] = {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"};
#define ALWAYS_INHERITED (sizeof(always_inherited) / sizeof(always_inherited[0]))

/* The environment is built twice with the same steps: first they count, then they write. */
struct builder {
    char **entries; /* NULL: count only */
    char *room;     /* where the next string goes */
    size_t count, bytes;
};

/* The entry of a name that is `size` bytes long; the end of the list when there is none. */
static size_t find(char *const *list, const char *name, size_t size)
{
    size_t at = 0;
    while (list[at] != NULL && (strncmp(list[at], name, size) != 0 || list[at][size] != '='))
        at++;
    return at;
}

/* In place of the entry of that name, or at the end. */
static void set(struct builder *builder, const char *name, size_t name_size, const char *value)
{
    size_t value_size = strlen(value), size = name_size + 1 + value_size + 1;
    builder->bytes += size;
    builder->count++;
    if (builder->entries == NULL)
        return;
    size_t at = find(builder->entries, name, name_size);
    builder->entries[at] = builder->room;
    builder->room += size;
    memcpy(builder->entries[at], name, name_size);
    builder->entries[at][name_size] = '=';
    memcpy(builder->entries[at] + name_size + 1, value, value_size + 1);
}

static bool is_listed(char *const *names, const char *name)
{
    while (names != NULL && *names != NULL && strcmp(*names, name) != 0)
        names++;
    return names != NULL && *names != NULL;
}

/* A value that starts with "()" is a function that some shell exported: code, not a setting. */
static void inherit(struct builder *builder, const struct mp_environment_plan *plan,
                    const char *name)
{
    size_t size = strlen(name), at = find(plan->host, name, size);
    if (plan->host[at] == NULL || is_listed(plan->unset, name))
        return;
    const char *value = plan->host[at] + size + 1;
    if (strncmp(value, "()", 2) != 0)
        set(builder, name, size, value);
}

static void build(struct builder *builder, const struct mp_environment_plan *plan)
{
    for (size_t i = 0; i < ALWAYS_INHERITED; i++)
        inherit(builder, plan, always_inherited[i]);
    for (size_t i = 0; plan->inherit != NULL && plan->inherit[i] != NULL; i++)
        inherit(builder, plan, plan->inherit[i]);
    for (size_t i = 0; plan->own != NULL && plan->own[i] != NULL; i++) {
        size_t name_size = strcspn(plan->own[i], "=");
        set(builder, plan->own[i], name_size, plan->own[i] + name_size + 1);
    }
    for (size_t i = 0; plan->secrets != NULL && plan->secrets[i].name != NULL; i++) {
        const mcpump_secret_variable *secret = &plan->secrets[i];
        set(builder, secret->name, strlen(secret->name), mp_secret_text(secret->value));
    }
}

/* What an environment stands in. */
struct holder {
    size_t heap_bytes; /* 0: it is a vault, which knows its size */
    char *entries[];
};

static struct holder *holder_new(size_t bytes, bool has_secrets)
{
    /* Not wiped on fork: where the spawn has to be a fork, the child still needs it. */
    struct holder *holder = has_secrets ? mp_vault_new(bytes, false) : malloc(bytes);
    if (holder != NULL)
        holder->heap_bytes = has_secrets ? 0 : bytes;
    return holder;
}

char **mp_environment_new(const struct mp_environment_plan *plan)
{
    struct builder builder = {NULL, NULL, 0, 0};
    build(&builder, plan);
    size_t table_bytes = (builder.count + 1) * sizeof(char *);
    bool has_secrets = plan->secrets != NULL && plan->secrets[0].name != NULL;
    struct holder *holder = holder_new(sizeof(*holder) + table_bytes + builder.bytes, has_secrets);
    if (holder == NULL)
        return NULL;
    memset(holder->entries, 0, table_bytes);
    builder = (struct builder){holder->entries, (char *)holder->entries + table_bytes, 0, 0};
    build(&builder, plan);
    return holder->entries;
}

void mp_environment_free(char **environment)
{
    if (environment == NULL)
        return;
    struct holder *holder =
        (struct holder *)((char *)environment - offsetof(struct holder, entries));
    if (holder->heap_bytes == 0) {
        mp_vault_free(holder);
        return;
    }
    explicit_bzero(holder, holder->heap_bytes);
    free(holder);
}

const char *mp_environment_get(char *const *environment, const char *name)
{
    size_t size = strlen(name), at = find(environment, name, size);
    return environment[at] != NULL ? environment[at] + size + 1 : NULL;
}
