/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options are compared where the servers keep them, so that no copy of a secret is made for it, and
 * so that a default that is written out is no difference.
 */
#include "manager/likeness.h"

#include <string.h>

#include "base/secret.h"
#include "manager/server.h"

/* Whoever adds an option adds it to the comparison. */
_Static_assert(sizeof(void *) != 8 || sizeof(struct mp_options) == 288, "see options_are_alike");

bool mp_texts_are_alike(const char *one, const char *other)
{
    if (one == NULL || other == NULL)
        return one == other;
    return strcmp(one, other) == 0;
}

static bool lists_are_alike(char *const *one, char *const *other)
{
    for (; *one != NULL && *other != NULL; one++, other++) {
        if (strcmp(*one, *other) != 0)
            return false;
    }
    return *one == *other;
}

static bool secrets_are_alike(const mcpump_secret_variable *one,
                              const mcpump_secret_variable *other)
{
    for (; one->name != NULL && other->name != NULL; one++, other++) {
        if (strcmp(one->name, other->name) != 0 ||
            strcmp(mp_secret_text(one->value), mp_secret_text(other->value)) != 0)
            return false;
    }
    return one->name == other->name;
}

static bool rlimits_are_alike(const struct mp_options *one, const struct mp_options *other)
{
    if (one->rlimit_count != other->rlimit_count)
        return false;
    for (size_t i = 0; i < one->rlimit_count; i++) {
        const mcpump_rlimit *a = &one->rlimits[i], *b = &other->rlimits[i];
        if (a->resource != b->resource || a->soft != b->soft || a->hard != b->hard)
            return false;
    }
    return true;
}

static bool places_are_alike(const struct mp_options *one, const struct mp_options *other)
{
    return mp_texts_are_alike(one->command, other->command) &&
           lists_are_alike(one->args, other->args) && lists_are_alike(one->env, other->env) &&
           lists_are_alike(one->inherit_env, other->inherit_env) &&
           lists_are_alike(one->unset_env, other->unset_env) &&
           secrets_are_alike(one->secret_env, other->secret_env) && rlimits_are_alike(one, other) &&
           one->new_session == other->new_session && one->nice == other->nice &&
           one->orphans == other->orphans && mp_texts_are_alike(one->guard_path, other->guard_path);
}

static bool sinks_are_alike(const struct mp_options *one, const struct mp_options *other)
{
    return strcmp(one->label, other->label) == 0 && one->stderr_sink == other->stderr_sink &&
           mp_texts_are_alike(one->stderr_file, other->stderr_file) &&
           one->stderr_fn == other->stderr_fn && one->stderr_user == other->stderr_user &&
           one->log_fn == other->log_fn && one->log_user == other->log_user &&
           one->log_level == other->log_level && one->tap_fn == other->tap_fn &&
           one->tap_user == other->tap_user;
}

static bool limits_are_alike(const struct mp_options *one, const struct mp_options *other)
{
    return one->queue_policy == other->queue_policy &&
           one->max_message_bytes == other->max_message_bytes &&
           one->max_junk_lines == other->max_junk_lines &&
           one->write_queue_bytes == other->write_queue_bytes &&
           one->default_timeout_ms == other->default_timeout_ms &&
           one->stdin_grace_ms == other->stdin_grace_ms &&
           one->term_grace_ms == other->term_grace_ms;
}

static bool options_are_alike(const struct mp_options *one, const struct mp_options *other)
{
    return places_are_alike(one, other) && sinks_are_alike(one, other) &&
           limits_are_alike(one, other);
}

static bool policies_are_alike(const struct mp_policy *one, const struct mp_policy *other)
{
    return one->backoff_first_ms == other->backoff_first_ms &&
           one->backoff_most_ms == other->backoff_most_ms && one->stable_ms == other->stable_ms &&
           one->max_reconnects == other->max_reconnects;
}

bool mp_servers_are_alike(const mcpump_server *one, const mcpump_server *other)
{
    return options_are_alike(&one->transport->options, &other->transport->options) &&
           strcmp(one->client.info, other->client.info) == 0 && one->era == other->era &&
           one->probe_timeout_ms == other->probe_timeout_ms &&
           one->connect_timeout_ms == other->connect_timeout_ms &&
           one->idle_timeout_ms == other->idle_timeout_ms &&
           policies_are_alike(&one->policy, &other->policy);
}
