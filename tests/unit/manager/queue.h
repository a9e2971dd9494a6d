/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of events: a queue, servers that post to it, and what is taken out of it. */
#ifndef TEST_MANAGER_QUEUE_H
#define TEST_MANAGER_QUEUE_H

#include <poll.h>
#include <stdio.h>

#include "manager/asks.h"
#include "manager/event.h"
#include "support.h"

#define ALL                                                                                        \
    (MCPUMP_EVENT_STATE | MCPUMP_EVENT_NOTIFICATION | MCPUMP_EVENT_REQUEST | MCPUMP_EVENT_STDERR)
#define PLENTY  ((size_t)1 << 30)
#define SERVERS 3

struct stage {
    struct mp_hub *hub;
    struct mp_events *events;
    mcpump_server *servers[SERVERS]; /* "s0" and so on */
};

static inline void setup(struct stage *stage, size_t max_events, size_t max_bytes)
{
    struct mp_event_limits limits = {ALL, max_events, max_bytes};
    int err;
    stage->hub = mp_hub_new(&limits, 4, &err);
    cr_assert_not_null(stage->hub);
    stage->events = &stage->hub->events;
    for (int i = 0; i < SERVERS; i++) {
        char name[8];
        snprintf(name, sizeof(name), "s%d", i);
        stage->servers[i] = fake_server_new(stage->hub, name);
    }
}

static inline void teardown(struct stage *stage)
{
    mp_events_clear(stage->events);
    cr_expect_eq(stage->events->count, 0);
    cr_expect_eq(stage->events->bytes, 0);
    cr_expect_eq(stage->events->request_count, 0);
    cr_expect_null(stage->events->droppable.first);
    for (int i = 0; i < SERVERS; i++)
        fake_server_free(stage->servers[i]);
    mp_hub_unref(stage->hub);
}

static inline struct mp_event_source source_of(struct stage *stage, int number)
{
    return (struct mp_event_source){stage->servers[number], 7};
}

static inline struct mp_span span(const char *text)
{
    return (struct mp_span){text, strlen(text)};
}

static inline void notify(struct stage *stage, int number, const char *line)
{
    struct mp_envelope envelope;
    struct mp_event_source source = source_of(stage, number);
    mp_envelope_scan(span(line), &envelope);
    cr_assert_eq(envelope.kind, MP_KIND_NOTIFICATION, "%s", line);
    mp_events_post_notification(stage->events, &source, span(line), &envelope);
}

/* A notification that is known by its number. */
static inline void notify_number(struct stage *stage, int number)
{
    char line[96];
    snprintf(line, sizeof(line), "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":[%d]}", number);
    notify(stage, 0, line);
}

static inline void say(struct stage *stage, int number, const char *line)
{
    struct mp_event_source source = source_of(stage, number);
    mp_events_post_stderr(stage->events, &source, span(line));
}

static inline void state(struct stage *stage, int number, mcpump_server_state previous,
                         mcpump_server_state now)
{
    struct mp_event_source source = source_of(stage, number);
    mp_events_post_state(stage->events, &source, now, previous, NULL);
}

/* As the reader of a server does: asks, then posts. */
static inline struct mp_ask *request(struct stage *stage, int number, const char *line)
{
    struct mp_envelope envelope;
    struct mp_event_source source = source_of(stage, number);
    mp_envelope_scan(span(line), &envelope);
    cr_assert_eq(envelope.kind, MP_KIND_REQUEST, "%s", line);
    struct mp_ask *ask = mp_asks_add(&source.server->asks, envelope.id, MP_NEVER);
    if (ask == NULL)
        return NULL;
    if (mp_events_post_request(stage->events, &source, ask, span(line), &envelope))
        return ask;
    mp_asks_release(&source.server->asks, ask);
    return NULL;
}

static inline mcpump_event *take(struct stage *stage)
{
    mcpump_event *event = NULL;
    cr_assert_eq(mp_events_take(stage->events, mp_deadline_after_ms(0), &event), MCPUMP_OK);
    cr_assert_not_null(event);
    return event;
}

static inline void expect_params(struct stage *stage, const char *params, uint64_t dropped)
{
    size_t size;
    mcpump_event *event = take(stage);
    const char *found = mcpump_event_params(event, &size);
    cr_expect(size == strlen(params) && memcmp(found, params, size) == 0, "%.*s, not %s", (int)size,
              found, params);
    cr_expect_eq(mcpump_event_dropped(event), dropped, "%s: %d dropped", params,
                 (int)mcpump_event_dropped(event));
    mcpump_event_free(event);
}

static inline void expect_state(struct stage *stage, const char *name, mcpump_server_state previous,
                                mcpump_server_state now, uint64_t dropped)
{
    mcpump_event *event = take(stage);
    cr_expect_eq(mcpump_event_get_kind(event), MCPUMP_EVENT_STATE);
    cr_expect_str_eq(mcpump_event_server(event), name);
    cr_expect_eq(mcpump_event_previous_state(event), previous, "%s", name);
    cr_expect_eq(mcpump_event_state(event), now, "%s", name);
    cr_expect_eq(mcpump_event_dropped(event), dropped, "%s: %d dropped", name,
                 (int)mcpump_event_dropped(event));
    mcpump_event_free(event);
}

static inline void expect_empty(struct stage *stage)
{
    mcpump_event *event = NULL;
    cr_expect_eq(mp_events_take(stage->events, mp_deadline_after_ms(0), &event),
                 MCPUMP_ERR_TIMEOUT);
    cr_expect_null(event, "untouched");
}

static inline bool is_readable(struct stage *stage)
{
    struct pollfd fd = {stage->events->bell.fd, POLLIN, 0};
    return poll(&fd, 1, 0) == 1;
}

#define READY       MCPUMP_SERVER_READY
#define CONNECTING  MCPUMP_SERVER_CONNECTING
#define BACKING_OFF MCPUMP_SERVER_BACKING_OFF
#define IDLE        MCPUMP_SERVER_IDLE
#define STOPPED     MCPUMP_SERVER_STOPPED

#define CHANGED(of) "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/" of "/list_changed\"}"

/* -- requests: the servers have a transport that is not open */

static inline void give_transports(struct stage *stage)
{
    mcpump_transport_options options = MCPUMP_TRANSPORT_OPTIONS_INIT;
    options.command = "cat";
    for (int i = 0; i < SERVERS; i++) {
        mcpump_server *server = stage->servers[i];
        cr_assert_eq(mcpump_transport_new(&options, &server->transport, NULL), MCPUMP_OK);
        mp_asks_init(&server->asks, server->transport);
    }
}

static inline void take_transports(struct stage *stage)
{
    mp_events_clear(stage->events);
    for (int i = 0; i < SERVERS; i++) {
        cr_expect_eq(stage->servers[i]->asks.count, 0);
        cr_expect_eq(stage->servers[i]->refs, 1000000, "an event holds its server");
        mp_asks_done(&stage->servers[i]->asks);
        mcpump_transport_free(stage->servers[i]->transport);
    }
}

#define REQUEST "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"roots/list\"}"

#endif
