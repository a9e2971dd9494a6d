/* SPDX-License-Identifier: Apache-2.0 */
/* What a transport counts. */
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "raw.h"

/* One thing that happens, and the counters that it moves. */
struct stat_row {
    const char *name;
    const char *method, *params; /* of a call that succeeds */
    struct {
        size_t offset;
        uint64_t by;
    } moved[5]; /* besides requests and replies */
};
#define MOVED(field, by)                                                                           \
    {                                                                                              \
        offsetof(mcpump_stats, field), by                                                          \
    }

static const struct stat_row rows[] = {
    {"a call", "test/echo", "{}", {{0}}},
    {"a notification", "test/notify", "{}", {MOVED(notifications_read, 1)}},
    {"many", "test/flood", "{\"notifications\":5000}", {MOVED(notifications_read, 5000)}},
    {"a ping", "test/ping-me", "{}", {MOVED(server_requests, 1)}},
    {"a request", "test/ask", "{}", {MOVED(server_requests, 1)}},
    {"a second reply", "test/dup", "{}", {MOVED(duplicate_replies, 1)}},
    {"ids never used", "test/unknown-id", "{}", {MOVED(unknown_replies, 4)}},
    {"junk", "test/junk", "{\"lines\":3}", {MOVED(junk_lines, 3)}},
    {"stderr", "test/stderr", "{\"text\":\"a\\nb\"}", {MOVED(stderr_lines, 2)}},
};

/* Counters of bytes move with everything; those of a row must, all others must not. */
static void check_moves(const mcpump_stats *before, const mcpump_stats *after,
                        const struct stat_row *row)
{
    static const size_t bytes[] = {offsetof(mcpump_stats, bytes_written),
                                   offsetof(mcpump_stats, bytes_read)};
    for (size_t at = sizeof(size_t); at < sizeof(mcpump_stats); at += sizeof(uint64_t)) {
        uint64_t was, is, by = 0;
        memcpy(&was, (const char *)before + at, sizeof(was));
        memcpy(&is, (const char *)after + at, sizeof(is));
        if (at == bytes[0] || at == bytes[1]) {
            cr_expect_gt(is, was, "%s: the bytes at %zu", row->name, at);
            continue;
        }
        if (at == offsetof(mcpump_stats, requests) || at == offsetof(mcpump_stats, replies))
            by = 2; /* the call, and one more after it */
        for (size_t i = 0; i < LENGTH(row->moved); i++)
            by += row->moved[i].offset == at ? row->moved[i].by : 0;
        cr_expect_eq(is - was, by, "%s: the counter at %zu moved by %llu, not %llu", row->name, at,
                     (unsigned long long)(is - was), (unsigned long long)by);
    }
}

/* stderr comes by another way, and no event tells when. */
static void await_stderr_lines(const mcpump_transport *transport, uint64_t count)
{
    int64_t until = test_now_ms() + TEST_PATIENCE_MS;
    while (raw_stats(transport).stderr_lines < count && test_now_ms() < until)
        sched_yield();
}

TIDY_TEST(each_event_moves_its_counters)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const struct stat_row *row = &rows[i];
        mcpump_stats before = raw_stats(transport);
        struct raw_call call = {
            .transport = transport, .method = row->method, .params = row->params};
        raw_call_make(&call);
        cr_assert_eq(call.err, MCPUMP_OK, "%s: %s", row->name, raw_call_words(&call));
        raw_call_done(&call);
        raw_expect(transport, row->name, "test/echo", "{}", "{}");
        if (row->moved[0].offset == offsetof(mcpump_stats, stderr_lines))
            await_stderr_lines(transport, before.stderr_lines + row->moved[0].by);
        mcpump_stats after = raw_stats(transport);
        check_moves(&before, &after, row);
    }
    mcpump_transport_free(transport);
}

TIDY_TEST(bytes_are_exact)
{
    static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"test/echo\","
                                  "\"params\":{\"a\":1}}\n";
    static const char reply[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":1}}\n";
    mcpump_transport *transport = test_open(NO_STRINGS);
    raw_expect(transport, "bytes", "test/echo", "{\"a\":1}", "{\"a\":1}");
    mcpump_stats stats = raw_stats(transport);
    cr_expect_eq(stats.bytes_written, strlen(request));
    cr_expect_eq(stats.bytes_read, strlen(reply));
    mcpump_transport_free(transport);
}

TIDY_TEST(notifications_of_the_host)
{
    static const char note[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/a\"}";
    mcpump_transport *transport = test_open(NO_STRINGS);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(mcpump_transport_notify(transport, note, strlen(note), NULL), MCPUMP_OK);
    struct raw_received received;
    raw_receive(transport, &received);
    cr_expect_str_eq(received.methods, "notifications/a notifications/a notifications/a");
    raw_received_done(&received);
    mcpump_stats stats = raw_stats(transport);
    cr_expect_eq(stats.notifications_sent, 3);
    cr_expect_eq(stats.requests, 1);
    mcpump_transport_free(transport);
}

TIDY_TEST(in_flight_is_now)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    struct raw_call calls[8];
    for (size_t i = 0; i < LENGTH(calls); i++) {
        calls[i] = (struct raw_call){.transport = transport, .method = "test/drop"};
        raw_call_start(&calls[i]);
    }
    raw_await_read(transport, LENGTH(calls));
    cr_expect_eq(raw_stats(transport).in_flight, LENGTH(calls));
    cr_expect_eq(raw_stats(transport).queued_bytes, 0);
    mcpump_transport_interrupt(transport);
    for (size_t i = 0; i < LENGTH(calls); i++) {
        raw_call_join(&calls[i]);
        raw_call_done(&calls[i]);
    }
    cr_expect_eq(raw_stats(transport).in_flight, 0);
    mcpump_transport_free(transport);
}

TIDY_TEST(counters_go_on_after_a_reopening)
{
    mcpump_transport *transport = test_transport_new(NO_STRINGS);
    for (uint64_t i = 1; i <= 3; i++) {
        cr_assert_eq(mcpump_transport_open(transport, NULL), MCPUMP_OK);
        raw_expect(transport, "reopened", "test/echo", "{}", "{}");
        cr_expect_eq(raw_stats(transport).opens, i);
        cr_expect_eq(raw_stats(transport).requests, i);
        cr_expect_eq(raw_stats(transport).replies, i);
        mcpump_transport_close(transport);
    }
    mcpump_transport_free(transport);
}

/* For a program that was built when there were fewer counters. */
TIDY_TEST(no_more_is_written_than_was_asked_for)
{
    mcpump_stats stats;
    mcpump_transport *transport = test_open(NO_STRINGS);
    raw_expect(transport, "call", "test/echo", "{}", "{}");
    memset(&stats, 0xEE, sizeof(stats));
    stats.size = offsetof(mcpump_stats, requests);
    mcpump_transport_stats(transport, &stats);
    cr_expect_eq(stats.opens, 1);
    cr_expect_eq(stats.requests, 0xEEEEEEEEEEEEEEEE);
    cr_expect_eq(stats.size, offsetof(mcpump_stats, requests));
    mcpump_transport_free(transport);
}
