/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/pending.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "transport/outbox.h"
#include "wire/message_id.h"

#define FIRST_BUCKETS 64

static struct mp_entry *entry_new(uint32_t bed)
{
    struct mp_entry *entry = calloc(1, sizeof(*entry));
    if (entry == NULL)
        return NULL;
    mp_promise_init(&entry->done);
    entry->bed = bed;
    return entry;
}

static void entry_free(struct mp_entry *entry)
{
    mp_promise_done(&entry->done);
    mp_frame_free(entry->spare);
    free(entry);
}

void mp_pending_init(struct mp_pending *pending)
{
    memset(pending, 0, sizeof(*pending));
    mp_mutex_init(&pending->lock);
    pending->next_id = 1;
    atomic_init(&pending->alarm, MP_NEVER);
}

void mp_pending_done(struct mp_pending *pending)
{
    assert(pending->count == 0);
    while (pending->free != NULL) {
        struct mp_entry *entry = pending->free;
        pending->free = entry->next;
        entry_free(entry);
    }
    free(pending->buckets);
    mp_mutex_done(&pending->lock);
}

void mp_pending_accept(struct mp_pending *pending, bool accepting)
{
    mp_mutex_lock(&pending->lock);
    pending->accepting = accepting;
    pending->connection += accepting;
    mp_mutex_unlock(&pending->lock);
}

uint64_t mp_pending_connection(struct mp_pending *pending)
{
    mp_mutex_lock(&pending->lock);
    uint64_t connection = pending->connection;
    mp_mutex_unlock(&pending->lock);
    return connection;
}

static struct mp_entry **bucket_locked(struct mp_pending *pending, uint64_t id)
    MP_REQUIRES(&pending->lock)
{
    return &pending->buckets[id & (pending->bucket_count - 1)];
}

static void insert_locked(struct mp_pending *pending, struct mp_entry *entry)
    MP_REQUIRES(&pending->lock)
{
    struct mp_entry **bucket = bucket_locked(pending, entry->id);
    entry->next = *bucket;
    *bucket = entry;
}

static bool grow_locked(struct mp_pending *pending) MP_REQUIRES(&pending->lock)
{
    if (pending->count < pending->bucket_count)
        return true;
    size_t old_count = pending->bucket_count;
    struct mp_entry **old = pending->buckets;
    size_t new_count = old_count ? old_count * 2 : FIRST_BUCKETS;
    struct mp_entry **buckets = calloc(new_count, sizeof(struct mp_entry *));
    if (buckets == NULL)
        return old_count > 0; /* longer chains do as well */
    pending->buckets = buckets;
    pending->bucket_count = new_count;
    for (size_t i = 0; i < old_count; i++) {
        for (struct mp_entry *entry = old[i], *next; entry != NULL; entry = next) {
            next = entry->next;
            insert_locked(pending, entry);
        }
    }
    free(old);
    return true;
}

static struct mp_entry *obtain_locked(struct mp_pending *pending) MP_REQUIRES(&pending->lock)
{
    struct mp_entry *entry = pending->free;
    if (entry == NULL)
        return entry_new(UINT32_C(1) << pending->made++ % 32);
    pending->free = entry->next;
    return entry;
}

static mcpump_err register_locked(struct mp_pending *pending, uint64_t connection,
                                  struct mp_entry **ret_entry) MP_REQUIRES(&pending->lock)
{
    if (!pending->accepting || (connection != 0 && connection != pending->connection))
        return MCPUMP_ERR_CLOSED;
    if (!grow_locked(pending))
        return MCPUMP_ERR_NO_MEMORY;
    struct mp_entry *entry = obtain_locked(pending);
    if (entry == NULL)
        return MCPUMP_ERR_NO_MEMORY;
    /* 2^53 ids last for a hundred years at a million a second, so they need not wrap. */
    assert(pending->next_id <= MP_MESSAGE_ID_MAX);
    entry->id = pending->next_id++;
    *ret_entry = entry;
    return MCPUMP_OK;
}

