/* SPDX-License-Identifier: Apache-2.0 */
/* pthread_cancel of threads that are within a call: the call is given up, the transport lives. */
#include <stdio.h>
#include <string.h>

#include "raw.h"

#define ROUNDS TEST_SCALED(200)

/* The frames that a cancellation unwinds stay poisoned on the stack; on a stack of its own making
 * AddressSanitizer does not trip over them. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_stack_use_after_return=1";
}

/* A thread that is cancelled must free what is its own; the library sees to the rest. */
struct victim {
    mcpump_transport *transport; /* or: */
    mcpump_server *server;
    mcpump_run *run;
    const char *method;
    bool has_returned;
    pthread_t thread;
};

static void *call(void *arg)
{
    struct victim *victim = arg;
    char request[128];
    mcpump_reply *reply = NULL;
    mcpump_failure *failure = NULL;
    mcpump_call_options options = MCPUMP_CALL_OPTIONS_INIT;
    options.timeout_ms = TEST_PATIENCE_MS;
    options.run = victim->run;
    int size =
        snprintf(request, sizeof(request),
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{}}", victim->method);
    if (victim->server != NULL)
        mcpump_server_request(victim->server, victim->method, "{}", &options, &reply, &failure);
    else
        mcpump_transport_send_request(victim->transport, request, (size_t)size, &options, &reply,
                                      &failure);
    victim->has_returned = true;
    mcpump_reply_free(reply);
    mcpump_failure_free(failure);
    return NULL;
}

static void start(struct victim *victim)
{
    cr_assert_eq(pthread_create(&victim->thread, NULL, call, victim), 0);
}

static void expect_cancelled(struct victim *victim, const char *name)
{
    void *result = NULL;
    cr_assert_eq(pthread_cancel(victim->thread), 0, "%s", name);
    cr_assert_eq(pthread_join(victim->thread, &result), 0, "%s", name);
    cr_expect_eq(result, PTHREAD_CANCELED, "%s", name);
    cr_expect_not(victim->has_returned, "%s", name);
}

TIDY_TEST(threads_blocked_in_a_call)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    mcpump_run *run = mcpump_run_new(NULL);
    for (int i = 0; i < ROUNDS; i++) {
        struct victim victim = {
            .transport = transport, .method = "test/drop", .run = i % 2 ? run : NULL};
        uint64_t before = raw_stats(transport).requests;
        start(&victim);
        raw_await_read(transport, before + 1);
        expect_cancelled(&victim, "blocked");
        cr_expect_eq(raw_stats(transport).in_flight, 0);
        raw_expect(transport, "after it", "test/echo", "{\"a\":1}", "{\"a\":1}");
    }
    cr_expect_eq(raw_stats(transport).cancelled_on_wire, (uint64_t)ROUNDS);
    json_object *report = raw_report(transport);
    cr_expect_eq(test_int_member(report, "cancelled_count"), ROUNDS);
    json_object_put(report);
    /* Its bells are left: a later cancellation, and the end of the run, find nobody. */
    mcpump_run_cancel(run);
    mcpump_run_free(run);
    raw_expect(transport, "last", "test/echo", "{\"a\":1}", "{\"a\":1}");
    mcpump_transport_free(transport);
}

TIDY_TEST(threads_blocked_in_a_call_of_a_server)
{
    static const char *const eras[] = {"legacy", "modern"};
    for (size_t e = 0; e < LENGTH(eras); e++) {
        mcpump_server *server = test_connect(STRINGS("--era", eras[e]));
        mcpump_transport *transport = mcpump_server_transport(server);
        for (int i = 0; i < ROUNDS / 4; i++) {
            struct victim victim = {.server = server, .method = "test/drop"};
            uint64_t before = raw_stats(transport).requests;
            start(&victim);
            raw_await_requests(transport, before + 1);
            expect_cancelled(&victim, eras[e]);
            cr_expect_eq(raw_stats(transport).in_flight, 0);
        }
        json_object_put(test_result(server, "test/echo", NULL));
        test_expect_no_violation(server, eras[e]);
        mcpump_server_free(server);
    }
}

/* Wherever it is: before, within and after the call. */
TIDY_TEST(threads_anywhere_in_a_call)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    for (int i = 0; i < ROUNDS; i++) {
        struct victim victims[4];
        for (size_t k = 0; k < LENGTH(victims); k++) {
            victims[k] = (struct victim){.transport = transport,
                                         .method = (i + (int)k) % 2 ? "test/echo" : "test/drop"};
            start(&victims[k]);
        }
        for (size_t k = 0; k < LENGTH(victims); k++) {
            pthread_cancel(victims[k].thread);
            pthread_join(victims[k].thread, NULL);
        }
        cr_assert_eq(raw_stats(transport).in_flight, 0, "round %d", i);
    }
    raw_expect(transport, "after it", "test/echo", "{\"a\":1}", "{\"a\":1}");
    cr_expect_eq(raw_stats(transport).unknown_replies, 0);
    cr_expect_eq(raw_stats(transport).queued_bytes, 0);
    mcpump_transport_free(transport);
}

/* Waiting for a connection is no point of cancellation: the thread ends when it has one, or none,
 * and the server is not left connecting for ever. */
TIDY_TEST(threads_that_connect_or_wait_for_it)
{
    for (int i = 0; i < 4; i++) {
        mcpump_server_options options = test_options(STRINGS("--delay-start", "200"));
        mcpump_server *server = test_server_new(&options);
        struct victim victims[4];
        for (size_t k = 0; k < LENGTH(victims); k++) {
            victims[k] = (struct victim){.server = server, .method = "test/drop"};
            start(&victims[k]);
        }
        while (test_stats(server).opens == 0) {
        }
        for (size_t k = 0; k < LENGTH(victims); k++)
            expect_cancelled(&victims[k], "connecting");
        cr_expect_eq(test_stats(server).in_flight, 0);
        json_object_put(test_result(server, "test/echo", NULL));
        cr_expect_eq(test_stats(server).opens, 1);
        mcpump_server_free(server);
    }
}
