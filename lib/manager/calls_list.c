/* SPDX-License-Identifier: Apache-2.0 */
/* The public calls that list: out of what is kept (lists.c), else of the server. */
#include <stdlib.h>

#include "manager/passage.h"
#include "mcpump/typed.h"

/* A list that was begun with one process and ended with the next would be of neither. */
static mcpump_err check_generation(struct mp_passage *passage, uint64_t generation, char *items,
                                   mcpump_failure **ret_failure)
{
    if (atomic_load(&passage->server->generation) == generation)
        return MCPUMP_OK;
    free(items);
    return mp_session_fail(&passage->session, MCPUMP_ERR_CLOSED, MCPUMP_PHASE_REQUEST, NULL,
                           "the server was started anew between two pages", ret_failure);
}

static mcpump_err ask(struct mp_passage *passage, enum mp_list list, uint64_t changes,
                      char **ret_items, mcpump_failure **ret_failure)
{
    struct mp_listed listed;
    uint64_t generation = atomic_load(&passage->server->generation);
    mcpump_err err =
        mp_session_list(&passage->session, list, &passage->limits, &listed, ret_failure);
    if (err == MCPUMP_OK)
        err = check_generation(passage, generation, listed.items, ret_failure);
    if (err != MCPUMP_OK)
        return err;
    mp_lists_keep(&passage->server->lists, list, &listed, changes);
    *ret_items = listed.items;
    return MCPUMP_OK;
}

static mcpump_err find_or_ask(struct mp_passage *passage, enum mp_list list, char **ret_items,
                              mcpump_failure **ret_failure)
{
    uint64_t changes;
    char *kept = mp_lists_find(&passage->server->lists, list, &changes);
    passage->is_answered = kept != NULL && !passage->fresh;
    if (!passage->is_answered) {
        free(kept);
        return ask(passage, list, changes, ret_items, ret_failure);
    }
    *ret_items = kept;
    return MCPUMP_OK;
}

static mcpump_err list_of(mcpump_server *server, enum mp_list list,
                          const mcpump_call_options *options, char **ret_items,
                          mcpump_failure **ret_failure)
{
    struct mp_passage passage;
    if (!mp_passage_enter(&passage, ret_items != NULL ? server : NULL, options, ret_failure))
        return passage.err;
    pthread_cleanup_push(mp_passage_leave, &passage);
    passage.err = find_or_ask(&passage, list, ret_items, ret_failure);
    pthread_cleanup_pop(true);
    return passage.err;
}

mcpump_err mcpump_server_list_tools(mcpump_server *server, const mcpump_call_options *options,
                                    char **ret_tools, mcpump_failure **ret_failure)
{
    return list_of(server, MP_LIST_TOOLS, options, ret_tools, ret_failure);
}

mcpump_err mcpump_server_list_resources(mcpump_server *server, const mcpump_call_options *options,
                                        char **ret_resources, mcpump_failure **ret_failure)
{
    return list_of(server, MP_LIST_RESOURCES, options, ret_resources, ret_failure);
}

mcpump_err mcpump_server_list_resource_templates(mcpump_server *server,
                                                 const mcpump_call_options *options,
                                                 char **ret_templates, mcpump_failure **ret_failure)
{
    return list_of(server, MP_LIST_RESOURCE_TEMPLATES, options, ret_templates, ret_failure);
}

mcpump_err mcpump_server_list_prompts(mcpump_server *server, const mcpump_call_options *options,
                                      char **ret_prompts, mcpump_failure **ret_failure)
{
    return list_of(server, MP_LIST_PROMPTS, options, ret_prompts, ret_failure);
}
