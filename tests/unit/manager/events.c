/* SPDX-License-Identifier: Apache-2.0 */
/* The event queue, with servers that are none. */
#include "manager/events.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>

#include "manager/asks.h"
#include "manager/event.h"
#include "support.h"
#include "transport/failure.h"

#define ALL                                                                                        \
    (MCPUMP_EVENT_STATE | MCPUMP_EVENT_NOTIFICATION | MCPUMP_EVENT_REQUEST | MCPUMP_EVENT_STDERR)
#define PLENTY  ((size_t)1 << 30)
#define SERVERS 3

struct stage {
    struct mp_hub *hub;
    struct mp_events *events;
    mcpump_server *servers[SERVERS]; /* "s0" and so on */
};

static void setup(struct stage *stage, size_t max_events, size_t max_bytes)
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

static void teardown(struct stage *stage)
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

static struct mp_event_source source_of(struct stage *stage, int number)
{
    return (struct mp_event_source){stage->servers[number], 7};
}

static struct mp_span span(const char *text)
{
    return (struct mp_span){text, strlen(text)};
}

static void notify(struct stage *stage, int number, const char *line)
{
    struct mp_envelope envelope;
    struct mp_event_source source = source_of(stage, number);
    mp_envelope_scan(span(line), &envelope);
    cr_assert_eq(envelope.kind, MP_KIND_NOTIFICATION, "%s", line);
    mp_events_post_notification(stage->events, &source, span(line), &envelope);
}

/* A notification that is known by its number. */
static void notify_number(struct stage *stage, int number)
{
    char line[96];
    snprintf(line, sizeof(line), "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":[%d]}", number);
    notify(stage, 0, line);
}

static void say(struct stage *stage, int number, const char *line)
{
    struct mp_event_source source = source_of(stage, number);
    mp_events_post_stderr(stage->events, &source, span(line));
}

static void state(struct stage *stage, int number, mcpump_server_state previous,
                  mcpump_server_state now)
{
    struct mp_event_source source = source_of(stage, number);
    mp_events_post_state(stage->events, &source, now, previous, NULL);
}

/* As the reader of a server does: asks, then posts. */
static struct mp_ask *request(struct stage *stage, int number, const char *line)
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

static mcpump_event *take(struct stage *stage)
{
    mcpump_event *event = NULL;
    cr_assert_eq(mp_events_take(stage->events, mp_deadline_after_ms(0), &event), MCPUMP_OK);
    cr_assert_not_null(event);
    return event;
}

static void expect_params(struct stage *stage, const char *params, uint64_t dropped)
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

