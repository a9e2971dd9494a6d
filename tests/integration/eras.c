/* SPDX-License-Identifier: Apache-2.0 */
/* How a connection finds its era: every answer and non-answer to the probe and to `initialize`. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODERN "2026-07-28"
#define NEWEST "2025-11-25"

/* -- servers that can be talked to */

static const struct agreement {
    const char *name;
    const char *const *switches;
    mcpump_era insist;
    int64_t probe_timeout_ms; /* 0: one that no answer of this row misses */
    mcpump_era era;
    const char *version;
    int starts;
    int probes; /* in all of them */
} agreements[] = {
    {"legacy", STRINGS("--era", "legacy"), 0, 0, MCPUMP_ERA_LEGACY, NEWEST, 1, 1},
    {"modern", STRINGS("--era", "modern"), 0, 0, MCPUMP_ERA_MODERN, MODERN, 1, 1},
    {"both", STRINGS("--era", "both"), 0, 0, MCPUMP_ERA_MODERN, MODERN, 1, 1},
    {"insisted on legacy", STRINGS("--era", "both"), MCPUMP_ERA_LEGACY, 0, MCPUMP_ERA_LEGACY,
     NEWEST, 1, 0},
    {"insisted on modern", STRINGS("--era", "modern"), MCPUMP_ERA_MODERN, 0, MCPUMP_ERA_MODERN,
     MODERN, 1, 1},

    {"probe: -32601", STRINGS("--probe", "error:-32601"), 0, 0, MCPUMP_ERA_LEGACY, NEWEST, 1, 1},
    {"probe: -32602", STRINGS("--probe", "error:-32602"), 0, 0, MCPUMP_ERA_LEGACY, NEWEST, 1, 1},
    {"probe: -32000", STRINGS("--probe", "error:-32000"), 0, 0, MCPUMP_ERA_LEGACY, NEWEST, 1, 1},
    {"probe: -32700", STRINGS("--probe", "error:-32700"), 0, 0, MCPUMP_ERA_LEGACY, NEWEST, 1, 1},
    {"probe: -32603", STRINGS("--probe", "error:-32603"), 0, 0, MCPUMP_ERA_LEGACY, NEWEST, 1, 1},
    {"probe: -32002", STRINGS("--probe", "error:-32002"), 0, 0, MCPUMP_ERA_LEGACY, NEWEST, 1, 1},
    {"probe: code 0", STRINGS("--probe", "error:0"), 0, 0, MCPUMP_ERA_LEGACY, NEWEST, 1, 1},
    {"probe: no code", STRINGS("--probe", "error-no-code"), 0, 0, MCPUMP_ERA_LEGACY, NEWEST, 1, 1},
    {"probe: error without id", STRINGS("--probe", "error-null-id"), 0, 200, MCPUMP_ERA_LEGACY,
     NEWEST, 1, 1},
    {"probe: silence", STRINGS("--probe", "silent"), 0, 200, MCPUMP_ERA_LEGACY, NEWEST, 1, 1},
    {"probe: a log line", STRINGS("--probe", "log"), 0, 200, MCPUMP_ERA_LEGACY, NEWEST, 1, 1},
    {"probe: a log line, error", STRINGS("--probe", "log-then-error"), 0, 0, MCPUMP_ERA_LEGACY,
     NEWEST, 1, 1},
    {"probe: draft's code, no list", STRINGS("--probe", "draft"), 0, 0, MCPUMP_ERA_LEGACY, NEWEST,
     1, 1},
    {"probe: exit", STRINGS("--probe", "exit"), 0, 0, MCPUMP_ERA_LEGACY, NEWEST, 2, 1},
    {"probe: exit with 1", STRINGS("--probe", "exit:1"), 0, 0, MCPUMP_ERA_LEGACY, NEWEST, 2, 1},
    {"probe: only legacy versions", STRINGS("--probe", "only-legacy"), 0, 0, MCPUMP_ERA_LEGACY,
     NEWEST, 1, 1},
    {"probe: only old versions",
     STRINGS("--probe", "only-legacy:2024-11-05", "--init", "reply:2024-11-05"), 0, 0,
     MCPUMP_ERA_LEGACY, "2024-11-05", 1, 1},
    {"probe: more members", STRINGS("--probe", "extra-members"), 0, 0, MCPUMP_ERA_MODERN, MODERN, 1,
     1},
    {"probe: modern among unknown versions", STRINGS("--supported", "2099-01-01,2026-07-28,x"), 0,
     0, MCPUMP_ERA_MODERN, MODERN, 1, 1},

    {"late discovery, no initialize", STRINGS("--probe", "late:400", "--init", "silent"), 0, 100,
     MCPUMP_ERA_MODERN, MODERN, 1, 1},
    {"late discovery, then initialize", STRINGS("--probe", "late:300", "--init", "late:20000"), 0,
     100, MCPUMP_ERA_MODERN, MODERN, 1, 1},
    {"-32022 to initialize, probe slow", STRINGS("--era", "modern", "--probe", "late:20000"), 0,
     100, MCPUMP_ERA_MODERN, MODERN, 1, 1},
    {"-32022 to initialize, probe failed", STRINGS("--era", "modern", "--probe", "error"), 0, 0,
     MCPUMP_ERA_MODERN, MODERN, 1, 1},

    {"after the probe: exit", STRINGS("--probe", "error", "--after-probe", "exit"), 0, 0,
     MCPUMP_ERA_LEGACY, NEWEST, 2, 1},

    {"initialize: 2024-11-05", STRINGS("--era", "legacy", "--init", "reply:2024-11-05"), 0, 0,
     MCPUMP_ERA_LEGACY, "2024-11-05", 1, 1},
    {"initialize: 2025-03-26", STRINGS("--era", "legacy", "--init", "reply:2025-03-26"), 0, 0,
     MCPUMP_ERA_LEGACY, "2025-03-26", 1, 1},
    {"initialize: 2025-06-18", STRINGS("--era", "legacy", "--init", "reply:2025-06-18"), 0, 0,
     MCPUMP_ERA_LEGACY, "2025-06-18", 1, 1},
    {"initialize: more members", STRINGS("--era", "legacy", "--init", "extra-members"), 0, 0,
     MCPUMP_ERA_LEGACY, NEWEST, 1, 1},
    {"initialize: notifications first", STRINGS("--era", "legacy", "--init", "notifications-first"),
     0, 0, MCPUMP_ERA_LEGACY, NEWEST, 1, 1},
    {"initialize: ping first", STRINGS("--era", "legacy", "--init", "ping-first"), 0, 0,
     MCPUMP_ERA_LEGACY, NEWEST, 1, 1},
    {"initialize: late", STRINGS("--era", "legacy", "--init", "late:500"), 0, 100,
     MCPUMP_ERA_LEGACY, NEWEST, 1, 1},

    {"slow start, insisted on modern", STRINGS("--era", "modern", "--delay-start", "500"),
     MCPUMP_ERA_MODERN, 100, MCPUMP_ERA_MODERN, MODERN, 1, 1},
    {"slow start, legacy", STRINGS("--era", "legacy", "--delay-start", "500"), 0, 100,
     MCPUMP_ERA_LEGACY, NEWEST, 1, 1},
};

