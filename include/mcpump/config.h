/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuration files: the `mcpServers` of Claude Desktop, Cursor and `.mcp.json`, the `servers` of
 * VS Code, as options for mcpump_server_new. mcpump-config(5) tells all keys.
 *
 * What is wrong with one entry makes that entry unusable and leaves the others alone; what is wrong
 * with the file as a whole fails the load. Every message names file, line and key. No value of an
 * `env` stands in any of them: all are secrets, and what held them is wiped before it is freed.
 *
 * Threads: a configuration never changes; many threads may read it at once.
 */
#ifndef MCPUMP_CONFIG_H
#define MCPUMP_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "export.h"
#include "failure.h"
#include "server.h"

MCPUMP_BEGIN_DECLS

typedef struct mcpump_config mcpump_config;

/** What can be done with an entry. */
typedef enum mcpump_entry_state {
    MCPUMP_ENTRY_USABLE = 0,
    MCPUMP_ENTRY_DISABLED = 1,    /**< The file says so. */
    MCPUMP_ENTRY_UNSUPPORTED = 2, /**< A remote server: it has a `url`, or a `type` of such. */
    MCPUMP_ENTRY_INVALID = 3,     /**< See mcpump_config_problem. */
} mcpump_entry_state;

/**
 * Loads a file. `path` NULL: the first that exists of ./.mcp.json and mcpump/servers.json in
 * $XDG_CONFIG_HOME (when that is no absolute path: in $HOME/.config). On success *ret_config is
 * new, to be freed with mcpump_config_free. Any thread, as long as none changes the environment.
 * Blocks for as long as reading the file, and the `envFile` of an entry, does.
 * Errors: INVALID_ARGUMENT (the failure names file, line and key), SYSTEM (it cannot be read: the
 * failure names file and errno; there is none: it names the places), NO_MEMORY.
 */
MCPUMP_API mcpump_err mcpump_config_load(const char *path, mcpump_config **ret_config,
                                         mcpump_failure **ret_failure);

/**
 * The same from `size` bytes of text, at most 4 MiB, borrowed until the call returns (the caller
 * wipes its own). `name` stands in messages for the file, and relative paths count from the
 * directory that it would stand in.
 */
MCPUMP_API mcpump_err mcpump_config_parse(const char *name, const char *text, size_t size,
                                          mcpump_config **ret_config, mcpump_failure **ret_failure);

/** Wipes and frees. NULL is allowed. */
MCPUMP_API void mcpump_config_free(mcpump_config *config);

/*
 * The texts and options that are returned below are borrowed until the configuration is freed.
 * `index` is below mcpump_config_count; out of range, the text is "", the options are NULL, the
 * state is INVALID.
 */

/** The file that was loaded, or the name that was given. */
MCPUMP_API const char *mcpump_config_path(const mcpump_config *config);

/** How many entries there are, in the order of the file. */
MCPUMP_API size_t mcpump_config_count(const mcpump_config *config);

/** The name of an entry, as the file has it: no two are the same. */
MCPUMP_API const char *mcpump_config_name(const mcpump_config *config, size_t index);

/** Whether there is an entry of this name: then *ret_index, if not NULL, is where. */
MCPUMP_API bool mcpump_config_find(const mcpump_config *config, const char *name,
                                   size_t *ret_index);

/** What can be done with an entry. */
MCPUMP_API mcpump_entry_state mcpump_config_state(const mcpump_config *config, size_t index);

/**
 * Why an entry is not usable: "FILE:LINE: mcpServers.NAME.key: what is wrong". UTF-8 without
 * control characters. "" when it is usable.
 */
MCPUMP_API const char *mcpump_config_problem(const mcpump_config *config, size_t index);

/** The options for mcpump_server_new; NULL unless the entry is usable. */
MCPUMP_API const mcpump_server_options *mcpump_config_options(const mcpump_config *config,
                                                              size_t index);

/** Whether the entry is to be started at once (`start` is "eager"), not by its first call. */
MCPUMP_API bool mcpump_config_is_eager(const mcpump_config *config, size_t index);

/** What is odd and does no harm, such as unknown keys: as many lines of the form of a problem. */
MCPUMP_API size_t mcpump_config_warning_count(const mcpump_config *config);
MCPUMP_API const char *mcpump_config_warning(const mcpump_config *config, size_t index);

MCPUMP_END_DECLS

#endif
