/* SPDX-License-Identifier: Apache-2.0 */
/* The making of a server from a configuration: the table of keys and the checks of options agree.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "mcpump/mcpump.h"

/* A server takes whatever counts as usable. */
Test(server, takes_the_extremes_of_a_configuration)
{
    static const char text[] =
        "{\"mcpServers\": {\"x\": {\"command\": \"a\", \"mcpump\": {"
        "\"max_message_bytes\": 9007199254740991, \"max_junk_lines\": 9007199254740991,"
        "\"write_queue_bytes\": 9007199254740991, \"default_timeout_ms\": 9007199254740991,"
        "\"probe_timeout_ms\": 9007199254740991, \"connect_timeout_ms\": 9007199254740991,"
        "\"stdin_grace_ms\": 9007199254740991, \"term_grace_ms\": 9007199254740991,"
        "\"backoff_first_ms\": 9007199254740991, \"backoff_most_ms\": 9007199254740991,"
        "\"stable_ms\": 9007199254740991, \"max_reconnects\": 9007199254740991,"
        "\"idle_timeout_ms\": 9007199254740991, \"nice\": 40}}}}";
    mcpump_config *config = NULL;
    mcpump_server *server = NULL;
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_config_parse("file", text, strlen(text), &config, &failure);
    cr_assert_eq(err, MCPUMP_OK, "%s", mcpump_failure_message(failure));
    cr_assert_not_null(mcpump_config_options(config, 0), "%s", mcpump_config_problem(config, 0));
    err = mcpump_server_new(mcpump_config_options(config, 0), &server, &failure);
    cr_expect_eq(err, MCPUMP_OK, "%s", mcpump_failure_message(failure));
    mcpump_config_free(config);
    mcpump_server_free(server);
}
