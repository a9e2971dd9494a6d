/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call on its way through a server: it comes in with its options (waiting.c), has a session to
 * speak with, is counted and leaves. On the stack of its thread.
 */
#ifndef MP_MANAGER_PASSAGE_H
#define MP_MANAGER_PASSAGE_H

#include "manager/server.h"

struct mp_passage {
    mcpump_server *server;
    struct mp_call_limits limits;
    struct mp_session session;
    mcpump_err err;   /* what the call comes to; CANCELLED until that is known */
    bool fresh;       /* of the options */
    bool is_answered; /* without the server: it says nothing about how long that takes */
};

/* False: the call is not valid (server NULL stands for a missing argument), or was not let in; err
 * and *ret_failure say why. Else mp_passage_leave must follow, also when the thread is cancelled.
 */
bool mp_passage_enter(struct mp_passage *passage, mcpump_server *server,
                      const mcpump_call_options *options, mcpump_failure **ret_failure);
void mp_passage_leave(void *passage);

/* The same of a call that was let in and goes on by itself: the function of its mp_call_owner,
 * which is the server. */
void mp_passage_count_out(void *server, mcpump_err err, int64_t started_ns);

#endif
