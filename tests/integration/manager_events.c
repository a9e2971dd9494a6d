/* SPDX-License-Identifier: Apache-2.0 */
/* What a manager tells without being asked: states, notifications, requests, lines of stderr. */
#include "managed.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define KINDS(...) (0 | __VA_ARGS__)

static bool is_readable(mcpump_manager *manager)
{
    struct pollfd fd = {mcpump_manager_event_fd(manager), POLLIN, 0};
    return poll(&fd, 1, 0) == 1;
}

/* -- states */

static void expect_state(mcpump_manager *manager, mcpump_server_state previous,
                         mcpump_server_state state, uint64_t generation)
{
    mcpump_event *event = managed_next(manager);
    cr_assert_eq(mcpump_event_get_kind(event), MCPUMP_EVENT_STATE);
    cr_expect_eq(mcpump_event_previous_state(event), previous, "%s, not %s",
                 mcpump_server_state_name(mcpump_event_previous_state(event)),
                 mcpump_server_state_name(previous));
    cr_expect_eq(mcpump_event_state(event), state, "%s, not %s",
                 mcpump_server_state_name(mcpump_event_state(event)),
                 mcpump_server_state_name(state));
    if (generation > 0)
        cr_expect_eq(mcpump_event_generation(event), generation, "%d, not %d",
                     (int)mcpump_event_generation(event), (int)generation);
    mcpump_event_free(event);
}

/* Nobody makes a call: the events come by themselves. */
TIDY_TEST(a_life_in_states)
{
    mcpump_manager *manager = managed_new(MCPUMP_EVENT_STATE);
    mcpump_server_options options = test_options(NO_STRINGS);
    options.backoff_first_ms = options.backoff_most_ms = 1;
    cr_assert_eq(mcpump_manager_add(manager, "a", &options, true, NULL), MCPUMP_OK);
    expect_state(manager, MCPUMP_SERVER_IDLE, MCPUMP_SERVER_CONNECTING, 0);
    expect_state(manager, MCPUMP_SERVER_CONNECTING, MCPUMP_SERVER_READY, 1);
    cr_expect_not(is_readable(manager));
    pid_t pid = managed_pid(manager, "a");
    kill(pid, SIGKILL);
    mcpump_event *event = managed_next(manager);
    cr_expect_eq(mcpump_event_state(event), MCPUMP_SERVER_BACKING_OFF);
    cr_assert_not_null(mcpump_event_failure(event));
    cr_expect_eq(mcpump_failure_cause(mcpump_event_failure(event)), MCPUMP_CAUSE_EXITED);
    cr_expect_eq(mcpump_failure_term_signal(mcpump_event_failure(event)), SIGKILL);
    cr_expect_eq(mcpump_event_generation(event), 1);
    mcpump_event_free(event);
    expect_state(manager, MCPUMP_SERVER_BACKING_OFF, MCPUMP_SERVER_CONNECTING, 0);
    expect_state(manager, MCPUMP_SERVER_CONNECTING, MCPUMP_SERVER_READY, 2);
    cr_expect_neq(managed_pid(manager, "a"), pid);
    cr_expect_eq(mcpump_manager_shutdown(manager, MCPUMP_FOREVER), MCPUMP_OK);
    expect_state(manager, MCPUMP_SERVER_READY, MCPUMP_SERVER_STOPPED, 2);
    cr_expect_eq(mcpump_manager_next_event(manager, MCPUMP_FOREVER, &event), MCPUMP_ERR_CLOSED);
    cr_expect(is_readable(manager));
    mcpump_manager_free(manager);
}

TIDY_TEST(a_server_that_cannot_be_started_says_why)
{
    mcpump_manager *manager = managed_new(0);
    mcpump_server_options options = test_options(NO_STRINGS);
    options.transport.command = "/nonexistent/server";
    options.max_reconnects = MCPUMP_ZERO;
    cr_assert_eq(mcpump_manager_add(manager, "a", &options, true, NULL), MCPUMP_OK);
    expect_state(manager, MCPUMP_SERVER_IDLE, MCPUMP_SERVER_CONNECTING, 0);
    mcpump_event *event = managed_next(manager);
    cr_expect_eq(mcpump_event_state(event), MCPUMP_SERVER_FAILED);
    cr_assert_not_null(mcpump_event_failure(event));
    cr_expect_eq(mcpump_failure_error(mcpump_event_failure(event)), MCPUMP_ERR_SPAWN);
    mcpump_event_free(event);
    mcpump_manager_free(manager);
}

