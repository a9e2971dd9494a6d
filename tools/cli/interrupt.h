/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGINT, SIGTERM and SIGHUP. The first one interrupts the call; the server is then stopped in
 * good order. One more, or one that comes while the server is being stopped, stops it at once.
 */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <mcpump/mcpump.h>
#include <signal.h>

/* Installs the handlers, but for signals that are ignored (as nohup does). Call it once. */
void cli_interrupt_watch(mcpump_server *server);

/* Blocks these signals in this thread; *ret_old becomes the mask to wait with, and to go back to.
 */
void cli_interrupt_block(sigset_t *ret_old);

/* The signal that interrupted us, or 0. */
int cli_interrupt_signal(void);

/* The exit status of a program that was interrupted: 130 for SIGINT. */
int cli_interrupt_exit(void);

/* Closes the server. From here on signals only hasten that. */
void cli_interrupt_close(mcpump_server *server);

#endif