/* The row's switches and a log. The list stays until the next. */
static const char *const *with_log(const char *const *switches, const char *log)
{
    static const char *list[16];
    size_t size = 0;
    while (switches[size] != NULL) {
        list[size] = switches[size];
        size++;
    }
    cr_assert_lt(size + 2, LENGTH(list));
    list[size++] = "--log";
    list[size++] = log;
    list[size] = NULL;
    return list;
}

static void expect_agreement(const struct agreement *row)
{
    struct test_folder folder;
    struct test_resources before = test_resources();
    test_folder_init(&folder);
    mcpump_server_options options = test_options(with_log(row->switches, folder.log));
    options.era = row->insist;
    options.probe_timeout_ms = row->probe_timeout_ms > 0 ? row->probe_timeout_ms : TEST_PATIENCE_MS;
    mcpump_server *server = test_server_new(&options);
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_server_connect(server, &failure);
    cr_assert_eq(err, MCPUMP_OK, "%s: %s", row->name,
                 failure != NULL ? mcpump_failure_message(failure) : mcpump_err_name(err));
    cr_expect_eq(mcpump_server_era(server), row->era, "%s: era %d", row->name,
                 (int)mcpump_server_era(server));
    cr_expect_str_eq(mcpump_server_protocol_version(server), row->version, "%s: %s", row->name,
                     mcpump_server_protocol_version(server));
    cr_expect(mcpump_server_is_connected(server), "%s", row->name);
    test_expect_no_violation(server, row->name);
    cr_expect_eq(test_count_lines(folder.log, "start "), row->starts, "%s: starts", row->name);
    cr_expect_eq(test_count_received(folder.log, "\"server/discover\""), row->probes, "%s: probes",
                 row->name);
    mcpump_server_free(server);
    test_folder_done(&folder);
    EXPECT_NOTHING_LEFT(before, row->name);
}

