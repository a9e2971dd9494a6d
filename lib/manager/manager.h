/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a manager, for the files of this room: manager.c keeps the set, changes.c changes
 * it, apply.c makes it what a configuration says.
 *
 * A *member* is a server with its seat. A *place* is a name of the set; its member is what callers
 * find there. While a member is being replaced, it stays in its place until its process is gone,
 * and the successor stands behind it.
 */
#ifndef MP_MANAGER_MANAGER_H
#define MP_MANAGER_MANAGER_H

#include "manager/seat.h"
#include "manager/server.h"
#include "mcpump/manager.h"
#include "mcpump/run.h"

struct mp_member {
    /* -- immutable */
    struct mp_seat *seat;
    mcpump_server *server; /* held */
    char *cwd;             /* of its options, may be NULL */
    /* -- protected by the manager's lock */
    int refs; /* its place, and who is about to stop it */
    bool is_eager;
    uint64_t down;                 /* what mp_server_down said last */
    struct mp_member *prev, *next; /* all members of the manager, until they are freed */
};

struct mp_place {
    uint64_t number; /* in which order they were added */
    struct mp_member *member;
    struct mp_member *successor; /* NULL: none */
};

struct mcpump_manager {
    /* -- immutable */
    uint64_t home; /* the process it was made in */
    struct mp_hub *hub;
    mcpump_group *group; /* the latch over all transports */
    int64_t request_timeout_ms;

    struct mp_mutex lock;
    /* -- protected by lock */
    struct mp_place *places; /* sorted by name */
    size_t count, capacity;
    uint64_t next_number;
    struct mp_member *members;
    bool is_shut;  /* nothing is added any more */
    int shutdowns; /* threads in mcpump_manager_shutdown */
};

/* How a server is to be run, for mp_member_new. */
struct mp_wish {
    const char *name;
    const mcpump_server_options *options;
    bool is_eager;
};

bool mp_manager_is_elsewhere(const mcpump_manager *manager);

/* Fails; `name` is that of a server, or NULL. */
mcpump_err mp_manager_fail(mcpump_err err, const char *name, const char *words,
                           mcpump_failure **ret_failure);

/* -- members: changes.c */

/* *ret_member is new, held once, in no place yet. Errors as for mcpump_manager_add. */
mcpump_err mp_member_new(mcpump_manager *manager, const struct mp_wish *wish,
                         struct mp_member **ret_member, mcpump_failure **ret_failure);
struct mp_member *mp_member_ref_locked(mcpump_manager *manager, struct mp_member *member)
    MP_REQUIRES(&manager->lock);
/* Not with a lock: the last one frees the server. NULL is allowed. */
void mp_member_unref(mcpump_manager *manager, struct mp_member *member);

/* Starts it if it is eager; one that somebody has parted with since is none to be started. Errors
 * as for mcpump_server_start but NOT_OPEN. */
mcpump_err mp_member_begin(const struct mp_member *member, bool is_eager,
                           mcpump_failure **ret_failure);

/*
 * Parts with members that were taken out of their places, or have a successor, who then takes the
 * place and is started if it is eager: stops all of them, side by side, and waits for that. Gives
 * the references back. Returns the first error of a start.
 */
mcpump_err mp_manager_part_with(mcpump_manager *manager, struct mp_member **members, size_t count,
                                mcpump_failure **ret_failure);

/* Lets a successor, which it takes, stand behind the place's member; or takes the place away. The
 * caller parts with those that have to go: their number, at most 2. */
size_t mp_place_replace_locked(mcpump_manager *manager, struct mp_place *place,
                               struct mp_member *successor, struct mp_member **ret_gone)
    MP_REQUIRES(&manager->lock);
size_t mp_place_clear_locked(mcpump_manager *manager, struct mp_place *place,
                             struct mp_member **ret_gone) MP_REQUIRES(&manager->lock);

/* -- places: manager.c */

/* The place of that name, or NULL. */
struct mp_place *mp_place_find_locked(mcpump_manager *manager, const char *name)
    MP_REQUIRES(&manager->lock);

/* Makes room for so many more. False: no memory. */
bool mp_places_reserve_locked(mcpump_manager *manager, size_t more) MP_REQUIRES(&manager->lock);

/* Makes a place for the member, which it takes; there is none of its name, and there is room. */
void mp_place_add_locked(mcpump_manager *manager, struct mp_member *member)
    MP_REQUIRES(&manager->lock);

/* Takes the place away; its member and its successor are the caller's then. */
void mp_place_remove_locked(mcpump_manager *manager, struct mp_place *place)
    MP_REQUIRES(&manager->lock);

#endif
