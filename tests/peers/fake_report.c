/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the client did: the last messages as they came, counters, and violations, which are what no
 * client may do. The ids of all requests are remembered as hashes, since none may come twice.
 */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define KEPT_LINES      4096
#define KEPT_LINE_BYTES (64 * 1024)
#define MAX_VIOLATIONS  100
#define MAX_CANCELLED   10000
#define META_VERSION    "io.modelcontextprotocol/protocolVersion"
#define META_CLIENT     "io.modelcontextprotocol/clientCapabilities"

extern char **environ;

struct fake_watch {
    struct json_span lines[KEPT_LINES]; /* a ring; owned */
    size_t line_count;                  /* of all ever received */
    uint64_t *ids;                      /* open addressing; 0: free */
    size_t id_capacity;                 /* a power of two */
    size_t id_count;
    size_t requests, notifications, answers;
    size_t initialize, discover, initialized;
    uint64_t initialize_id;
    struct out cancelled;  /* ids, separated by commas */
    struct out violations; /* strings, separated by commas */
    size_t cancelled_count, violation_count;
};

void fake_log(struct fake *fake, const char *word, struct json_span text)
{
    struct out line = {NULL, 0, 0};
    if (fake->log_fd < 0)
        return;
    out_f(&line, "%s%s", word, text.size > 0 ? " " : "");
    out_span(&line, text);
    out_text(&line, "\n");
    out_flush(&line, fake->log_fd);
    out_done(&line);
}

void fake_watch_init(struct fake *fake)
{
    fake->watch = fake_must(calloc(1, sizeof(*fake->watch)));
}

void fake_watch_line(struct fake *fake, struct json_span line)
{
    struct json_span *slot = &fake->watch->lines[fake->watch->line_count++ % KEPT_LINES];
    size_t size = line.size < KEPT_LINE_BYTES ? line.size : KEPT_LINE_BYTES;
    char *copy = fake_must(realloc((void *)(uintptr_t)slot->bytes, size + 1));
    memcpy(copy, line.bytes, size);
    *slot = (struct json_span){copy, size};
    fake_log(fake, "recv", line);
}

void fake_watch_violation(struct fake *fake, const char *what, struct json_span where)
{
    struct fake_watch *watch = fake->watch;
    if (watch->violation_count++ >= MAX_VIOLATIONS)
        return;
    struct out text = {NULL, 0, 0};
    out_f(&text, "%s: ", what);
    out_bytes(&text, where.bytes, where.size < 200 ? where.size : 200);
    out_text(&watch->violations, watch->violation_count > 1 ? "," : "");
    out_string(&watch->violations, text.bytes, text.size);
    out_done(&text);
}

/* -- ids */

static uint64_t hash_of(struct json_span text)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < text.size; i++)
        hash = (hash ^ (unsigned char)text.bytes[i]) * 1099511628211u;
    return hash != 0 ? hash : 1;
}

static uint64_t *id_slot(struct fake_watch *watch, uint64_t hash)
{
    size_t i = hash & (watch->id_capacity - 1);
    while (watch->ids[i] != 0 && watch->ids[i] != hash)
        i = (i + 1) & (watch->id_capacity - 1);
    return &watch->ids[i];
}

static void grow_ids(struct fake_watch *watch)
{
    struct fake_watch old = *watch;
    if (watch->id_count * 2 < watch->id_capacity)
        return;
    watch->id_capacity = old.id_capacity > 0 ? old.id_capacity * 2 : 1024;
    watch->ids = fake_must(calloc(watch->id_capacity, sizeof(watch->ids[0])));
    for (size_t i = 0; i < old.id_capacity; i++) {
        if (old.ids[i] != 0)
            *id_slot(watch, old.ids[i]) = old.ids[i];
    }
    free(old.ids);
}

/* False: the id was there before. */
static bool remember_id(struct fake_watch *watch, uint64_t hash)
{
    grow_ids(watch);
    uint64_t *slot = id_slot(watch, hash);
    if (*slot != 0)
        return false;
    *slot = hash;
    watch->id_count++;
    return true;
}

static bool knows_id(struct fake_watch *watch, uint64_t hash)
{
    return watch->id_capacity > 0 && *id_slot(watch, hash) != 0;
}

/* -- the checks */

static void watch_initialize(struct fake *fake, const struct fake_request *request)
{
    if (fake->watch->initialize++ > 0)
        fake_watch_violation(fake, "initialize came twice", request->method);
    if (fake->phase == FAKE_MODERN)
        fake_watch_violation(fake, "initialize to a modern server", request->method);
    fake->watch->initialize_id = hash_of(request->id);
    fake->phase = FAKE_INITIALIZE;
}

static void watch_metadata(struct fake *fake, const struct fake_request *request)
{
    static const char *const keys[] = {META_VERSION, META_CLIENT};
    struct json_span values[2];
    json_pick(json_member(request->params, "_meta"), keys, 2, values);
    if (json_type(values[0]) != JSON_STRING)
        fake_watch_violation(fake, "no protocolVersion in _meta", request->method);
    if (json_type(values[1]) != JSON_OBJECT)
        fake_watch_violation(fake, "no clientCapabilities in _meta", request->method);
}

