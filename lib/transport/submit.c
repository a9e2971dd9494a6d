/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Submitted calls: calls that the host keeps in flight and waits for when it likes. A handle holds
 * the call, and copies of what is needed after its request is gone. Its entry stays its own until
 * it is freed, so that a cancel from another thread always finds it; the outcome waits there.
 */
#include <stdlib.h>
#include <string.h>

#include "transport/call.h"
#include "transport/waiting.h"

struct mcpump_call {
    struct mp_call call;
    bool is_concluded; /* its outcome was given */
    struct mp_call_owner owner;
    char text[]; /* id and method of the request, and the reason */
};

/* -- made and freed */

static struct mp_span copy(char **at, struct mp_span span)
{
    struct mp_span copied = {*at, span.size};
    if (span.size > 0)
        memcpy(*at, span.bytes, span.size);
    *at += span.size;
    return copied;
}

static mcpump_call *call_new(const struct mp_call_plan *plan, struct mp_call_plan *ret_plan)
{
    const char *reason = plan->limits.cancel_reason;
    struct mp_span reason_text = {reason, reason != NULL ? strlen(reason) + 1 : 0};
    const struct mp_envelope *envelope = plan->envelope;
    mcpump_call *call =
        malloc(sizeof(*call) + envelope->id.size + envelope->method.size + reason_text.size);
    if (call == NULL)
        return NULL;
    char *at = call->text;
    *ret_plan = *plan;
    ret_plan->may_gather = true;
    ret_plan->caller_id = copy(&at, envelope->id);
    ret_plan->method = copy(&at, envelope->method);
    if (reason != NULL)
        ret_plan->limits.cancel_reason = copy(&at, reason_text).bytes;
    call->is_concluded = false;
    call->owner = (struct mp_call_owner){NULL, NULL};
    return call;
}

mcpump_err mp_call_submit(mcpump_transport *transport, const struct mp_call_plan *plan,
                          const struct mp_call_owner *owner, mcpump_call **ret_call,
                          mcpump_failure **ret_failure)
{
    struct mp_call_plan lasting;
    mcpump_call *call = call_new(plan, &lasting);
    if (call == NULL)
        return MCPUMP_ERR_NO_MEMORY;
    if (owner != NULL)
        call->owner = *owner;
    mp_call_begin(&call->call, transport, &lasting);
    if (call->call.entry != NULL) {
        *ret_call = call;
        return MCPUMP_OK;
    }
    mcpump_err err = mp_call_finish(&call->call, MCPUMP_PHASE_REQUEST, NULL, ret_failure);
    free(call);
    return err;
}

static bool is_elsewhere(const mcpump_call *call)
{
    return mp_transport_is_elsewhere(call->call.transport);
}

static mcpump_err conclude(mcpump_call *call, mcpump_reply **ret_reply,
                           mcpump_failure **ret_failure)
{
    call->is_concluded = true;
    mcpump_err err = mp_call_conclude(&call->call, MCPUMP_PHASE_REQUEST, ret_reply, ret_failure);
    if (call->owner.concluded != NULL)
        call->owner.concluded(call->owner.user, err, call->call.limits.started_ns);
    return err;
}

/* Nobody asks for the outcome any more. */
static void drop(void *arg)
{
    mcpump_reply *reply = NULL;
    if (conclude(arg, &reply, NULL) == MCPUMP_OK)
        mcpump_reply_free(reply);
}

void mcpump_call_free(mcpump_call *call)
{
    if (call == NULL)
        return;
    if (!is_elsewhere(call)) { /* where all of it is the parent's */
        if (!call->is_concluded) {
            mp_call_cancel(&call->call);
            drop(call);
        }
        mp_call_release(&call->call);
    }
    free(call);
}

void mcpump_call_cancel(mcpump_call *call)
{
    if (call != NULL && !is_elsewhere(call))
        mp_call_cancel(&call->call);
}

/* -- waiting */

static bool is_over(const mcpump_call *call)
{
    return call->is_concluded || is_elsewhere(call) || mp_entry_is_done(call->call.entry) ||
           mp_deadline_passed(call->call.limits.deadline);
}

bool mcpump_call_poll(mcpump_call *call)
{
    if (call == NULL || is_over(call))
        return true;
    mp_waiting_glance(call->call.transport);
    return is_over(call);
}

static mcpump_err fail_elsewhere(const mcpump_call *call, mcpump_failure **ret_failure)
{
    struct mp_failure_facts facts = {.name = call->call.transport->options.label,
                                     .err = MCPUMP_ERR_FORKED,
                                     .phase = MCPUMP_PHASE_REQUEST};
    return mp_fail(ret_failure, &facts, NULL);
}

