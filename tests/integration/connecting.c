/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cancelling while a server is being connected: the thread that does it, those that wait for it,
 * and those that come afterwards.
 */
#include <stdio.h>
#include <string.h>

#include "raw.h"

#define SOON_MS (TEST_PATIENCE_MS / 2)

/* -- calls that need a connection, in threads of their own */

struct comer {
    mcpump_server *server;
    mcpump_run *entered, *given;
    bool connects; /* mcpump_server_connect instead of a call */
    mcpump_err err;
    int64_t took_ms;
    pthread_t thread;
};

static mcpump_err call(struct comer *comer)
{
    mcpump_call_options options = MCPUMP_CALL_OPTIONS_INIT;
    mcpump_reply *reply = NULL;
    options.timeout_ms = TEST_PATIENCE_MS;
    options.run = comer->given;
    mcpump_err err =
        mcpump_server_request(comer->server, "test/echo", NULL, &options, &reply, NULL);
    mcpump_reply_free(reply);
    return err;
}

static void *come(void *arg)
{
    struct comer *comer = arg;
    mcpump_run_scope scope;
    int64_t started = test_now_ms();
    mcpump_run_enter(comer->entered, &scope);
    comer->err = comer->connects ? mcpump_server_connect(comer->server, NULL) : call(comer);
    mcpump_run_leave(&scope);
    comer->took_ms = test_now_ms() - started;
    return NULL;
}

static void start(struct comer *comer)
{
    cr_assert_eq(pthread_create(&comer->thread, NULL, come, comer), 0);
}

static void expect(struct comer *comer, mcpump_err wanted, const char *name)
{
    pthread_join(comer->thread, NULL);
    cr_expect_eq(comer->err, wanted, "%s: %s", name, mcpump_err_name(comer->err));
    cr_expect_lt(comer->took_ms, SOON_MS, "%s", name);
}

/* -- a server that is slow to connect */

struct slow {
    struct test_folder folder;
    mcpump_server *server;
    struct comer first; /* it connects */
};

/* Which message is not answered, and how the log tells that it is waited for. */
static const struct slow_row {
    const char *name;
    const char *switches[4];
    const char *awaits;
} slows[] = {
    {"initialize",
     {"--era", "legacy", "--init", "late:1000"},
     "recv {\"jsonrpc\":\"2.0\",\"id\":2"},
    {"probe", {"--probe", "late:1000"}, "recv {\"jsonrpc\":\"2.0\",\"id\":1"},
    {"start", {"--delay-start", "1000"}, "start "},
};

static void slow_init(struct slow *slow, const struct slow_row *row, mcpump_run *run)
{
    test_folder_init(&slow->folder);
    const char *const *more = row->switches;
    mcpump_server_options options = test_options(
        STRINGS("--log", slow->folder.log, more[0], more[1], more[2], more[2] ? more[3] : NULL));
    slow->server = test_server_new(&options);
    slow->first = (struct comer){.server = slow->server, .given = run};
    start(&slow->first);
    test_await_lines(slow->folder.log, row->awaits, 1);
}

static void slow_done(struct slow *slow)
{
    mcpump_server_free(slow->server);
    test_folder_done(&slow->folder);
}

/* -- one run among those that wait */

TIDY_TEST(only_the_cancelled_run_stops_waiting_for_a_connection)
{
    for (size_t i = 0; i < LENGTH(slows); i++) {
        struct slow slow;
        struct comer others[8];
        mcpump_run *run = mcpump_run_new(NULL);
        slow_init(&slow, &slows[i], NULL);
        for (size_t k = 0; k < LENGTH(others); k++) {
            others[k] = (struct comer){.server = slow.server, .connects = k % 4 == 2};
            others[k].entered = k % 4 == 0 || k % 4 == 2 ? run : NULL;
            others[k].given = k % 4 == 1 ? run : NULL;
            start(&others[k]);
        }
        mcpump_run_cancel(run);
        for (size_t k = 0; k < LENGTH(others); k++)
            if (k % 4 != 3)
                expect(&others[k], MCPUMP_ERR_CANCELLED, slows[i].name);
        expect(&slow.first, MCPUMP_OK, slows[i].name);
        for (size_t k = 3; k < LENGTH(others); k += 4)
            expect(&others[k], MCPUMP_OK, slows[i].name);
        cr_expect_eq(test_stats(slow.server).opens, 1, "%s", slows[i].name);
        mcpump_run_free(run);
        slow_done(&slow);
    }
}

