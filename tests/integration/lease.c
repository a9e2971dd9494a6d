/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A caller that waits alone reads for itself: the reader thread is not woken for it. Whatever else
 * may happen to a call happens to one that reads, too, and what concerns others is not held up.
 */
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "mcpump/run.h"
#include "raw.h"

#define WARM 60

/* So many calls one after the other, and the reader has lent. */
static void warm_up(mcpump_transport *transport)
{
    for (int i = 0; i < WARM; i++)
        raw_expect(transport, "warm", "test/echo", "{\"a\":1}", "{\"a\":1}");
}

static mcpump_transport *open_warm(void)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    warm_up(transport);
    return transport;
}

/* How often the reader thread of this process has gone to sleep. */
static long count_sleeps(void)
{
    char path[300], line[128];
    long sleeps = -1;
    bool is_reader = false;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *each; !is_reader && (each = readdir(tasks)) != NULL;) {
        snprintf(path, sizeof(path), "/proc/self/task/%s/status", each->d_name);
        FILE *status = each->d_name[0] != '.' ? fopen(path, "r") : NULL;
        while (status != NULL && fgets(line, sizeof(line), status) != NULL) {
            is_reader |= strncmp(line, "Name:\tmcp-r:", 12) == 0;
            sscanf(line, "voluntary_ctxt_switches: %ld", &sleeps);
        }
        if (status != NULL)
            fclose(status);
    }
    closedir(tasks);
    cr_assert(is_reader);
    return sleeps;
}

/* On a busy machine the time of a lease may pass between two calls; not for ever. */
TIDY_TEST(the_reader_sleeps_through_calls)
{
    mcpump_transport *transport = open_warm();
    int64_t until = test_now_ms() + TEST_PATIENCE_MS;
    for (long calls = 300, sleeps = calls; sleeps > calls / 2;) {
        cr_assert_lt(test_now_ms(), until, "it is woken for each call");
        long before = count_sleeps();
        for (int i = 0; i < calls; i++)
            raw_expect(transport, "alone", "test/echo", "{\"a\":1}", "{\"a\":1}");
        sleeps = count_sleeps() - before;
    }
    mcpump_transport_free(transport);
}

static void await_notifications(const mcpump_transport *transport, uint64_t count)
{
    int64_t until = test_now_ms() + TEST_PATIENCE_MS;
    while (raw_stats(transport).notifications_read < count) {
        cr_assert_lt(test_now_ms(), until, "they are not read");
        sched_yield();
    }
}

TIDY_TEST(what_comes_behind_the_reply_is_read)
{
    mcpump_transport *transport = open_warm();
    raw_expect(transport, "flood", "test/flood", "{\"notifications\":5,\"after\":500}",
               "{\"notifications\":5,\"after\":500}");
    await_notifications(transport, 505);
    mcpump_transport_free(transport);
}

TIDY_TEST(a_ping_is_answered_by_who_reads)
{
    mcpump_transport *transport = open_warm();
    for (int i = 0; i < 20; i++) {
        struct raw_call call = {.transport = transport, .method = "test/ping-me"};
        raw_call_make(&call);
        cr_expect_eq(call.err, MCPUMP_OK, "%s", raw_call_words(&call));
        raw_call_done(&call);
    }
    mcpump_transport_free(transport);
}

/* A caller that waits, reading or not: whether it reads is known to nobody, but it was alone. */
static void start(struct raw_call *call, mcpump_transport *transport, const char *method,
                  const char *params)
{
    uint64_t before = raw_stats(transport).requests;
    call->transport = transport;
    call->method = method;
    call->params = params;
    raw_call_start(call);
    raw_await_requests(transport, before + 1);
}

static void expect_end(struct raw_call *call, mcpump_err wanted, const char *name)
{
    raw_call_join(call);
    cr_expect_eq(call->err, wanted, "%s: %s", name, raw_call_words(call));
    cr_expect_lt(call->took_ms, TEST_PATIENCE_MS / 2, "%s: was not woken", name);
    raw_call_done(call);
}

