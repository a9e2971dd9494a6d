/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The traffic of one server on stdout, a JSON object a line: when, which way, the message. Lines
 * are queued where they come up and written by a thread of their own, so that a slow reader holds
 * up neither the server nor a signal.
 */
#ifndef CLI_TAP_H
#define CLI_TAP_H

#include <mcpump/mcpump.h>

struct cli_options;

/* Has the traffic shown, from the first message on. Once, for prepare. Returns an exit status. */
int cli_tap_watch(struct cli_options *options);

/* Sends the request, if there is one, and listens until the time is over, a signal comes, the
 * server ends or nobody reads. Returns an exit status. */
int cli_tap_listen(const struct cli_options *options, mcpump_server *server);

/* Once the server is gone: writes what waits. Passes the exit status through, or returns another
 * when not all was shown. Does nothing when nothing was watched. */
int cli_tap_end(int status);

#endif