/* The one that was first is cancelled: the connect goes on for the host, and all who wait. */
TIDY_TEST(a_connect_goes_on_when_the_host_wants_it)
{
    for (size_t i = 0; i < LENGTH(slows); i++) {
        struct slow slow;
        struct comer others[8];
        mcpump_run *run = mcpump_run_new(NULL);
        slow_init(&slow, &slows[i], run);
        pid_t pid = test_pid(slow.server);
        for (size_t k = 0; k < LENGTH(others); k++) {
            others[k] = (struct comer){.server = slow.server, .connects = k % 2};
            start(&others[k]);
        }
        cr_expect_eq(mcpump_server_start(slow.server, NULL), MCPUMP_OK);
        mcpump_run_cancel(run);
        expect(&slow.first, MCPUMP_ERR_CANCELLED, slows[i].name);
        for (size_t k = 0; k < LENGTH(others); k++)
            expect(&others[k], MCPUMP_OK, slows[i].name);
        cr_expect_eq(test_pid(slow.server), pid, "%s", slows[i].name);
        cr_expect_eq(test_stats(slow.server).opens, 1, "%s", slows[i].name);
        test_expect_no_violation(slow.server, slows[i].name);
        mcpump_run_free(run);
        slow_done(&slow);
    }
}

/* Nobody is left who waits: the process ends, and the next one to come starts another. */
TIDY_TEST(a_connect_that_all_have_left_is_given_up)
{
    for (size_t i = 0; i < LENGTH(slows); i++) {
        struct slow slow;
        struct comer others[4];
        mcpump_run *run = mcpump_run_new(NULL);
        slow_init(&slow, &slows[i], run);
        pid_t pid = test_pid(slow.server);
        for (size_t k = 0; k < LENGTH(others); k++) {
            others[k] = (struct comer){.server = slow.server, .connects = k % 2, .entered = run};
            start(&others[k]);
        }
        mcpump_run_cancel(run);
        expect(&slow.first, MCPUMP_ERR_CANCELLED, slows[i].name);
        for (size_t k = 0; k < LENGTH(others); k++)
            expect(&others[k], MCPUMP_ERR_CANCELLED, slows[i].name);
        cr_expect(test_await_end(pid), "%s", slows[i].name);
        test_connect_ok(slow.server);
        cr_expect_eq(test_stats(slow.server).opens, 2, "%s", slows[i].name);
        mcpump_run_free(run);
        slow_done(&slow);
    }
}

TIDY_TEST(a_cancelled_run_starts_no_server)
{
    mcpump_server_options options = test_options(NO_STRINGS);
    mcpump_server *server = test_server_new(&options);
    mcpump_run *run = mcpump_run_new(NULL);
    mcpump_run_cancel(run);
    for (int i = 0; i < 4; i++) {
        struct comer comer = {.server = server, .connects = i % 2, .entered = run};
        start(&comer);
        expect(&comer, MCPUMP_ERR_CANCELLED, comer.connects ? "connect" : "call");
    }
    cr_expect_eq(test_stats(server).opens, 0);
    test_connect_ok(server);
    mcpump_run_free(run);
    mcpump_server_free(server);
}

/* The run in the options wins in the whole of the handshake, its notification included. */
TIDY_TEST(a_call_connects_under_the_run_of_its_options)
{
    static const char *const eras[] = {"legacy", "modern"};
    for (size_t i = 0; i < LENGTH(eras); i++) {
        mcpump_server_options options = test_options(STRINGS("--era", eras[i]));
        mcpump_server *server = test_server_new(&options);
        mcpump_run *ended = mcpump_run_new(NULL), *other = mcpump_run_new(NULL);
        mcpump_run_cancel(ended);
        struct comer comer = {.server = server, .entered = ended, .given = other};
        start(&comer);
        expect(&comer, MCPUMP_OK, eras[i]);
        cr_expect_eq(test_stats(server).opens, 1, "%s", eras[i]);
        mcpump_run_free(ended);
        mcpump_run_free(other);
        mcpump_server_free(server);
    }
}

/* -- the latch */

/* Those that wait are hit, also when it is cleared the next instant; who comes after the clear is
 * not, though the connect that was hit may still be ending. */
