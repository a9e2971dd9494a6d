/* SPDX-License-Identifier: Apache-2.0 */
/* The tap: all traffic of a server in both directions, in order, without its secrets. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "raw.h"

#define THREADS 8
#define SECRET  "se\"same/\xC3\xA9!"

/* What was shown: "> " or "< ", the line, LF. Both directions may come at once. */
struct taken {
    pthread_mutex_t lock;
    char *text;
    size_t size;
    FILE *out;
};

static void taken_init(struct taken *taken)
{
    pthread_mutex_init(&taken->lock, NULL);
    taken->text = NULL;
    taken->out = open_memstream(&taken->text, &taken->size);
    cr_assert_not_null(taken->out);
}

static void taken_done(struct taken *taken)
{
    fclose(taken->out);
    free(taken->text);
    pthread_mutex_destroy(&taken->lock);
}

static void take(void *user, mcpump_direction direction, const char *line, size_t size)
{
    struct taken *taken = user;
    pthread_mutex_lock(&taken->lock);
    fputs(direction == MCPUMP_TO_SERVER ? "> " : "< ", taken->out);
    fwrite(line, 1, size, taken->out);
    putc('\n', taken->out);
    fflush(taken->out);
    pthread_mutex_unlock(&taken->lock);
}

/* What has been shown now; borrowed until more is. */
static const char *text_of(struct taken *taken)
{
    pthread_mutex_lock(&taken->lock);
    const char *text = taken->text;
    pthread_mutex_unlock(&taken->lock);
    return text;
}

/* The parts stand in the text in this order. */
static void expect_order(const char *text, const char *const *parts)
{
    const char *at = text;
    for (; *parts != NULL; parts++) {
        const char *found = strstr(at, *parts);
        cr_assert_not_null(found, "%s is not in, or not behind the others: %s", *parts, text);
        at = found + strlen(*parts);
    }
}

static mcpump_transport_options options_of(struct taken *taken, const char *const *switches)
{
    mcpump_transport_options options = raw_options(switches);
    options.tap_fn = take;
    options.tap_user = taken;
    return options;
}

TIDY_TEST(both_directions)
{
    struct taken taken;
    taken_init(&taken);
    mcpump_transport_options options = options_of(&taken, NO_STRINGS);
    mcpump_transport *transport = raw_open(&options);
    static const char notification[] = "{\"jsonrpc\":\"2.0\",\n\"method\":\"notifications/x\"}";
    cr_assert_eq(mcpump_transport_notify(transport, notification, strlen(notification), NULL),
                 MCPUMP_OK);
    raw_expect(transport, "echo", "test/echo", "{\"a\":1}", "{\"a\":1}");
    cr_expect_str_eq(text_of(&taken), "> {\"jsonrpc\":\"2.0\", \"method\":\"notifications/x\"}\n"
                                      "> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"test/echo\","
                                      "\"params\":{\"a\":1}}\n"
                                      "< {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":1}}\n");
    mcpump_transport_free(transport);
    taken_done(&taken);
}

TIDY_TEST(the_handshake_and_what_the_server_asks)
{
    struct taken taken;
    taken_init(&taken);
    mcpump_server_options options = test_options(STRINGS("--era", "legacy"));
    options.transport = options_of(&taken, STRINGS("--era", "legacy"));
    options.era = MCPUMP_ERA_LEGACY;
    mcpump_server *server = test_server_new(&options);
    json_object_put(test_result(server, "test/ping-me", "{}"));
    json_object_put(test_result(server, "test/junk", "{}"));
    mcpump_server_free(server);
    expect_order(taken.text, STRINGS("> {", "\"initialize\"", "\n< {", "\"protocolVersion\"",
                                     "\n> {", "notifications/initialized", "\n> {", "test/ping-me",
                                     "\n< {", "\"ping\"", "\n> {", "\"result\":{}", "\n< {",
                                     "\"answer\"", "\n> {", "test/junk", "\n< "));
    taken_done(&taken);
}

/* What is given up before it has left was not shown; nothing is shown twice, though it is written
 * in many parts. */
