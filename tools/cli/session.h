/* SPDX-License-Identifier: Apache-2.0 */
/* One server, from its start to its end, around one verb. */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include "options.h"

/* Starts the server, runs the verb, stops the server. Returns the exit status. */
int cli_session_run(struct cli_options *options);

#endif