TIDY_TEST(others_come_while_one_reads)
{
    mcpump_transport *transport = open_warm();
    for (int round = 0; round < 20; round++) {
        struct raw_call slow = {.options = {.timeout_ms = 0}};
        start(&slow, transport, "test/sleep", "{\"ms\":30}");
        raw_expect(transport, "beside", "test/echo", "{\"a\":1}", "{\"a\":1}");
        expect_end(&slow, MCPUMP_OK, "slow");
        warm_up(transport);
    }
    mcpump_transport_free(transport);
}

TIDY_TEST(who_reads_is_stopped)
{
    mcpump_transport *transport = open_warm();
    mcpump_run *run = NULL;
    for (int round = 0; round < 60; round++) {
        struct raw_call call = {.options = {.timeout_ms = round % 3 == 2 ? 20 : 0}};
        if (round % 3 == 0)
            call.options.run = run = mcpump_run_new(NULL);
        start(&call, transport, "test/drop", NULL);
        if (round % 3 == 0)
            mcpump_run_cancel(run);
        if (round % 3 == 1)
            mcpump_transport_interrupt(transport);
        static const mcpump_err ends[] = {MCPUMP_ERR_CANCELLED, MCPUMP_ERR_INTERRUPTED,
                                          MCPUMP_ERR_TIMEOUT};
        expect_end(&call, ends[round % 3], "stopped");
        mcpump_transport_clear_interrupt(transport);
        if (round % 3 == 0)
            mcpump_run_free(run);
        raw_expect(transport, "after it", "test/echo", "{\"a\":1}", "{\"a\":1}");
    }
    cr_expect_eq(raw_stats(transport).cancelled_on_wire, 60);
    mcpump_transport_free(transport);
}

TIDY_TEST(the_connection_is_lost_to_who_reads)
{
    for (int round = 0; round < 16; round++) {
        struct raw_call call = {.options = {.timeout_ms = 0}};
        mcpump_transport *transport = open_warm();
        start(&call, transport, "test/drop", NULL);
        if (round % 2 == 0)
            kill(mcpump_transport_pid(transport), SIGKILL);
        else
            mcpump_transport_close(transport);
        expect_end(&call, MCPUMP_ERR_CLOSED, "lost");
        mcpump_transport_free(transport);
    }
}

static void *call_once(void *call)
{
    raw_call_make(call);
    return NULL;
}

TIDY_TEST(who_reads_is_cancelled)
{
    mcpump_transport *transport = open_warm();
    for (int round = 0; round < 50; round++) {
        struct raw_call call = {.transport = transport, .method = "test/drop"};
        uint64_t before = raw_stats(transport).requests;
        void *result;
        pthread_create(&call.thread, NULL, call_once, &call);
        raw_await_requests(transport, before + 1);
        pthread_cancel(call.thread);
        pthread_join(call.thread, &result);
        cr_expect_eq(result, PTHREAD_CANCELED);
        cr_expect_eq(raw_stats(transport).in_flight, 0);
        raw_expect(transport, "after it", "test/echo", "{\"a\":1}", "{\"a\":1}");
    }
    mcpump_transport_free(transport);
}

TIDY_TEST(what_is_for_the_reader_to_handle)
{
    static const struct {
        const char *method, *params;
        mcpump_cause cause;
    } rows[] = {
        {"test/exit", "{}", MCPUMP_CAUSE_EXITED},
        {"test/close-stdout", "{\"reply\":false}", MCPUMP_CAUSE_STDOUT_CLOSED},
        {"test/junk", "{\"lines\":50}", MCPUMP_CAUSE_JUNK_OUTPUT},
        {"test/big", "{\"size\":20000000}", MCPUMP_CAUSE_MESSAGE_TOO_LARGE},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        mcpump_transport *transport = open_warm();
        mcpump_failure *failure =
            raw_fails(transport, "reader", rows[i].method, rows[i].params, MCPUMP_ERR_CLOSED);
        cr_expect_eq(mcpump_failure_cause(failure), rows[i].cause, "%s",
                     mcpump_failure_message(failure));
        mcpump_failure_free(failure);
        mcpump_transport_free(transport);
    }
}
