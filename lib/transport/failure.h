/* SPDX-License-Identifier: Apache-2.0 */
/* Making failures: the facts go in, the sentence for a person comes out. */
#ifndef MP_TRANSPORT_FAILURE_H
#define MP_TRANSPORT_FAILURE_H

#include "base/clock.h"
#include "mcpump/failure.h"
#include "process/process.h"

/* What is known. Zero means unknown or none; texts are borrowed. */
struct mp_failure_facts {
    const char *name; /* display name of the server; NULL: none, the sentence is the detail */
    mcpump_err err;
    mcpump_cause cause;
    mcpump_phase phase;
    mcpump_stage stage;
    int sys_errno;
    struct mp_exit exit;
    mcpump_sent sent;
    int64_t elapsed_ms;
    int64_t retry_after_ms; /* of UNAVAILABLE; -1: not by itself */
    const char *subject;    /* method, command, option, ... */
    const char *detail;     /* replaces the text of the error or cause in the sentence */
    const char *earlier;    /* the sentence of the failure that this one follows from */
};

/* Returns new. Takes stderr_tail, from malloc or NULL. NULL: no memory. */
mcpump_failure *mp_failure_new(const struct mp_failure_facts *facts, char *stderr_tail);

/* The same into a place that may be NULL. Returns facts->err. */
mcpump_err mp_fail(mcpump_failure **ret_failure, const struct mp_failure_facts *facts,
                   char *stderr_tail);

/* Takes the reply that the call failed over. A failure that could not be made, NULL, keeps none. */
void mp_failure_keep_reply(mcpump_failure *failure, mcpump_reply *reply);

/* What it was made of, without the texts. Borrowed. */
const struct mp_failure_facts *mp_failure_facts(const mcpump_failure *failure);

/* Returns new: a failure like this one, without its reply. NULL: no memory, or none was given. */
mcpump_failure *mp_failure_clone(const mcpump_failure *failure);

#endif
