/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changing the set: a new member is made before anything is touched, the change is made under the
 * lock, and what has to go is stopped afterwards without it. Whoever stops a member that has a
 * successor puts that in its place, unless somebody else was faster.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "manager/manager.h"

#define NAME_BYTES 255

/* -- members */

/* Why it is no name, or NULL. */
static const char *fault_of_name(const char *name)
{
    size_t size = strnlen(name, NAME_BYTES + 1), char_size;
    if (size == 0)
        return "a server needs a name";
    if (size > NAME_BYTES)
        return "the name is longer than 255 bytes";
    for (size_t at = 0; at < size; at += char_size) {
        char_size = mp_text_utf8_size(name + at, size - at);
        if (char_size == 0)
            return "the name is not valid UTF-8";
    }
    return NULL;
}

/* The options of the wish in full, with the name as the label if they have none. False: their size
 * is refused. */
static bool fill_in(const struct mp_wish *wish, mcpump_server_options *ret_options)
{
    if (!mp_options_import(ret_options, sizeof(*ret_options), wish->options))
        return false;
    ret_options->size = sizeof(*ret_options);
    if (ret_options->transport.display_name == NULL)
        ret_options->transport.display_name = wish->name;
    return true;
}

static void free_member(struct mp_member *member)
{
    mcpump_server_free(member->server);
    mp_seat_unref(member->seat);
    free(member->cwd);
    free(member);
}

static mcpump_err make_server(mcpump_manager *manager, struct mp_member *member,
                              const mcpump_server_options *options, mcpump_failure **ret_failure)
{
    struct mp_owner owner = {
        .seat = member->seat,
        .events = &manager->hub->events,
        .turns = &manager->hub->turns,
        .request_timeout_ms = manager->request_timeout_ms,
    };
    return mp_server_new(options, &owner, &member->server, ret_failure);
}

static mcpump_err init_member(mcpump_manager *manager, struct mp_member *member,
                              const struct mp_wish *wish, const mcpump_server_options *options,
                              mcpump_failure **ret_failure)
{
    const char *cwd = options->transport.cwd;
    member->refs = 1;
    member->is_eager = wish->is_eager;
    member->seat = mp_seat_new(manager->hub, wish->name);
    member->cwd = cwd != NULL ? strdup(cwd) : NULL;
    if (member->seat == NULL || (cwd != NULL && member->cwd == NULL))
        return MCPUMP_ERR_NO_MEMORY;
    mcpump_err err = make_server(manager, member, options, ret_failure);
    if (err == MCPUMP_OK)
        err = mcpump_group_add(manager->group, member->server->transport);
    return err;
}

static void enlist(mcpump_manager *manager, struct mp_member *member)
{
    mp_mutex_lock(&manager->lock);
    member->next = manager->members;
    if (member->next != NULL)
        member->next->prev = member;
    manager->members = member;
    mp_mutex_unlock(&manager->lock);
}

mcpump_err mp_member_new(mcpump_manager *manager, const struct mp_wish *wish,
                         struct mp_member **ret_member, mcpump_failure **ret_failure)
{
    mcpump_server_options options;
    const char *fault = fault_of_name(wish->name);
    if (fault != NULL)
        return mp_manager_fail(MCPUMP_ERR_INVALID_ARGUMENT, wish->name, fault, ret_failure);
    if (!fill_in(wish, &options))
        return mp_options_refuse_size(wish->options, ret_failure);
    struct mp_member *member = calloc(1, sizeof(*member));
    if (member == NULL)
        return MCPUMP_ERR_NO_MEMORY;
    mcpump_err err = init_member(manager, member, wish, &options, ret_failure);
    if (err != MCPUMP_OK) {
        free_member(member);
        return err;
    }
    enlist(manager, member);
    *ret_member = member;
    return MCPUMP_OK;
}

struct mp_member *mp_member_ref_locked(mcpump_manager *manager, struct mp_member *member)
{
    (void)manager;
    member->refs++;
    return member;
}

void mp_member_unref(mcpump_manager *manager, struct mp_member *member)
{
    if (member == NULL)
        return;
    mp_mutex_lock(&manager->lock);
    bool is_last = --member->refs == 0;
    if (is_last) {
        *(member->prev != NULL ? &member->prev->next : &manager->members) = member->next;
        if (member->next != NULL)
            member->next->prev = member->prev;
    }
    mp_mutex_unlock(&manager->lock);
    if (!is_last)
        return;
    mcpump_group_remove(manager->group, member->server->transport);
    free_member(member);
}