TIDY_TEST(kinds_that_nobody_wants_are_not_queued)
{
    mcpump_manager *manager = managed_new(MCPUMP_ZERO);
    managed_add(manager, "a", STRINGS("--era", "legacy", "--stderr-text", "words"), false);
    managed_connect(manager, "a");
    mcpump_server *server = managed_find(manager, "a");
    json_object_put(test_result(server, "test/notify", NULL));
    cr_expect_eq(test_stats(server).notifications_read, 1);
    mcpump_server_free(server);
    cr_expect_not(is_readable(manager));
    mcpump_manager_free(manager);
}

/* -- notifications */

TIDY_TEST(a_notification_with_its_server_generation_and_subscription)
{
    mcpump_manager *manager = managed_new(MCPUMP_EVENT_NOTIFICATION);
    managed_add(manager, "a", NO_STRINGS, false);
    managed_add(manager, "b", NO_STRINGS, false);
    mcpump_server *server = managed_find(manager, "b");
    test_connect_ok(server);
    mcpump_server_close(server);
    json_object_put(test_result(server, "test/notify",
                                "{\"method\":\"notifications/x\",\"params\":{\"a\":1,\"_meta\":{"
                                "\"io.modelcontextprotocol/subscriptionId\":12}}}"));
    size_t size;
    mcpump_event *event = managed_next(manager);
    cr_expect_str_eq(mcpump_event_server(event), "b");
    cr_expect_eq(mcpump_event_generation(event), 2);
    cr_expect_str_eq(mcpump_event_method(event), "notifications/x");
    cr_expect_str_eq(mcpump_event_subscription(event), "12");
    const char *params = mcpump_event_params(event, &size);
    cr_expect_eq(strncmp(params, "{\"a\":1,", 7), 0, "%.*s", (int)size, params);
    mcpump_event_free(event);
    mcpump_server_free(server);
    mcpump_manager_free(manager);
}

#define FLOOD 100000

/* The reply in its middle is not held up, and what is kept of the flood is bounded. */
TIDY_TEST(a_flood_of_notifications_around_a_reply)
{
    mcpump_manager_options options = MCPUMP_MANAGER_OPTIONS_INIT;
    options.events = MCPUMP_EVENT_NOTIFICATION;
    mcpump_manager *manager = managed_new_with(&options);
    managed_add(manager, "a", STRINGS("--era", "legacy"), false);
    managed_connect(manager, "a");
    mcpump_server *server = managed_find(manager, "a");
    long before = test_rss_kib();
    int64_t started = test_now_ms();
    json_object_put(
        test_result(server, "test/flood", "{\"notifications\":100000,\"after\":100000}"));
    int64_t took = test_now_ms() - started;
    cr_expect_lt(took, TEST_PATIENCE_MS / 2, "%d ms", (int)took);
    json_object_put(test_result(server, "test/echo", NULL)); /* behind the rest */
    cr_expect_eq(test_stats(server).notifications_read, 2 * FLOOD);
    if (!TEST_IS_SANITIZED) /* which keep what is freed */
        cr_expect_lt(test_rss_kib() - before, 16 * 1024);

    uint64_t taken = 0, dropped = 0;
    mcpump_event *event;
    while (mcpump_manager_next_event(manager, 0, &event) == MCPUMP_OK) {
        taken++;
        dropped += mcpump_event_dropped(event);
        if (taken == 1)
            cr_expect_gt(mcpump_event_dropped(event), 0, "the gap is before the first");
        mcpump_event_free(event);
    }
    cr_expect_eq(taken + dropped, 2 * FLOOD, "%d and %d", (int)taken, (int)dropped);
    cr_expect_leq(taken, 1024);
    mcpump_server_free(server);
    mcpump_manager_free(manager);
}

/* -- stderr */

