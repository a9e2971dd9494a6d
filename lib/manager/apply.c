/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making the set what a configuration says. All new servers are made first, which may fail and
 * changes nothing; a new one that is like the one that is there is thrown away again. Then the set
 * is changed, under the lock, all at once; then what has to go is stopped, side by side.
 */
#include <stdlib.h>

#include "manager/likeness.h"
#include "manager/manager.h"

struct plan {
    mcpump_manager *manager;
    const mcpump_config *config;
    size_t count; /* of entries */
    /* One an entry. NULL: nothing is to be put there, to be started. */
    struct mp_member **fresh, **to_begin;
    struct mp_member **gone;
    size_t gone_count;
};

static bool is_usable(const mcpump_config *config, size_t index)
{
    return mcpump_config_state(config, index) == MCPUMP_ENTRY_USABLE;
}

/* -- prepare */

static mcpump_err check_entries(const mcpump_config *config, mcpump_failure **ret_failure)
{
    for (size_t i = 0; i < mcpump_config_count(config); i++) {
        if (mcpump_config_state(config, i) == MCPUMP_ENTRY_INVALID)
            return mp_manager_fail(MCPUMP_ERR_INVALID_ARGUMENT, mcpump_config_name(config, i),
                                   mcpump_config_problem(config, i), ret_failure);
    }
    return MCPUMP_OK;
}

/* What stands, or is about to stand, in the place of that name; held. NULL: nothing. */
static struct mp_member *hold_present(mcpump_manager *manager, const char *name)
{
    struct mp_member *present = NULL;
    mp_mutex_lock(&manager->lock);
    struct mp_place *place = mp_place_find_locked(manager, name);
    if (place != NULL)
        present = mp_member_ref_locked(manager,
                                       place->successor != NULL ? place->successor : place->member);
    mp_mutex_unlock(&manager->lock);
    return present;
}

static bool is_there(mcpump_manager *manager, const struct mp_member *fresh)
{
    struct mp_member *present = hold_present(manager, fresh->seat->name);
    bool is_same = present != NULL && mp_servers_are_alike(present->server, fresh->server) &&
                   mp_texts_are_alike(present->cwd, fresh->cwd);
    mp_member_unref(manager, present);
    return is_same;
}

static mcpump_err prepare_entry(struct plan *plan, size_t index, mcpump_failure **ret_failure)
{
    struct mp_member *fresh;
    struct mp_wish wish = {
        .name = mcpump_config_name(plan->config, index),
        .options = mcpump_config_options(plan->config, index),
        .is_eager = mcpump_config_is_eager(plan->config, index),
    };
    mcpump_err err = mp_member_new(plan->manager, &wish, &fresh, ret_failure);
    if (err != MCPUMP_OK)
        return err;
    if (is_there(plan->manager, fresh))
        mp_member_unref(plan->manager, fresh);
    else
        plan->fresh[index] = fresh;
    return MCPUMP_OK;
}

static mcpump_err prepare(struct plan *plan, mcpump_failure **ret_failure)
{
    size_t room = plan->count > 0 ? plan->count : 1;
    plan->fresh = calloc(room, sizeof(struct mp_member *));
    plan->to_begin = calloc(room, sizeof(struct mp_member *));
    if (plan->fresh == NULL || plan->to_begin == NULL)
        return mp_manager_fail(MCPUMP_ERR_NO_MEMORY, NULL, NULL, ret_failure);
    mcpump_err err = check_entries(plan->config, ret_failure);
    for (size_t i = 0; i < plan->count && err == MCPUMP_OK; i++) {
        if (is_usable(plan->config, i))
            err = prepare_entry(plan, i, ret_failure);
    }
    return err;
}

/* -- commit */

static void drop_places_locked(mcpump_manager *manager, struct plan *plan)
    MP_REQUIRES(&manager->lock)
{
    for (size_t i = manager->count; i-- > 0;) {
        struct mp_place *place = &manager->places[i];
        size_t index;
        if (mcpump_config_find(plan->config, place->member->seat->name, &index) &&
            is_usable(plan->config, index))
            continue;
        plan->gone_count += mp_place_clear_locked(manager, place, plan->gone + plan->gone_count);
    }
}