Test(eras, agreements)
{
    for (size_t i = 0; i < LENGTH(agreements); i++)
        expect_agreement(&agreements[i]);
}

/* A server that reads the probe and `initialize` at once, since it started slowly, is not blamed
 * for the second by anybody. */
Test(eras, slow_start_of_a_modern_server)
{
    mcpump_server_options options =
        test_options(STRINGS("--era", "modern", "--delay-start", "500"));
    options.probe_timeout_ms = 100;
    mcpump_server *server = test_server_new(&options);
    test_connect_ok(server);
    cr_expect_eq(mcpump_server_era(server), MCPUMP_ERA_MODERN);
    json_object_put(test_result(server, "tools/list", NULL));
    mcpump_server_free(server);
}

/* It answers the probe with an error, and nothing after that: the probe is blamed, and the second
 * process is not probed. The library's patience (10 s) is what takes time here. */
Test(eras, a_server_that_the_probe_breaks_is_started_again)
{
    const struct agreement row = {"after the probe: silence",
                                  STRINGS("--probe", "error", "--after-probe", "silent"),
                                  0,
                                  0,
                                  MCPUMP_ERA_LEGACY,
                                  NEWEST,
                                  2,
                                  1};
    expect_agreement(&row);
}

/* -- servers that cannot */

