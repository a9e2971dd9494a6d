/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcpump/run.h"
#include "transport/loss.h"
#include "transport/waiting.h"
#include "wire/control.h"
#include "wire/message_id.h"
#include "wire/splice.h"

#define NS_PER_MS 1000000

/* The memory of larger frames is not kept. */
#define KEPT_FRAME_BYTES 4096

/* -- failures */

/* What is meant for a connection finds that it has ended; else it may be that nothing is open. */
static mcpump_err refine_closed(mcpump_transport *transport, const struct mp_call_limits *limits)
{
    if (limits->connection != 0)
        return MCPUMP_ERR_CLOSED;
    mp_mutex_lock(&transport->lock);
    bool is_lost =
        transport->state == MP_TRANSPORT_ENDING || transport->state == MP_TRANSPORT_ENDED;
    mp_mutex_unlock(&transport->lock);
    return is_lost ? MCPUMP_ERR_CLOSED : MCPUMP_ERR_NOT_OPEN;
}

static mcpump_err fail(mcpump_transport *transport, struct mp_failure_facts *facts,
                       struct mp_span method, mcpump_failure **ret_failure)
{
    facts->name = transport->options.label;
    if (facts->err == MCPUMP_ERR_FORKED)
        return mp_fail(ret_failure, facts, NULL);
    if (ret_failure == NULL)
        return facts->err;
    char *subject = strndup(method.size > 0 ? method.bytes : "", method.size);
    struct mp_loss loss;
    char *tail = NULL;
    facts->subject = subject;
    if (facts->err == MCPUMP_ERR_CLOSED)
        mp_loss_tell(transport, &loss, facts);
    if (facts->err == MCPUMP_ERR_CLOSED || facts->err == MCPUMP_ERR_TIMEOUT)
        tail = mp_tail_copy(&transport->stderr_pump.tail);
    mp_fail(ret_failure, facts, tail);
    free(subject);
    return facts->err;
}

/* -- limits */

bool mp_call_limits_init(struct mp_call_limits *limits, const mcpump_transport *transport,
                         const mcpump_call_options *options)
{
    mcpump_call_options whole = MCPUMP_CALL_OPTIONS_INIT;
    if (options != NULL && !mp_options_import(&whole, sizeof(whole), options))
        return false;
    limits->started_ns = mp_now_ns();
    limits->deadline = mp_transport_deadline(transport, limits->started_ns, whole.timeout_ms);
    limits->latch_count = mp_latch_count(&transport->latch);
    limits->run = whole.run != NULL ? whole.run : mcpump_run_current();
    limits->cancel_reason = whole.cancel_reason;
    limits->wait_for_ready = whole.wait_for_ready;
    limits->connection = 0;
    return true;
}

mcpump_err mp_call_stopped(const mcpump_transport *transport, const struct mp_call_limits *limits)
{
    if (mp_latch_hits(&transport->latch, limits->latch_count))
        return MCPUMP_ERR_INTERRUPTED;
    return mp_run_is_cancelled(limits->run) ? MCPUMP_ERR_CANCELLED : MCPUMP_OK;
}

/* -- begin */

static struct mp_frame *make_frame(const struct mp_call_plan *plan, struct mp_entry *entry)
{
    char digits[MP_MESSAGE_ID_SIZE];
    struct mp_span text = {digits, mp_message_id_text(entry->id, digits)};
    struct mp_frame *spare = entry->spare;
    struct mp_buffer bytes = mp_frame_salvage(spare);
    entry->spare = NULL;
    mp_splice_frame(&bytes, plan->request, plan->envelope->id, text);
    struct mp_frame *frame = mp_frame_remake(spare, &bytes, false);
    if (frame != NULL)
        frame->connection = entry->connection;
    return frame;
}

void mp_call_release(struct mp_call *call)
{
    if (call->entry != NULL)
        mp_pending_release(&call->transport->pending, call->entry);
    call->entry = NULL;
}

/* Lets no cancellation of the run ring for it any more. */
static void leave_run(struct mp_call *call)
{
    mp_run_leave(call->limits.run, &call->transport->bell);
}

