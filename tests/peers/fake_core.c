/* SPDX-License-Identifier: Apache-2.0 */
/* What the fake server's behaviours are made of: replies, requests of its own, jobs, parameters. */
#include "fake.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS 1000000
/* Answers to a flood of requests do not pile up. */
#define FLUSH_AT_BYTES (256 * 1024)

void *fake_must(void *memory)
{
    if (memory == NULL) {
        fputs("fake_server: out of memory\n", stderr);
        _exit(99);
    }
    return memory;
}

struct json_span fake_span(const char *text)
{
    return (struct json_span){text, text != NULL ? strlen(text) : 0};
}

void fake_flush(struct fake *fake)
{
    if (fake->options.split || fake->split_now) {
        for (size_t i = 0; i < fake->out.size; i++) {
            if (write(STDOUT_FILENO, fake->out.bytes + i, 1) != 1)
                break;
        }
        fake->out.size = 0;
    }
    fake->split_now = false;
    out_flush(&fake->out, STDOUT_FILENO);
}

void fake_exit(struct fake *fake, int status)
{
    char text[16];
    fake_flush(fake);
    snprintf(text, sizeof(text), "%d", status);
    fake_log(fake, "exit", fake_span(text));
    _exit(status);
}

/* -- replies */

void fake_end_line(struct fake *fake)
{
    out_text(&fake->out, fake->options.crlf ? "\r\n" : "\n");
    if (fake->out.size > FLUSH_AT_BYTES)
        fake_flush(fake);
}

static void add_id(struct fake *fake, struct json_span id)
{
    const char *way = fake->options.ids;
    bool number = json_type(id) == JSON_NUMBER;
    bool quoted = number && strcmp(way, "string") == 0;
    bool with_fraction = number && strcmp(way, "double") == 0;
    out_text(&fake->out, quoted ? "\"" : "");
    out_span(&fake->out, id);
    out_text(&fake->out, quoted ? "\"" : with_fraction ? ".0" : "");
}

void fake_reply_begin(struct fake *fake, struct json_span id)
{
    if (fake->options.stderr_before_reply > 0)
        fake_stderr_lines(fake->options.stderr_before_reply, true);
    out_text(&fake->out, "{\"jsonrpc\":\"2.0\",\"id\":");
    add_id(fake, id);
    out_text(&fake->out, ",\"result\":");
}

/* Those that wait for the next reply of another follow it. */
static void release_late(struct fake *fake)
{
    struct fake_requests late = fake->late;
    fake->late = (struct fake_requests){NULL, 0};
    for (size_t i = 0; i < late.count; i++)
        fake_reply(fake, &late.items[i], "{\"late\":true}");
    fake_requests_clear(&late);
}

void fake_reply_end(struct fake *fake)
{
    out_text(&fake->out, "}");
    fake_end_line(fake);
    if (fake->late.count > 0)
        release_late(fake);
}

void fake_reply(struct fake *fake, const struct fake_request *request, const char *result)
{
    fake_reply_begin(fake, request->id);
    out_text(&fake->out, result);
    fake_reply_end(fake);
}

void fake_error(struct fake *fake, struct json_span id, int64_t code, const char *message,
                const char *data)
{
    out_text(&fake->out, "{\"jsonrpc\":\"2.0\",\"id\":");
    if (id.bytes != NULL)
        add_id(fake, id);
    else
        out_text(&fake->out, "null");
    out_f(&fake->out, ",\"error\":{\"code\":%lld,\"message\":", (long long)code);
    out_string(&fake->out, message, strlen(message));
    if (data != NULL)
        out_f(&fake->out, ",\"data\":%s", data);
    out_text(&fake->out, "}}");
    fake_end_line(fake);
}

void fake_notify(struct fake *fake, const char *method, const char *params)
{
    out_f(&fake->out, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":%s}", method, params);
    fake_end_line(fake);
}

/* -- requests of our own */

void fake_ask_client(struct fake *fake, struct json_span id, const char *method,
                     struct json_span params, const struct fake_request *request,
                     void (*answered)(struct fake *fake, const struct fake_request *request,
                                      struct json_span message))
{
    static const struct fake_request nobody = {.owned = NULL};
    char own_id[32];
    if (id.bytes == NULL) {
        snprintf(own_id, sizeof(own_id), "\"srv-%u\"", ++fake->next_ask);
        id = fake_span(own_id);
    }
    fake->asks = fake_must(realloc(fake->asks, (fake->ask_count + 1) * sizeof(fake->asks[0])));
    char *id_bytes = fake_must(malloc(id.size));
    memcpy(id_bytes, id.bytes, id.size);
    fake->asks[fake->ask_count++] =
        (struct fake_ask){.id = {id_bytes, id.size},
                          .request = fake_request_copy(request != NULL ? request : &nobody),
                          .answered = answered};
    out_text(&fake->out, "{\"jsonrpc\":\"2.0\",\"id\":");
    out_span(&fake->out, id);
    out_f(&fake->out, ",\"method\":\"%s\"", method);
    if (params.bytes != NULL) {
        out_text(&fake->out, ",\"params\":");
        out_span(&fake->out, params);
    }
    out_text(&fake->out, "}");
    fake_end_line(fake);
}