static void expect_state(struct stage *stage, const char *name, mcpump_server_state previous,
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

static void expect_empty(struct stage *stage)
{
    mcpump_event *event = NULL;
    cr_expect_eq(mp_events_take(stage->events, mp_deadline_after_ms(0), &event),
                 MCPUMP_ERR_TIMEOUT);
    cr_expect_null(event, "untouched");
}

static bool is_readable(struct stage *stage)
{
    struct pollfd fd = {stage->events->bell.fd, POLLIN, 0};
    return poll(&fd, 1, 0) == 1;
}

#define READY       MCPUMP_SERVER_READY
#define CONNECTING  MCPUMP_SERVER_CONNECTING
#define BACKING_OFF MCPUMP_SERVER_BACKING_OFF
#define IDLE        MCPUMP_SERVER_IDLE
#define STOPPED     MCPUMP_SERVER_STOPPED

/* -- what an event tells */

Test(events, a_notification_tells_all_of_it)
{
    static const char line[] =
        "{\"jsonrpc\":\"2.0\",\"method\":\"a\\u002fb\",\"params\":{\"x\":1,\"_meta\":{"
        "\"io.modelcontextprotocol/subscriptionId\":\"s \\\"1\"}}}";
    struct stage stage;
    size_t size;
    setup(&stage, 10, PLENTY);
    notify(&stage, 1, line);
    mcpump_event *event = take(&stage);
    cr_expect_eq(mcpump_event_get_kind(event), MCPUMP_EVENT_NOTIFICATION);
    cr_expect_str_eq(mcpump_event_server(event), "s1");
    cr_expect_eq(mcpump_event_generation(event), 7);
    cr_expect_eq(mcpump_event_dropped(event), 0);
    cr_expect_str_eq(mcpump_event_method(event), "a\\u002fb");
    cr_expect_str_eq(mcpump_event_text(event, &size), line);
    cr_expect_eq(size, sizeof(line) - 1);
    cr_expect_str_eq(mcpump_event_text(event, NULL), line);
    const char *params = mcpump_event_params(event, &size);
    cr_expect_eq(size, strlen(params) - 1, "up to the last brace");
    cr_expect_eq(strncmp(params, "{\"x\":1,", 7), 0);
    cr_expect_str_eq(mcpump_event_subscription(event), "\"s \\\"1\"");
    cr_expect_null(mcpump_event_failure(event));
    cr_expect_eq(mcpump_event_respond(event, "{}", 0, NULL), MCPUMP_ERR_INVALID_ARGUMENT);
    mcpump_event_free(event);
    teardown(&stage);
}

Test(events, what_is_not_there_is_empty)
{
    static const char *const lines[] = {
        "{\"jsonrpc\":\"2.0\",\"method\":\"n\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{\"_meta\":[1]}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{\"_meta\":{\"subscriptionId\":1}}}",
    };
    struct stage stage;
    size_t size = 99;
    setup(&stage, 10, PLENTY);
    for (size_t i = 0; i < LENGTH(lines); i++)
        notify(&stage, 0, lines[i]);
    say(&stage, 2, "[s2] words");
    mcpump_event *event = take(&stage);
    cr_expect_null(mcpump_event_params(event, &size));
    cr_expect_eq(size, 0);
    mcpump_event_free(event);
    for (size_t i = 1; i < LENGTH(lines); i++) {
        event = take(&stage);
        cr_expect_str_eq(mcpump_event_subscription(event), "");
        mcpump_event_free(event);
    }
    event = take(&stage);
    cr_expect_eq(mcpump_event_get_kind(event), MCPUMP_EVENT_STDERR);
    cr_expect_str_eq(mcpump_event_server(event), "s2");
    cr_expect_str_eq(mcpump_event_text(event, NULL), "[s2] words");
    cr_expect_str_eq(mcpump_event_method(event), "");
    cr_expect_null(mcpump_event_params(event, NULL));
    mcpump_event_free(event);
    state(&stage, 0, IDLE, CONNECTING);
    event = take(&stage);
    cr_expect_str_eq(mcpump_event_text(event, &size), "");
    cr_expect_eq(size, 0);
    mcpump_event_free(event);
    mcpump_event_free(NULL);
    teardown(&stage);
}

Test(events, a_state_has_a_failure_of_its_own)
{
    struct stage stage;
    setup(&stage, 10, PLENTY);
    struct mp_failure_facts facts = {.name = "s0", .err = MCPUMP_ERR_CLOSED};
    mcpump_failure *failure = mp_failure_new(&facts, strdup("its words\n"));
    struct mp_event_source source = source_of(&stage, 0);
    mp_events_post_state(stage.events, &source, BACKING_OFF, READY, failure);
    mcpump_failure_free(failure);
    mcpump_event *event = take(&stage);
    cr_assert_not_null(mcpump_event_failure(event));
    cr_expect_eq(mcpump_failure_error(mcpump_event_failure(event)), MCPUMP_ERR_CLOSED);
    cr_expect_str_eq(mcpump_failure_stderr(mcpump_event_failure(event)), "its words\n");
    mcpump_event_free(event);
    teardown(&stage);
}

/* It is told by what it holds: the manager and the queue may be gone. */
Test(events, an_event_outlives_the_queue)
{
    struct stage stage;
    setup(&stage, 10, PLENTY);
    notify_number(&stage, 5);
    mcpump_event *event = take(&stage);
    teardown(&stage);
    cr_expect_str_eq(mcpump_event_server(event), "s0");
    mcpump_event_free(event);
}

/* -- order and dropping */

Test(events, come_in_order)
{
    struct stage stage;
    setup(&stage, 10, PLENTY);
    notify_number(&stage, 1);
    state(&stage, 0, IDLE, CONNECTING);
    notify_number(&stage, 2);
    state(&stage, 1, IDLE, READY);
    expect_params(&stage, "[1]", 0);
    expect_state(&stage, "s0", IDLE, CONNECTING, 0);
    expect_params(&stage, "[2]", 0);
    expect_state(&stage, "s1", IDLE, READY, 0);
    expect_empty(&stage);
    teardown(&stage);
}

Test(events, the_oldest_give_way_and_are_counted_behind_the_gap)
{
    struct stage stage;
    setup(&stage, 4, PLENTY);
    notify_number(&stage, 1);
    state(&stage, 0, IDLE, CONNECTING);
    notify_number(&stage, 2);
    say(&stage, 0, "3");
    notify_number(&stage, 4); /* drops 1 */
    notify_number(&stage, 5); /* drops 2 */
    expect_state(&stage, "s0", IDLE, CONNECTING, 1);
    mcpump_event *event = take(&stage);
    cr_expect_str_eq(mcpump_event_text(event, NULL), "3");
    cr_expect_eq(mcpump_event_dropped(event), 1);
    mcpump_event_free(event);
    expect_params(&stage, "[4]", 0);
    expect_params(&stage, "[5]", 0);
    expect_empty(&stage);
    teardown(&stage);
}

Test(events, gaps_beside_each_other_are_one)
{
    struct stage stage;
    setup(&stage, 3, PLENTY);
    for (int i = 0; i < 100; i++)
        notify_number(&stage, i);
    expect_params(&stage, "[97]", 97);
    expect_params(&stage, "[98]", 0);
    notify_number(&stage, 100);
    notify_number(&stage, 101);
    notify_number(&stage, 102); /* drops 99 */
    expect_params(&stage, "[100]", 1);
    expect_params(&stage, "[101]", 0);
    expect_params(&stage, "[102]", 0);
    teardown(&stage);
}

/* Nothing comes behind it yet: the next one that is posted tells. */
Test(events, a_gap_at_the_end_waits_for_the_next)
{
    struct stage stage;
    setup(&stage, 2, PLENTY);
    state(&stage, 0, IDLE, CONNECTING);
    state(&stage, 1, IDLE, CONNECTING);
    notify_number(&stage, 1); /* no room, nothing gives way */
    notify_number(&stage, 2);
    expect_state(&stage, "s0", IDLE, CONNECTING, 0);
    notify_number(&stage, 3);
    expect_state(&stage, "s1", IDLE, CONNECTING, 0);
    expect_params(&stage, "[3]", 2);
    teardown(&stage);
}

Test(events, bytes_are_limited_too)
{
    struct stage stage;
    char line[600];
    setup(&stage, 1000, 4000);
    memset(line, 'x', sizeof(line) - 1);
    line[sizeof(line) - 1] = '\0';
    for (int i = 0; i < 50; i++) {
        line[0] = (char)('0' + i % 10);
        say(&stage, 0, line);
        cr_expect_leq(stage.events->bytes, 4000);
    }
    cr_expect_geq(stage.events->count, 2, "%zu", stage.events->count);
    size_t count = stage.events->count;
    mcpump_event *event = take(&stage);
    cr_expect_eq(mcpump_event_dropped(event), 50 - count);
    cr_expect_eq(mcpump_event_text(event, NULL)[0], (char)('0' + (50 - count) % 10));
    mcpump_event_free(event);
    teardown(&stage);
}

/* It does not drive out what is there. */
Test(events, what_is_larger_than_the_queue_is_dropped)
{
    struct stage stage;
    char line[6000];
    setup(&stage, 10, 4000);
    memset(line, 'x', sizeof(line) - 1);
    line[sizeof(line) - 1] = '\0';
    notify_number(&stage, 1);
    say(&stage, 0, line);
    notify_number(&stage, 2);
    expect_params(&stage, "[1]", 0);
    expect_params(&stage, "[2]", 1);
    teardown(&stage);
}

/* -- states */

Test(events, states_of_one_server_are_joined_when_it_is_full)
{
    struct stage stage;
    setup(&stage, 3, PLENTY);
    state(&stage, 0, IDLE, CONNECTING);
    state(&stage, 1, IDLE, CONNECTING);
    notify_number(&stage, 1);
    state(&stage, 0, CONNECTING, READY); /* drives out the notification */
    state(&stage, 0, READY, BACKING_OFF);
    state(&stage, 1, CONNECTING, READY);
    state(&stage, 2, IDLE, CONNECTING); /* the first of its own */
    state(&stage, 2, CONNECTING, BACKING_OFF);
    cr_expect_eq(stage.events->count, 4);
    expect_state(&stage, "s0", IDLE, CONNECTING, 0);
    expect_state(&stage, "s1", IDLE, READY, 0);
    expect_state(&stage, "s0", CONNECTING, BACKING_OFF, 1);
    expect_state(&stage, "s2", IDLE, BACKING_OFF, 0);
    expect_empty(&stage);
    state(&stage, 0, BACKING_OFF, CONNECTING); /* what was taken is not joined */
    expect_state(&stage, "s0", BACKING_OFF, CONNECTING, 0);
    teardown(&stage);
}

Test(events, joined_states_have_the_newest_failure_and_generation)
{
    struct stage stage;
    setup(&stage, 1, PLENTY);
    struct mp_failure_facts facts = {.name = "s0", .err = MCPUMP_ERR_CLOSED};
    mcpump_failure *failure = mp_failure_new(&facts, NULL);
    struct mp_event_source source = source_of(&stage, 0);
    mp_events_post_state(stage.events, &source, BACKING_OFF, READY, failure);
    source.generation = 8;
    mp_events_post_state(stage.events, &source, CONNECTING, BACKING_OFF, NULL);
    source.generation = 9;
    mp_events_post_state(stage.events, &source, MCPUMP_SERVER_FAILED, CONNECTING, failure);
    mcpump_failure_free(failure);
    mcpump_event *event = take(&stage);
    cr_expect_eq(mcpump_event_generation(event), 9);
    cr_expect_eq(mcpump_event_previous_state(event), READY);
    cr_expect_eq(mcpump_event_state(event), MCPUMP_SERVER_FAILED);
    cr_expect_not_null(mcpump_event_failure(event));
    mcpump_event_free(event);
    expect_empty(&stage);
    teardown(&stage);
}

Test(events, nobody_who_takes_and_states_without_end)
{
    struct stage stage;
    setup(&stage, 8, PLENTY);
    for (int i = 0; i < 10000; i++) {
        state(&stage, i % SERVERS, i % 2 ? READY : IDLE, i % 2 ? IDLE : READY);
        notify_number(&stage, i);
    }
    cr_expect_leq(stage.events->count, 8 + SERVERS);
    teardown(&stage);
}

/* -- list_changed */

#define CHANGED(of) "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/" of "/list_changed\"}"

static void expect_changed(struct stage *stage, const char *name, const char *method,
                           uint64_t generation)
{
    mcpump_event *event = take(stage);
    cr_expect_str_eq(mcpump_event_server(event), name);
    cr_expect_str_eq(mcpump_event_method(event), method);
    cr_expect_eq(mcpump_event_generation(event), generation);
    cr_expect_eq(mcpump_event_dropped(event), 0);
    mcpump_event_free(event);
}

Test(events, list_changed_stands_once_for_each_list_and_server)
{
    struct stage stage;
    setup(&stage, 100, PLENTY);
    for (int i = 0; i < 5; i++) {
        notify(&stage, 0, CHANGED("tools"));
        notify(&stage, 1, CHANGED("tools"));
        notify(&stage, 0, CHANGED("prompts"));
        notify(&stage, 0, CHANGED("resources"));
    }
    cr_expect_eq(stage.events->count, 4);
    expect_changed(&stage, "s0", "notifications/tools/list_changed", 7);
    notify(&stage, 0, CHANGED("tools")); /* the one that told of it was taken */
    expect_changed(&stage, "s1", "notifications/tools/list_changed", 7);
    expect_changed(&stage, "s0", "notifications/prompts/list_changed", 7);
    expect_changed(&stage, "s0", "notifications/resources/list_changed", 7);
    expect_changed(&stage, "s0", "notifications/tools/list_changed", 7);
    expect_empty(&stage);
    teardown(&stage);
}

Test(events, list_changed_of_another_connection_or_subscription_is_another)
{
    static const char subscribed[] =
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\",\"params\":{"
        "\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":4}}}";
    struct stage stage;
    struct mp_envelope envelope;
    setup(&stage, 100, PLENTY);
    struct mp_event_source later = source_of(&stage, 0);
    later.generation = 8;
    mp_envelope_scan(span(subscribed), &envelope);
    notify(&stage, 0, CHANGED("tools"));
    notify(&stage, 0, subscribed);
    notify(&stage, 0, subscribed);
    mp_events_post_notification(stage.events, &later, span(subscribed), &envelope);
    cr_expect_eq(stage.events->count, 3);
    expect_changed(&stage, "s0", "notifications/tools/list_changed", 7);
    mcpump_event *event = take(&stage);
    cr_expect_str_eq(mcpump_event_subscription(event), "4");
    mcpump_event_free(event);
    expect_changed(&stage, "s0", "notifications/tools/list_changed", 8);
    teardown(&stage);
}

