/* SPDX-License-Identifier: Apache-2.0 */
#include "managed.h"

#include <stdio.h>
#include <string.h>

static const char *words(const mcpump_failure *failure, mcpump_err err)
{
    return failure != NULL ? mcpump_failure_message(failure) : mcpump_err_name(err);
}

mcpump_manager *managed_new_with(const mcpump_manager_options *options)
{
    mcpump_manager *manager = NULL;
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_manager_new(options, &manager, &failure);
    cr_assert_eq(err, MCPUMP_OK, "%s", words(failure, err));
    return manager;
}

mcpump_manager *managed_new(int events)
{
    mcpump_manager_options options = MCPUMP_MANAGER_OPTIONS_INIT;
    options.events = events;
    return managed_new_with(&options);
}

void managed_add(mcpump_manager *manager, const char *name, const char *const *switches, bool eager)
{
    mcpump_server_options options = test_options(switches);
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_manager_add(manager, name, &options, eager, &failure);
    cr_assert_eq(err, MCPUMP_OK, "%s", words(failure, err));
}

const char *managed_name(int number)
{
    static _Thread_local char name[16];
    snprintf(name, sizeof(name), "s%d", number);
    return name;
}

void managed_add_many(mcpump_manager *manager, int count, const mcpump_server_options *options,
                      bool eager)
{
    for (int i = 0; i < count; i++)
        cr_assert_eq(mcpump_manager_add(manager, managed_name(i), options, eager, NULL), MCPUMP_OK);
}

mcpump_server *managed_find(mcpump_manager *manager, const char *name)
{
    mcpump_server *server = mcpump_manager_find(manager, name);
    cr_assert_not_null(server, "no server %s", name);
    return server;
}

pid_t managed_connect(mcpump_manager *manager, const char *name)
{
    mcpump_server *server = managed_find(manager, name);
    test_connect_ok(server);
    mcpump_server_free(server);
    return managed_pid(manager, name);
}

pid_t managed_pid(mcpump_manager *manager, const char *name)
{
    mcpump_server *server = managed_find(manager, name);
    pid_t pid = test_pid(server);
    mcpump_server_free(server);
    return pid;
}

mcpump_server_state managed_state(mcpump_manager *manager, const char *name)
{
    mcpump_server *server = managed_find(manager, name);
    mcpump_server_state state = mcpump_server_get_state(server);
    mcpump_server_free(server);
    return state;
}

mcpump_err managed_echo(mcpump_server *server)
{
    mcpump_reply *reply = NULL;
    size_t size;
    mcpump_err err = mcpump_server_request(server, "test/echo", "{\"a\":1}", NULL, &reply, NULL);
    if (err != MCPUMP_OK)
        return err;
    const char *value = mcpump_reply_value(reply, &size);
    cr_expect_not_null(memmem(value, size, "\"a\":1", 5), "%.*s", (int)size, value);
    mcpump_reply_free(reply);
    return MCPUMP_OK;
}

void managed_expect_echo(mcpump_manager *manager, const char *name)
{
    mcpump_server *server = managed_find(manager, name);
    mcpump_err err = managed_echo(server);
    cr_expect_eq(err, MCPUMP_OK, "%s: %s", name, mcpump_err_name(err));
    mcpump_server_free(server);
}

mcpump_event *managed_next(mcpump_manager *manager)
{
    mcpump_event *event = NULL;
    mcpump_err err = mcpump_manager_next_event(manager, TEST_PATIENCE_MS, &event);
    cr_assert_eq(err, MCPUMP_OK, "no event: %s", mcpump_err_name(err));
    return event;
}

mcpump_event *managed_await(mcpump_manager *manager, const char *name, mcpump_event_kind kind)
{
    for (;;) {
        mcpump_event *event = managed_next(manager);
        if (mcpump_event_get_kind(event) == kind && strcmp(mcpump_event_server(event), name) == 0)
            return event;
        mcpump_event_free(event);
    }
}

void managed_await_state(mcpump_manager *manager, const char *name, mcpump_server_state state)
{
    bool is_there = false;
    while (!is_there) {
        mcpump_event *event = managed_await(manager, name, MCPUMP_EVENT_STATE);
        is_there = mcpump_event_state(event) == state;
        mcpump_event_free(event);
    }
}