TIDY_TEST(lines_of_stderr_when_asked_for)
{
    mcpump_manager *manager = managed_new(MCPUMP_EVENT_STDERR);
    managed_add(manager, "a", STRINGS("--stderr-text", "first\\nsec\\eond\\n"), false);
    managed_connect(manager, "a");
    static const char *const wanted[] = {"[fake] first", "[fake] sec\\x1bond"};
    for (size_t i = 0; i < LENGTH(wanted); i++) {
        size_t size;
        mcpump_event *event = managed_next(manager);
        cr_expect_eq(mcpump_event_get_kind(event), MCPUMP_EVENT_STDERR);
        cr_expect_str_eq(mcpump_event_text(event, &size), wanted[i]);
        cr_expect_eq(size, strlen(wanted[i]));
        mcpump_event_free(event);
    }
    mcpump_manager_free(manager);
}

/* -- requests of a legacy server */

struct asking {
    mcpump_manager *manager;
    mcpump_server *server;
    struct test_call call; /* of test/ask: it returns what the server was answered */
};

static void ask_with(struct asking *asking, const mcpump_manager_options *options)
{
    asking->manager = managed_new_with(options);
    managed_add(asking->manager, "a", STRINGS("--era", "legacy"), false);
    asking->server = managed_find(asking->manager, "a");
    test_connect_ok(asking->server);
    test_call_start(&asking->call, asking->server, "test/ask",
                    "{\"id\":\"q\\u0031\",\"method\":\"elicitation/create\",\"params\":{\"b\":2}}");
}

/* The server asks, and waits for its answer. */
static mcpump_event *ask(struct asking *asking, int64_t timeout_ms)
{
    mcpump_manager_options options = MCPUMP_MANAGER_OPTIONS_INIT;
    options.events = MCPUMP_EVENT_REQUEST;
    options.request_timeout_ms = timeout_ms;
    ask_with(asking, &options);
    return managed_next(asking->manager);
}

static void expect_answer(struct asking *asking, const char *part)
{
    test_call_join(&asking->call);
    cr_assert_eq(asking->call.err, MCPUMP_OK, "%s", mcpump_err_name(asking->call.err));
    test_expect_part(mcpump_reply_text(asking->call.reply, NULL), part, "answer");
    test_call_done(&asking->call);
    test_expect_no_violation(asking->server, "");
}

static void end_asking(struct asking *asking)
{
    mcpump_server_free(asking->server);
    mcpump_manager_free(asking->manager);
}

TIDY_TEST(a_request_is_answered_with_a_result)
{
    struct asking asking;
    size_t size;
    mcpump_event *event = ask(&asking, 0);
    cr_expect_eq(mcpump_event_get_kind(event), MCPUMP_EVENT_REQUEST);
    cr_expect_str_eq(mcpump_event_server(event), "a");
    cr_expect_str_eq(mcpump_event_method(event), "elicitation/create");
    const char *params = mcpump_event_params(event, &size);
    cr_expect(size == 7 && memcmp(params, "{\"b\":2}", 7) == 0, "%.*s", (int)size, params);
    cr_expect_eq(mcpump_event_respond(event, "{\"action\":\n", 0, NULL),
                 MCPUMP_ERR_INVALID_REQUEST);
    cr_expect_eq(mcpump_event_respond(event, "{\"action\":\n\"decline\"}", 0, NULL), MCPUMP_OK);
    cr_expect_eq(mcpump_event_respond(event, "{}", 0, NULL), MCPUMP_ERR_NOT_OPEN);
    mcpump_event_free(event);
    expect_answer(&asking, "{\"jsonrpc\":\"2.0\",\"id\":\"q\\u0031\",\"result\":"
                           "{\"action\": \"decline\"}}");
    end_asking(&asking);
}

TIDY_TEST(a_request_is_answered_with_an_error)
{
    struct asking asking;
    mcpump_event *event = ask(&asking, 0);
    cr_expect_eq(mcpump_event_respond(event, NULL, -1, "the \"user\" says no"), MCPUMP_OK);
    mcpump_event_free(event);
    expect_answer(&asking, "\"error\":{\"code\":-1,\"message\":\"the \\\"user\\\" says no\"}");
    end_asking(&asking);
}