/* An entry that was registered in vain. Somebody else may be completing it: that is waited for, it
 * is a matter of instants. */
static void take_back(struct mp_call *call, mcpump_err err)
{
    if (!mp_pending_give_up(&call->transport->pending, call->entry)) {
        mp_entry_wait(call->entry, MP_NEVER);
        mcpump_reply_free(call->entry->reply);
    }
    leave_run(call);
    mp_call_release(call);
    call->err = err;
}

/* The frame is written at once, or left for the next flush; see lease.h. */
static mcpump_err gather(mcpump_transport *transport, struct mp_frame *frame)
{
    bool much = false;
    mcpump_err err = mp_writer_gather(&transport->writer, frame, true, &much);
    if (err == MCPUMP_OK && (much || !mp_lease_is_free(&transport->lease)))
        mp_writer_flush(&transport->writer);
    return err;
}

/* The frame stays the caller's on failure. One that is larger than the whole queue is its sender's
 * fault; a queue that is full is the server's, which does not read: the policy says what then. */
static mcpump_err judge_send(mcpump_transport *transport, mcpump_err err, size_t size)
{
    const struct mp_options *options = &transport->options;
    bool closes = options->queue_policy == MCPUMP_QUEUE_CLOSE && size <= options->write_queue_bytes;
    if (err == MCPUMP_ERR_QUEUE_FULL && closes)
        mp_transport_fault(transport, MCPUMP_CAUSE_WRITE_QUEUE_FULL, 0, NULL);
    return err;
}

static void time_frame(struct mp_call *call)
{
    call->times.bytes = call->frame->size;
    call->times.queued_ns = mp_now_ns();
    call->frame->written_ns = &call->times.written_ns;
}

static mcpump_err send_request(struct mp_call *call, const struct mp_call_plan *plan)
{
    mcpump_transport *transport = call->transport;
    call->frame = make_frame(plan, call->entry);
    if (call->frame == NULL)
        return MCPUMP_ERR_NO_MEMORY;
    if (call->times.is_wanted)
        time_frame(call);
    /* What the reader swept the table for before we stood in it. */
    mcpump_err err = mp_call_stopped(transport, &call->limits);
    if (err != MCPUMP_OK)
        return err;
    size_t size = call->frame->size;
    bool gathers = plan->may_gather && !call->entry->is_alone;
    err = gathers ? gather(transport, call->frame)
                  : mp_writer_send(&transport->writer, call->frame, true);
    return judge_send(transport, err, size);
}

/* Joins the run first, then registers, then looks at latch and run once more. */
static mcpump_err register_call(struct mp_call *call, struct mp_span caller_id)
{
    mcpump_transport *transport = call->transport;
    struct mp_registration registration = {
        .caller_id = caller_id,
        .latch_count = call->limits.latch_count,
        .run = call->limits.run,
        .connection = call->limits.connection,
        .replied_ns = call->times.is_wanted ? &call->times.replied_ns : NULL,
        .deadline = call->limits.deadline,
    };
    if (!mp_run_join(call->limits.run, &transport->bell))
        return MCPUMP_ERR_NO_MEMORY;
    mcpump_err err = mp_pending_register(&transport->pending, &registration, &call->entry);
    if (err == MCPUMP_OK)
        call->limits.connection = call->entry->connection;
    else
        leave_run(call);
    return err;
}

void mp_call_begin(struct mp_call *call, mcpump_transport *transport,
                   const struct mp_call_plan *plan)
{
    *call = (struct mp_call){
        .transport = transport,
        .limits = plan->limits,
        .method = plan->method.bytes != NULL ? plan->method : plan->envelope->method,
        .is_quiet = plan->is_quiet,
        .times = {.is_wanted = mp_trace_is_on()},
    };
    if (call->limits.started_ns == 0)
        call->limits.started_ns = mp_now_ns();
    if (mp_transport_is_elsewhere(transport)) {
        call->err = MCPUMP_ERR_FORKED;
        return;
    }
    call->err = mp_call_stopped(transport, &plan->limits);
    if (call->err == MCPUMP_OK)
        call->err = register_call(call, plan->caller_id.bytes != NULL ? plan->caller_id
                                                                      : plan->envelope->id);
    if (call->err != MCPUMP_OK)
        return;
    mcpump_err err = send_request(call, plan);
    if (err == MCPUMP_OK) {
        mp_count(&transport->counters.requests, 1);
        return;
    }
    mp_frame_free(call->frame);
    take_back(call, err);
}

