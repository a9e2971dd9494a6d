/* SPDX-License-Identifier: Apache-2.0 */
/* The event queue: what stands in it, in which order, and what gives way. */
#include "manager/events.h"

#include "queue.h"
#include "transport/failure.h"

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

/* -- requests */

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
