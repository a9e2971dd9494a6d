/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The set of servers of a manager: made, asked, interrupted, shut down.
 *
 * The order of all locks of the library; a thread takes only such as come after those it holds:
 *
 *     manager > server > turns, asks, events > transport > pending > outbox > run > log
 *
 * Under the manager's lock nothing is waited for, and nothing is freed that would wait: members are
 * held, and let go of without it.
 */
#include "manager/manager.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/home.h"

#define DEFAULT_STARTS             4
#define DEFAULT_EVENTS             1024
#define DEFAULT_EVENT_BYTES        ((size_t)4 * 1024 * 1024)
#define DEFAULT_REQUEST_TIMEOUT_MS 30000
#define KINDS                                                                                      \
    (MCPUMP_EVENT_STATE | MCPUMP_EVENT_NOTIFICATION | MCPUMP_EVENT_REQUEST | MCPUMP_EVENT_STDERR)

mcpump_err mp_manager_fail(mcpump_err err, const char *name, const char *words,
                           mcpump_failure **ret_failure)
{
    struct mp_failure_facts facts = {.name = "manager",
                                     .err = err,
                                     .phase = MCPUMP_PHASE_OPTIONS,
                                     .subject = name,
                                     .detail = words};
    return mp_fail(ret_failure, &facts, NULL);
}

bool mp_manager_is_elsewhere(const mcpump_manager *manager)
{
    return manager->home != mp_home();
}

/* -- made */

/* Fills the defaults in. The key that is not valid, or NULL. */
static const char *check(mcpump_manager_options *options)
{
    if (options->max_parallel_starts < 0)
        return "max_parallel_starts";
    if (options->request_timeout_ms < MCPUMP_FOREVER)
        return "request_timeout_ms";
    if (options->events == 0)
        options->events = MCPUMP_EVENT_STATE | MCPUMP_EVENT_NOTIFICATION;
    else if (options->events == MCPUMP_ZERO)
        options->events = 0;
    if ((options->events & ~KINDS) != 0)
        return "events";
    if (options->max_parallel_starts == 0)
        options->max_parallel_starts = DEFAULT_STARTS;
    if (options->max_events == 0)
        options->max_events = DEFAULT_EVENTS;
    if (options->max_event_bytes == 0)
        options->max_event_bytes = DEFAULT_EVENT_BYTES;
    if (options->request_timeout_ms == 0)
        options->request_timeout_ms = DEFAULT_REQUEST_TIMEOUT_MS;
    return NULL;
}

static int init_manager(mcpump_manager *manager, const mcpump_manager_options *options)
{
    int sys_errno;
    struct mp_event_limits limits = {options->events, options->max_events,
                                     options->max_event_bytes};
    mp_mutex_init(&manager->lock);
    manager->home = mp_home();
    manager->request_timeout_ms = options->request_timeout_ms;
    manager->group = mcpump_group_new();
    manager->hub = mp_hub_new(&limits, options->max_parallel_starts, &sys_errno);
    return manager->group != NULL ? sys_errno : ENOMEM;
}

static void done_manager(mcpump_manager *manager)
{
    mp_hub_unref(manager->hub);
    mcpump_group_free(manager->group);
    mp_mutex_done(&manager->lock);
    free(manager->places);
    free(manager);
}

static mcpump_err refuse_system(int sys_errno, mcpump_failure **ret_failure)
{
    struct mp_failure_facts facts = {.name = "manager",
                                     .err = sys_errno == ENOMEM ? MCPUMP_ERR_NO_MEMORY
                                                                : MCPUMP_ERR_SYSTEM,
                                     .phase = MCPUMP_PHASE_START,
                                     .sys_errno = sys_errno};
    return mp_fail(ret_failure, &facts, NULL);
}

mcpump_err mcpump_manager_new(const mcpump_manager_options *options, mcpump_manager **ret_manager,
                              mcpump_failure **ret_failure)
{
    mcpump_manager_options whole = MCPUMP_MANAGER_OPTIONS_INIT;
    if (ret_failure != NULL)
        *ret_failure = NULL;
    if (ret_manager == NULL)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    if (options != NULL && !mp_options_import(&whole, sizeof(whole), options))
        return mp_options_refuse_size(options, ret_failure);
    const char *wrong = check(&whole);
    if (wrong != NULL)
        return mp_manager_fail(MCPUMP_ERR_INVALID_ARGUMENT, wrong, "out of range", ret_failure);
    mcpump_manager *manager = calloc(1, sizeof(*manager));
    if (manager == NULL)
        return MCPUMP_ERR_NO_MEMORY;
    int sys_errno = init_manager(manager, &whole);
    if (sys_errno != 0) {
        done_manager(manager);
        return refuse_system(sys_errno, ret_failure);
    }
    *ret_manager = manager;
    return MCPUMP_OK;
}

