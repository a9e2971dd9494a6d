/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a transport, checked, with the defaults filled in, and owned. */
#ifndef MP_TRANSPORT_OPTIONS_H
#define MP_TRANSPORT_OPTIONS_H

#include "mcpump/options.h"
#include "transport/failure.h"

#define MP_LABEL_BYTES 64
/* The largest number in an option: keeps sums of sizes and of times far from overflow. */
#define MP_OPTIONS_MOST (INT64_MAX / 4)

struct mp_options {
    char *command;
    char **args; /* ended by NULL, as are the next two; never NULL; wiped when freed */
    char **env;  /* as well */
    char **inherit_env;
    char **unset_env;
    mcpump_secret_variable *secret_env; /* ended by an entry without name */
    mcpump_rlimit *rlimits;             /* NULL: none */
    size_t rlimit_count;
    bool new_session;
    int nice;
    mcpump_orphans orphans;
    char *guard_path; /* NULL: where it is installed */
    mcpump_queue_policy queue_policy;
    char *cwd; /* NULL: that of the host; the transport takes it over */
    char label[MP_LABEL_BYTES];
    char *stderr_file; /* NULL: none */
    mcpump_stderr_sink stderr_sink;
    mcpump_stderr_fn stderr_fn;
    void *stderr_user;
    mcpump_log_fn log_fn;
    void *log_user;
    mcpump_log_level log_level;
    mcpump_tap_fn tap_fn;
    void *tap_user;
    size_t max_message_bytes;
    int64_t max_junk_lines;
    size_t write_queue_bytes;
    int64_t default_timeout_ms; /* -1: never */
    int64_t stdin_grace_ms;
    int64_t term_grace_ms;
};

/*
 * Checks and copies. *ret_options must be freed with mp_options_done, on failure too. Errors:
 * INVALID_ARGUMENT, the failure names the key and the value (of `env`, which may hold a secret,
 * only the place); NO_MEMORY.
 */
mcpump_err mp_options_init(struct mp_options *ret_options, const mcpump_transport_options *given,
                           mcpump_failure **ret_failure);
void mp_options_done(struct mp_options *options);

/* What mp_options_init would refuse: which key, and what is wrong with it. */
struct mp_options_fault {
    const char *key; /* static */
    char words[512];
};

/* Looks without keeping anything. `given` is of our size. Errors: INVALID_ARGUMENT, then *ret_fault
 * is filled in; NO_MEMORY. */
mcpump_err mp_options_find_fault(const mcpump_transport_options *given,
                                 struct mp_options_fault *ret_fault);

/*
 * Copies a struct of options that starts with its size into one of our size: an older caller's
 * smaller one leaves the rest at zero; of a newer caller's larger one the rest must be zero, else
 * false.
 */
bool mp_options_import(void *ret_ours, size_t our_size, const void *given);

/* Fails with INVALID_ARGUMENT: import has refused the size of the options given. */
mcpump_err mp_options_refuse_size(const void *given, mcpump_failure **ret_failure);

/* An absolute, existing directory: 0 or an errno (EINVAL: not absolute). */
int mp_options_check_directory(const char *directory);

#endif
