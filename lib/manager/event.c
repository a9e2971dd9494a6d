/* SPDX-License-Identifier: Apache-2.0 */
/* Events one by one: made by who posts, read and answered by the host. events.c is the queue. */
#include "manager/event.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "manager/asks.h"
#include "manager/server.h"
#include "transport/failure.h"
#include "wire/member.h"
#include "wire/scan.h"

#define SUBSCRIPTION_KEY "io.modelcontextprotocol/subscriptionId"

/* -- made */

static mcpump_event *new_event(mcpump_event_kind kind, const struct mp_event_source *source,
                               size_t text_size)
{
    mcpump_event *event = malloc(sizeof(*event) + text_size);
    if (event == NULL)
        return NULL;
    *event = (struct mcpump_event){
        .kind = kind,
        .generation = source->generation,
        .seat = mp_seat_ref(source->server->owner.seat),
        .size = sizeof(*event) + text_size,
        .method = "",
        .subscription = "",
        .change = MP_NO_CHANGE,
    };
    return event;
}

static size_t failure_size(const mcpump_failure *failure)
{
    if (failure == NULL)
        return 0;
    return strlen(mcpump_failure_message(failure)) + strlen(mcpump_failure_stderr(failure));
}

void mp_event_set_failure(mcpump_event *event, mcpump_failure *failure)
{
    event->size += failure_size(failure) - failure_size(event->failure);
    mcpump_failure_free(event->failure);
    event->failure = failure;
}

mcpump_event *mp_event_new_state(const struct mp_event_source *source,
                                 const mcpump_failure *failure)
{
    mcpump_event *event = new_event(MCPUMP_EVENT_STATE, source, 0);
    if (event != NULL)
        mp_event_set_failure(event, mp_failure_clone(failure));
    return event;
}

/* Moves *at behind the copy and its NUL. */
static char *copy_text(char **at, struct mp_span text)
{
    char *copy = *at;
    if (text.size > 0)
        memcpy(copy, text.bytes, text.size);
    copy[text.size] = '\0';
    *at += text.size + 1;
    return copy;
}

static struct mp_span subscription_of(const struct mp_envelope *envelope)
{
    struct mp_span id = {NULL, 0};
    if (envelope->meta.bytes != NULL)
        mp_member_find(envelope->meta, SUBSCRIPTION_KEY, &id);
    return id;
}

mcpump_event *mp_event_new_text(mcpump_event_kind kind, const struct mp_event_source *source,
                                struct mp_span line, const struct mp_envelope *envelope)
{
    struct mp_span method = {NULL, 0}, subscription = {NULL, 0}, params = {NULL, 0};
    if (envelope != NULL) {
        method = envelope->method;
        params = envelope->params;
        subscription = subscription_of(envelope);
    }
    size_t size = line.size + method.size + subscription.size + 3;
    mcpump_event *event = new_event(kind, source, size);
    if (event == NULL)
        return NULL;
    char *at = (char *)(event + 1);
    event->text = (struct mp_span){copy_text(&at, line), line.size};
    event->method = copy_text(&at, method);
    event->subscription = copy_text(&at, subscription);
    if (params.bytes != NULL)
        event->params =
            (struct mp_span){event->text.bytes + (params.bytes - line.bytes), params.size};
    return event;
}

void mcpump_event_free(mcpump_event *event)
{
    if (event == NULL)
        return;
    mcpump_server *server = event->server;
    if (event->ask != NULL && !mp_transport_is_elsewhere(server->transport))
        mp_asks_release(&server->asks, event->ask);
    mcpump_server_free(server);
    mcpump_failure_free(event->failure);
    mp_seat_unref(event->seat);
    free(event);
}

/* -- read */

mcpump_event_kind mcpump_event_get_kind(const mcpump_event *event)
{
    return event->kind;
}

const char *mcpump_event_server(const mcpump_event *event)
{
    return event->seat->name;
}

uint64_t mcpump_event_generation(const mcpump_event *event)
{
    return event->generation;
}

uint64_t mcpump_event_dropped(const mcpump_event *event)
{
    return event->dropped;
}

mcpump_server_state mcpump_event_state(const mcpump_event *event)
{
    return event->state;
}

mcpump_server_state mcpump_event_previous_state(const mcpump_event *event)
{
    return event->previous;
}

const mcpump_failure *mcpump_event_failure(const mcpump_event *event)
{
    return event->failure;
}

const char *mcpump_event_method(const mcpump_event *event)
{
    return event->method;
}

static const char *give(struct mp_span text, size_t *ret_size)
{
    if (ret_size != NULL)
        *ret_size = text.size;
    return text.bytes;
}

const char *mcpump_event_text(const mcpump_event *event, size_t *ret_size)
{
    const struct mp_span nothing = {"", 0};
    return give(event->text.bytes != NULL ? event->text : nothing, ret_size);
}

const char *mcpump_event_params(const mcpump_event *event, size_t *ret_size)
{
    return give(event->params, ret_size);
}

const char *mcpump_event_subscription(const mcpump_event *event)
{
    return event->subscription;
}

/* -- answered */

static bool is_one_value(const char *text)
{
    const char *end = text + strlen(text);
    const char *at = mp_scan_value(mp_scan_space(text, end), end, MP_JSON_MAX_DEPTH - 1);
    return at != NULL && mp_scan_space(at, end) == end;
}

mcpump_err mcpump_event_respond(mcpump_event *event, const char *result, int code,
                                const char *message)
{
    if (event == NULL || event->kind != MCPUMP_EVENT_REQUEST || (result == NULL && message == NULL))
        return MCPUMP_ERR_INVALID_ARGUMENT;
    if (result != NULL && !is_one_value(result))
        return MCPUMP_ERR_INVALID_REQUEST;
    if (mp_transport_is_elsewhere(event->server->transport))
        return MCPUMP_ERR_FORKED;
    return mp_asks_answer(&event->server->asks, event->ask, result, code, message);
}