static void put_locked(mcpump_manager *manager, struct plan *plan, size_t index)
    MP_REQUIRES(&manager->lock)
{
    struct mp_member *fresh = plan->fresh[index];
    struct mp_place *place = mp_place_find_locked(manager, fresh->seat->name);
    plan->fresh[index] = NULL;
    if (place != NULL) { /* started by who parts with the present one */
        plan->gone_count +=
            mp_place_replace_locked(manager, place, fresh, plan->gone + plan->gone_count);
        return;
    }
    mp_place_add_locked(manager, fresh);
    if (fresh->is_eager)
        plan->to_begin[index] = mp_member_ref_locked(manager, fresh);
}

/* It stays as it is, but may have become eager. */
static void keep_locked(mcpump_manager *manager, struct plan *plan, size_t index)
    MP_REQUIRES(&manager->lock)
{
    struct mp_place *place = mp_place_find_locked(manager, mcpump_config_name(plan->config, index));
    if (place == NULL) /* taken out by another thread since we looked */
        return;
    struct mp_member *member = place->successor != NULL ? place->successor : place->member;
    bool is_eager = mcpump_config_is_eager(plan->config, index);
    if (is_eager && !member->is_eager && place->successor == NULL)
        plan->to_begin[index] = mp_member_ref_locked(manager, member);
    member->is_eager = is_eager;
}

static mcpump_err commit_locked(mcpump_manager *manager, struct plan *plan)
    MP_REQUIRES(&manager->lock)
{
    if (manager->is_shut)
        return MCPUMP_ERR_NOT_OPEN;
    plan->gone = calloc(2 * manager->count + 1, sizeof(struct mp_member *));
    if (plan->gone == NULL || !mp_places_reserve_locked(manager, plan->count))
        return MCPUMP_ERR_NO_MEMORY;
    drop_places_locked(manager, plan);
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->fresh[i] != NULL)
            put_locked(manager, plan, i);
        else if (is_usable(plan->config, i))
            keep_locked(manager, plan, i);
    }
    return MCPUMP_OK;
}

static mcpump_err commit(struct plan *plan, mcpump_failure **ret_failure)
{
    mcpump_manager *manager = plan->manager;
    mp_mutex_lock(&manager->lock);
    mcpump_err err = commit_locked(manager, plan);
    mp_mutex_unlock(&manager->lock);
    return err == MCPUMP_OK ? MCPUMP_OK : mp_manager_fail(err, NULL, NULL, ret_failure);
}

/* -- and the rest */

/* What is started may need what was held by those that are gone: they go first. */
static mcpump_err follow_up(struct plan *plan, mcpump_failure **ret_failure)
{
    mcpump_err first_err =
        mp_manager_part_with(plan->manager, plan->gone, plan->gone_count, ret_failure);
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->to_begin[i] == NULL)
            continue;
        mcpump_err err =
            mp_member_begin(plan->to_begin[i], true, first_err == MCPUMP_OK ? ret_failure : NULL);
        if (first_err == MCPUMP_OK)
            first_err = err;
    }
    return first_err;
}

static void done_plan(struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->fresh != NULL)
            mp_member_unref(plan->manager, plan->fresh[i]);
        if (plan->to_begin != NULL)
            mp_member_unref(plan->manager, plan->to_begin[i]);
    }
    free(plan->fresh);
    free(plan->to_begin);
    free(plan->gone);
}

mcpump_err mcpump_manager_apply(mcpump_manager *manager, const mcpump_config *config,
                                mcpump_failure **ret_failure)
{
    if (ret_failure != NULL)
        *ret_failure = NULL;
    if (manager == NULL || config == NULL)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    if (mp_manager_is_elsewhere(manager))
        return mp_manager_fail(MCPUMP_ERR_FORKED, NULL, NULL, ret_failure);
    struct plan plan = {.manager = manager, .config = config, .count = mcpump_config_count(config)};
    mcpump_err err = prepare(&plan, ret_failure);
    if (err == MCPUMP_OK)
        err = commit(&plan, ret_failure);
    if (err == MCPUMP_OK)
        err = follow_up(&plan, ret_failure);
    done_plan(&plan);
    return err;
}
