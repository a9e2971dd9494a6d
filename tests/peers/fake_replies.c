/* SPDX-License-Identifier: Apache-2.0 */
/* Requests whose replies come late, twice, wrong or in another order, and requests of our own. */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>

static void echo(struct fake *fake, const struct fake_request *request)
{
    fake_reply_begin(fake, request->id);
    out_span(&fake->out, request->params);
    fake_reply_end(fake);
}

static void reverse(struct fake *fake, const struct fake_request *request)
{
    fake_requests_add(&fake->reversed, request);
    if ((int64_t)fake->reversed.count < fake_int(request, "n", 2))
        return;
    for (size_t i = fake->reversed.count; i-- > 0;)
        echo(fake, &fake->reversed.items[i]);
    fake_requests_clear(&fake->reversed);
}

static void batch(struct fake *fake, const struct fake_request *request)
{
    fake_requests_add(&fake->batched, request);
    if ((int64_t)fake->batched.count < fake_int(request, "n", 2))
        return;
    for (size_t i = 0; i < fake->batched.count; i++) {
        out_text(&fake->out, i == 0 ? "[" : ",");
        out_text(&fake->out, "{\"jsonrpc\":\"2.0\",\"id\":");
        out_span(&fake->out, fake->batched.items[i].id);
        out_text(&fake->out, ",\"result\":");
        out_span(&fake->out, fake->batched.items[i].params);
        out_text(&fake->out, "}");
    }
    out_text(&fake->out, "]");
    fake_end_line(fake);
    fake_requests_clear(&fake->batched);
}

static void sequence(struct fake *fake, const struct fake_request *request)
{
    struct json_span result = fake_span("null"), next;
    const char *at = NULL;
    struct json_span results = json_member(request->params, "results");
    for (size_t i = 0; i <= fake->sequence && json_next(results, &at, &next); i++)
        result = next;
    fake->sequence++;
    fake_reply_begin(fake, request->id);
    out_span(&fake->out, result);
    fake_reply_end(fake);
}

static void drop(struct fake *fake, const struct fake_request *request)
{
    (void)fake;
    (void)request;
}

static void late(struct fake *fake, const struct fake_request *request)
{
    fake_requests_add(&fake->late, request);
}

static void dup(struct fake *fake, const struct fake_request *request)
{
    echo(fake, request);
    echo(fake, request);
}

static void unknown_id(struct fake *fake, const struct fake_request *request)
{
    static const char *const ids[] = {"9007199254740991", "0", "-1", "\"no such id\""};
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        struct fake_request other = {.id = fake_span(ids[i])};
        fake_reply(fake, &other, "{\"wrong\":true}");
    }
    echo(fake, request);
}

/* The reply with the id in another spelling. */
static void respell(struct fake *fake, const struct fake_request *request, const char *way)
{
    const char *usual = fake->options.ids;
    fake->options.ids = way;
    echo(fake, request);
    fake->options.ids = usual;
}

static void id_as_string(struct fake *fake, const struct fake_request *request)
{
    respell(fake, request, "string");
}

static void id_as_double(struct fake *fake, const struct fake_request *request)
{
    respell(fake, request, "double");
}

static void error_null_id(struct fake *fake, const struct fake_request *request)
{
    struct json_span nobody = {NULL, 0};
    fake_error(fake, nobody, -32700, "the fake server could not read that", NULL);
    echo(fake, request);
}

static void error_no_id(struct fake *fake, const struct fake_request *request)
{
    out_text(&fake->out,
             "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"unreadable\"}}");
    fake_end_line(fake);
    echo(fake, request);
}

static void error(struct fake *fake, const struct fake_request *request)
{
    struct out message = {NULL, 0, 0}, data = {NULL, 0, 0};
    struct json_span value = json_member(request->params, "data");
    if (!fake_text(request, "message", &message))
        out_text(&message, "the fake server says no");
    out_bytes(&message, "", 1);
    out_span(&data, value);
    out_bytes(&data, "", 1);
    fake_error(fake, request->id, fake_int(request, "code", -32000), message.bytes,
               value.bytes != NULL ? data.bytes : NULL);
    out_done(&message);
    out_done(&data);
}

static void wake(struct fake *fake, struct fake_job *job)
{
    echo(fake, &job->request);
}

static void sleep_ms(struct fake *fake, const struct fake_request *request)
{
    fake_later(fake, fake_int(request, "ms", 100), request, wake);
}

/* -- requests of our own */

static void answer_with_answer(struct fake *fake, const struct fake_request *request,
                               struct json_span message)
{
    fake_reply_begin(fake, request->id);
    out_text(&fake->out, "{\"answer\":");
    out_span(&fake->out, message);
    out_text(&fake->out, "}");
    fake_reply_end(fake);
}

static void ask_for(struct fake *fake, const struct fake_request *request, const char *usual)
{
    struct out method = {NULL, 0, 0};
    if (!fake_text(request, "method", &method))
        out_text(&method, usual);
    out_bytes(&method, "", 1);
    fake_ask_client(fake, json_member(request->params, "id"), method.bytes,
                    json_member(request->params, "params"), request, answer_with_answer);
    out_done(&method);
}