mcpump_err mp_pending_register(struct mp_pending *pending,
                               const struct mp_registration *registration,
                               struct mp_entry **ret_entry)
{
    struct mp_entry *entry = NULL;
    mp_mutex_lock(&pending->lock);
    mcpump_err err = register_locked(pending, registration->connection, &entry);
    if (err == MCPUMP_OK) {
        entry->connection = pending->connection;
        entry->latch_count = registration->latch_count;
        entry->run = registration->run;
        entry->deadline = registration->deadline;
        entry->caller_id = registration->caller_id;
        entry->err = MCPUMP_OK;
        entry->reply = NULL;
        entry->replied_ns = registration->replied_ns;
        mp_promise_renew(&entry->done);
        insert_locked(pending, entry);
        entry->is_alone = pending->count++ == 0;
        *ret_entry = entry;
    }
    mp_mutex_unlock(&pending->lock);
    return err;
}

static struct mp_entry *remove_locked(struct mp_pending *pending, uint64_t id)
    MP_REQUIRES(&pending->lock)
{
    if (pending->bucket_count == 0)
        return NULL;
    for (struct mp_entry **link = bucket_locked(pending, id); *link != NULL;
         link = &(*link)->next) {
        struct mp_entry *entry = *link;
        if (entry->id != id)
            continue;
        *link = entry->next;
        pending->count--;
        return entry;
    }
    return NULL;
}

static void remember_given_up_locked(struct mp_pending *pending, uint64_t id)
    MP_REQUIRES(&pending->lock)
{
    pending->given_up[id % MP_PENDING_GIVEN_UP] = id;
}

static enum mp_stray judge_stray_locked(struct mp_pending *pending, uint64_t id)
    MP_REQUIRES(&pending->lock)
{
    if (id >= pending->next_id)
        return MP_STRAY_UNKNOWN;
    uint64_t *given_up = &pending->given_up[id % MP_PENDING_GIVEN_UP];
    if (*given_up != id)
        return MP_STRAY_DUPLICATE;
    *given_up = 0;
    return MP_STRAY_LATE;
}

struct mp_entry *mp_pending_take(struct mp_pending *pending, uint64_t id, enum mp_stray *ret_stray)
{
    mp_mutex_lock(&pending->lock);
    struct mp_entry *entry = remove_locked(pending, id);
    if (entry == NULL)
        *ret_stray = judge_stray_locked(pending, id);
    mp_mutex_unlock(&pending->lock);
    return entry;
}

bool mp_pending_give_up(struct mp_pending *pending, struct mp_entry *entry)
{
    mp_mutex_lock(&pending->lock);
    bool removed = remove_locked(pending, entry->id) != NULL;
    if (removed)
        remember_given_up_locked(pending, entry->id);
    mp_mutex_unlock(&pending->lock);
    return removed;
}

/* What is to go, and why. */
struct sweep {
    mcpump_err (*judge)(const struct mp_entry *entry, struct sweep *sweep); /* OK: it stays */
    const struct mp_latch *latch;
    int64_t now_ns;
    mp_deadline earliest; /* of those that stay */
    struct mp_entry *list;
};

static void sweep_bucket_locked(struct mp_pending *pending, struct mp_entry **link,
                                struct sweep *sweep) MP_REQUIRES(&pending->lock)
{
    while (*link != NULL) {
        struct mp_entry *entry = *link;
        mcpump_err err = sweep->judge(entry, sweep);
        if (err == MCPUMP_OK) {
            link = &entry->next;
            continue;
        }
        *link = entry->next;
        pending->count--;
        entry->err = err;
        entry->next_removed = sweep->list;
        sweep->list = entry;
        remember_given_up_locked(pending, entry->id);
    }
}

static void sweep_locked(struct mp_pending *pending, struct sweep *sweep)
    MP_REQUIRES(&pending->lock)
{
    for (size_t i = 0; pending->count > 0 && i < pending->bucket_count; i++)
        sweep_bucket_locked(pending, &pending->buckets[i], sweep);
}