mcpump_err mp_member_begin(const struct mp_member *member, bool is_eager,
                           mcpump_failure **ret_failure)
{
    mcpump_failure *failure = NULL;
    mcpump_err err = is_eager ? mcpump_server_start(member->server, &failure) : MCPUMP_OK;
    if (err == MCPUMP_ERR_NOT_OPEN) { /* somebody has parted with it since */
        mcpump_failure_free(failure);
        return MCPUMP_OK;
    }
    if (ret_failure != NULL)
        *ret_failure = failure;
    else
        mcpump_failure_free(failure);
    return err;
}

/* -- parting */

/* The successor of a member that is down takes its place. Held; NULL: there is none, or it was
 * done by somebody else. */
static struct mp_member *succeed_locked(mcpump_manager *manager, const struct mp_member *member)
    MP_REQUIRES(&manager->lock)
{
    struct mp_place *place = mp_place_find_locked(manager, member->seat->name);
    if (place == NULL || place->member != member || place->successor == NULL)
        return NULL;
    place->member = place->successor;
    place->successor = NULL;
    return mp_member_ref_locked(manager, place->member);
}

static mcpump_err succeed(mcpump_manager *manager, struct mp_member *member,
                          mcpump_failure **ret_failure)
{
    mp_mutex_lock(&manager->lock);
    struct mp_member *successor = succeed_locked(manager, member);
    bool is_eager = successor != NULL && successor->is_eager && !manager->is_shut;
    mp_mutex_unlock(&manager->lock);
    mp_events_retire(&manager->hub->events, member->seat);
    if (successor == NULL)
        return MCPUMP_OK;
    mp_member_unref(manager, member); /* its place has let go of it */
    mcpump_err err = mp_member_begin(successor, is_eager, ret_failure);
    mp_member_unref(manager, successor);
    return err;
}

static void bring_down(mcpump_manager *manager, struct mp_member *member)
{
    mp_mutex_lock(&manager->lock);
    mp_server_retire(member->server);
    member->down = mp_server_down(member->server, MCPUMP_SERVER_STOPPED, false);
    mp_mutex_unlock(&manager->lock);
}

static void await_down(mcpump_manager *manager, struct mp_member *member)
{
    mp_mutex_lock(&manager->lock);
    uint64_t down = member->down;
    mp_mutex_unlock(&manager->lock);
    mp_server_wait_down(member->server, down, MP_NEVER);
}

mcpump_err mp_manager_part_with(mcpump_manager *manager, struct mp_member **members, size_t count,
                                mcpump_failure **ret_failure)
{
    mcpump_err first_err = MCPUMP_OK;
    for (size_t i = 0; i < count; i++)
        bring_down(manager, members[i]);
    for (size_t i = 0; i < count; i++) {
        await_down(manager, members[i]);
        mcpump_err err = succeed(manager, members[i], first_err == MCPUMP_OK ? ret_failure : NULL);
        if (first_err == MCPUMP_OK)
            first_err = err;
        mp_member_unref(manager, members[i]);
    }
    return first_err;
}

size_t mp_place_replace_locked(mcpump_manager *manager, struct mp_place *place,
                               struct mp_member *successor, struct mp_member **ret_gone)
{
    size_t count = 0;
    ret_gone[count++] = mp_member_ref_locked(manager, place->member);
    if (place->successor != NULL)
        ret_gone[count++] = place->successor;
    place->successor = successor;
    return count;
}

size_t mp_place_clear_locked(mcpump_manager *manager, struct mp_place *place,
                             struct mp_member **ret_gone)
{
    size_t count = 0;
    ret_gone[count++] = place->member;
    if (place->successor != NULL)
        ret_gone[count++] = place->successor;
    mp_place_remove_locked(manager, place);
    return count;
}

/* -- the public changes */

static const char no_such_name[] = "there is no server of this name";

/* `argument` stands for one that must be there. */
static mcpump_err check_call(const mcpump_manager *manager, const char *name, const void *argument,
                             mcpump_failure **ret_failure)
{
    if (ret_failure != NULL)
        *ret_failure = NULL;
    if (manager == NULL || name == NULL || argument == NULL)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    if (mp_manager_is_elsewhere(manager))
        return mp_manager_fail(MCPUMP_ERR_FORKED, NULL, NULL, ret_failure);
    return MCPUMP_OK;
}

