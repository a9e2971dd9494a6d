/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of a manager share: fake servers under names, and events to wait for. */
#ifndef TEST_INTEGRATION_MANAGED_H
#define TEST_INTEGRATION_MANAGED_H

#include "raw.h"

/* A manager with these kinds of events (0: the default), which must succeed. */
mcpump_manager *managed_new(int events);
mcpump_manager *managed_new_with(const mcpump_manager_options *options);

/* A fake server; must succeed. */
void managed_add(mcpump_manager *manager, const char *name, const char *const *switches,
                 bool eager);
/* So many of them: s0, s1 and so on. */
void managed_add_many(mcpump_manager *manager, int count, const mcpump_server_options *options,
                      bool eager);
const char *managed_name(int number); /* valid until the next */

/* The server of that name, which must be there; to be given back. */
mcpump_server *managed_find(mcpump_manager *manager, const char *name);
/* Makes it ready; its pid. */
pid_t managed_connect(mcpump_manager *manager, const char *name);
pid_t managed_pid(mcpump_manager *manager, const char *name);
mcpump_server_state managed_state(mcpump_manager *manager, const char *name);

/* Calls test/echo: what came of it. */
mcpump_err managed_echo(mcpump_server *server);
void managed_expect_echo(mcpump_manager *manager, const char *name);

/* The next event, which must come. */
mcpump_event *managed_next(mcpump_manager *manager);
/* Throws events away until one of this server and kind comes. */
mcpump_event *managed_await(mcpump_manager *manager, const char *name, mcpump_event_kind kind);
/* The same, until the server is in this state. */
void managed_await_state(mcpump_manager *manager, const char *name, mcpump_server_state state);

#endif