/* -- places */

/* Where the name stands, or is to stand. */
static size_t search_locked(const mcpump_manager *manager, const char *name, bool *ret_found)
    MP_REQUIRES(&manager->lock)
{
    size_t low = 0, high = manager->count;
    *ret_found = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(manager->places[middle].member->seat->name, name);
        if (order == 0) {
            *ret_found = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct mp_place *mp_place_find_locked(mcpump_manager *manager, const char *name)
{
    bool found;
    size_t at = search_locked(manager, name, &found);
    return found ? &manager->places[at] : NULL;
}

bool mp_places_reserve_locked(mcpump_manager *manager, size_t more)
{
    size_t needed = manager->count + more;
    if (needed <= manager->capacity)
        return true;
    size_t capacity = needed + needed / 2 + 4;
    struct mp_place *places = realloc(manager->places, capacity * sizeof(*places));
    if (places == NULL)
        return false;
    manager->places = places;
    manager->capacity = capacity;
    return true;
}

void mp_place_add_locked(mcpump_manager *manager, struct mp_member *member)
{
    bool found;
    size_t at = search_locked(manager, member->seat->name, &found);
    assert(!found && manager->count < manager->capacity);
    struct mp_place *place = &manager->places[at];
    memmove(place + 1, place, (manager->count++ - at) * sizeof(*place));
    *place = (struct mp_place){manager->next_number++, member, NULL};
}

void mp_place_remove_locked(mcpump_manager *manager, struct mp_place *place)
{
    size_t at = (size_t)(place - manager->places);
    memmove(place, place + 1, (--manager->count - at) * sizeof(*place));
}

/* -- asked */

mcpump_server *mcpump_manager_find(mcpump_manager *manager, const char *name)
{
    if (manager == NULL || name == NULL || mp_manager_is_elsewhere(manager))
        return NULL;
    mp_mutex_lock(&manager->lock);
    const struct mp_place *place = mp_place_find_locked(manager, name);
    mcpump_server *server = place != NULL ? mp_server_ref(place->member->server) : NULL;
    mp_mutex_unlock(&manager->lock);
    return server;
}

/* One row of a status: a server that is held, and where it is to stand. */
struct row {
    uint64_t number;
    struct mp_member *member;
};

static int compare_rows(const void *one, const void *other)
{
    const struct row *a = one, *b = other;
    return (a->number > b->number) - (a->number < b->number);
}

/* All members in the order in which they were added, held. False: no memory. */
static bool hold_all(mcpump_manager *manager, struct row **ret_rows, size_t *ret_count)
{
    mp_mutex_lock(&manager->lock);
    size_t count = manager->count;
    struct row *rows = calloc(count > 0 ? count : 1, sizeof(*rows));
    for (size_t i = 0; rows != NULL && i < count; i++) {
        const struct mp_place *place = &manager->places[i];
        rows[i] = (struct row){place->number, mp_member_ref_locked(manager, place->member)};
    }
    mp_mutex_unlock(&manager->lock);
    if (rows == NULL)
        return false;
    qsort(rows, count, sizeof(*rows), compare_rows);
    *ret_rows = rows;
    *ret_count = count;
    return true;
}

mcpump_err mcpump_manager_status(mcpump_manager *manager, mcpump_manager_entry **ret_entries,
                                 size_t *ret_count)
{
    struct row *rows;
    size_t count;
    if (manager == NULL || ret_entries == NULL || ret_count == NULL)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    if (mp_manager_is_elsewhere(manager))
        return MCPUMP_ERR_FORKED;
    if (!hold_all(manager, &rows, &count))
        return MCPUMP_ERR_NO_MEMORY;
    mcpump_manager_entry *entries = calloc(count > 0 ? count : 1, sizeof(*entries));
    bool has_memory = entries != NULL;
    for (size_t i = 0; i < count; i++) {
        if (has_memory) {
            entries[i].status.size = sizeof(entries[i].status);
            mcpump_server_get_status(rows[i].member->server, &entries[i].status);
            entries[i].name = strdup(rows[i].member->seat->name);
            has_memory = entries[i].name != NULL;
        }
        mp_member_unref(manager, rows[i].member);
    }
    free(rows);
    if (!has_memory) {
        mcpump_manager_entries_free(entries, count);
        return MCPUMP_ERR_NO_MEMORY;
    }
    *ret_entries = entries;
    *ret_count = count;
    return MCPUMP_OK;
}

void mcpump_manager_entries_free(mcpump_manager_entry *entries, size_t count)
{
    for (size_t i = 0; entries != NULL && i < count; i++)
        free(entries[i].name);
    free(entries);
}

/* -- interrupted */

void mcpump_manager_interrupt(mcpump_manager *manager)
{
    if (mp_manager_is_elsewhere(manager))
        return;
    mcpump_group_interrupt(manager->group);
    mp_events_interrupt(&manager->hub->events);
}

void mcpump_manager_clear_interrupt(mcpump_manager *manager)
{
    if (mp_manager_is_elsewhere(manager))
        return;
    mcpump_group_clear_interrupt(manager->group);
    mp_events_clear_interrupt(&manager->hub->events);
}

bool mcpump_manager_is_interrupted(const mcpump_manager *manager)
{
    return mcpump_group_is_interrupted(manager->group);
}

/* -- events */

mcpump_err mcpump_manager_next_event(mcpump_manager *manager, int64_t timeout_ms,
                                     mcpump_event **ret_event)
{
    if (manager == NULL || ret_event == NULL)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    if (mp_manager_is_elsewhere(manager))
        return MCPUMP_ERR_FORKED;
    return mp_events_take(&manager->hub->events, mp_deadline_after_ms(timeout_ms), ret_event);
}

int mcpump_manager_event_fd(const mcpump_manager *manager)
{
    return manager->hub->events.bell.fd;
}

/* -- shut down and freed */

/* Tells all members, also those that others are parting with. Does not wait. */
static void bring_all_down_locked(mcpump_manager *manager, bool hurry) MP_REQUIRES(&manager->lock)
{
    for (struct mp_member *member = manager->members; member != NULL; member = member->next) {
        mp_server_retire(member->server);
        member->down = mp_server_down(member->server, MCPUMP_SERVER_STOPPED, hurry);
    }
}

/* False: the deadline was first. A member that is held stays in the list. */
static bool await_all_down(mcpump_manager *manager, mp_deadline deadline)
{
    bool all_down = true;
    struct mp_member *next;
    mp_mutex_lock(&manager->lock);
    struct mp_member *member = manager->members;
    if (member != NULL)
        mp_member_ref_locked(manager, member);
    while (member != NULL) {
        uint64_t down = member->down;
        mp_mutex_unlock(&manager->lock);
        all_down &= mp_server_wait_down(member->server, down, deadline);
        mp_mutex_lock(&manager->lock);
        next = member->next;
        if (next != NULL)
            mp_member_ref_locked(manager, next);
        mp_mutex_unlock(&manager->lock);
        mp_member_unref(manager, member);
        mp_mutex_lock(&manager->lock);
        member = next;
    }
    mp_mutex_unlock(&manager->lock);
    return all_down;
}

mcpump_err mcpump_manager_shutdown(mcpump_manager *manager, int64_t timeout_ms)
{
    if (manager == NULL)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    if (mp_manager_is_elsewhere(manager))
        return MCPUMP_ERR_FORKED;
    mp_deadline deadline = mp_deadline_after_ms(timeout_ms);
    mp_mutex_lock(&manager->lock);
    manager->is_shut = true;
    bring_all_down_locked(manager, manager->shutdowns++ > 0);
    mp_mutex_unlock(&manager->lock);
    bool in_time = await_all_down(manager, deadline);
    if (!in_time) {
        mp_mutex_lock(&manager->lock);
        bring_all_down_locked(manager, true);
        mp_mutex_unlock(&manager->lock);
        await_all_down(manager, MP_NEVER); /* each is bounded once it has been killed */
    }
    mp_mutex_lock(&manager->lock);
    manager->shutdowns--;
    mp_mutex_unlock(&manager->lock);
    mp_events_close(&manager->hub->events);
    return in_time ? MCPUMP_OK : MCPUMP_ERR_TIMEOUT;
}

/* In a forked child: what was locked stays locked, and the memory goes with the child. Its copies
 * of the descriptors must go. */
static void abandon_copy(mcpump_manager *manager)
{
    for (size_t i = 0; i < manager->count; i++)
        mcpump_server_free(manager->places[i].member->server);
    mp_bell_done(&manager->hub->events.bell);
}

void mcpump_manager_free(mcpump_manager *manager)
{
    if (manager == NULL)
        return;
    if (mp_manager_is_elsewhere(manager)) {
        abandon_copy(manager);
        return;
    }
    mcpump_manager_shutdown(manager, MCPUMP_FOREVER);
    mp_events_clear(&manager->hub->events);
    for (size_t i = 0; i < manager->count; i++) {
        mp_member_unref(manager, manager->places[i].member);
        mp_member_unref(manager, manager->places[i].successor);
    }
    done_manager(manager);
}