void fake_watch_request(struct fake *fake, const struct fake_request *request)
{
    bool discover = json_is(request->method, "server/discover");
    fake->watch->requests++;
    fake->watch->discover += discover;
    if (!remember_id(fake->watch, hash_of(request->id)))
        fake_watch_violation(fake, "an id came twice", request->id);
    if (fake->phase == FAKE_INITIALIZE || fake->phase == FAKE_INITIALIZED)
        fake_watch_violation(fake, "a request before initialized", request->method);
    if (discover || fake->phase == FAKE_MODERN)
        watch_metadata(fake, request);
    if (json_is(request->method, "initialize"))
        watch_initialize(fake, request);
    else if (fake->phase == FAKE_FRESH && !discover)
        fake_watch_violation(fake, "a request before the handshake", request->method);
}

static void watch_cancelled(struct fake *fake, struct json_span id)
{
    struct fake_watch *watch = fake->watch;
    uint64_t hash = hash_of(id);
    if (id.bytes == NULL || !knows_id(watch, hash))
        fake_watch_violation(fake, "cancelled an id that never came", id);
    if (watch->initialize > 0 && hash == watch->initialize_id)
        fake_watch_violation(fake, "cancelled initialize", id);
    if (watch->cancelled_count++ >= MAX_CANCELLED || id.bytes == NULL)
        return;
    out_text(&watch->cancelled, watch->cancelled.size > 0 ? "," : "");
    out_span(&watch->cancelled, id);
}

void fake_watch_notification(struct fake *fake, const struct fake_request *message)
{
    fake->watch->notifications++;
    if (json_is(message->method, "notifications/initialized")) {
        fake->watch->initialized++;
        if (fake->phase != FAKE_INITIALIZED)
            fake_watch_violation(fake, "initialized at the wrong time", message->method);
        else
            fake->phase = FAKE_LEGACY;
        return;
    }
    if (fake->phase == FAKE_INITIALIZE || fake->phase == FAKE_INITIALIZED)
        fake_watch_violation(fake, "a notification before initialized", message->method);
    if (json_is(message->method, "notifications/cancelled"))
        watch_cancelled(fake, json_member(message->params, "requestId"));
}

void fake_watch_answer(struct fake *fake, struct json_span id, bool known)
{
    fake->watch->answers++;
    if (!known)
        fake_watch_violation(fake, "an answer to nothing", id);
    if (fake->phase == FAKE_MODERN)
        fake_watch_violation(fake, "an answer in the modern era", id);
}

/* -- the methods */

static void received(struct fake *fake, const struct fake_request *request)
{
    struct fake_watch *watch = fake->watch;
    size_t last = (size_t)fake_int(request, "last", KEPT_LINES);
    size_t kept = watch->line_count < KEPT_LINES ? watch->line_count : KEPT_LINES;
    size_t first = watch->line_count - (last < kept ? last : kept);
    fake_reply_begin(fake, request->id);
    out_f(&fake->out, "{\"count\":%zu,\"messages\":[", watch->line_count);
    for (size_t i = first; i < watch->line_count; i++) {
        struct json_span line = watch->lines[i % KEPT_LINES];
        out_text(&fake->out, i > first ? "," : "");
        if (json_valid(line))
            out_span(&fake->out, line);
        else
            out_string(&fake->out, line.bytes, line.size);
    }
    out_text(&fake->out, "]}");
    fake_reply_end(fake);
}

static void report(struct fake *fake, const struct fake_request *request)
{
    static const char *const phases[] = {"fresh", "initialize", "initialized", "legacy", "modern"};
    const struct fake_watch *watch = fake->watch;
    struct out *out = &fake->out;
    fake_reply_begin(fake, request->id);
    out_f(out, "{\"pid\":%d,\"grandchild\":%d,\"phase\":\"%s\"", (int)getpid(),
          (int)fake->grandchild, phases[fake->phase]);
    out_f(out, ",\"requests\":%zu,\"notifications\":%zu,\"answers\":%zu", watch->requests,
          watch->notifications, watch->answers);
    out_f(out, ",\"initialize\":%zu,\"initialized\":%zu,\"discover\":%zu", watch->initialize,
          watch->initialized, watch->discover);
    out_f(out, ",\"cancelled_count\":%zu,\"cancelled\":[", watch->cancelled_count);
    out_bytes(out, watch->cancelled.bytes, watch->cancelled.size);
    out_f(out, "],\"violation_count\":%zu,\"violations\":[", watch->violation_count);
    out_bytes(out, watch->violations.bytes, watch->violations.size);
    out_text(out, "]}");
    fake_reply_end(fake);
}

static void env(struct fake *fake, const struct fake_request *request)
{
    const char *comma = "";
    fake_reply_begin(fake, request->id);
    out_text(&fake->out, "{");
    for (char **entry = environ; *entry != NULL; entry++) {
        size_t size = strcspn(*entry, "=");
        const char *value = *entry + size + ((*entry)[size] == '=');
        out_text(&fake->out, comma);
        out_string(&fake->out, *entry, size);
        out_text(&fake->out, ":");
        out_string(&fake->out, value, strlen(value));
        comma = ",";
    }
    out_text(&fake->out, "}");
    fake_reply_end(fake);
}

const struct fake_method fake_report_methods[] = {
    {"test/received", received,
     "last (all of 4096 kept): count and messages, unreadable ones as strings"},
    {"test/report", report,
     "pid, grandchild, phase (fresh, initialize, initialized, legacy, modern), counts of requests, "
     "notifications, answers, initialize, initialized and discover, cancelled_count, cancelled "
     "(ids), violation_count, violations"},
    {"test/env", env, "the environment as an object"},
    {NULL, NULL, NULL},
};
