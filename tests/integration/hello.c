/* SPDX-License-Identifier: Apache-2.0 */
/* What client and server tell each other about themselves: the log level, name, capabilities. */
#include <stdio.h>
#include <string.h>

#include "subject.h"

/* -- the log level */

Test(hello, a_modern_server_is_told_the_log_level_with_each_request)
{
    static const char level[] = "\"io.modelcontextprotocol/logLevel\":\"debug\"";
    struct subject subject;
    subject_init(&subject, "modern", NO_STRINGS);
    mcpump_server *server = subject.server;
    json_object_put(test_result(server, "test/echo", NULL));
    cr_expect_eq(subject_received(&subject, "logLevel"), 0);
    cr_expect_eq(mcpump_server_set_log_level(server, "debug", NULL, NULL), MCPUMP_OK);
    cr_expect_eq(subject_received(&subject, "setLevel"), 0, "it has no such request");
    json_object_put(test_result(server, "test/echo", NULL));
    cr_expect_eq(subject_received(&subject, level), 1);
    cr_assert_eq(mcpump_server_restart(server, NULL), MCPUMP_OK);
    json_object_put(test_result(server, "test/echo", NULL));
    cr_expect_eq(subject_received(&subject, level), 2);
    cr_expect_eq(mcpump_server_set_log_level(server, NULL, NULL, NULL), MCPUMP_OK);
    json_object_put(test_result(server, "test/echo", NULL));
    cr_expect_eq(subject_received(&subject, level), 2);
    test_expect_no_violation(server, "");
    subject_done(&subject);
}

Test(hello, a_legacy_server_is_told_the_log_level_now_and_after_each_restart)
{
    static const char level[] =
        "\"method\":\"logging/setLevel\",\"params\":{\"level\":\"warning\"}";
    struct subject subject;
    subject_init(&subject, "legacy", STRINGS("--on", "logging/setLevel:echo:{}"));
    mcpump_server *server = subject.server;
    cr_expect_eq(mcpump_server_set_log_level(server, "warning", NULL, NULL), MCPUMP_OK);
    cr_expect_eq(subject_received(&subject, level), 1);
    json_object_put(test_result(server, "test/echo", NULL));
    cr_expect_eq(subject_received(&subject, "logLevel"), 0);
    cr_assert_eq(mcpump_server_restart(server, NULL), MCPUMP_OK);
    cr_expect_eq(subject_received(&subject, level), 2, "before it is ready");
    test_expect_no_violation(server, "");
    cr_expect_eq(mcpump_server_set_log_level(server, NULL, NULL, NULL), MCPUMP_OK);
    cr_assert_eq(mcpump_server_restart(server, NULL), MCPUMP_OK);
    cr_expect_eq(subject_received(&subject, "setLevel"), 2);
    subject_done(&subject);
}

Test(hello, a_log_level_that_is_refused_is_not_remembered)
{
    struct subject subject;
    mcpump_failure *failure = NULL;
    subject_init(&subject, "legacy", STRINGS("--on", "logging/setLevel:" REFUSED));
    cr_expect_eq(mcpump_server_set_log_level(subject.server, "info", NULL, &failure),
                 MCPUMP_ERR_SERVER_ERROR);
    subject_expect_refused(mcpump_failure_reply(failure));
    mcpump_failure_free(failure);
    cr_assert_eq(mcpump_server_restart(subject.server, NULL), MCPUMP_OK);
    cr_expect_eq(subject_received(&subject, "setLevel"), 1);
    subject_done(&subject);
}

/* A server that dies over the level comes back like any other that dies; it is no endless loop of
 * connections that were ready for nobody. */
