/* SPDX-License-Identifier: Apache-2.0 */
/* Time limits of calls: each caller returns when its own is over, whatever the server does. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "raw.h"

/* How much later than its time a call may return here; a default that was taken by mistake is
 * longer. */
#define GENEROUS_MS 15000

TIDY_TEST(the_caller_returns_in_time)
{
    static const struct {
        const char *name;
        bool stopped; /* reads nothing, says nothing */
        int64_t default_ms, call_ms, wanted_ms;
    } rows[] = {
        {"call's", false, 0, 150, 150},
        {"call's, server stopped", true, 0, 150, 150},
        {"default", false, 150, 0, 150},
        {"default, server stopped", true, 150, 0, 150},
        {"call's rather than the default", false, 60000, 150, 150},
        {"call's longer than the default", false, 20, 300, 300},
        {"call's where there is no default", false, MCPUMP_FOREVER, 150, 150},
        {"one millisecond", false, 0, 1, 1},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        mcpump_transport_options options = raw_options(NO_STRINGS);
        options.default_timeout_ms = rows[i].default_ms;
        mcpump_transport *transport = raw_open(&options);
        if (rows[i].stopped)
            raw_stop_server(transport);
        struct raw_call call = {.transport = transport, .method = "test/drop"};
        call.options.timeout_ms = rows[i].call_ms;
        raw_call_make(&call);
        cr_assert_eq(call.err, MCPUMP_ERR_TIMEOUT, "%s: %s", rows[i].name, raw_call_words(&call));
        cr_expect_geq(call.took_ms, rows[i].wanted_ms, "%s: %lld ms", rows[i].name,
                      (long long)call.took_ms);
        cr_expect_lt(call.took_ms, rows[i].wanted_ms + GENEROUS_MS, "%s: %lld ms", rows[i].name,
                     (long long)call.took_ms);
        /* Both are cut to whole milliseconds. */
        cr_expect_leq(mcpump_failure_elapsed_ms(call.failure), call.took_ms + 1, "%s",
                      rows[i].name);
        raw_call_done(&call);
        kill(mcpump_transport_pid(transport), SIGCONT);
        call = (struct raw_call){.transport = transport, .method = "test/echo"};
        call.options.timeout_ms = TEST_PATIENCE_MS;
        raw_call_make(&call);
        cr_expect(raw_call_got(&call, "{}"), "%s: %s", rows[i].name, raw_call_words(&call));
        raw_call_done(&call);
        mcpump_transport_free(transport);
    }
}

TIDY_TEST(for_ever_outlasts_the_default)
{
    mcpump_transport_options options = raw_options(NO_STRINGS);
    options.default_timeout_ms = 20;
    mcpump_transport *transport = raw_open(&options);
    struct raw_call call = {
        .transport = transport, .method = "test/sleep", .params = "{\"ms\":300}"};
    call.options.timeout_ms = MCPUMP_FOREVER;
    raw_call_make(&call);
    cr_expect(raw_call_got(&call, "{\"ms\":300}"), "%s", raw_call_words(&call));
    raw_call_done(&call);
    mcpump_transport_free(transport);
}

/* The reply comes with that of the next call, in front of it or behind. */
TIDY_TEST(a_late_reply_is_dropped_and_counted)
{
    static const char *const methods[] = {"test/batch", "test/reverse"};
    mcpump_transport *transport = test_open(NO_STRINGS);
    for (size_t i = 0; i < 20; i++) {
        const char *method = methods[i % LENGTH(methods)];
        mcpump_failure *failure = raw_times_out(transport, method, method, "{\"late\":1}", 10);
        cr_expect_eq(mcpump_failure_sent(failure), MCPUMP_SENT);
        mcpump_failure_free(failure);
        raw_expect(transport, method, method, "{\"mine\":1}", "{\"mine\":1}");
    }
    raw_expect(transport, "last", "test/echo", "{\"a\":1}", "{\"a\":1}");
    mcpump_stats stats = raw_stats(transport);
    cr_expect_eq(stats.late_replies, 20, "%llu", (unsigned long long)stats.late_replies);
    cr_expect_eq(stats.replies, 21);
    cr_expect_eq(stats.cancelled_on_wire, 20);
    cr_expect_eq(stats.duplicate_replies + stats.unknown_replies, 0);
    mcpump_transport_free(transport);
}

/* A call with a long limit must not wait for, nor be ended by, those of others. */
TIDY_TEST(each_of_many_calls_has_its_own_limit)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    struct raw_call calls[64];
    size_t sent = 0; /* some may not get their turn in time */
    struct raw_call slow = {
        .transport = transport, .method = "test/sleep", .params = "{\"ms\":1000}"};
    raw_call_start(&slow);
    for (size_t i = 0; i < LENGTH(calls); i++) {
        calls[i] = (struct raw_call){.transport = transport, .method = "test/drop"};
        calls[i].options.timeout_ms = 10 + 5 * (int64_t)i;
        raw_call_start(&calls[i]);
    }
    for (size_t i = 0; i < LENGTH(calls); i++) {
        raw_call_join(&calls[i]);
        cr_assert_eq(calls[i].err, MCPUMP_ERR_TIMEOUT, "%zu: %s", i, raw_call_words(&calls[i]));
        cr_expect_geq(calls[i].took_ms, calls[i].options.timeout_ms, "%zu", i);
        sent += mcpump_failure_sent(calls[i].failure) != MCPUMP_NOT_SENT;
        raw_call_done(&calls[i]);
    }
    raw_call_join(&slow);
    cr_expect(raw_call_got(&slow, "{\"ms\":1000}"), "%s", raw_call_words(&slow));
    raw_call_done(&slow);
    raw_expect_cancelled(transport, "64", "test/drop", sent);
    mcpump_transport_free(transport);
}
