/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcpump: MCP servers as child processes, and many threads that talk to them.
 *
 * The model
 *
 *   A *server* (server.h) is one MCP server: how to run it, the process when it runs, the protocol
 *   version agreed on. It is started when it is needed and comes back when it dies. Its calls take
 * a method and params and return a reply. A *manager* (manager.h) holds many of them by name, from
 * a *configuration* (config.h), and queues what happens on them as *events*. Beneath a server lies
 * a *transport* (transport.h): the process and its three pipes, raw JSON-RPC, no knowledge of MCP.
 *   A transport can be used alone. A *reply* (reply.h) owns its text. A *failure* (failure.h) says
 *   what went wrong, in fields and in one sentence. For the requests of the protocol there are
 *   typed calls (typed.h), for the parts of a reply functions (result.h), and for hosts that use
 *   json-c, trees (json.h): all else is text, which is passed on as it was written.
 *
 * Threads
 *
 *   Any thread may call anything, at any time, on the same object; only `new` must come before and
 *   `free` after all else. A call blocks its own thread and nobody else: a slow call delays no fast
 *   one, a server that hangs delays no other server. Each open transport has three threads of its
 *   own and each server one more, which block all signals and never run code of the host, but for
 *   the log and stderr functions. An idle connection makes no system call.
 *
 * Blocking and time
 *
 *   Each call has one deadline over all that it waits for. It returns when the reply is there, the
 *   deadline has passed, somebody interrupted, or the connection ended; it never waits for a pipe
 *   beyond that. Deadlines are of the monotonic clock. Closing is bounded by the two graces.
 *   A call that is given up costs the connection nothing: the server is told, its late reply is
 *   dropped by its id, which is never used again.
 *
 * Signals and processes
 *
 *   mcpump_transport_interrupt and mcpump_server_interrupt may be called in a signal handler. The
 *   library installs no handler, changes no disposition, and raises no SIGPIPE. It waits for its
 * own children only, by pidfd; a host that ignores SIGCHLD, or reaps everything, costs the exit
 * status and nothing else. Servers lead process groups of their own: Ctrl-C at a terminal reaches
 * the host, not them. They inherit no fd but their three pipes, no signal mask, no ignored signal,
 * and of the environment what options.h says.
 *
 * Fork
 *
 *   In a child that a host forks and that goes on without exec, objects of the parent answer
 * FORKED: their threads are not there. Freeing them closes the child's copies of the descriptors
 * and leaves the parent's servers alone; until then, or until the child ends, a server does not see
 * the end of its stdin. Runs and groups may be used on in the child; there they have no members of
 * the parent's. The child may make objects of its own.
 *
 * Limits
 *
 *   Whatever a server can make grow has one: the length of a message, lines of junk, bytes that
 * wait to be written, lines of stderr that are kept, the depth of JSON. options.h names them.
 *
 * Compatibility
 *
 *   Option structs start with their size: a host built against an older header works with a newer
 *   library. New fields are added at the end, or in reserved room, and zero in them means what was
 *   before. Error numbers are never reused. Before version 1.0 a minor version may break this, and
 * changes the soname.
 *
 * Linux 5.4 or later (pidfd). The protocol: https://modelcontextprotocol.io/specification
 */
#ifndef MCPUMP_H
#define MCPUMP_H

#include "call.h"
#include "config.h"
#include "error.h"
#include "event.h"
#include "export.h"
#include "failure.h"
#include "json.h"
#include "log.h"
#include "manager.h"
#include "options.h"
#include "reply.h"
#include "result.h"
#include "run.h"
#include "secret.h"
#include "server.h"
#include "trace.h"
#include "transport.h"
#include "typed.h"
#include "version.h"

#endif
