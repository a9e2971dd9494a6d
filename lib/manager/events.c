/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue is a list of all events and a list of those that give way, both linked both ways, and
 * each seat knows which of its events are to be joined: nothing is searched for.
 *
 * Who takes sleeps in poll, since an interrupt may come out of a signal handler, which can ring
 * bells only.
 */
#include "manager/events.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "manager/asks.h"
#include "manager/event.h"
#include "manager/server.h"

int mp_events_init(struct mp_events *events, const struct mp_event_limits *limits)
{
    memset(events, 0, sizeof(*events));
    events->limits = *limits;
    int err = mp_bell_init(&events->bell);
    if (err != 0)
        return err;
    mp_board_init(&events->takers);
    mp_mutex_init(&events->lock);
    return 0;
}

void mp_events_done(struct mp_events *events)
{
    assert(events->all.first == NULL);
    mp_mutex_done(&events->lock);
    mp_board_done(&events->takers);
    mp_bell_done(&events->bell);
}

/* -- the bell */

static bool has_to_ring(const struct mp_events *events)
{
    return atomic_load(&events->has_events) || atomic_load(&events->is_closed) ||
           mp_latch_is_set(&events->latch);
}

/* Silences the bell when there is nothing to ring for. Who has something stores first and rings
 * then: either it is seen here, or its ring comes after this. Async-signal-safe. */
static void settle_bell(const struct mp_events *events)
{
    if (has_to_ring(events))
        return;
    mp_bell_hear(&events->bell);
    if (has_to_ring(events))
        mp_bell_ring(&events->bell);
}

/* -- the lists */

static void link_last(struct mp_event_list *list, mcpump_event *event,
                      struct mp_event_links *(*links_of)(mcpump_event *event))
{
    *links_of(event) = (struct mp_event_links){list->last, NULL};
    *(list->last != NULL ? &links_of(list->last)->next : &list->first) = event;
    list->last = event;
}

static void unlink_event(struct mp_event_list *list, mcpump_event *event,
                         struct mp_event_links *(*links_of)(mcpump_event *event))
{
    struct mp_event_links *links = links_of(event);
    *(links->prev != NULL ? &links_of(links->prev)->next : &list->first) = links->next;
    *(links->next != NULL ? &links_of(links->next)->prev : &list->last) = links->prev;
    *links = (struct mp_event_links){NULL, NULL};
}

static struct mp_event_links *in_all(mcpump_event *event)
{
    return &event->all;
}

static struct mp_event_links *in_droppable(mcpump_event *event)
{
    return &event->droppable;
}

static void append_locked(struct mp_events *events, mcpump_event *event) MP_REQUIRES(&events->lock)
{
    bool was_empty = events->all.first == NULL;
    link_last(&events->all, event, in_all);
    if (event->gives_way)
        link_last(&events->droppable, event, in_droppable);
    if (event->kind == MCPUMP_EVENT_REQUEST) {
        events->request_count++;
        event->seat->requests++;
    }
    event->dropped = events->dropped;
    events->dropped = 0;
    events->count++;
    events->bytes += event->size;
    if (!was_empty)
        return;
    atomic_store(&events->has_events, true);
    mp_bell_ring(&events->bell);
}

/* Also makes the seat forget it. */
static void take_out_locked(struct mp_events *events, mcpump_event *event)
    MP_REQUIRES(&events->lock)
{
    struct mp_seat *seat = event->seat;
    unlink_event(&events->all, event, in_all);
    if (event->gives_way)
        unlink_event(&events->droppable, event, in_droppable);
    if (event->kind == MCPUMP_EVENT_REQUEST) {
        events->request_count--;
        seat->requests--;
    }
    if (seat->state == event)
        seat->state = NULL;
    if (event->change != MP_NO_CHANGE && seat->changed[event->change] == event)
        seat->changed[event->change] = NULL;
    events->count--;
    events->bytes -= event->size;
    if (events->all.first == NULL)
        atomic_store(&events->has_events, false);
}