/* The queue forgets the one that was dropped, or the change would never be told. */
Test(events, list_changed_that_gave_way_is_told_again)
{
    struct stage stage;
    setup(&stage, 2, PLENTY);
    notify(&stage, 0, CHANGED("tools"));
    notify_number(&stage, 1);
    notify_number(&stage, 2);
    notify(&stage, 0, CHANGED("tools"));
    expect_params(&stage, "[2]", 2);
    expect_changed(&stage, "s0", "notifications/tools/list_changed", 7);
    teardown(&stage);
}

/* -- requests: the servers here have a transport that is not open */

static void give_transports(struct stage *stage)
{
    mcpump_transport_options options = MCPUMP_TRANSPORT_OPTIONS_INIT;
    options.command = "cat";
    for (int i = 0; i < SERVERS; i++) {
        mcpump_server *server = stage->servers[i];
        cr_assert_eq(mcpump_transport_new(&options, &server->transport, NULL), MCPUMP_OK);
        mp_asks_init(&server->asks, server->transport);
    }
}

static void take_transports(struct stage *stage)
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

Test(events, a_request_holds_its_server_until_it_is_freed)
{
    struct stage stage;
    setup(&stage, 10, PLENTY);
    give_transports(&stage);
    cr_assert_not_null(request(&stage, 1, REQUEST));
    cr_expect_eq(stage.servers[1]->refs, 1000001);
    mcpump_event *event = take(&stage);
    cr_expect_eq(mcpump_event_get_kind(event), MCPUMP_EVENT_REQUEST);
    cr_expect_str_eq(mcpump_event_method(event), "roots/list");
    cr_expect_eq(stage.servers[1]->refs, 1000001);
    cr_expect_eq(mcpump_event_respond(event, "{}", 0, NULL), MCPUMP_ERR_NOT_OPEN);
    mcpump_event_free(event);
    cr_expect_eq(stage.servers[1]->refs, 1000000);
    take_transports(&stage);
    teardown(&stage);
}