static mcpump_err add_locked(mcpump_manager *manager, struct mp_member *member,
                             const char **ret_words) MP_REQUIRES(&manager->lock)
{
    if (manager->is_shut)
        return MCPUMP_ERR_NOT_OPEN;
    if (mp_place_find_locked(manager, member->seat->name) != NULL) {
        *ret_words = "there is a server of this name";
        return MCPUMP_ERR_INVALID_ARGUMENT;
    }
    if (!mp_places_reserve_locked(manager, 1))
        return MCPUMP_ERR_NO_MEMORY;
    mp_place_add_locked(manager, mp_member_ref_locked(manager, member));
    return MCPUMP_OK;
}

/* It could not be started. Somebody else may have taken it out, or be replacing it. */
static void take_back(mcpump_manager *manager, struct mp_member *member)
{
    struct mp_member *gone[2];
    size_t count = 0;
    mp_mutex_lock(&manager->lock);
    struct mp_place *place = mp_place_find_locked(manager, member->seat->name);
    if (place != NULL && place->member == member && place->successor == NULL)
        count = mp_place_clear_locked(manager, place, gone);
    mp_mutex_unlock(&manager->lock);
    mp_manager_part_with(manager, gone, count, NULL);
}

mcpump_err mcpump_manager_add(mcpump_manager *manager, const char *name,
                              const mcpump_server_options *options, bool eager,
                              mcpump_failure **ret_failure)
{
    const char *words = NULL;
    struct mp_member *member = NULL;
    struct mp_wish wish = {name, options, eager};
    mcpump_err err = check_call(manager, name, options, ret_failure);
    if (err == MCPUMP_OK)
        err = mp_member_new(manager, &wish, &member, ret_failure);
    if (err != MCPUMP_OK)
        return err;
    mp_mutex_lock(&manager->lock);
    err = add_locked(manager, member, &words);
    mp_mutex_unlock(&manager->lock);
    if (err != MCPUMP_OK) {
        mp_manager_fail(err, name, words, ret_failure);
    } else {
        err = mp_member_begin(member, eager, ret_failure);
        if (err != MCPUMP_OK)
            take_back(manager, member);
    }
    mp_member_unref(manager, member);
    return err;
}

mcpump_err mcpump_manager_remove(mcpump_manager *manager, const char *name,
                                 mcpump_failure **ret_failure)
{
    struct mp_member *gone[2];
    size_t count = 0;
    mcpump_err err = check_call(manager, name, name, ret_failure);
    if (err != MCPUMP_OK)
        return err;
    mp_mutex_lock(&manager->lock);
    struct mp_place *place = mp_place_find_locked(manager, name);
    if (place != NULL)
        count = mp_place_clear_locked(manager, place, gone);
    mp_mutex_unlock(&manager->lock);
    if (count == 0)
        return mp_manager_fail(MCPUMP_ERR_INVALID_ARGUMENT, name, no_such_name, ret_failure);
    return mp_manager_part_with(manager, gone, count, NULL);
}

mcpump_err mcpump_manager_replace(mcpump_manager *manager, const char *name,
                                  const mcpump_server_options *options, bool eager,
                                  mcpump_failure **ret_failure)
{
    struct mp_member *member = NULL, *gone[2];
    size_t count = 0;
    struct mp_wish wish = {name, options, eager};
    mcpump_err err = check_call(manager, name, options, ret_failure);
    if (err == MCPUMP_OK)
        err = mp_member_new(manager, &wish, &member, ret_failure);
    if (err != MCPUMP_OK)
        return err;
    mp_mutex_lock(&manager->lock);
    struct mp_place *place = mp_place_find_locked(manager, name);
    bool is_shut = manager->is_shut;
    if (place != NULL && !is_shut)
        count = mp_place_replace_locked(manager, place, member, gone);
    mp_mutex_unlock(&manager->lock);
    if (count > 0)
        return mp_manager_part_with(manager, gone, count, ret_failure);
    mp_member_unref(manager, member);
    if (is_shut)
        return mp_manager_fail(MCPUMP_ERR_NOT_OPEN, name, NULL, ret_failure);
    return mp_manager_fail(MCPUMP_ERR_INVALID_ARGUMENT, name, no_such_name, ret_failure);
}