TIDY_TEST(a_large_answer)
{
    struct asking asking;
    enum { SIZE = 3 * 1024 * 1024 };
    mcpump_event *event = ask(&asking, 0);
    char *large = malloc(SIZE + 16);
    large[0] = '"';
    memset(large + 1, 'x', SIZE);
    strcpy(large + 1 + SIZE, "\"");
    cr_expect_eq(mcpump_event_respond(event, large, 0, NULL), MCPUMP_OK);
    free(large);
    mcpump_event_free(event);
    expect_answer(&asking, "\"result\":\"xxxxx");
    end_asking(&asking);
}

TIDY_TEST(a_request_that_nobody_answers_is_refused_at_its_deadline)
{
    struct asking asking;
    mcpump_event *event = ask(&asking, 100);
    expect_answer(&asking, "\"error\":{\"code\":-32601,");
    cr_expect_geq(asking.call.took_ms, 100);
    cr_expect_eq(mcpump_event_respond(event, "{}", 0, NULL), MCPUMP_ERR_NOT_OPEN);
    mcpump_event_free(event);
    end_asking(&asking);
}

/* Also when no host takes the event. */
TIDY_TEST(a_request_that_nobody_sees_is_refused_at_its_deadline)
{
    struct asking asking;
    mcpump_manager_options options = MCPUMP_MANAGER_OPTIONS_INIT;
    options.events = MCPUMP_EVENT_REQUEST;
    options.request_timeout_ms = 50;
    ask_with(&asking, &options);
    expect_answer(&asking, "\"error\":{\"code\":-32601,");
    end_asking(&asking);
}

TIDY_TEST(a_request_whose_event_is_freed_is_refused)
{
    struct asking asking;
    mcpump_event_free(ask(&asking, 0));
    expect_answer(&asking, "\"error\":{\"code\":-32601,");
    end_asking(&asking);
}

TIDY_TEST(a_request_is_refused_at_once_when_requests_are_not_wanted)
{
    struct asking asking;
    mcpump_manager_options options = MCPUMP_MANAGER_OPTIONS_INIT;
    options.events = MCPUMP_EVENT_STATE;
    ask_with(&asking, &options);
    expect_answer(&asking, "\"error\":{\"code\":-32601,");
    end_asking(&asking);
}

/* The answer to what one connection asked is not written to the next. */
TIDY_TEST(a_request_of_a_connection_that_is_gone)
{
    struct asking asking;
    mcpump_event *event = ask(&asking, 0);
    mcpump_server_close(asking.server);
    test_call_join(&asking.call);
    cr_expect_eq(asking.call.err, MCPUMP_ERR_CLOSED);
    test_call_done(&asking.call);
    test_connect_ok(asking.server);
    cr_expect_eq(mcpump_event_respond(event, "{}", 0, NULL), MCPUMP_ERR_NOT_OPEN);
    mcpump_event_free(event);
    test_expect_no_violation(asking.server, "");
    end_asking(&asking);
}

TIDY_TEST(a_request_whose_server_was_removed)
{
    struct asking asking;
    mcpump_event *event = ask(&asking, 0);
    mcpump_manager_remove(asking.manager, "a", NULL);
    test_call_join(&asking.call);
    test_call_done(&asking.call);
    cr_expect_eq(mcpump_event_respond(event, "{}", 0, NULL), MCPUMP_ERR_NOT_OPEN);
    end_asking(&asking);
    cr_expect_eq(mcpump_event_respond(event, "{}", 0, NULL), MCPUMP_ERR_NOT_OPEN, "and freed");
    cr_expect_str_eq(mcpump_event_server(event), "a");
    mcpump_event_free(event);
}

static void *respond(void *event)
{
    mcpump_err err = mcpump_event_respond(event, "{}", 0, NULL);
    cr_expect(err == MCPUMP_OK || err == MCPUMP_ERR_NOT_OPEN, "%s", mcpump_err_name(err));
    return NULL;
}

/* Answers, the deadline and the end of the connection at once: the server gets one answer at most,
 * which it would call a violation otherwise. */