Test(events, an_answer_must_be_one_json_value)
{
    static const struct {
        const char *result;
        mcpump_err err;
    } rows[] = {
        {"{}", MCPUMP_ERR_NOT_OPEN}, /* valid, but nobody is there */
        {" [1,\n2] ", MCPUMP_ERR_NOT_OPEN},
        {"null", MCPUMP_ERR_NOT_OPEN},
        {"", MCPUMP_ERR_INVALID_REQUEST},
        {" ", MCPUMP_ERR_INVALID_REQUEST},
        {"{", MCPUMP_ERR_INVALID_REQUEST},
        {"{}{}", MCPUMP_ERR_INVALID_REQUEST},
        {"{},\"x\":1", MCPUMP_ERR_INVALID_REQUEST},
        {"\"a\nb\"", MCPUMP_ERR_INVALID_REQUEST},
        {"\"\xff\"", MCPUMP_ERR_INVALID_REQUEST},
        {"nul", MCPUMP_ERR_INVALID_REQUEST},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct stage stage;
        setup(&stage, 10, PLENTY);
        give_transports(&stage);
        request(&stage, 0, REQUEST);
        mcpump_event *event = take(&stage);
        cr_expect_eq(mcpump_event_respond(event, NULL, 1, NULL), MCPUMP_ERR_INVALID_ARGUMENT);
        mcpump_err err = mcpump_event_respond(event, rows[i].result, 0, NULL);
        cr_expect_eq(err, rows[i].err, "%s: %s", rows[i].result, mcpump_err_name(err));
        mcpump_event_free(event);
        take_transports(&stage);
        teardown(&stage);
    }
}