TIDY_TEST(a_call_after_the_clear_is_not_hit_by_the_interrupt_before_it)
{
    for (int i = 0; i < 12; i++) {
        struct slow slow;
        struct comer others[4];
        static const struct slow_row row = {
            "late", {"--era", "legacy", "--init", "late:50"}, "recv {\"jsonrpc\":\"2.0\",\"id\":2"};
        slow_init(&slow, &row, NULL);
        mcpump_server_interrupt(slow.server);
        mcpump_server_clear_interrupt(slow.server);
        struct comer here = {.server = slow.server, .connects = i % 2};
        come(&here);
        cr_expect_eq(here.err, MCPUMP_OK, "round %d: %s", i, mcpump_err_name(here.err));
        /* It may have been answered just before. */
        pthread_join(slow.first.thread, NULL);
        cr_expect(slow.first.err == MCPUMP_ERR_INTERRUPTED || slow.first.err == MCPUMP_OK, "%s",
                  mcpump_err_name(slow.first.err));
        for (size_t k = 0; k < LENGTH(others); k++) {
            others[k] = (struct comer){.server = slow.server};
            start(&others[k]);
        }
        for (size_t k = 0; k < LENGTH(others); k++)
            expect(&others[k], MCPUMP_OK, "later");
        slow_done(&slow);
    }
}

/* Between two processes of one connect: the first has died of the probe, what it left behind is
 * being stopped. No call is in flight then, and yet the connect is. */
TIDY_TEST(an_interrupt_between_two_processes_ends_the_connect)
{
    static const char *const names[] = {"interrupt and clear", "cancel"};
    for (size_t i = 0; i < LENGTH(names); i++) {
        struct test_folder folder;
        test_folder_init(&folder);
        mcpump_server_options options =
            test_options(STRINGS("--log", folder.log, "--era", "legacy", "--after-probe", "exit",
                                 "--ignore-term", "--grandchild", "quiet"));
        options.transport.stdin_grace_ms = options.transport.term_grace_ms = 500;
        mcpump_server *server = test_server_new(&options);
        mcpump_run *run = mcpump_run_new(NULL);
        struct comer comer = {.server = server, .given = run};
        start(&comer);
        test_await_lines(folder.log, "exit ", 1);
        for (mcpump_stats stats = test_stats(server); stats.in_flight > 0;)
            stats = test_stats(server);
        if (i == 0) {
            mcpump_server_interrupt(server);
            mcpump_server_clear_interrupt(server);
        } else {
            mcpump_run_cancel(run);
        }
        expect(&comer, i == 0 ? MCPUMP_ERR_INTERRUPTED : MCPUMP_ERR_CANCELLED, names[i]);
        cr_expect_eq(test_stats(server).opens, 1, "%s", names[i]);
        cr_expect_eq(test_count_lines(folder.log, "start "), 1, "%s", names[i]);
        mcpump_run_free(run);
        mcpump_server_free(server);
        test_folder_done(&folder);
    }
}

/* -- the stop ladder */

static void *close_it(void *arg)
{
    mcpump_transport_close(arg);
    return NULL;
}

/* A first interrupt leaves a server that is being stopped its grace, a second one does not. */
TIDY_TEST(a_second_interrupt_shortens_the_graces)
{
    static const struct {
        const char *name;
        int before, during; /* interrupts: before the close, while the ladder is climbed */
        bool clears;
        int64_t grace_ms;
        bool is_shortened;
    } rows[] = {
        {"none", 0, 0, false, 400, false},
        {"two before the close", 2, 0, false, 400, false},
        {"two before, one during", 2, 1, false, 400, false},
        {"one", 0, 1, false, 400, false},
        {"one, cleared", 0, 1, true, 400, false},
        {"two", 0, 2, false, TEST_PATIENCE_MS, true},
        {"two, cleared in between", 0, 2, true, TEST_PATIENCE_MS, true},
        {"one before, two during", 1, 2, false, TEST_PATIENCE_MS, true},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct test_folder folder;
        pthread_t closer;
        test_folder_init(&folder);
        mcpump_transport_options options =
            raw_options(STRINGS("--log", folder.log, "--ignore-eof", "--ignore-term"));
        options.stdin_grace_ms = options.term_grace_ms = rows[i].grace_ms;
        mcpump_transport *transport = raw_open(&options);
        for (int k = 0; k < rows[i].before; k++)
            mcpump_transport_interrupt(transport);
        int64_t started = test_now_ms();
        cr_assert_eq(pthread_create(&closer, NULL, close_it, transport), 0);
        test_await_lines(folder.log, "eof", 1);
        for (int k = 0; k < rows[i].during; k++) {
            mcpump_transport_interrupt(transport);
            if (rows[i].clears)
                mcpump_transport_clear_interrupt(transport);
        }
        pthread_join(closer, NULL);
        int64_t took_ms = test_now_ms() - started;
        if (rows[i].is_shortened)
            cr_expect_lt(took_ms, SOON_MS, "%s: %lld ms", rows[i].name, (long long)took_ms);
        else
            cr_expect_geq(took_ms, 2 * rows[i].grace_ms - 1, "%s: %lld ms", rows[i].name,
                          (long long)took_ms);
        mcpump_transport_free(transport);
        test_folder_done(&folder);
    }
}