/* -- wait */

void mp_call_wait(struct mp_call *call)
{
    if (call->entry == NULL || mp_entry_is_done(call->entry))
        return;
    const struct mp_promises promises = mp_promises_of(&call->entry->done);
    const struct mp_patience patience = {call->limits.deadline, true};
    mp_waiting_for(call->transport, &promises, call->entry, patience);
}

static struct mp_promise *done_of(const void *calls, size_t i)
{
    return &((struct mp_call *const *)calls)[i]->entry->done;
}

bool mp_call_wait_either(struct mp_call *one, struct mp_call *other, mp_deadline deadline)
{
    if (one->entry == NULL || other->entry == NULL)
        return true;
    struct mp_call *const calls[] = {one, other};
    const struct mp_promises promises = {2, done_of, calls};
    const struct mp_patience patience = {deadline, false};
    return mp_waiting_for(one->transport, &promises, one->entry, patience);
}

bool mp_call_is_done(struct mp_call *call)
{
    return call->entry == NULL || mp_entry_is_done(call->entry);
}

const mcpump_reply *mp_call_peek(struct mp_call *call)
{
    return call->entry != NULL && mp_entry_is_done(call->entry) ? call->entry->reply : NULL;
}

/* -- finish */

/* What the entry says, after a wait that may have ended early. */
static mcpump_err settle_entry(struct mp_call *call)
{
    struct mp_entry *entry = call->entry;
    if (!mp_entry_is_done(entry)) {
        if (mp_pending_give_up(&call->transport->pending, entry))
            return MCPUMP_ERR_TIMEOUT;
        mp_entry_wait(entry, MP_NEVER);
    }
    return entry->err;
}

static struct mp_frame *make_cancellation(const struct mp_call *call)
{
    if (call->is_quiet)
        return NULL;
    struct mp_buffer bytes = MP_BUFFER_INIT;
    mp_control_cancelled(&bytes, call->entry->id, call->limits.cancel_reason);
    return mp_frame_new(&bytes, true);
}

/* For the next call with this entry, unless it is large. */
static void keep_frame(struct mp_entry *entry, struct mp_frame *frame)
{
    if (frame->capacity <= KEPT_FRAME_BYTES)
        entry->spare = frame;
    else
        mp_frame_free(frame);
}

/* Lets go of the frame; tells the server when the call is given up. */
static void settle_frame(struct mp_call *call, mcpump_err err)
{
    mcpump_transport *transport = call->transport;
    struct mp_frame *frame = call->frame;
    call->frame = NULL;
    if (err == MCPUMP_OK || err == MCPUMP_ERR_NO_MEMORY) {
        if (mp_outbox_release(&transport->writer.outbox, frame))
            keep_frame(call->entry, frame);
        call->sent = MCPUMP_SENT;
        return;
    }
    struct mp_frame *sequel = err != MCPUMP_ERR_CLOSED ? make_cancellation(call) : NULL;
    bool is_told;
    call->sent = mp_writer_withdraw(&transport->writer, frame, sequel, &is_told);
    mp_count(&transport->counters.cancelled_on_wire, is_told);
}

/* Settled before it is completed: from then on the call is its caller's. */
void mp_call_cancel(struct mp_call *call)
{
    struct mp_entry *entry = call->entry;
    if (entry == NULL || !mp_pending_give_up(&call->transport->pending, entry))
        return;
    settle_frame(call, MCPUMP_ERR_CANCELLED);
    entry->err = MCPUMP_ERR_CANCELLED;
    mp_entry_complete(entry);
}

