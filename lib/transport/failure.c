/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/failure.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"

/* The longest foreign text (subject, detail, line of stderr) in a sentence. */
#define PART_BYTES 512

struct mcpump_failure {
    struct mp_failure_facts facts; /* its texts are not kept */
    char *message;
    char *stderr_tail;   /* NULL: none */
    mcpump_reply *reply; /* owned; NULL: none */
};

static void add_clean(struct mp_buffer *out, const char *text, size_t size)
{
    char clean[PART_BYTES];
    mp_buffer_add(out, clean, mp_text_clean(text, size, clean, sizeof(clean)));
}

static const char *strongest_text(const struct mp_failure_facts *facts)
{
    if (facts->detail != NULL)
        return facts->detail;
    if (facts->cause != MCPUMP_CAUSE_NONE && facts->cause != MCPUMP_CAUSE_CLOSED_BY_HOST)
        return mcpump_cause_text(facts->cause);
    return mcpump_err_text(facts->err);
}

static void add_cause(struct mp_buffer *out, const struct mp_failure_facts *facts)
{
    if (facts->earlier != NULL) {
        mp_buffer_add_text(out, mcpump_err_text(facts->err));
        return;
    }
    if (facts->stage != MCPUMP_STAGE_NONE)
        mp_buffer_addf(out, "%s failed: ", mcpump_stage_text(facts->stage));
    const char *text = strongest_text(facts);
    if (facts->stage == MCPUMP_STAGE_NONE || facts->detail != NULL)
        add_clean(out, text, strlen(text));
    if (facts->sys_errno != 0) {
        char scratch[MP_TEXT_ERRNO_SIZE];
        bool first = facts->stage != MCPUMP_STAGE_NONE && facts->detail == NULL;
        mp_buffer_addf(out, "%s%s", first ? "" : ": ", mp_text_errno(facts->sys_errno, scratch));
    }
}

static void add_end_of_process(struct mp_buffer *out, const struct mp_failure_facts *facts)
{
    if (!facts->exit.known || facts->earlier != NULL)
        return;
    const char *joint = facts->cause == MCPUMP_CAUSE_EXITED ? " with" : "; the server exited with";
    if (facts->exit.signal == 0)
        mp_buffer_addf(out, "%s status %d", joint, facts->exit.status);
    else
        mp_buffer_addf(out, "%s signal %d (%s)", joint, facts->exit.signal,
                       strsignal(facts->exit.signal));
}

static void add_last_line(struct mp_buffer *out, const char *tail)
{
    if (tail == NULL)
        return;
    const char *end = tail + strlen(tail) - 1; /* at the LF of the last line */
    const char *start = end;
    while (start > tail && start[-1] != '\n')
        start--;
    mp_buffer_add_text(out, "; its last words: ");
    add_clean(out, start, (size_t)(end - start));
}

/* Until when it is down, and why: ", next try in 0.5 s; files: connection: the server exited". */
static void add_outage(struct mp_buffer *out, const struct mp_failure_facts *facts)
{
    if (facts->err == MCPUMP_ERR_UNAVAILABLE && facts->retry_after_ms >= 0)
        mp_buffer_addf(out, ", next try in %.3f s", (double)facts->retry_after_ms / 1000);
    if (facts->earlier != NULL)
        mp_buffer_addf(out, "; %s", facts->earlier);
}

static char *make_message(const struct mp_failure_facts *facts, const char *tail)
{
    struct mp_buffer out = MP_BUFFER_INIT;
    if (facts->name != NULL)
        mp_buffer_addf(&out, "%s: %s", facts->name, mcpump_phase_text(facts->phase));
    if (facts->name != NULL && facts->subject != NULL) {
        mp_buffer_add_text(&out, " ");
        add_clean(&out, facts->subject, strlen(facts->subject));
    }
    mp_buffer_add_text(&out, facts->name != NULL ? ": " : "");
    add_cause(&out, facts);
    add_end_of_process(&out, facts);
    if (facts->err == MCPUMP_ERR_TIMEOUT)
        mp_buffer_addf(&out, " after %.3f s", (double)facts->elapsed_ms / 1000);
    add_outage(&out, facts);
    add_last_line(&out, tail);
    return mp_buffer_take(&out);
}