Test(hello, a_server_that_does_not_survive_the_log_level)
{
    struct subject subject;
    subject_init(&subject, "legacy",
                 STRINGS("--on", "logging/setLevel:sequence:{\"results\":[{}]}", "--on",
                         "test/late:exit:{\"status\":3}"));
    cr_expect_eq(mcpump_server_set_log_level(subject.server, "info", NULL, NULL), MCPUMP_OK);
    mcpump_failure_free(test_call_fails(subject.server, "test/late", NULL, MCPUMP_ERR_CLOSED));
    test_await_lines(subject.folder.log, "start ", 2);
    mcpump_call_options patient = MCPUMP_CALL_OPTIONS_INIT;
    patient.wait_for_ready = true;
    cr_expect_eq(mcpump_server_ping(subject.server, &patient, NULL, NULL), MCPUMP_OK);
    cr_expect_eq(subject_received(&subject, "setLevel"), 2);
    subject_done(&subject);
}

/* -- what a server says of itself */

static void expect_text(mcpump_err err, char *text, const char *wanted)
{
    cr_expect_eq(err, MCPUMP_OK);
    if (wanted == NULL)
        cr_expect_null(text, "%s", text);
    else
        cr_expect_str_eq(text, wanted, "%s", text);
    mcpump_text_free(text);
}

static void expect_hello(const char *era, const char *rule, const char *info,
                         const char *capabilities, const char *instructions)
{
    struct subject subject;
    char *text = NULL;
    subject_init(&subject, era, STRINGS("--on", rule));
    mcpump_err err = mcpump_server_info(subject.server, &text);
    expect_text(err, text, info);
    err = mcpump_server_capabilities(subject.server, &text);
    expect_text(err, text, capabilities);
    err = mcpump_server_instructions(subject.server, &text);
    expect_text(err, text, instructions);
    mcpump_server_close(subject.server); /* what is known stays */
    err = mcpump_server_instructions(subject.server, &text);
    expect_text(err, text, instructions);
    subject_done(&subject);
}

Test(hello, what_a_server_says_of_itself)
{
    expect_hello("legacy",
                 "initialize:echo:{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{ \"tools\":"
                 "{\"listChanged\":true} },\"serverInfo\":{\"name\":\"\\u0041\",\"version\":\"1\","
                 "\"x\":1.0},\"instructions\":\"a\\n\\u00e9\\u0000\"}",
                 "{\"name\":\"\\u0041\",\"version\":\"1\",\"x\":1.0}",
                 "{ \"tools\":{\"listChanged\":true} }", "a\n\xC3\xA9\xEF\xBF\xBD");
    expect_hello("legacy", "initialize:echo:{\"protocolVersion\":\"2025-11-25\"}", NULL, NULL,
                 NULL);
    expect_hello("legacy",
                 "initialize:echo:{\"protocolVersion\":\"2025-11-25\",\"capabilities\":[],"
                 "\"serverInfo\":null,\"instructions\":{}}",
                 NULL, NULL, NULL);
    expect_hello("modern",
                 "server/discover:echo:{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{},"
                 "\"instructions\":\"\",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":"
                 "{\"name\":\"n\",\"version\":\"1e400\"}}}",
                 "{\"name\":\"n\",\"version\":\"1e400\"}", "{}", "");
    expect_hello(
        "modern",
        "server/discover:echo:{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{}}", NULL,
        "{}", NULL);
}

Test(hello, what_a_server_has_not_said_yet)
{
    mcpump_server_options options = test_options(STRINGS("--exit-now", "1"));
    mcpump_server *server = test_server_new(&options);
    char *text = NULL;
    cr_expect_eq(mcpump_server_info(server, &text), MCPUMP_ERR_NOT_OPEN);
    mcpump_failure_free(test_connect_fails(server, MCPUMP_ERR_CLOSED));
    cr_expect_eq(mcpump_server_capabilities(server, &text), MCPUMP_ERR_NOT_OPEN);
    cr_expect_eq(mcpump_server_instructions(server, &text), MCPUMP_ERR_NOT_OPEN);
    cr_expect_null(text);
    mcpump_server_free(server);
}
