/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of typed calls. */
#include "steps.h"

/* What a reply is read out of. */
static void step_read(mcpump_server *server)
{
    mcpump_failure *failure = NULL;
    mcpump_reply *reply = NULL;
    mcpump_completion completion = MCPUMP_COMPLETION_INIT;
    char *text = NULL;
    completion.prompt = completion.argument = "a";
    mcpump_err err = mcpump_server_complete(server, &completion, NULL, &reply, &failure);
    check_step("complete", err, MCPUMP_OK, failure);
    if (err == MCPUMP_OK) {
        check_step("content_text", mcpump_reply_content_text(reply, &text), MCPUMP_OK, NULL);
        mcpump_text_free(text);
    }
    mcpump_reply_free(reply);
    failure = NULL;
    err = mcpump_server_list_resources(server, NULL, &text, &failure);
    bool is_refused = err == MCPUMP_ERR_SERVER_ERROR; /* or fails before that */
    check(!is_refused || failure == NULL || mcpump_failure_reply(failure) != NULL, "no reply");
    check_step("list_resources", err, is_refused ? err : MCPUMP_OK, failure);
}

static void step_tell(mcpump_server *server)
{
    mcpump_failure *failure = NULL;
    mcpump_call_options options = MCPUMP_CALL_OPTIONS_INIT;
    char *text = NULL;
    options.baggage = "a=1";
    mcpump_err err = mcpump_server_set_log_level(server, "info", &options, &failure);
    check_step("set_log_level", err, MCPUMP_OK, failure);
    for (int i = 0; i < 2; i++) { /* the second one may be kept */
        text = NULL;
        failure = NULL;
        err = mcpump_server_list_prompts(server, NULL, &text, &failure);
        check(err != MCPUMP_OK || text != NULL, "no text");
        check_step("list_prompts", err, MCPUMP_OK, failure);
        mcpump_text_free(text);
    }
    text = NULL;
    check_step("capabilities", mcpump_server_capabilities(server, &text), MCPUMP_OK, NULL);
    mcpump_text_free(text);
}

void step_typed(mcpump_server *server)
{
    step_tell(server);
    step_read(server);
}