/* Also those whose time was over, and which the host has not taken out. */
Test(events, requests_are_bounded_for_each_server)
{
    struct stage stage;
    int taken = 0;
    setup(&stage, 10000, PLENTY);
    give_transports(&stage);
    for (int i = 0; i < 3 * MP_ASKS_MOST; i++) {
        taken += request(&stage, 0, REQUEST) != NULL;
        mp_asks_close(&stage.servers[0]->asks); /* its connection is gone, and there is another */
    }
    cr_expect_eq(taken, MP_ASKS_MOST);
    cr_expect_not_null(request(&stage, 1, REQUEST), "of another server");
    mcpump_event_free(take(&stage));
    cr_expect_not_null(request(&stage, 0, REQUEST), "there is room again");
    take_transports(&stage);
    teardown(&stage);
}

Test(events, requests_are_refused_when_nothing_can_give_way)
{
    struct stage stage;
    setup(&stage, 3, PLENTY);
    give_transports(&stage);
    notify_number(&stage, 1);
    state(&stage, 0, IDLE, READY);
    cr_expect_not_null(request(&stage, 0, REQUEST));
    cr_expect_not_null(request(&stage, 0, REQUEST), "drives out the notification");
    cr_expect_null(request(&stage, 0, REQUEST));
    notify_number(&stage, 2);
    cr_expect_eq(stage.events->count, 3);
    expect_state(&stage, "s0", IDLE, READY, 1);
    take_transports(&stage);
    teardown(&stage);
}