/* Takes it out, and counts it in what follows. */
static void drop_locked(struct mp_events *events, mcpump_event *event) MP_REQUIRES(&events->lock)
{
    mcpump_event *next = event->all.next;
    *(next != NULL ? &next->dropped : &events->dropped) += event->dropped + 1;
    take_out_locked(events, event);
}

static bool fits_locked(const struct mp_events *events, size_t size) MP_REQUIRES(&events->lock)
{
    const struct mp_event_limits *limits = &events->limits;
    return events->count < limits->max_events && size <= limits->max_bytes &&
           events->bytes <= limits->max_bytes - size;
}

/* Drops the oldest of what gives way until there is room. False: it was not enough. */
static bool make_room_locked(struct mp_events *events, size_t size) MP_REQUIRES(&events->lock)
{
    while (!fits_locked(events, size)) {
        mcpump_event *oldest = events->droppable.first;
        if (oldest == NULL)
            return false;
        drop_locked(events, oldest);
        mcpump_event_free(oldest); /* holds no server: only memory is given back */
    }
    return true;
}

/* -- posting */

/* What gives way itself. Takes the event; NULL: there was no memory for it. */
static void post_droppable(struct mp_events *events, mcpump_event *event)
{
    mp_mutex_lock(&events->lock);
    bool is_in = event != NULL && !atomic_load(&events->is_closed) &&
                 event->size <= events->limits.max_bytes && make_room_locked(events, event->size);
    if (is_in) {
        event->gives_way = true;
        append_locked(events, event);
        if (event->change != MP_NO_CHANGE)
            event->seat->changed[event->change] = event;
    } else {
        events->dropped++;
    }
    mp_mutex_unlock(&events->lock);
    if (!is_in)
        mcpump_event_free(event);
}

static int change_of(const struct mp_envelope *envelope)
{
    static const char *const methods[MP_CHANGES] = {
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
    };
    for (int i = 0; i < MP_CHANGES; i++) {
        if (mp_envelope_is_method(envelope, methods[i]))
            return i;
    }
    return MP_NO_CHANGE;
}

/* Whether the queue tells of this change already. */
static bool is_told(struct mp_events *events, const struct mp_event_source *source, int change,
                    struct mp_span params)
{
    if (change == MP_NO_CHANGE)
        return false;
    mp_mutex_lock(&events->lock);
    const mcpump_event *same = source->server->owner.seat->changed[change];
    bool is_same = same != NULL && same->generation == source->generation &&
                   same->params.size == params.size &&
                   (params.size == 0 || memcmp(same->params.bytes, params.bytes, params.size) == 0);
    mp_mutex_unlock(&events->lock);
    return is_same;
}

void mp_events_post_notification(struct mp_events *events, const struct mp_event_source *source,
                                 struct mp_span line, const struct mp_envelope *envelope)
{
    int change = change_of(envelope);
    if (is_told(events, source, change, envelope->params))
        return;
    mcpump_event *event = mp_event_new_text(MCPUMP_EVENT_NOTIFICATION, source, line, envelope);
    if (event != NULL)
        event->change = change;
    post_droppable(events, event);
}

void mp_events_post_stderr(struct mp_events *events, const struct mp_event_source *source,
                           struct mp_span line)
{
    post_droppable(events, mp_event_new_text(MCPUMP_EVENT_STDERR, source, line, NULL));
}

/* Lets the last state of the same server tell the new one too. It stays where it is: all that came
 * behind it and could give way has done so. */
static void join_states_locked(struct mp_events *events, mcpump_event *last,
                               const struct mp_event_source *source, mcpump_server_state state,
                               mcpump_failure *failure) MP_REQUIRES(&events->lock)
{
    last->state = state;
    last->generation = source->generation;
    events->bytes -= last->size;
    mp_event_set_failure(last, failure);
    events->bytes += last->size;
}

