/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host that can be killed: host POLICY GUARD GRACE_MS COMMAND [ARG...] opens a transport to the
 * command (POLICY is the number of an mcpump_orphans), says "open PID", and closes it at the end of
 * its own stdin.
 */
#include <mcpump/mcpump.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int run(mcpump_transport *transport)
{
    char byte;
    mcpump_failure *failure = NULL;
    if (mcpump_transport_open(transport, &failure) != MCPUMP_OK) {
        fprintf(stderr, "host: %s\n", mcpump_failure_message(failure));
        mcpump_failure_free(failure);
        return 1;
    }
    printf("open %d\n", (int)mcpump_transport_pid(transport));
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
    mcpump_transport_close(transport);
    return 0;
}

int main(int argc, char **argv)
{
    mcpump_transport_options options = MCPUMP_TRANSPORT_OPTIONS_INIT;
    mcpump_transport *transport;
    if (argc < 5)
        return 2;
    options.orphans = (mcpump_orphans)atoi(argv[1]);
    options.guard_path = argv[2];
    options.stdin_grace_ms = options.term_grace_ms = atoi(argv[3]);
    options.command = argv[4];
    options.args = (const char *const *)&argv[5];
    if (mcpump_transport_new(&options, &transport, NULL) != MCPUMP_OK)
        return 2;
    int status = run(transport);
    mcpump_transport_free(transport);
    return status;
}
