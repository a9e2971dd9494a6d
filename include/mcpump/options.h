/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How to run a server. Set the fields that matter, leave the rest at zero: zero means the default
 * that stands beside the field. Where none at all is wanted, write MCPUMP_ZERO.
 */
#ifndef MCPUMP_OPTIONS_H
#define MCPUMP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export.h"
#include "log.h"
#include "secret.h"

MCPUMP_BEGIN_DECLS

/** In a field where 0 stands for the default: none at all. */
#define MCPUMP_ZERO (-1)
/** In a timeout: wait for ever. */
#define MCPUMP_FOREVER (-1)

/** Where the lines of the server's stderr go. Each starts with "[display name] ". */
typedef enum mcpump_stderr_sink {
    MCPUMP_STDERR_INHERIT = 0,  /**< The stderr of this process. */
    MCPUMP_STDERR_DISCARD = 1,  /**< Nowhere; the last lines still stand in failures. */
    MCPUMP_STDERR_FILE = 2,     /**< Appended to stderr_file. */
    MCPUMP_STDERR_CALLBACK = 3, /**< To stderr_fn. */
} mcpump_stderr_sink;

/**
 * Receives one labelled line of stderr, without line end, control characters neutralised. Borrowed
 * until the function returns. Runs in the connection's stderr thread; the rules of mcpump_log_fn
 * hold.
 */
typedef void (*mcpump_stderr_fn)(void *user, const char *line, size_t size);

/** Which way a message goes. */
typedef enum mcpump_direction {
    MCPUMP_TO_SERVER = 0,
    MCPUMP_FROM_SERVER = 1,
} mcpump_direction;

/**
 * Receives one line of the traffic, without its end: to the server, when it is about to be written
 * (that of a call which is given up before the pipe took any of it may be shown, too); from the
 * server, as it was read, before anything is done about it, blank lines left out. A request comes
 * before its reply. Values of secret_env of at least 4 bytes are replaced by "***", as they are and
 * with any escapes of JSON; what was encoded in another way, base64 or JSON within a string of
 * JSON, is not recognised. Borrowed until the function returns. Runs in any thread, in one at a
 * time for each direction; the rules of mcpump_log_fn hold.
 */
typedef void (*mcpump_tap_fn)(void *user, mcpump_direction direction, const char *line,
                              size_t size);

/** What becomes of a server when this process dies, by SIGKILL too. Its stdin ends in any case. A
 * process that runs another program in its place (exec) counts as dead. */
typedef enum mcpump_orphans {
    MCPUMP_ORPHANS_DEFAULT = 0, /**< MCPUMP_ORPHANS_LEADER. */
    MCPUMP_ORPHANS_NONE = 1,    /**< Nothing more. */
    MCPUMP_ORPHANS_LEADER =
        2, /**< The kernel kills the process that was started, not its children. */
    MCPUMP_ORPHANS_TREE = 3, /**< mcpump-guard ends it and all its descendants, with the graces. */
} mcpump_orphans;

/** What happens when write_queue_bytes are waiting and a request does not fit. */
typedef enum mcpump_queue_policy {
    MCPUMP_QUEUE_CLOSE = 0,  /**< The connection ends: the server does not read. */
    MCPUMP_QUEUE_REJECT = 1, /**< That call fails with QUEUE_FULL, the connection stays. */
} mcpump_queue_policy;

/** A resource limit of the server, as for setrlimit(2). */
typedef struct mcpump_rlimit {
    int resource; /**< RLIMIT_NOFILE, ... */
    uint64_t soft, hard;
} mcpump_rlimit;

/** Start from MCPUMP_TRANSPORT_OPTIONS_INIT. Everything is copied: borrowed until the call returns.
 */
typedef struct mcpump_transport_options {
    size_t size; /**< sizeof(mcpump_transport_options) */

    /** Required. A name that is looked up in the PATH the server will have, or a path. No shell is
     * involved. White space is refused, and so are .bat and .cmd but for allow_batch_files. */
    const char *command;
    const char *const *args; /**< After the command, byte for byte, ended by NULL. NULL: none. */
    /** "NAME=VALUE" strings, ended by NULL. They win over what is inherited: HOME, LOGNAME, PATH,
     * SHELL, TERM, USER, except values that start with "()". NULL: none. */
    const char *const *env;
    const char *const *inherit_env; /**< More names to inherit, ended by NULL. NULL: none. */
    const char *cwd;                /**< An absolute, existing directory. NULL: that of the host. */
    /** Label for logs, stderr and failures; slashes in front, brackets and control characters are
     * taken out. NULL: the last part of the command. */
    const char *display_name;

    mcpump_stderr_sink stderr_sink;
    const char *stderr_file; /**< With MCPUMP_STDERR_FILE: an absolute path. */
    mcpump_stderr_fn stderr_fn;
    void *stderr_user;

    mcpump_log_fn log_fn; /**< NULL: no log. */
    void *log_user;
    mcpump_log_level log_level; /**< Least important level to report; 0: MCPUMP_LOG_WARNING. */

    size_t max_message_bytes; /**< Longest line read, without LF. 0: 8 MiB. */
    int64_t max_junk_lines;   /**< Lines in a row that are no messages. 0: 10; MCPUMP_ZERO: none. */
    size_t write_queue_bytes; /**< Bytes that wait to be written. 0: 16 MiB. */
    int64_t default_timeout_ms; /**< For a call. 0: 30000; MCPUMP_FOREVER. */
    int64_t stdin_grace_ms;     /**< From closed stdin to SIGTERM. 0: 2000; MCPUMP_ZERO: none. */
    int64_t term_grace_ms;      /**< From SIGTERM to SIGKILL. 0: 2000; MCPUMP_ZERO: none. */

    mcpump_queue_policy queue_policy;
    /** More variables, whose values are secrets; they win over env. Ended by an entry without name.
     * NULL: none. */
    const mcpump_secret_variable *secret_env;
    const char *const *unset_env; /**< Names that are not inherited, ended by NULL. NULL: none. */
    /** Allow a command that ends in .bat or .cmd; an argument with one of "%^&|<> is still refused,
     * since such files are run by interpreters that parse it again. */
    bool allow_batch_files;
    bool new_session;             /**< setsid(2), not only a process group. */
    int nice;                     /**< Added to the niceness of this process, -40 to 40. */
    const mcpump_rlimit *rlimits; /**< NULL: as this process. */
    size_t rlimit_count;
    mcpump_orphans orphans;
    const char
        *guard_path; /**< mcpump-guard, for MCPUMP_ORPHANS_TREE. NULL: where it is installed. */

    mcpump_tap_fn
        tap_fn; /**< Sees all that is written to the server and read from it. NULL: none. */
    void *tap_user;

    void *reserved[14]; /**< NULL. New options take its room, since other structs embed this one. */
} mcpump_transport_options;

#define MCPUMP_TRANSPORT_OPTIONS_INIT                                                              \
    {                                                                                              \
        .size = sizeof(mcpump_transport_options)                                                   \
    }

MCPUMP_END_DECLS

#endif
