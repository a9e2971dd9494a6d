/* SPDX-License-Identifier: Apache-2.0 */
/* Asks, and the answers that reach a program which writes its input to a file. */
#include "manager/asks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "support.h"

struct stage {
    char file[64];
    mcpump_transport *transport;
    struct mp_asks asks;
};

static void setup(struct stage *stage)
{
    mcpump_transport_options options = MCPUMP_TRANSPORT_OPTIONS_INIT;
    strcpy(stage->file, "/tmp/mcpump-asks-XXXXXX");
    int fd = mkstemp(stage->file);
    cr_assert_geq(fd, 0);
    close(fd);
    options.command = "sh";
    options.args = (const char *const[]){"-c", "cat >\"$0\"", stage->file, NULL};
    cr_assert_eq(mcpump_transport_new(&options, &stage->transport, NULL), MCPUMP_OK);
    cr_assert_eq(mcpump_transport_open(stage->transport, NULL), MCPUMP_OK);
    mp_asks_init(&stage->asks, stage->transport);
}

/* What was written to the server: all of it, since closing flushes. */
static void expect_written(struct stage *stage, const char *wanted)
{
    static char written[8192];
    mcpump_transport_close(stage->transport);
    mp_asks_done(&stage->asks);
    mcpump_transport_free(stage->transport);
    FILE *file = fopen(stage->file, "re");
    cr_assert_not_null(file);
    size_t size = fread(written, 1, sizeof(written) - 1, file);
    written[size] = '\0';
    fclose(file);
    unlink(stage->file);
    cr_expect_str_eq(written, wanted);
}

static struct mp_ask *add(struct stage *stage, const char *id, mp_deadline deadline)
{
    struct mp_span span = {id, strlen(id)};
    struct mp_ask *ask = mp_asks_add(&stage->asks, span, deadline);
    cr_assert_not_null(ask);
    return ask;
}

#define REFUSED(id)                                                                                \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                                              \
    ",\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}\n"

Test(asks, are_answered_once)
{
    struct stage stage;
    setup(&stage);
    struct mp_ask *result = add(&stage, "\"\\u0041 b\"", MP_NEVER);
    struct mp_ask *error = add(&stage, "-1.50", MP_NEVER);
    cr_expect_eq(mp_asks_answer(&stage.asks, result, " {\"a\":\n[1,\r\n2]} ", 0, NULL), MCPUMP_OK);
    cr_expect_eq(mp_asks_answer(&stage.asks, result, "{}", 0, NULL), MCPUMP_ERR_NOT_OPEN);
    cr_expect_eq(mp_asks_answer(&stage.asks, error, NULL, -1, "no \"\n\\\x01"), MCPUMP_OK);
    cr_expect_eq(mp_asks_answer(&stage.asks, error, NULL, -1, "again"), MCPUMP_ERR_NOT_OPEN);
    mp_asks_release(&stage.asks, result);
    mp_asks_release(&stage.asks, error);
    cr_expect_eq(stage.asks.count, 0);
    expect_written(&stage,
                   "{\"jsonrpc\":\"2.0\",\"id\":\"\\u0041 b\",\"result\": {\"a\": [1,  2]} }\n"
                   "{\"jsonrpc\":\"2.0\",\"id\":-1.50,\"error\":{\"code\":-1,\"message\":"
                   "\"no \\\"\\n\\\\\\u0001\"}}\n");
}

Test(asks, released_without_an_answer_are_refused)
{
    struct stage stage;
    setup(&stage);
    mp_asks_release(&stage.asks, add(&stage, "1", MP_NEVER));
    mp_asks_release(&stage.asks, add(&stage, "2", MP_NEVER));
    expect_written(&stage, REFUSED("1") REFUSED("2"));
}

Test(asks, expire_at_their_deadlines)
{
    struct stage stage;
    setup(&stage);
    mp_deadline far = mp_deadline_after_ms(3600000), farther = mp_deadline_after_ms(7200000);
    cr_expect_eq(mp_asks_expire(&stage.asks), MP_NEVER);
    struct mp_ask *late = add(&stage, "1", mp_deadline_after_ms(0));
    struct mp_ask *last = add(&stage, "2", farther);
    struct mp_ask *next = add(&stage, "3", far);
    struct mp_ask *also_late = add(&stage, "4", mp_deadline_after_ms(0));
    cr_expect_eq(mp_asks_expire(&stage.asks), far);
    cr_expect_eq(stage.asks.count, 2);
    cr_expect_eq(mp_asks_answer(&stage.asks, late, "{}", 0, NULL), MCPUMP_ERR_NOT_OPEN);
    cr_expect_eq(mp_asks_answer(&stage.asks, next, "{}", 0, NULL), MCPUMP_OK);
    cr_expect_eq(mp_asks_expire(&stage.asks), farther);
    mp_asks_release(&stage.asks, late);
    mp_asks_release(&stage.asks, also_late);
    mp_asks_release(&stage.asks, next);
    mp_asks_release(&stage.asks, last);
    expect_written(&stage, REFUSED("4") REFUSED(
                               "1") "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\n" REFUSED("2"));
}

