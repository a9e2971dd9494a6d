/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lists that a server allows to keep for a while. One is dropped when its time is over, when
 * the server says that it has changed, and with the connection. The lock is a leaf: it is held for
 * the copying of one list at most, also against the reader thread.
 */
#ifndef MP_MANAGER_LISTS_H
#define MP_MANAGER_LISTS_H

#include "base/sync.h"
#include "mcp/listing.h"

struct mp_kept_list {
    char *items; /* NULL: none */
    mp_deadline fresh_until;
    uint64_t changes; /* of what was known: one more, and what was asked for before is not kept */
};

struct mp_lists {
    struct mp_mutex lock;
    struct mp_kept_list kept[MP_LISTS]; /* protected by lock */
};

void mp_lists_init(struct mp_lists *lists);
void mp_lists_done(struct mp_lists *lists);

/* Returns new: a copy of what is kept and fresh; else NULL, and *ret_changes is for mp_lists_keep,
 * once the server has been asked. */
char *mp_lists_find(struct mp_lists *lists, enum mp_list list, uint64_t *ret_changes);

/* Keeps a copy, if it is fresh and nothing has changed since the look-up. */
void mp_lists_keep(struct mp_lists *lists, enum mp_list list, const struct mp_listed *listed,
                   uint64_t changes);

/* The server is started anew: nothing of the old one is kept, nor what is on its way. */
void mp_lists_forget(struct mp_lists *lists);

/* Drops what this notification says has changed. Reader thread. */
void mp_lists_notified(struct mp_lists *lists, const struct mp_envelope *notification);

#endif
