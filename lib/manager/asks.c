/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whoever makes an ask SENDING, under the lock, hands the answer to the transport without it, and
 * takes the ask off the list afterwards. Freed by whoever finds it both over and not held.
 */
#include "manager/asks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "wire/control.h"
#include "wire/splice.h"

void mp_asks_init(struct mp_asks *asks, mcpump_transport *transport)
{
    *asks = (struct mp_asks){.transport = transport};
    mp_mutex_init(&asks->lock);
    mp_cond_init(&asks->sent);
}

static void free_ask(struct mp_ask *ask)
{
    free(ask->id);
    free(ask);
}

void mp_asks_done(struct mp_asks *asks)
{
    mp_asks_close(asks);
    mp_cond_done(&asks->sent);
    mp_mutex_done(&asks->lock);
}

struct mp_ask *mp_asks_add(struct mp_asks *asks, struct mp_span id, mp_deadline deadline)
{
    struct mp_ask *ask = calloc(1, sizeof(*ask));
    if (ask == NULL)
        return NULL;
    ask->id = strndup(id.bytes, id.size);
    ask->deadline = deadline;
    ask->is_held = true;
    mp_mutex_lock(&asks->lock);
    bool is_taken = ask->id != NULL && asks->count < MP_ASKS_MOST;
    if (is_taken) {
        ask->next = asks->first;
        asks->first = ask;
        asks->count++;
    }
    mp_mutex_unlock(&asks->lock);
    if (is_taken)
        return ask;
    free_ask(ask);
    return NULL;
}

/* Off the list; true: nobody has it any more. */
static bool end_locked(struct mp_asks *asks, struct mp_ask *ask) MP_REQUIRES(&asks->lock)
{
    struct mp_ask **place = &asks->first;
    while (*place != ask)
        place = &(*place)->next;
    *place = ask->next;
    asks->count--;
    ask->state = MP_ASK_OVER;
    return !ask->is_held;
}

/* -- answers */

static void add_refusal(struct mp_buffer *out, const struct mp_ask *ask)
{
    struct mp_envelope request = {.id = {ask->id, strlen(ask->id)}};
    mp_control_answer(out, &request);
}

static void add_error(struct mp_buffer *out, const struct mp_ask *ask, int code,
                      const char *message)
{
    mp_buffer_addf(
        out, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":", ask->id, code);
    mp_splice_string(out, message, strlen(message));
    mp_buffer_add_text(out, "}}\n");
}

static void add_result(struct mp_buffer *out, const struct mp_ask *ask, const char *result)
{
    static const char hole[] = "null";
    struct mp_buffer frame = MP_BUFFER_INIT;
    struct mp_span text = {result, strlen(result)};
    mp_buffer_addf(&frame, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}", ask->id, hole);
    out->failed = frame.failed;
    if (!frame.failed) {
        struct mp_span line = {frame.bytes, frame.size};
        struct mp_span place = {frame.bytes + frame.size - sizeof(hole), sizeof(hole) - 1};
        mp_splice_frame(out, line, place, text);
    }
    mp_buffer_done(&frame);
}

/* Only for what is SENDING. What could not be sent for want of room or memory is open again. */
static mcpump_err send(struct mp_asks *asks, struct mp_ask *ask, struct mp_buffer *answer)
{
    mcpump_err err = mp_transport_answer(asks->transport, answer);
    bool is_over = err == MCPUMP_OK || err == MCPUMP_ERR_CLOSED;
    bool is_last = false;
    mp_mutex_lock(&asks->lock);
    asks->sending--;
    if (is_over)
        is_last = end_locked(asks, ask);
    else
        ask->state = MP_ASK_OPEN;
    mp_mutex_unlock(&asks->lock);
    mp_cond_broadcast(&asks->sent);
    if (is_last)
        free_ask(ask);
    return err == MCPUMP_ERR_CLOSED ? MCPUMP_ERR_NOT_OPEN : err;
}

static void begin_locked(struct mp_asks *asks, struct mp_ask *ask) MP_REQUIRES(&asks->lock)
{
    ask->state = MP_ASK_SENDING;
    asks->sending++;
}

mcpump_err mp_asks_answer(struct mp_asks *asks, struct mp_ask *ask, const char *result, int code,
                          const char *message)
{
    struct mp_buffer answer = MP_BUFFER_INIT;
    if (result != NULL)
        add_result(&answer, ask, result);
    else
        add_error(&answer, ask, code, message);
    mcpump_err err = answer.failed ? MCPUMP_ERR_NO_MEMORY : MCPUMP_OK;
    mp_mutex_lock(&asks->lock);
    if (ask->state != MP_ASK_OPEN)
        err = MCPUMP_ERR_NOT_OPEN;
    if (err == MCPUMP_OK)
        begin_locked(asks, ask);
    mp_mutex_unlock(&asks->lock);
    if (err == MCPUMP_OK)
        err = send(asks, ask, &answer);
    mp_buffer_done(&answer);
    return err;
}

/* Nobody is there to try again: whether it can be sent or not, it is over. */
static void refuse(struct mp_asks *asks, struct mp_ask *ask)
{
    struct mp_buffer answer = MP_BUFFER_INIT;
    add_refusal(&answer, ask);
    mp_transport_answer(asks->transport, &answer);
    mp_buffer_done(&answer);
    mp_mutex_lock(&asks->lock);
    asks->sending--;
    bool is_last = end_locked(asks, ask);
    mp_mutex_unlock(&asks->lock);
    mp_cond_broadcast(&asks->sent);
    if (is_last)
        free_ask(ask);
}

void mp_asks_release(struct mp_asks *asks, struct mp_ask *ask)
{
    mp_mutex_lock(&asks->lock);
    ask->is_held = false;
    bool is_open = ask->state == MP_ASK_OPEN;
    bool is_over = ask->state == MP_ASK_OVER;
    if (is_open)
        begin_locked(asks, ask);
    mp_mutex_unlock(&asks->lock);
    if (is_open)
        refuse(asks, ask);
    else if (is_over)
        free_ask(ask);
}

/* -- time, and the end */

/* One that is to be refused now, SENDING; else NULL, and *ret_next is when there will be one. */
static struct mp_ask *take_late(struct mp_asks *asks, mp_deadline *ret_next)
{
    struct mp_ask *late = NULL;
    *ret_next = MP_NEVER;
    mp_mutex_lock(&asks->lock);
    for (struct mp_ask *ask = asks->first; ask != NULL && late == NULL; ask = ask->next) {
        if (ask->state != MP_ASK_OPEN)
            continue;
        if (mp_deadline_passed(ask->deadline))
            late = ask;
        else
            *ret_next = mp_deadline_earlier(*ret_next, ask->deadline);
    }
    if (late != NULL)
        begin_locked(asks, late);
    mp_mutex_unlock(&asks->lock);
    return late;
}

mp_deadline mp_asks_expire(struct mp_asks *asks)
{
    mp_deadline next;
    struct mp_ask *late;
    while ((late = take_late(asks, &next)) != NULL)
        refuse(asks, late);
    return next;
}

void mp_asks_close(struct mp_asks *asks)
{
    mp_mutex_lock(&asks->lock);
    /* Woken by the threads that send: writing an answer does not block. */
    while (asks->sending > 0)
        mp_cond_wait(&asks->sent, &asks->lock, MP_NEVER);
    while (asks->first != NULL) {
        struct mp_ask *ask = asks->first;
        if (end_locked(asks, ask))
            free_ask(ask);
    }
    mp_mutex_unlock(&asks->lock);
}