mcpump_err mcpump_call_wait(mcpump_call *call, mcpump_reply **ret_reply,
                            mcpump_failure **ret_failure)
{
    if (ret_failure != NULL)
        *ret_failure = NULL;
    if (call == NULL || ret_reply == NULL || call->is_concluded)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    if (is_elsewhere(call))
        return fail_elsewhere(call, ret_failure);
    pthread_cleanup_push(drop, call); /* of a thread that is cancelled */
    mp_call_wait(&call->call);
    pthread_cleanup_pop(false);
    return conclude(call, ret_reply, ret_failure);
}

/* -- waiting for one of several */

struct calls {
    mcpump_call *const *list;
    size_t count;
};

/* The first that is over; false: none is. */
static bool find_over(const struct calls *calls, size_t *ret_index)
{
    for (size_t i = 0; i < calls->count; i++) {
        if (calls->list[i] != NULL && is_over(calls->list[i])) {
            *ret_index = i;
            return true;
        }
    }
    return false;
}

/* The earliest of their deadlines and of `until`. False: there is no call. */
static bool find_deadline(const struct calls *calls, mp_deadline until, mp_deadline *ret_deadline)
{
    bool has_any = false;
    for (size_t i = 0; i < calls->count; i++) {
        if (calls->list[i] == NULL)
            continue;
        has_any = true;
        until = mp_deadline_earlier(until, calls->list[i]->call.limits.deadline);
    }
    *ret_deadline = until;
    return has_any;
}

static struct mp_promise *promise_of(const void *list, size_t i)
{
    mcpump_call *call = ((mcpump_call *const *)list)[i];
    return call != NULL ? &call->call.entry->done : NULL;
}

/* Any of them, if they are all of one transport; else NULL. */
static const struct mp_call *find_only(const struct calls *calls)
{
    const struct mp_call *found = NULL;
    for (size_t i = 0; i < calls->count; i++) {
        if (calls->list[i] == NULL)
            continue;
        if (found != NULL && found->transport != calls->list[i]->call.transport)
            return NULL;
        found = &calls->list[i]->call;
    }
    return found;
}

static void glance_at_all(const struct calls *calls)
{
    for (size_t i = 0; i < calls->count; i++)
        if (calls->list[i] != NULL)
            mp_waiting_glance(calls->list[i]->call.transport);
}

/* Who waits for several transports can read none of them: it sits in all, once a call. */
static void sit_in_all(const struct calls *calls)
{
    struct mp_besides besides;
    for (size_t i = 0; i < calls->count; i++) {
        if (calls->list[i] == NULL)
            continue;
        mp_lease_sit(&calls->list[i]->call.transport->lease, &besides);
        mp_writer_flush(&calls->list[i]->call.transport->writer);
    }
}

/* Also run by a cancellation within the wait. */
static void leave_all(void *arg)
{
    const struct calls *calls = arg;
    for (size_t i = 0; i < calls->count; i++)
        if (calls->list[i] != NULL)
            mp_lease_stand(&calls->list[i]->call.transport->lease);
}

static void wait_for_one(struct calls *calls, mp_deadline until)
{
    const struct mp_promises promises = {calls->count, promise_of, calls->list};
    const struct mp_patience patience = {until, true};
    const struct mp_call *only = find_only(calls);
    if (only != NULL) {
        mp_waiting_for(only->transport, &promises, only->entry, patience);
        return;
    }
    sit_in_all(calls);
    pthread_cleanup_push(leave_all, calls);
    mp_promise_wait_any(&promises, patience);
    pthread_cleanup_pop(true);
}

mcpump_err mcpump_wait_any(mcpump_call *const *calls, size_t count, int64_t timeout_ms,
                           size_t *ret_index)
{
    struct calls all = {calls, calls != NULL ? count : 0};
    mp_deadline own = mp_deadline_after_ms(timeout_ms), earliest;
    if (ret_index == NULL || !find_deadline(&all, own, &earliest))
        return MCPUMP_ERR_INVALID_ARGUMENT;
    bool is_any = find_over(&all, ret_index);
    if (!is_any && timeout_ms == 0) {
        glance_at_all(&all);
        is_any = find_over(&all, ret_index);
    }
    while (!is_any && !mp_deadline_passed(own)) {
        wait_for_one(&all, earliest);
        is_any = find_over(&all, ret_index);
    }
    return is_any ? MCPUMP_OK : MCPUMP_ERR_TIMEOUT;
}