bool fake_take_answer(struct fake *fake, struct json_span id, struct json_span message)
{
    for (size_t i = 0; i < fake->ask_count; i++) {
        struct fake_ask ask = fake->asks[i];
        if (ask.id.size != id.size || memcmp(ask.id.bytes, id.bytes, id.size) != 0)
            continue;
        fake->asks[i] = fake->asks[--fake->ask_count];
        if (ask.answered != NULL)
            ask.answered(fake, &ask.request, message);
        free(ask.request.owned);
        free((void *)(uintptr_t)ask.id.bytes);
        return true;
    }
    return false;
}

/* -- requests kept */

static struct json_span copy_span(char **at, struct json_span span)
{
    if (span.bytes == NULL)
        return span;
    struct json_span copy = {memcpy(*at, span.bytes, span.size), span.size};
    *at += span.size;
    return copy;
}

struct fake_request fake_request_copy(const struct fake_request *request)
{
    size_t size = request->id.size + request->method.size + request->params.size;
    char *owned = fake_must(malloc(size + 1)), *at = owned;
    struct fake_request copy = {.owned = owned};
    copy.id = copy_span(&at, request->id);
    copy.method = copy_span(&at, request->method);
    copy.params = copy_span(&at, request->params);
    return copy;
}

void fake_requests_add(struct fake_requests *list, const struct fake_request *request)
{
    list->items = fake_must(realloc(list->items, (list->count + 1) * sizeof(list->items[0])));
    list->items[list->count++] = fake_request_copy(request);
}

void fake_requests_clear(struct fake_requests *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].owned);
    free(list->items);
    *list = (struct fake_requests){NULL, 0};
}

/* -- jobs */

int64_t fake_ns_after_ms(int64_t ms)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((int64_t)now.tv_sec * 1000 + ms) * NS_PER_MS + now.tv_nsec;
}

static void add_job(struct fake *fake, struct fake_job job)
{
    fake->jobs = fake_must(realloc(fake->jobs, (fake->job_count + 1) * sizeof(fake->jobs[0])));
    fake->jobs[fake->job_count++] = job;
}

struct fake_job *fake_later(struct fake *fake, int64_t ms, const struct fake_request *request,
                            void (*fire)(struct fake *fake, struct fake_job *job))
{
    add_job(fake, (struct fake_job){.due_ns = fake_ns_after_ms(ms),
                                    .fire = fire,
                                    .request = fake_request_copy(request)});
    return &fake->jobs[fake->job_count - 1];
}

/* The job is out of the array while it runs, since it may add others. */
static void run_job(struct fake *fake, size_t index)
{
    struct fake_job job = fake->jobs[index];
    int64_t due_ns = job.due_ns;
    fake->jobs[index] = fake->jobs[--fake->job_count];
    job.fire(fake, &job);
    if (job.due_ns != due_ns)
        add_job(fake, job);
    else
        free(job.request.owned);
}

/* The first job to be due; count: none. */
static size_t next_job(const struct fake *fake)
{
    size_t next = 0;
    for (size_t i = 1; i < fake->job_count; i++) {
        if (fake->jobs[i].due_ns < fake->jobs[next].due_ns)
            next = i;
    }
    return next;
}

int fake_run_jobs(struct fake *fake)
{
    while (fake->job_count > 0) {
        size_t next = next_job(fake);
        int64_t left = fake->jobs[next].due_ns - fake_ns_after_ms(0);
        if (left > 0) {
            int64_t ms = left / NS_PER_MS + 1;
            return ms < INT_MAX ? (int)ms : INT_MAX;
        }
        run_job(fake, next);
    }
    return -1;
}

/* -- parameters */

int64_t fake_int(const struct fake_request *request, const char *key, int64_t otherwise)
{
    int64_t value;
    if (json_integer(json_member(request->params, key), INT64_MIN, INT64_MAX, &value))
        return value;
    return otherwise;
}

bool fake_flag(const struct fake_request *request, const char *key, bool otherwise)
{
    struct json_span value = json_member(request->params, key);
    return value.bytes != NULL ? value.bytes[0] == 't' : otherwise;
}

bool fake_text(const struct fake_request *request, const char *key, struct out *out)
{
    struct json_span value = json_member(request->params, key);
    if (json_type(value) != JSON_STRING)
        return false;
    size_t before = out->size;
    char *room = out_room(out, value.size);
    out->size = before + json_decode(value, room);
    return true;
}

bool fake_bytes(const struct fake_request *request, struct out *out)
{
    struct out hex = {NULL, 0, 0};
    if (fake_text(request, "text", out))
        return true;
    if (!fake_text(request, "hex", &hex))
        return false;
    for (size_t i = 0; i + 1 < hex.size; i += 2) {
        char digits[3] = {hex.bytes[i], hex.bytes[i + 1], '\0'};
        char byte = (char)strtoul(digits, NULL, 16);
        out_bytes(out, &byte, 1);
    }
    out_done(&hex);
    return true;
}