static void ask(struct fake *fake, const struct fake_request *request)
{
    ask_for(fake, request, "roots/list");
}

static void ping_me(struct fake *fake, const struct fake_request *request)
{
    ask_for(fake, request, "ping");
}

static void own_request_same_id(struct fake *fake, const struct fake_request *request)
{
    struct json_span none = {NULL, 0};
    fake_ask_client(fake, request->id, "ping", none, NULL, NULL);
    echo(fake, request);
}

static void fire_ping(struct fake *fake, struct fake_job *job)
{
    struct json_span none = {NULL, 0};
    if (fake->ask_count > 0)
        fake_exit(fake, 9);
    if (job->done++ == job->count) {
        echo(fake, &job->request);
        return;
    }
    fake_ask_client(fake, none, "ping", none, NULL, NULL);
    job->due_ns = fake_ns_after_ms(job->interval_ms);
}

static void fire_progress(struct fake *fake, struct fake_job *job)
{
    struct json_span token = json_member(job->request.params, "token");
    if (token.bytes == NULL)
        token = json_member(json_member(job->request.params, "_meta"), "progressToken");
    if (job->done++ == job->count) {
        echo(fake, &job->request);
        return;
    }
    if (token.bytes != NULL) {
        out_text(&fake->out, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
                             "\"params\":{\"progressToken\":");
        out_span(&fake->out, token);
        out_f(&fake->out, ",\"progress\":%lld.5,\"total\":%lld,\"message\":\"step\"}}",
              (long long)job->done - 1, (long long)job->count);
        fake_end_line(fake);
    }
    job->due_ns = fake_ns_after_ms(job->interval_ms);
}

static void repeat(struct fake *fake, const struct fake_request *request,
                   void (*fire)(struct fake *fake, struct fake_job *job))
{
    struct fake_job *job = fake_later(fake, 0, request, fire);
    job->interval_ms = fake_int(request, "interval_ms", 100);
    job->count = fake_int(request, "count", 3);
}

static void ping_every(struct fake *fake, const struct fake_request *request)
{
    repeat(fake, request, fire_ping);
}

static void progress(struct fake *fake, const struct fake_request *request)
{
    repeat(fake, request, fire_progress);
}

/* -- notifications */

static void notify(struct fake *fake, const struct fake_request *request)
{
    struct out method = {NULL, 0, 0}, params = {NULL, 0, 0};
    struct json_span value = json_member(request->params, "params");
    if (!fake_text(request, "method", &method))
        out_text(&method, "notifications/fake");
    out_bytes(&method, "", 1);
    out_span(&params, value.bytes != NULL ? value : fake_span("{}"));
    out_bytes(&params, "", 1);
    fake_notify(fake, method.bytes, params.bytes);
    echo(fake, request);
    out_done(&method);
    out_done(&params);
}

static void add_flood(struct fake *fake, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        fake_notify(fake, "notifications/message", "{\"level\":\"info\",\"data\":\"flood\"}");
}

static void flood(struct fake *fake, const struct fake_request *request)
{
    add_flood(fake, fake_int(request, "notifications", 1000));
    echo(fake, request);
    add_flood(fake, fake_int(request, "after", 0));
}

const struct fake_method fake_reply_methods[] = {
    {"test/echo", echo, "the params; so do all of these, unless they say otherwise"},
    {"test/reverse", reverse, "n (2): collects n requests, replies in reverse order"},
    {"test/batch", batch, "n (2): collects n requests, replies to all in one array"},
    {"test/sequence", sequence, "results: the n-th of these at the n-th time, then the last one"},
    {"test/drop", drop, "no reply"},
    {"test/late", late, "{\"late\":true} right after the next result of another request"},
    {"test/dup", dup, "the reply twice"},
    {"test/unknown-id", unknown_id, "four replies to ids never used, then the right one"},
    {"test/id-as-string", id_as_string, "a number as id comes back as a string"},
    {"test/id-as-double", id_as_double, "a number as id comes back with .0"},
    {"test/error-null-id", error_null_id, "an error with id null, then the reply"},
    {"test/error-no-id", error_no_id, "an error without id, then the reply"},
    {"test/error", error, "code (-32000), message, data: an error"},
    {"test/sleep", sleep_ms, "ms (100): replies after so long; others are served meanwhile"},
    {"test/ask", ask, "method (roots/list), params, id: a request; {\"answer\":MESSAGE}"},
    {"test/ping-me", ping_me, "id: a ping; {\"answer\":MESSAGE}"},
    {"test/own-request-same-id", own_request_same_id, "a ping with the id of the call; the reply"},
    {"test/ping-every", ping_every,
     "interval_ms (100), count (3): pings; exits with 9 if one is unanswered at the next"},
    {"test/progress", progress, "interval_ms (100), count (3), token (that of _meta): progress"},
    {"test/notify", notify, "method (notifications/fake), params: a notification, then the reply"},
    {"test/flood", flood, "notifications (1000) before the reply, after (0) behind it"},
    {NULL, NULL, NULL},
};