static const struct refusal {
    const char *name;
    const char *const *switches;
    mcpump_era insist;
    int64_t probe_timeout_ms;   /* 0: one that no answer of this row misses */
    int64_t connect_timeout_ms; /* as above */
    mcpump_err err;
    const char *words;
    int exit_status;
    int starts;
    int initializes;
} refusals[] = {
    {"-32022: the version just refused", STRINGS("--probe", "unsupported:2026-07-28"), 0, 0, 0,
     MCPUMP_ERR_HANDSHAKE, "no protocol version", -1, 1, 0},
    {"-32022: unknown versions", STRINGS("--probe", "unsupported:2099-01-01,x"), 0, 0, 0,
     MCPUMP_ERR_HANDSHAKE, "no protocol version", -1, 1, 0},
    {"-32022: no list", STRINGS("--probe", "unsupported-bare"), 0, 0, 0, MCPUMP_ERR_HANDSHAKE,
     "no protocol version", -1, 1, 0},
    {"draft's code with a list", STRINGS("--probe", "draft:2099-01-01"), 0, 0, 0,
     MCPUMP_ERR_HANDSHAKE, "no protocol version", -1, 1, 0},
    {"discovery of unknown versions", STRINGS("--supported", "2099-01-01"), 0, 0, 0,
     MCPUMP_ERR_HANDSHAKE, "no protocol version", -1, 1, 0},

    {"initialize: error", STRINGS("--era", "legacy", "--init", "error"), 0, 0, 0,
     MCPUMP_ERR_HANDSHAKE, "error -32603: the fake server will not start", -1, 1, 1},
    {"initialize: unknown version", STRINGS("--era", "legacy", "--init", "unknown-version"), 0, 0,
     0, MCPUMP_ERR_HANDSHAKE, "1999-12-31", -1, 1, 1},
    {"initialize: modern version", STRINGS("--era", "legacy", "--init", "reply:2026-07-28"), 0, 0,
     0, MCPUMP_ERR_HANDSHAKE, "2026-07-28", -1, 1, 1},
    {"initialize: no version", STRINGS("--era", "legacy", "--init", "no-version"), 0, 0, 0,
     MCPUMP_ERR_HANDSHAKE, "protocolVersion", -1, 1, 1},
    {"initialize: silence", STRINGS("--era", "legacy", "--init", "silent"), 0, 0, 400,
     MCPUMP_ERR_TIMEOUT, "time is over", -1, 1, 1},
    {"initialize: exit", STRINGS("--era", "legacy", "--init", "exit:5"), 0, 0, 0, MCPUMP_ERR_CLOSED,
     "status 5", 5, 2, 2},
    {"initialize: exit, no probe", STRINGS("--era", "legacy", "--init", "exit:5"),
     MCPUMP_ERA_LEGACY, 0, 0, MCPUMP_ERR_CLOSED, "status 5", 5, 1, 1},
    {"initialize: -32022, unknown versions",
     STRINGS("--probe", "error", "--init", "modern-error:2099-01-01"), 0, 0, 0,
     MCPUMP_ERR_HANDSHAKE, "-32022", -1, 1, 1},
    {"after the probe: error", STRINGS("--probe", "error", "--after-probe", "error"), 0, 0, 0,
     MCPUMP_ERR_HANDSHAKE, "the fake server is broken", -1, 1, 1},

    {"no answer at all", STRINGS("--probe", "silent", "--init", "silent"), 0, 100, 500,
     MCPUMP_ERR_TIMEOUT, "time is over", -1, 1, 1},
    {"no answer at all, long probe", STRINGS("--probe", "silent"), 0, 0, 400, MCPUMP_ERR_TIMEOUT,
     "time is over", -1, 1, 0},
    {"exit at once", STRINGS("--exit-now", "7"), 0, 0, 0, MCPUMP_ERR_CLOSED, "status 7", 7, 2, 0},
    {"exit at once, no probe", STRINGS("--exit-now", "7"), MCPUMP_ERA_LEGACY, 0, 0,
     MCPUMP_ERR_CLOSED, "status 7", 7, 1, 0},
    {"exit at once, insisted on modern", STRINGS("--exit-now", "7"), MCPUMP_ERA_MODERN, 0, 0,
     MCPUMP_ERR_CLOSED, "status 7", 7, 1, 0},

    {"insisted on modern: legacy", STRINGS("--era", "legacy"), MCPUMP_ERA_MODERN, 0, 0,
     MCPUMP_ERR_HANDSHAKE, "-32601", -1, 1, 0},
    {"insisted on modern: only legacy", STRINGS("--probe", "only-legacy"), MCPUMP_ERA_MODERN, 0, 0,
     MCPUMP_ERR_HANDSHAKE, "not modern", -1, 1, 0},
    {"insisted on modern: silence", STRINGS("--probe", "silent"), MCPUMP_ERA_MODERN, 100, 400,
     MCPUMP_ERR_TIMEOUT, "time is over", -1, 1, 0},
    {"insisted on legacy: modern", STRINGS("--era", "modern"), MCPUMP_ERA_LEGACY, 0, 0,
     MCPUMP_ERR_HANDSHAKE, "-32022", -1, 1, 1},
};