/* Takes the event and returns it if it was not put in. */
static mcpump_event *post_state_locked(struct mp_events *events, mcpump_event *event,
                                       const struct mp_event_source *source,
                                       mcpump_server_state state) MP_REQUIRES(&events->lock)
{
    struct mp_seat *seat = source->server->owner.seat;
    bool has_room = event != NULL && make_room_locked(events, event->size);
    if (!has_room && seat->state != NULL) {
        mcpump_failure *failure = event != NULL ? event->failure : NULL;
        if (event != NULL)
            event->failure = NULL;
        join_states_locked(events, seat->state, source, state, failure);
        return event;
    }
    if (event == NULL) {
        events->dropped++;
        return NULL;
    }
    event->gives_way = seat->is_retired;
    append_locked(events, event);
    seat->state = event;
    return NULL;
}

void mp_events_post_state(struct mp_events *events, const struct mp_event_source *source,
                          mcpump_server_state state, mcpump_server_state previous,
                          const mcpump_failure *failure)
{
    mcpump_event *event = mp_event_new_state(source, failure);
    if (event != NULL) {
        event->state = state;
        event->previous = previous;
    }
    mp_mutex_lock(&events->lock);
    if (!atomic_load(&events->is_closed))
        event = post_state_locked(events, event, source, state);
    mp_mutex_unlock(&events->lock);
    mcpump_event_free(event);
}

/* One fits always, however large: it is bounded by the longest message. */
static bool has_room_for_request_locked(struct mp_events *events, const mcpump_event *event)
    MP_REQUIRES(&events->lock)
{
    const struct mp_seat *seat = event->seat;
    if (atomic_load(&events->is_closed) || seat->is_retired || seat->requests >= MP_ASKS_MOST)
        return false;
    return make_room_locked(events, event->size) || events->request_count == 0;
}

bool mp_events_post_request(struct mp_events *events, const struct mp_event_source *source,
                            struct mp_ask *ask, struct mp_span line,
                            const struct mp_envelope *envelope)
{
    mcpump_event *event = mp_event_new_text(MCPUMP_EVENT_REQUEST, source, line, envelope);
    if (event == NULL)
        return false;
    mp_mutex_lock(&events->lock);
    bool is_in = has_room_for_request_locked(events, event);
    if (is_in) {
        event->server = mp_server_ref(source->server);
        event->ask = ask;
        append_locked(events, event);
    }
    mp_mutex_unlock(&events->lock);
    if (!is_in)
        mcpump_event_free(event);
    return is_in;
}

/* -- taking */

static mcpump_event *take_first(struct mp_events *events)
{
    mp_mutex_lock(&events->lock);
    mcpump_event *event = events->all.first;
    if (event != NULL)
        take_out_locked(events, event);
    mp_mutex_unlock(&events->lock);
    settle_bell(events);
    return event;
}

/* Sleeps until a bell rings or the deadline. `own` rings with an interrupt, also one that is
 * cleared before we run: the common bell is silent again then. */
static void wait_for_ring(const struct mp_events *events, const struct mp_bell *own,
                          mp_deadline deadline)
{
    struct pollfd fds[] = {{events->bell.fd, POLLIN, 0}, {own->fd, POLLIN, 0}};
    poll(fds, 2, mp_deadline_poll_ms(deadline));
}

/* Why nothing is to be waited for; OK: something may come. */
static mcpump_err cause_to_end(const struct mp_events *events, uint64_t latch_count,
                               mp_deadline deadline)
{
    if (atomic_load(&events->is_closed)) /* for good, which an interrupt is not */
        return MCPUMP_ERR_CLOSED;
    if (mp_latch_hits(&events->latch, latch_count))
        return MCPUMP_ERR_INTERRUPTED;
    return mp_deadline_passed(deadline) ? MCPUMP_ERR_TIMEOUT : MCPUMP_OK;
}