/* A message may be larger than the whole queue. */
Test(events, one_large_request_fits_always)
{
    struct stage stage;
    static char line[10000];
    setup(&stage, 10, 4000);
    give_transports(&stage);
    snprintf(line, sizeof(line),
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"x\":\"%08000d\"}}", 0);
    notify_number(&stage, 1);
    cr_expect_not_null(request(&stage, 0, line));
    cr_expect_null(request(&stage, 0, line), "but one");
    mcpump_event *event = take(&stage);
    cr_expect_eq(mcpump_event_get_kind(event), MCPUMP_EVENT_REQUEST);
    cr_expect_eq(mcpump_event_dropped(event), 1);
    mcpump_event_free(event);
    take_transports(&stage);
    teardown(&stage);
}

/* -- servers that are gone */

Test(events, of_a_retired_server_nothing_has_to_stay)
{
    struct stage stage;
    setup(&stage, 4, PLENTY);
    give_transports(&stage);
    state(&stage, 0, IDLE, READY);
    cr_expect_not_null(request(&stage, 0, REQUEST));
    state(&stage, 1, IDLE, READY);
    notify_number(&stage, 1);
    mp_events_retire(stage.events, stage.servers[0]->owner.seat);
    cr_expect_eq(stage.servers[0]->refs, 1000000, "the request is gone");
    cr_expect_null(request(&stage, 0, REQUEST));
    notify_number(&stage, 2);
    notify_number(&stage, 3); /* drops the state of s0, which comes first */
    expect_state(&stage, "s1", IDLE, READY, 2);
    expect_params(&stage, "[1]", 0);
    expect_params(&stage, "[2]", 0);
    expect_params(&stage, "[3]", 0);
    take_transports(&stage);
    teardown(&stage);
}