TIDY_TEST(a_full_pipe)
{
    struct taken taken;
    taken_init(&taken);
    mcpump_transport_options options = options_of(&taken, NO_STRINGS);
    mcpump_transport *transport = raw_open(&options);
    raw_stop_server(transport);
    char *large = malloc(300001);
    memset(large, 'x', 300000);
    memcpy(large, "{\"a\":\"", 6);
    strcpy(large + 299998, "\"}");
    struct raw_call call = {.transport = transport, .method = "test/large", .params = large};
    raw_call_start(&call);
    raw_await_requests(transport, 1);
    mcpump_failure_free(raw_times_out(transport, "small", "test/small", "{}", 20));
    kill(mcpump_transport_pid(transport), SIGCONT);
    raw_call_join(&call);
    raw_call_done(&call);
    raw_expect(transport, "after", "test/echo", "{\"a\":1}", "{\"a\":1}");
    expect_order(text_of(&taken), STRINGS("test/large", "test/echo"));
    cr_expect_null(strstr(strstr(text_of(&taken), "test/large") + 1, "test/large"));
    mcpump_transport_free(transport);
    taken_done(&taken);
    free(large);
}

TIDY_TEST(secrets)
{
    struct taken taken;
    taken_init(&taken);
    mcpump_secret *secret = mcpump_secret_new(SECRET), *tiny = mcpump_secret_new("ech");
    const mcpump_secret_variable variables[] = {{"TOKEN", secret}, {"TINY", tiny}, {NULL, NULL}};
    mcpump_transport_options options = options_of(&taken, NO_STRINGS);
    options.secret_env = variables;
    mcpump_transport *transport = raw_open(&options);
    struct raw_call calls[] = {
        {.transport = transport,
         .method = "test/echo",
         .params = "{\"1\":\"se\\\"same/\xC3\xA9!\"}"},
        {.transport = transport,
         .method = "test/echo",
         .params = "{\"2\":\"\\u0073e\\u0022sam\\u0065\\/\\u00E9!\"}"},
        {.transport = transport, .method = "test/env"},
        {.transport = transport,
         .method = "test/raw",
         .params = "{\"text\":\"junk se\\\"same/\\u00e9!\\n\",\"reply\":true}"},
    };
    for (size_t i = 0; i < LENGTH(calls); i++) {
        raw_call_make(&calls[i]);
        cr_expect_eq(calls[i].err, MCPUMP_OK, "%s", raw_call_words(&calls[i]));
        if (i == 0)
            test_expect_part(mcpump_reply_text(calls[i].reply, NULL), "same", "it is itself");
        raw_call_done(&calls[i]);
    }
    mcpump_transport_free(transport);
    mcpump_secret_free(secret);
    mcpump_secret_free(tiny);
    expect_order(taken.text, STRINGS("> ", "{\"1\":\"***\"}}\n< ", "{\"1\":\"***\"}}\n> ",
                                     "{\"2\":\"***\"}}\n< ", "{\"2\":\"***\"}}\n> ", "test/env",
                                     "\"TOKEN\":\"***\"", "> ", "\"text\":\"junk ***\\n\"",
                                     "\n< junk ***\n< "));
    cr_expect_null(strstr(taken.text, "same"), "%s", taken.text);
    taken_done(&taken);
}

/* -- order, with many threads */

static void *call_on(void *transport)
{
    for (int i = 0; i < 200; i++)
        raw_expect(transport, "crowd", "test/echo", "{\"a\":1}", "{\"a\":1}");
    return NULL;
}

/* Each request is shown once, its reply once and behind it. */
TIDY_TEST(many_threads)
{
    struct taken taken;
    pthread_t threads[THREADS];
    taken_init(&taken);
    mcpump_transport_options options = options_of(&taken, NO_STRINGS);
    mcpump_transport *transport = raw_open(&options);
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, call_on, transport), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    mcpump_transport_free(transport);
    char seen[THREADS * 200 + 1] = {0};
    int lines = 0;
    for (char *line = taken.text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        const char *id = strstr(line, "\"id\":");
        long number = id != NULL ? strtol(id + 5, NULL, 10) : 0;
        cr_assert(number > 0 && number < (long)sizeof(seen), "%.80s", line);
        cr_assert_eq(seen[number], *line == '>' ? 0 : 1, "%.80s", line);
        seen[number]++;
        lines++;
    }
    cr_expect_eq(lines, THREADS * 200 * 2);
    taken_done(&taken);
}
