/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can go wrong, in four small vocabularies: the error of a call, the cause of a connection's
 * end, the phase in which it happened, the stage of a start that failed. Numbers are append-only.
 * An error reply of the server is none of these: it is a reply, see reply.h.
 */
#ifndef MCPUMP_ERROR_H
#define MCPUMP_ERROR_H

#include "export.h"

MCPUMP_BEGIN_DECLS

/* X(NAME, number, text) */
#define MCPUMP_ERRORS(X)                                                                           \
    X(OK, 0, "success")                                                                            \
    X(INVALID_ARGUMENT, -1, "an argument or option is not valid")                                  \
    X(NO_MEMORY, -2, "out of memory")                                                              \
    X(INVALID_REQUEST, -3, "the text is not a valid JSON-RPC request")                             \
    X(NOT_OPEN, -4, "the connection is not open")                                                  \
    X(ALREADY_OPEN, -5, "the connection is open already")                                          \
    X(SPAWN, -6, "the server could not be started")                                                \
    X(HANDSHAKE, -7, "the server and the client found no common protocol")                         \
    X(TIMEOUT, -8, "the time is over")                                                             \
    X(INTERRUPTED, -9, "interrupted")                                                              \
    X(CANCELLED, -10, "cancelled")                                                                 \
    X(CLOSED, -11, "the connection ended")                                                         \
    X(QUEUE_FULL, -12, "the write queue is full")                                                  \
    X(SYSTEM, -13, "a system call failed")                                                         \
    X(INVALID_REPLY, -14, "the server's reply is not valid")                                       \
    X(SERVER_ERROR, -15, "the server answered with an error")                                      \
    X(FORKED, -16, "this process is a fork of the one that made the object")                       \
    X(UNAVAILABLE, -17, "the server is down")

typedef enum mcpump_err {
#define MCPUMP_X(name, number, text) MCPUMP_ERR_##name = number,
    MCPUMP_ERRORS(MCPUMP_X)
#undef MCPUMP_X
} mcpump_err;
#define MCPUMP_OK MCPUMP_ERR_OK

/* X(NAME, number, text): why a connection ended. The first cause stays. */
#define MCPUMP_CAUSES(X)                                                                           \
    X(NONE, 0, "it is open")                                                                       \
    X(CLOSED_BY_HOST, 1, "it was closed on request")                                               \
    X(EXITED, 2, "the server exited")                                                              \
    X(STDOUT_CLOSED, 3, "the server closed its standard output")                                   \
    X(WRITE_FAILED, 4, "writing to the server failed")                                             \
    X(READ_FAILED, 5, "reading from the server failed")                                            \
    X(MESSAGE_TOO_LARGE, 6, "the server wrote a message that is too large")                        \
    X(JUNK_OUTPUT, 7, "the server wrote too many lines that are not messages")                     \
    X(WRITE_QUEUE_FULL, 8, "the write queue is full: the server does not read")                    \
    X(NO_MEMORY, 9, "out of memory")

typedef enum mcpump_cause {
#define MCPUMP_X(name, number, text) MCPUMP_CAUSE_##name = number,
    MCPUMP_CAUSES(MCPUMP_X)
#undef MCPUMP_X
} mcpump_cause;

/* X(NAME, number, text): where in its life the connection was. */
#define MCPUMP_PHASES(X)                                                                           \
    X(OPTIONS, 0, "options")                                                                       \
    X(START, 1, "start")                                                                           \
    X(PROBE, 2, "probe")                                                                           \
    X(HANDSHAKE, 3, "handshake")                                                                   \
    X(REQUEST, 4, "request")                                                                       \
    X(NOTIFY, 5, "notification")                                                                   \
    X(CONNECTED, 6, "connection")

typedef enum mcpump_phase {
#define MCPUMP_X(name, number, text) MCPUMP_PHASE_##name = number,
    MCPUMP_PHASES(MCPUMP_X)
#undef MCPUMP_X
} mcpump_phase;

/* X(NAME, number, text): the step of a start that failed; the errno beside it says how. */
#define MCPUMP_STAGES(X)                                                                           \
    X(NONE, 0, "nothing")                                                                          \
    X(LOOKUP, 1, "finding the command")                                                            \
    X(PIPES, 2, "making the pipes")                                                                \
    X(FORK, 3, "making the process")                                                               \
    X(GROUP, 4, "making the process group")                                                        \
    X(STDIO, 5, "connecting the pipes")                                                            \
    X(DIRECTORY, 6, "entering the working directory")                                              \
    X(EXEC, 7, "running the command")                                                              \
    X(THREADS, 8, "starting the threads")                                                          \
    X(LIMITS, 9, "setting its limits")                                                             \
    X(GUARD, 10, "running the guard")

typedef enum mcpump_stage {
#define MCPUMP_X(name, number, text) MCPUMP_STAGE_##name = number,
    MCPUMP_STAGES(MCPUMP_X)
#undef MCPUMP_X
} mcpump_stage;

/** Whether a request had left when its call failed. */
typedef enum mcpump_sent {
    MCPUMP_NOT_SENT = 0, /**< Not one byte was written, and none will be. */
    MCPUMP_SENT = 1,     /**< Written in full. */
    MCPUMP_SENT_UNKNOWN =
        2, /**< In part, or being written; a server that lives may get it whole. */
} mcpump_sent;

/*
 * Name ("TIMEOUT") and text ("the time is over") of a value. Static strings, never NULL: "UNKNOWN"
 * and "unknown" for a number out of range. Any thread, and async-signal-safe.
 */
MCPUMP_API const char *mcpump_err_name(mcpump_err err);
MCPUMP_API const char *mcpump_err_text(mcpump_err err);
MCPUMP_API const char *mcpump_cause_name(mcpump_cause cause);
MCPUMP_API const char *mcpump_cause_text(mcpump_cause cause);
MCPUMP_API const char *mcpump_phase_name(mcpump_phase phase);
MCPUMP_API const char *mcpump_phase_text(mcpump_phase phase);
MCPUMP_API const char *mcpump_stage_name(mcpump_stage stage);
MCPUMP_API const char *mcpump_stage_text(mcpump_stage stage);

MCPUMP_END_DECLS

#endif