/* However many servers come and go, and nobody takes anything. */
Test(events, servers_that_come_and_go_leave_no_more_than_fits)
{
    struct stage stage;
    setup(&stage, 8, PLENTY);
    for (int i = 0; i < 1000; i++) {
        mcpump_server *server = fake_server_new(stage.hub, "guest");
        struct mp_event_source source = {server, 1};
        mp_events_post_state(stage.events, &source, READY, IDLE, NULL);
        mp_events_post_state(stage.events, &source, STOPPED, READY, NULL);
        mp_events_retire(stage.events, server->owner.seat);
        fake_server_free(server);
        cr_assert_leq(stage.events->count, 9);
    }
    teardown(&stage);
}

/* -- taking, the fd, the latch, the end */

Test(events, the_fd_is_readable_while_a_take_would_not_block)
{
    struct stage stage;
    setup(&stage, 10, PLENTY);
    cr_expect_not(is_readable(&stage));
    notify_number(&stage, 1);
    notify_number(&stage, 2);
    cr_expect(is_readable(&stage));
    expect_params(&stage, "[1]", 0);
    cr_expect(is_readable(&stage));
    expect_params(&stage, "[2]", 0);
    cr_expect_not(is_readable(&stage));
    expect_empty(&stage);
    cr_expect_not(is_readable(&stage));
    mp_events_interrupt(stage.events);
    cr_expect(is_readable(&stage));
    notify_number(&stage, 3);
    mp_events_clear_interrupt(stage.events);
    cr_expect(is_readable(&stage));
    mp_events_interrupt(stage.events);
    expect_params(&stage, "[3]", 0);
    cr_expect(is_readable(&stage));
    mp_events_clear_interrupt(stage.events);
    cr_expect_not(is_readable(&stage));
    mp_events_close(stage.events);
    cr_expect(is_readable(&stage));
    teardown(&stage);
}

Test(events, while_interrupted_what_is_there_can_be_taken)
{
    struct stage stage;
    mcpump_event *event = NULL;
    setup(&stage, 10, PLENTY);
    notify_number(&stage, 1);
    mp_events_interrupt(stage.events);
    expect_params(&stage, "[1]", 0);
    cr_expect_eq(mp_events_take(stage.events, MP_NEVER, &event), MCPUMP_ERR_INTERRUPTED);
    notify_number(&stage, 2);
    expect_params(&stage, "[2]", 0);
    mp_events_clear_interrupt(stage.events);
    expect_empty(&stage);
    teardown(&stage);
}

Test(events, closed_it_takes_nothing_and_gives_what_it_has)
{
    struct stage stage;
    mcpump_event *event = NULL;
    setup(&stage, 10, PLENTY);
    give_transports(&stage);
    notify_number(&stage, 1);
    mp_events_close(stage.events);
    notify_number(&stage, 2);
    say(&stage, 0, "late");
    state(&stage, 0, IDLE, READY);
    cr_expect_null(request(&stage, 0, REQUEST));
    expect_params(&stage, "[1]", 0);
    cr_expect_eq(mp_events_take(stage.events, MP_NEVER, &event), MCPUMP_ERR_CLOSED);
    mp_events_interrupt(stage.events);
    cr_expect_eq(mp_events_take(stage.events, MP_NEVER, &event), MCPUMP_ERR_CLOSED, "the stronger");
    take_transports(&stage);
    teardown(&stage);
}

Test(events, a_take_waits_for_its_deadline)
{
    struct stage stage;
    mcpump_event *event = NULL;
    setup(&stage, 10, PLENTY);
    mp_deadline until = mp_deadline_after_ms(30);
    cr_expect_eq(mp_events_take(stage.events, until, &event), MCPUMP_ERR_TIMEOUT);
    cr_expect(mp_deadline_passed(until));
    teardown(&stage);
}

