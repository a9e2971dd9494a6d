/* SPDX-License-Identifier: Apache-2.0 */
/* The calls with trees for arguments: written out as text, in the caller's thread, which owns them.
 */
#include "mcp/tree.h"
#include "mcpump/json.h"
#include "mcpump/typed.h"

/* False: no memory. */
static bool write_out(struct json_object *tree, mcpump_failure **ret_failure, const char **ret_text)
{
    if (ret_failure != NULL)
        *ret_failure = NULL;
    *ret_text = tree != NULL ? mp_tree_write(tree) : NULL;
    return tree == NULL || *ret_text != NULL;
}

mcpump_err mcpump_server_request_json(mcpump_server *server, const char *method,
                                      struct json_object *params,
                                      const mcpump_call_options *options, mcpump_reply **ret_reply,
                                      mcpump_failure **ret_failure)
{
    const char *text;
    if (!write_out(params, ret_failure, &text))
        return MCPUMP_ERR_NO_MEMORY;
    return mcpump_server_request(server, method, text, options, ret_reply, ret_failure);
}

mcpump_err mcpump_server_call_tool_json(mcpump_server *server, const char *tool,
                                        struct json_object *arguments,
                                        const mcpump_call_options *options,
                                        mcpump_reply **ret_reply, mcpump_failure **ret_failure)
{
    const char *text;
    if (!write_out(arguments, ret_failure, &text))
        return MCPUMP_ERR_NO_MEMORY;
    return mcpump_server_call_tool(server, tool, text, options, ret_reply, ret_failure);
}

mcpump_err mcpump_server_get_prompt_json(mcpump_server *server, const char *prompt,
                                         struct json_object *arguments,
                                         const mcpump_call_options *options,
                                         mcpump_reply **ret_reply, mcpump_failure **ret_failure)
{
    const char *text;
    if (!write_out(arguments, ret_failure, &text))
        return MCPUMP_ERR_NO_MEMORY;
    return mcpump_server_get_prompt(server, prompt, text, options, ret_reply, ret_failure);
}