static void expect_refusal(const struct refusal *row)
{
    struct test_folder folder;
    struct test_resources before = test_resources();
    test_folder_init(&folder);
    mcpump_server_options options = test_options(with_log(row->switches, folder.log));
    options.era = row->insist;
    options.probe_timeout_ms = row->probe_timeout_ms > 0 ? row->probe_timeout_ms : TEST_PATIENCE_MS;
    options.connect_timeout_ms =
        row->connect_timeout_ms > 0 ? row->connect_timeout_ms : TEST_PATIENCE_MS;
    mcpump_server *server = test_server_new(&options);
    mcpump_failure *failure = NULL;
    int64_t started = test_now_ms();
    mcpump_err err = mcpump_server_connect(server, &failure);
    int64_t took = test_now_ms() - started;
    cr_assert_not_null(failure, "%s: %s", row->name, mcpump_err_name(err));
    const char *message = mcpump_failure_message(failure);
    cr_expect_eq(err, row->err, "%s: %s: %s", row->name, mcpump_err_name(err), message);
    test_expect_part(message, row->words, row->name);
    cr_expect_eq(mcpump_failure_exit_status(failure), row->exit_status, "%s: %s", row->name,
                 message);
    cr_expect_lt(took, TEST_PATIENCE_MS / 2, "%s: it waited", row->name);
    cr_expect_geq(took, row->connect_timeout_ms, "%s: it did not wait", row->name);
    mcpump_server_close(server);
    cr_expect_not(test_has_children(), "%s: the process is left", row->name);
    cr_expect_not(mcpump_server_is_connected(server), "%s", row->name);
    cr_expect_eq(mcpump_server_era(server), MCPUMP_ERA_AUTO, "%s", row->name);
    cr_expect_str_eq(mcpump_server_protocol_version(server), "", "%s", row->name);
    cr_expect_eq(test_count_lines(folder.log, "start "), row->starts, "%s: starts", row->name);
    cr_expect_eq(test_count_received(folder.log, "\"initialize\""), row->initializes,
                 "%s: initializes", row->name);
    cr_expect_eq(test_count_received(folder.log, "notifications/"), 0, "%s: notifications",
                 row->name);
    mcpump_failure_free(failure);
    mcpump_server_free(server);
    test_folder_done(&folder);
    EXPECT_NOTHING_LEFT(before, row->name);
}

Test(eras, refusals)
{
    for (size_t i = 0; i < LENGTH(refusals); i++)
        expect_refusal(&refusals[i]);
}

/* -- what the server asks meanwhile */

/* It is answered, even in the same write as the reply to `initialize`, and not before what must
 * come first: test/report would tell. */
Test(eras, requests_beside_the_reply_to_initialize_are_answered)
{
    static const char *const how[] = {"ping-first", "request-with-reply", "request-with-reply:ping",
                                      "request-with-reply:sampling/createMessage"};
    for (size_t i = 0; i < LENGTH(how); i++) {
        mcpump_server *server = test_connect(STRINGS("--era", "legacy", "--init", how[i]));
        json_object *report = test_result(server, "test/report", NULL);
        cr_expect_eq(test_int_member(report, "answers"), 1, "%s", how[i]);
        cr_expect_eq(test_int_member(report, "violation_count"), 0, "%s: %s", how[i],
                     test_member(report, "violations"));
        json_object_put(report);
        mcpump_server_free(server);
    }
}

/* A failure to connect is not kept: the next connect tries again at once, and a call does after the
 * delay; before that, it is told what failed. */
Test(eras, a_failed_connect_can_be_tried_again)
{
    struct test_folder folder;
    test_folder_init(&folder);
    mcpump_server_options options =
        test_options(STRINGS("--era", "legacy", "--init", "error", "--log", folder.log));
    options.backoff_first_ms = options.backoff_most_ms = 3600 * 1000;
    mcpump_server *server = test_server_new(&options);
    for (int i = 1; i <= 2; i++) {
        mcpump_failure_free(test_connect_fails(server, MCPUMP_ERR_HANDSHAKE));
        cr_expect_eq(test_count_lines(folder.log, "start "), i);
    }
    mcpump_failure *failure = test_call_fails(server, "test/echo", NULL, MCPUMP_ERR_UNAVAILABLE);
    test_expect_part(mcpump_failure_message(failure), "the fake server will not start", "");
    cr_expect_gt(mcpump_failure_retry_after_ms(failure), 3000 * 1000);
    mcpump_failure_free(failure);
    cr_expect_eq(test_count_lines(folder.log, "start "), 2);
    mcpump_server_free(server);

    options.backoff_first_ms = options.backoff_most_ms = 1;
    server = test_server_new(&options);
    mcpump_call_options patient = MCPUMP_CALL_OPTIONS_INIT;
    patient.wait_for_ready = true;
    patient.timeout_ms = 500;
    mcpump_reply *reply = NULL;
    cr_expect_eq(mcpump_server_request(server, "test/echo", NULL, &patient, &reply, NULL),
                 MCPUMP_ERR_TIMEOUT);
    cr_expect_gt(test_count_lines(folder.log, "start "), 4, "it waits through failures");
    mcpump_server_free(server);
    test_folder_done(&folder);
}