mcpump_failure *mp_failure_new(const struct mp_failure_facts *facts, char *stderr_tail)
{
    mcpump_failure *failure = calloc(1, sizeof(*failure));
    char *message = make_message(facts, stderr_tail);
    if (failure == NULL || message == NULL) {
        free(failure);
        free(message);
        free(stderr_tail);
        return NULL;
    }
    failure->facts = *facts;
    failure->facts.name = failure->facts.subject = failure->facts.detail = NULL;
    failure->facts.earlier = NULL;
    failure->message = message;
    failure->stderr_tail = stderr_tail;
    return failure;
}

void mp_failure_keep_reply(mcpump_failure *failure, mcpump_reply *reply)
{
    if (failure != NULL)
        failure->reply = reply;
    else
        mcpump_reply_free(reply);
}

const struct mp_failure_facts *mp_failure_facts(const mcpump_failure *failure)
{
    return &failure->facts;
}

mcpump_failure *mp_failure_clone(const mcpump_failure *failure)
{
    if (failure == NULL)
        return NULL;
    mcpump_failure *clone = calloc(1, sizeof(*clone));
    if (clone == NULL)
        return NULL;
    clone->facts = failure->facts;
    clone->message = strdup(failure->message);
    clone->stderr_tail = failure->stderr_tail != NULL ? strdup(failure->stderr_tail) : NULL;
    if (clone->message != NULL)
        return clone;
    mcpump_failure_free(clone);
    return NULL;
}

mcpump_err mp_fail(mcpump_failure **ret_failure, const struct mp_failure_facts *facts,
                   char *stderr_tail)
{
    if (ret_failure != NULL)
        *ret_failure = mp_failure_new(facts, stderr_tail);
    else
        free(stderr_tail);
    return facts->err;
}

const char *mcpump_failure_message(const mcpump_failure *failure)
{
    /* There is no failure when memory for it was missing. */
    return failure != NULL ? failure->message : mcpump_err_text(MCPUMP_ERR_NO_MEMORY);
}

mcpump_err mcpump_failure_error(const mcpump_failure *failure)
{
    return failure->facts.err;
}

mcpump_cause mcpump_failure_cause(const mcpump_failure *failure)
{
    return failure->facts.cause;
}

mcpump_phase mcpump_failure_phase(const mcpump_failure *failure)
{
    return failure->facts.phase;
}

mcpump_stage mcpump_failure_stage(const mcpump_failure *failure)
{
    return failure->facts.stage;
}

int mcpump_failure_errno(const mcpump_failure *failure)
{
    return failure->facts.sys_errno;
}

int mcpump_failure_exit_status(const mcpump_failure *failure)
{
    const struct mp_exit *exit = &failure->facts.exit;
    return exit->known && exit->signal == 0 ? exit->status : -1;
}

int mcpump_failure_term_signal(const mcpump_failure *failure)
{
    return failure->facts.exit.known ? failure->facts.exit.signal : 0;
}

mcpump_sent mcpump_failure_sent(const mcpump_failure *failure)
{
    return failure->facts.sent;
}

int64_t mcpump_failure_elapsed_ms(const mcpump_failure *failure)
{
    return failure->facts.elapsed_ms;
}

int64_t mcpump_failure_retry_after_ms(const mcpump_failure *failure)
{
    return failure->facts.err == MCPUMP_ERR_UNAVAILABLE ? failure->facts.retry_after_ms : -1;
}

const char *mcpump_failure_stderr(const mcpump_failure *failure)
{
    return failure->stderr_tail != NULL ? failure->stderr_tail : "";
}

const mcpump_reply *mcpump_failure_reply(const mcpump_failure *failure)
{
    return failure->reply;
}

void mcpump_failure_free(mcpump_failure *failure)
{
    if (failure == NULL)
        return;
    mcpump_reply_free(failure->reply);
    free(failure->message);
    free(failure->stderr_tail);
    free(failure);
}