static void trace(struct mp_call *call, mcpump_err err, mcpump_sent sent)
{
    const mcpump_reply *reply = err == MCPUMP_OK ? call->entry->reply : NULL;
    bool is_error = reply != NULL && mcpump_reply_is_error(reply);
    struct mp_traced_call traced = {
        .label = call->transport->options.label,
        .method = call->method,
        .id = call->entry != NULL ? call->entry->id : 0,
        .started_ns = call->limits.started_ns,
        .times = &call->times,
        .outcome = mcpump_err_name(is_error ? MCPUMP_ERR_SERVER_ERROR : err),
        .sent = sent,
    };
    if (reply != NULL)
        mcpump_reply_text(reply, &traced.reply_bytes);
    mp_trace_call(&call->transport->row, &traced);
}

mcpump_err mp_call_conclude(struct mp_call *call, mcpump_phase phase, mcpump_reply **ret_reply,
                            mcpump_failure **ret_failure)
{
    mcpump_transport *transport = call->transport;
    struct mp_failure_facts facts = {.err = call->err, .phase = phase};
    bool had_begun = call->entry != NULL;
    if (had_begun) {
        facts.err = settle_entry(call);
        if (call->frame != NULL)
            settle_frame(call, facts.err);
        facts.sent = call->sent;
        leave_run(call);
        if (facts.err == MCPUMP_OK)
            *ret_reply = call->entry->reply;
    }
    if (facts.err == MCPUMP_ERR_CLOSED)
        facts.err = refine_closed(transport, &call->limits);
    if (call->times.is_wanted)
        trace(call, facts.err, facts.sent);
    if (facts.err == MCPUMP_OK)
        return MCPUMP_OK;
    facts.elapsed_ms = (mp_now_ns() - call->limits.started_ns) / NS_PER_MS;
    return fail(transport, &facts, call->method, ret_failure);
}

mcpump_err mp_call_finish(struct mp_call *call, mcpump_phase phase, mcpump_reply **ret_reply,
                          mcpump_failure **ret_failure)
{
    mcpump_err err = mp_call_conclude(call, phase, ret_reply, ret_failure);
    mp_call_release(call);
    return err;
}

/* The thread was cancelled while it waited. */
static void abandon(void *arg)
{
    struct mp_call *call = arg;
    mcpump_reply *reply = NULL;
    if (mp_call_finish(call, MCPUMP_PHASE_REQUEST, &reply, NULL) == MCPUMP_OK)
        mcpump_reply_free(reply);
}

mcpump_err mp_call_make(mcpump_transport *transport, const struct mp_call_plan *plan,
                        mcpump_phase phase, mcpump_reply **ret_reply, mcpump_failure **ret_failure)
{
    struct mp_call call;
    mp_call_begin(&call, transport, plan);
    pthread_cleanup_push(abandon, &call);
    mp_call_wait(&call);
    pthread_cleanup_pop(false);
    return mp_call_finish(&call, phase, ret_reply, ret_failure);
}

static mcpump_err send_notification(mcpump_transport *transport, struct mp_span notification,
                                    const struct mp_call_limits *limits)
{
    if (mp_transport_is_elsewhere(transport))
        return MCPUMP_ERR_FORKED;
    mcpump_err stopped = mp_call_stopped(transport, limits);
    if (stopped != MCPUMP_OK)
        return stopped;
    const struct mp_span nothing = {NULL, 0};
    struct mp_buffer bytes = MP_BUFFER_INIT;
    mp_splice_frame(&bytes, notification, nothing, nothing);
    struct mp_frame *frame = mp_frame_new(&bytes, false);
    if (frame == NULL)
        return MCPUMP_ERR_NO_MEMORY;
    frame->connection = limits->connection;
    size_t size = frame->size;
    mcpump_err err = judge_send(transport, mp_writer_send(&transport->writer, frame, false), size);
    if (err != MCPUMP_OK)
        mp_frame_free(frame);
    return err;
}

