/* SPDX-License-Identifier: Apache-2.0 */
#include <mcpump/mcpump.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    mcpump_server_options options = MCPUMP_SERVER_OPTIONS_INIT;
    options.transport.command = argc > 1 ? argv[1] : "mcpump-demo-server";

    mcpump_server *server = NULL;
    mcpump_reply *reply = NULL;
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_server_new(&options, &server, &failure);
    if (err == MCPUMP_OK) /* starts the server first; any thread may call, at any time */
        err = mcpump_server_call_tool(server, "echo", "{\"message\":\"hello\"}", NULL, &reply,
                                      &failure);
    if (err == MCPUMP_OK) {
        size_t size;
        const char *result = mcpump_reply_value(reply, &size);
        printf("%.*s\n", (int)size, result);
    } else {
        fprintf(stderr, "%s\n", mcpump_failure_message(failure));
    }
    mcpump_reply_free(reply);
    mcpump_failure_free(failure);
    mcpump_server_free(server);
    return err == MCPUMP_OK ? 0 : 1;
}