/* The latch goes first: it stops everything. */
static mcpump_err judge_stopped(const struct mp_entry *entry, struct sweep *sweep)
{
    if (mp_latch_hits(sweep->latch, entry->latch_count))
        return MCPUMP_ERR_INTERRUPTED;
    return mp_run_is_cancelled(entry->run) ? MCPUMP_ERR_CANCELLED : MCPUMP_OK;
}

struct mp_entry *mp_pending_take_stopped(struct mp_pending *pending, const struct mp_latch *latch)
{
    struct sweep sweep = {.judge = judge_stopped, .latch = latch};
    mp_mutex_lock(&pending->lock);
    sweep_locked(pending, &sweep);
    mp_mutex_unlock(&pending->lock);
    return sweep.list;
}

bool mp_pending_set_alarm(struct mp_pending *pending, const struct mp_entry *entry)
{
    if (entry->deadline >= atomic_load(&pending->alarm))
        return false;
    mp_mutex_lock(&pending->lock);
    bool is_earlier = entry->deadline < atomic_load(&pending->alarm);
    if (is_earlier)
        atomic_store(&pending->alarm, entry->deadline);
    mp_mutex_unlock(&pending->lock);
    return is_earlier;
}

mp_deadline mp_pending_alarm(struct mp_pending *pending)
{
    return atomic_load(&pending->alarm);
}

static mcpump_err judge_late(const struct mp_entry *entry, struct sweep *sweep)
{
    if (entry->deadline <= sweep->now_ns)
        return MCPUMP_ERR_TIMEOUT;
    sweep->earliest = mp_deadline_earlier(sweep->earliest, entry->deadline);
    return MCPUMP_OK;
}

struct mp_entry *mp_pending_take_late(struct mp_pending *pending)
{
    struct sweep sweep = {.judge = judge_late, .now_ns = mp_now_ns(), .earliest = MP_NEVER};
    if (sweep.now_ns < atomic_load(&pending->alarm))
        return NULL;
    mp_mutex_lock(&pending->lock);
    sweep_locked(pending, &sweep);
    atomic_store(&pending->alarm, sweep.earliest);
    mp_mutex_unlock(&pending->lock);
    return sweep.list;
}

static mcpump_err judge_lost(const struct mp_entry *entry, struct sweep *sweep)
{
    (void)entry;
    (void)sweep;
    return MCPUMP_ERR_CLOSED;
}

struct mp_entry *mp_pending_take_all(struct mp_pending *pending)
{
    struct sweep sweep = {.judge = judge_lost};
    mp_mutex_lock(&pending->lock);
    sweep_locked(pending, &sweep);
    atomic_store(&pending->alarm, MP_NEVER);
    mp_mutex_unlock(&pending->lock);
    return sweep.list;
}

void mp_entry_complete(struct mp_entry *entry)
{
    entry->next_removed = NULL;
    mp_entry_complete_list(entry);
}

void mp_entry_complete_list(struct mp_entry *list)
{
    struct mp_wakes wakes = {NULL, 0};
    for (struct mp_entry *next; list != NULL; list = next) {
        next = list->next_removed;
        mp_promise_keep(&list->done, &wakes);
    }
    mp_wakes_send(&wakes);
}

bool mp_entry_wait(struct mp_entry *entry, mp_deadline deadline)
{
    return mp_promise_wait(&entry->done, (struct mp_patience){deadline, false});
}

bool mp_entry_is_done(struct mp_entry *entry)
{
    return mp_promise_is_kept(&entry->done);
}

void mp_pending_release(struct mp_pending *pending, struct mp_entry *entry)
{
    mp_mutex_lock(&pending->lock);
    entry->next = pending->free;
    pending->free = entry;
    mp_mutex_unlock(&pending->lock);
}

size_t mp_pending_count(struct mp_pending *pending)
{
    mp_mutex_lock(&pending->lock);
    size_t count = pending->count;
    mp_mutex_unlock(&pending->lock);
    return count;
}