/* Those of one connection are never answered on the next. */
Test(asks, of_a_connection_that_is_gone)
{
    struct stage stage;
    setup(&stage);
    struct mp_ask *held = add(&stage, "1", MP_NEVER);
    mcpump_transport_close(stage.transport);
    mp_asks_close(&stage.asks);
    cr_assert_eq(mcpump_transport_open(stage.transport, NULL), MCPUMP_OK);
    cr_expect_eq(stage.asks.count, 0);
    cr_expect_eq(mp_asks_answer(&stage.asks, held, "{}", 0, NULL), MCPUMP_ERR_NOT_OPEN);
    mp_asks_release(&stage.asks, held);
    mp_asks_release(&stage.asks, add(&stage, "2", MP_NEVER));
    expect_written(&stage, REFUSED("2"));
}

Test(asks, without_a_connection)
{
    struct stage stage;
    setup(&stage);
    struct mp_ask *ask = add(&stage, "1", MP_NEVER);
    mcpump_transport_close(stage.transport);
    cr_expect_eq(mp_asks_answer(&stage.asks, ask, "{}", 0, NULL), MCPUMP_ERR_NOT_OPEN);
    cr_expect_eq(stage.asks.count, 0);
    mp_asks_release(&stage.asks, ask);
    mp_asks_release(&stage.asks, add(&stage, "2", MP_NEVER)); /* in vain */
    expect_written(&stage, "");
}

Test(asks, are_bounded)
{
    struct stage stage;
    struct mp_ask *asks[MP_ASKS_MOST];
    const struct mp_span one_more = {"0", 1};
    setup(&stage);
    for (size_t i = 0; i < MP_ASKS_MOST; i++)
        asks[i] = add(&stage, "1", MP_NEVER);
    cr_expect_null(mp_asks_add(&stage.asks, one_more, MP_NEVER));
    cr_expect_eq(mp_asks_answer(&stage.asks, asks[0], "{}", 0, NULL), MCPUMP_OK);
    mp_asks_release(&stage.asks, add(&stage, "2", MP_NEVER));
    mcpump_transport_close(stage.transport);
    mp_asks_close(&stage.asks);
    for (size_t i = 0; i < MP_ASKS_MOST; i++)
        mp_asks_release(&stage.asks, asks[i]);
    expect_written(&stage, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n" REFUSED("2"));
}

/* One that does not fit into the queue of what is to be written stays open. */
Test(asks, a_large_answer_is_refused_and_can_be_made_again)
{
    struct stage stage;
    setup(&stage);
    size_t size = 17 * 1024 * 1024; /* write_queue_bytes is 16 MiB */
    char *large = malloc(size + 1);
    cr_assert_not_null(large);
    memset(large, '1', size);
    large[size] = '\0';
    struct mp_ask *ask = add(&stage, "1", MP_NEVER);
    cr_expect_eq(mp_asks_answer(&stage.asks, ask, large, 0, NULL), MCPUMP_ERR_QUEUE_FULL);
    cr_expect(mcpump_transport_is_connected(stage.transport), "that is not the server's fault");
    cr_expect_eq(mp_asks_answer(&stage.asks, ask, "1", 0, NULL), MCPUMP_OK);
    mp_asks_release(&stage.asks, ask);
    free(large);
    expect_written(&stage, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}\n");
}

/* -- many at it */

struct contest {
    struct stage *stage;
    struct mp_ask *ask;
    atomic_int won;
};

static void *answer(void *arg)
{
    struct contest *contest = arg;
    mcpump_err err = mp_asks_answer(&contest->stage->asks, contest->ask, "{}", 0, NULL);
    cr_assert(err == MCPUMP_OK || err == MCPUMP_ERR_NOT_OPEN);
    atomic_fetch_add(&contest->won, err == MCPUMP_OK);
    return NULL;
}

Test(asks, one_of_many_answers_gets_through)
{
    struct stage stage;
    pthread_t threads[8];
    setup(&stage);
    for (int round = 0; round < 20; round++) {
        struct contest contest = {&stage, add(&stage, "1", MP_NEVER), 0};
        for (size_t i = 0; i < LENGTH(threads); i++)
            cr_assert_eq(pthread_create(&threads[i], NULL, answer, &contest), 0);
        mp_asks_expire(&stage.asks);
        for (size_t i = 0; i < LENGTH(threads); i++)
            pthread_join(threads[i], NULL);
        cr_expect_eq(atomic_load(&contest.won), 1);
        mp_asks_release(&stage.asks, contest.ask);
    }
    cr_expect_eq(stage.asks.count, 0);
    char wanted[8192] = "";
    for (int round = 0; round < 20; round++)
        strcat(wanted, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
    expect_written(&stage, wanted);
}