/* The cause is looked at first: behind a close, nothing comes that this does not find. Gives an
 * event, or an error why there is none, or neither: OK and NULL. */
static mcpump_err try_to_take(struct mp_events *events, uint64_t latch_count, mp_deadline deadline,
                              mcpump_event **ret_event)
{
    mcpump_err err = cause_to_end(events, latch_count, deadline);
    *ret_event = take_first(events);
    return *ret_event != NULL ? MCPUMP_OK : err;
}

/* Joins the board first, then looks: an interrupt is either seen or rung. */
static mcpump_err wait_and_take(struct mp_events *events, uint64_t latch_count,
                                mp_deadline deadline, mcpump_event **ret_event)
{
    struct mp_bell own;
    mcpump_err err;
    int state = mp_cancel_disable();
    /* Without a bell of its own, or a place for it, an interrupt that is cleared at once may go
     * unheard; all others ring the common one. */
    bool is_joined = mp_bell_init(&own) == 0 && mp_board_join(&events->takers, &own);
    while ((err = try_to_take(events, latch_count, deadline, ret_event)) == MCPUMP_OK &&
           *ret_event == NULL)
        wait_for_ring(events, &own, deadline);
    if (is_joined)
        mp_board_leave(&events->takers, &own);
    mp_bell_done(&own);
    mp_cancel_restore(state);
    return err;
}

mcpump_err mp_events_take(struct mp_events *events, mp_deadline deadline, mcpump_event **ret_event)
{
    mcpump_event *event;
    uint64_t latch_count = mp_latch_count(&events->latch);
    mcpump_err err = try_to_take(events, latch_count, deadline, &event);
    if (err == MCPUMP_OK && event == NULL)
        err = wait_and_take(events, latch_count, deadline, &event);
    if (err == MCPUMP_OK)
        *ret_event = event;
    return err;
}

static void ring(void *bell)
{
    mp_bell_ring(bell);
}

void mp_events_interrupt(struct mp_events *events)
{
    mp_latch_set(&events->latch);
    mp_bell_ring(&events->bell);
    mp_board_visit(&events->takers, ring);
}

void mp_events_clear_interrupt(struct mp_events *events)
{
    mp_latch_clear(&events->latch);
    settle_bell(events);
}

/* -- the end */

/* Requests are taken out, into a list of their own; states become such as give way. That list is
 * made anew, since it keeps the order of the queue. */
static mcpump_event *retire_locked(struct mp_events *events, struct mp_seat *seat)
    MP_REQUIRES(&events->lock)
{
    mcpump_event *requests = NULL, *next;
    seat->is_retired = true;
    events->droppable = (struct mp_event_list){NULL, NULL};
    for (mcpump_event *event = events->all.first; event != NULL; event = next) {
        next = event->all.next;
        if (event->seat == seat && event->kind == MCPUMP_EVENT_REQUEST) {
            drop_locked(events, event);
            event->all.next = requests;
            requests = event;
            continue;
        }
        event->gives_way |= event->seat == seat;
        if (event->gives_way)
            link_last(&events->droppable, event, in_droppable);
    }
    return requests;
}

static void free_list(mcpump_event *list)
{
    while (list != NULL) {
        mcpump_event *next = list->all.next;
        mcpump_event_free(list);
        list = next;
    }
}

void mp_events_retire(struct mp_events *events, struct mp_seat *seat)
{
    mp_mutex_lock(&events->lock);
    mcpump_event *requests = retire_locked(events, seat);
    mp_mutex_unlock(&events->lock);
    settle_bell(events);
    free_list(requests);
}

void mp_events_close(struct mp_events *events)
{
    mp_mutex_lock(&events->lock);
    atomic_store(&events->is_closed, true);
    mp_mutex_unlock(&events->lock);
    mp_bell_ring(&events->bell);
}

void mp_events_clear(struct mp_events *events)
{
    mcpump_event *event;
    while ((event = take_first(events)) != NULL)
        mcpump_event_free(event);
}