TIDY_TEST(answers_race_with_deadline_and_end)
{
    for (int round = 0; round < TEST_SCALED(30); round++) {
        struct asking asking;
        pthread_t threads[4];
        mcpump_event *event = ask(&asking, 1 + round % 3);
        for (size_t i = 0; i < LENGTH(threads); i++)
            cr_assert_eq(pthread_create(&threads[i], NULL, respond, event), 0);
        if (round % 2 == 0) {
            mcpump_server_close(asking.server);
            test_connect_ok(asking.server);
        }
        for (size_t i = 0; i < LENGTH(threads); i++)
            pthread_join(threads[i], NULL);
        mcpump_event_free(event);
        test_call_join(&asking.call);
        test_call_done(&asking.call);
        test_expect_no_violation(asking.server, "race");
        end_asking(&asking);
    }
}

/* -- waiting for events */

struct waiter {
    mcpump_manager *manager;
    mcpump_err err;
    mcpump_event *event;
    pthread_t thread;
};

static void *wait_for_event(void *arg)
{
    struct waiter *waiter = arg;
    waiter->err = mcpump_manager_next_event(waiter->manager, MCPUMP_FOREVER, &waiter->event);
    return NULL;
}

TIDY_TEST(an_event_an_interrupt_and_the_end_wake_those_who_wait)
{
    mcpump_manager *manager = managed_new(0);
    struct waiter waiter = {.manager = manager};
    cr_expect_eq(mcpump_manager_next_event(manager, 0, &waiter.event), MCPUMP_ERR_TIMEOUT);
    int64_t started = test_now_ms();
    cr_expect_eq(mcpump_manager_next_event(manager, 50, &waiter.event), MCPUMP_ERR_TIMEOUT);
    cr_expect_geq(test_now_ms() - started, 50);

    cr_assert_eq(pthread_create(&waiter.thread, NULL, wait_for_event, &waiter), 0);
    managed_add(manager, "a", NO_STRINGS, true);
    pthread_join(waiter.thread, NULL);
    cr_assert_eq(waiter.err, MCPUMP_OK);
    mcpump_event_free(waiter.event);
    managed_await_state(manager, "a", MCPUMP_SERVER_READY);

    cr_assert_eq(pthread_create(&waiter.thread, NULL, wait_for_event, &waiter), 0);
    mcpump_manager_interrupt(manager);
    pthread_join(waiter.thread, NULL);
    cr_expect_eq(waiter.err, MCPUMP_ERR_INTERRUPTED);
    cr_expect(is_readable(manager));
    mcpump_manager_clear_interrupt(manager);
    cr_expect_not(is_readable(manager));

    cr_expect_eq(mcpump_manager_remove(manager, "a", NULL), MCPUMP_OK);
    managed_await_state(manager, "a", MCPUMP_SERVER_STOPPED);
    cr_assert_eq(pthread_create(&waiter.thread, NULL, wait_for_event, &waiter), 0);
    mcpump_manager_shutdown(manager, MCPUMP_FOREVER);
    pthread_join(waiter.thread, NULL);
    cr_expect_eq(waiter.err, MCPUMP_ERR_CLOSED);
    mcpump_manager_free(manager);
}

/* Edge-triggered is the strictest: what is not announced again must have been taken. */
TIDY_TEST(the_fd_in_an_epoll_loop)
{
    enum { CALLS = 200 };
    mcpump_manager *manager = managed_new(MCPUMP_EVENT_NOTIFICATION);
    managed_add(manager, "a", STRINGS("--era", "legacy"), false);
    managed_connect(manager, "a");
    mcpump_server *server = managed_find(manager, "a");
    int fd = epoll_create1(EPOLL_CLOEXEC), taken = 0;
    struct epoll_event interest = {.events = EPOLLIN | EPOLLET}, ready;
    cr_assert_eq(epoll_ctl(fd, EPOLL_CTL_ADD, mcpump_manager_event_fd(manager), &interest), 0);
    for (int i = 0; i < CALLS; i++) {
        json_object_put(test_result(server, "test/notify", NULL));
        cr_assert_eq(epoll_wait(fd, &ready, 1, TEST_PATIENCE_MS), 1, "%d: nothing comes", i);
        mcpump_event *event;
        while (mcpump_manager_next_event(manager, 0, &event) == MCPUMP_OK) {
            taken++;
            mcpump_event_free(event);
        }
    }
    cr_expect_eq(taken, CALLS);
    cr_expect_eq(epoll_wait(fd, &ready, 1, 0), 0);
    close(fd);
    mcpump_server_free(server);
    mcpump_manager_free(manager);
}
