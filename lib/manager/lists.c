/* SPDX-License-Identifier: Apache-2.0 */
#include "manager/lists.h"

#include <stdlib.h>
#include <string.h>

void mp_lists_init(struct mp_lists *lists)
{
    mp_mutex_init(&lists->lock);
}

void mp_lists_done(struct mp_lists *lists)
{
    for (int list = 0; list < MP_LISTS; list++)
        free(lists->kept[list].items);
    mp_mutex_done(&lists->lock);
}

static void drop_locked(struct mp_lists *lists, int list) MP_REQUIRES(&lists->lock)
{
    struct mp_kept_list *kept = &lists->kept[list];
    free(kept->items);
    kept->items = NULL;
    kept->changes++;
}

char *mp_lists_find(struct mp_lists *lists, enum mp_list list, uint64_t *ret_changes)
{
    const struct mp_kept_list *kept = &lists->kept[list];
    mp_mutex_lock(&lists->lock);
    bool is_fresh = kept->items != NULL && !mp_deadline_passed(kept->fresh_until);
    char *copy = is_fresh ? strdup(kept->items) : NULL;
    *ret_changes = kept->changes;
    mp_mutex_unlock(&lists->lock);
    return copy;
}

/* No memory for a copy: then the server is asked again. */
void mp_lists_keep(struct mp_lists *lists, enum mp_list list, const struct mp_listed *listed,
                   uint64_t changes)
{
    struct mp_kept_list *kept = &lists->kept[list];
    char *copy = mp_deadline_passed(listed->fresh_until) ? NULL : strdup(listed->items);
    mp_mutex_lock(&lists->lock);
    if (kept->changes == changes) {
        char *old = kept->items;
        kept->items = copy;
        kept->fresh_until = listed->fresh_until;
        copy = old;
    }
    mp_mutex_unlock(&lists->lock);
    free(copy);
}

void mp_lists_forget(struct mp_lists *lists)
{
    mp_mutex_lock(&lists->lock);
    for (int list = 0; list < MP_LISTS; list++)
        drop_locked(lists, list);
    mp_mutex_unlock(&lists->lock);
}

void mp_lists_notified(struct mp_lists *lists, const struct mp_envelope *notification)
{
    for (int list = 0; list < MP_LISTS; list++) {
        if (!mp_envelope_is_method(notification, mp_list_changed((enum mp_list)list)))
            continue;
        mp_mutex_lock(&lists->lock);
        drop_locked(lists, list);
        mp_mutex_unlock(&lists->lock);
    }
}