struct taker {
    struct stage *stage;
    pthread_t thread;
    mcpump_err err;
    size_t taken;
};

static void *take_until_an_error(void *arg)
{
    struct taker *taker = arg;
    mcpump_event *event;
    while ((taker->err = mp_events_take(taker->stage->events, MP_NEVER, &event)) == MCPUMP_OK) {
        taker->taken++;
        mcpump_event_free(event);
    }
    return NULL;
}

static void start_takers(struct stage *stage, struct taker *takers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        takers[i] = (struct taker){.stage = stage};
        cr_assert_eq(pthread_create(&takers[i].thread, NULL, take_until_an_error, &takers[i]), 0);
    }
}

static size_t join_takers(struct taker *takers, size_t count, mcpump_err wanted)
{
    size_t taken = 0;
    for (size_t i = 0; i < count; i++) {
        pthread_join(takers[i].thread, NULL);
        cr_expect_eq(takers[i].err, wanted, "%zu: %s", i, mcpump_err_name(takers[i].err));
        taken += takers[i].taken;
    }
    return taken;
}

static void await_sleepers(struct stage *stage, size_t count)
{
    size_t found = 0;
    while (found < count) {
        found = 0;
        mp_mutex_lock(&stage->events->takers.lock);
        for (struct mp_board_chunk *chunk = &stage->events->takers.first; chunk != NULL;
             chunk = atomic_load(&chunk->next)) {
            for (size_t i = 0; i < MP_BOARD_CHUNK; i++)
                found += atomic_load(&chunk->members[i]) != NULL;
        }
        mp_mutex_unlock(&stage->events->takers.lock);
    }
}

/* More than the first chunk of the board holds. */
Test(events, an_interrupt_that_is_cleared_at_once_is_heard_by_all)
{
    struct stage stage;
    struct taker takers[12];
    setup(&stage, 10, PLENTY);
    for (int round = 0; round < 50; round++) {
        start_takers(&stage, takers, LENGTH(takers));
        await_sleepers(&stage, LENGTH(takers));
        mp_events_interrupt(stage.events);
        mp_events_clear_interrupt(stage.events);
        join_takers(takers, LENGTH(takers), MCPUMP_ERR_INTERRUPTED);
    }
    cr_expect_not(is_readable(&stage));
    teardown(&stage);
}

Test(events, many_takers_share_all_events)
{
    enum { POSTED = 20000 };
    struct stage stage;
    struct taker takers[4];
    setup(&stage, POSTED, PLENTY);
    start_takers(&stage, takers, LENGTH(takers));
    for (int i = 0; i < POSTED; i++)
        notify_number(&stage, i);
    mp_events_close(stage.events);
    cr_expect_eq(join_takers(takers, LENGTH(takers), MCPUMP_ERR_CLOSED), POSTED);
    teardown(&stage);
}

/* -- posting costs the same, however much is queued */

static int64_t time_of_posts(struct stage *stage, int count)
{
    int64_t started = mp_now_ns();
    for (int i = 0; i < count; i++) {
        notify_number(stage, i);
        state(stage, 1, IDLE, READY);
        notify(stage, 0, CHANGED("tools"));
    }
    return mp_now_ns() - started;
}

Test(events, posting_to_a_full_queue_takes_no_longer)
{
    enum { POSTS = 20000 };
    struct stage small, large;
    setup(&small, 16, PLENTY);
    setup(&large, 200000, PLENTY);
    for (int i = 0; i < 200000; i++)
        state(&large, 0, IDLE, READY); /* all of them before what gives way */
    time_of_posts(&small, POSTS);
    int64_t few = time_of_posts(&small, POSTS);
    int64_t many = time_of_posts(&large, POSTS);
    /* A search through 200,000 would take thousands of times as long. */
    cr_expect_lt(many, 50 * few, "%lld us, %lld us", (long long)few / 1000, (long long)many / 1000);
    teardown(&small);
    teardown(&large);
}