mcpump_err mp_call_notify(mcpump_transport *transport, struct mp_span notification,
                          const struct mp_envelope *envelope, const struct mp_call_limits *limits,
                          mcpump_failure **ret_failure)
{
    struct mp_failure_facts facts = {.err = send_notification(transport, notification, limits),
                                     .phase = MCPUMP_PHASE_NOTIFY};
    if (facts.err == MCPUMP_OK) {
        mp_count(&transport->counters.notifications_sent, 1);
        return MCPUMP_OK;
    }
    if (facts.err == MCPUMP_ERR_CLOSED)
        facts.err = refine_closed(transport, limits);
    return fail(transport, &facts, envelope->method, ret_failure);
}

/* -- the public calls */

static mcpump_err refuse(mcpump_transport *transport, const char *why, mcpump_phase phase,
                         mcpump_failure **ret_failure)
{
    struct mp_failure_facts facts = {.name = transport->options.label,
                                     .err = MCPUMP_ERR_INVALID_REQUEST,
                                     .phase = phase,
                                     .detail = why};
    return mp_fail(ret_failure, &facts, NULL);
}

/* Why the caller's text is no message of this kind, or NULL. What a peer may write is looked at
 * more mildly than what we do. */
static const char *complaint(const struct mp_envelope *envelope, enum mp_kind kind)
{
    if (envelope->kind == MP_KIND_JUNK)
        return envelope->why;
    if (envelope->kind != kind)
        return "the message is of another kind";
    bool is_null = envelope->params.bytes != NULL && *envelope->params.bytes == 'n';
    return is_null ? "params is null" : NULL;
}

/* Checks what the host has given; the plan borrows the envelope. */
static mcpump_err plan_request(struct mp_call_plan *plan, struct mp_envelope *envelope,
                               mcpump_transport *transport, const mcpump_call_options *options,
                               mcpump_failure **ret_failure)
{
    if (ret_failure != NULL)
        *ret_failure = NULL;
    if (transport == NULL || plan->request.bytes == NULL ||
        !mp_call_limits_init(&plan->limits, transport, options))
        return MCPUMP_ERR_INVALID_ARGUMENT;
    mp_envelope_scan(plan->request, envelope);
    plan->envelope = envelope;
    const char *why = complaint(envelope, MP_KIND_REQUEST);
    return why != NULL ? refuse(transport, why, MCPUMP_PHASE_REQUEST, ret_failure) : MCPUMP_OK;
}

mcpump_err mcpump_transport_send_request(mcpump_transport *transport, const char *request,
                                         size_t size, const mcpump_call_options *options,
                                         mcpump_reply **ret_reply, mcpump_failure **ret_failure)
{
    struct mp_envelope envelope;
    struct mp_call_plan plan = {.request = {request, size}};
    if (ret_reply == NULL)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    mcpump_err err = plan_request(&plan, &envelope, transport, options, ret_failure);
    if (err != MCPUMP_OK)
        return err;
    return mp_call_make(transport, &plan, MCPUMP_PHASE_REQUEST, ret_reply, ret_failure);
}

mcpump_err mcpump_transport_submit(mcpump_transport *transport, const char *request, size_t size,
                                   const mcpump_call_options *options, mcpump_call **ret_call,
                                   mcpump_failure **ret_failure)
{
    struct mp_envelope envelope;
    struct mp_call_plan plan = {.request = {request, size}};
    if (ret_call == NULL)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    mcpump_err err = plan_request(&plan, &envelope, transport, options, ret_failure);
    if (err != MCPUMP_OK)
        return err;
    return mp_call_submit(transport, &plan, NULL, ret_call, ret_failure);
}

mcpump_err mcpump_transport_notify(mcpump_transport *transport, const char *notification,
                                   size_t size, mcpump_failure **ret_failure)
{
    if (ret_failure != NULL)
        *ret_failure = NULL;
    if (transport == NULL || notification == NULL)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    struct mp_call_limits limits;
    mp_call_limits_init(&limits, transport, NULL);
    struct mp_envelope envelope;
    struct mp_span text = {notification, size};
    mp_envelope_scan(text, &envelope);
    const char *why = complaint(&envelope, MP_KIND_NOTIFICATION);
    if (why != NULL)
        return refuse(transport, why, MCPUMP_PHASE_NOTIFY, ret_failure);
    return mp_call_notify(transport, text, &envelope, &limits, ret_failure);
}
