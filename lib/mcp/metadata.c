/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/metadata.h"

#include <string.h>

#include "mcpump/version.h"
#include "wire/scan.h"
#include "wire/splice.h"

static const char no_memory[] = "out of memory";

static void add_string(struct mp_buffer *out, const char *text)
{
    mp_splice_string(out, text, strlen(text));
}

bool mp_client_init(struct mp_client *client, const char *name, const char *version)
{
    struct mp_buffer info = MP_BUFFER_INIT;
    mp_buffer_add_text(&info, "{\"name\":");
    add_string(&info, name != NULL ? name : "mcpump");
    mp_buffer_add_text(&info, ",\"version\":");
    add_string(&info, version != NULL ? version : mcpump_version());
    mp_buffer_add_text(&info, "}");
    client->info = mp_buffer_take(&info);
    client->capabilities = "{}";
    return client->info != NULL;
}

void mp_client_done(struct mp_client *client)
{
    struct mp_buffer info = {.bytes = client->info};
    mp_buffer_done(&info);
    client->info = NULL;
}

struct mp_span mp_message_span(const struct mp_message *message)
{
    return (struct mp_span){message->text.bytes, message->text.size};
}

/* The caller's text must be one object and nothing else: not the end of ours and more members. */
static bool is_params(const struct mp_envelope *envelope, const char *params)
{
    const char *end = params + strlen(params);
    const char *start = mp_scan_space(params, end);
    while (end > start && strchr(" \t\r\n", end[-1]) != NULL)
        end--;
    return *start == '{' && envelope->params.size == (size_t)(end - start);
}

const char *mp_message_init(struct mp_message *message, const char *method, const char *params,
                            bool is_notification)
{
    *message = (struct mp_message){.text = MP_BUFFER_INIT};
    struct mp_buffer *text = &message->text;
    mp_buffer_add_text(text, "{\"jsonrpc\":\"2.0\"");
    mp_buffer_add_text(text, is_notification ? "" : ",\"id\":0");
    mp_buffer_add_text(text, ",\"method\":");
    add_string(text, method);
    if (params != NULL) {
        mp_buffer_add_text(text, ",\"params\":");
        mp_buffer_add_text(text, params);
    }
    mp_buffer_add_text(text, "}");
    if (text->failed)
        return no_memory;
    mp_envelope_scan(mp_message_span(message), &message->envelope);
    enum mp_kind kind = is_notification ? MP_KIND_NOTIFICATION : MP_KIND_REQUEST;
    if (params != NULL && message->envelope.kind == kind && !is_params(&message->envelope, params))
        return "params is not a JSON object";
    if (message->envelope.kind != kind)
        return message->envelope.why != NULL ? message->envelope.why : "params is not valid JSON";
    return NULL;
}

void mp_message_done(struct mp_message *message)
{
    mp_buffer_done(&message->text);
}

/* -- what is added */

/* Members of _meta, each with a comma in front. */
struct members {
    struct mp_buffer text;
    unsigned present; /* enum mp_meta_key: the caller's own */
};

#define PREFIX "io.modelcontextprotocol/"

/* False: the caller has it. */
static bool begin_member(struct members *members, enum mp_meta_key key, const char *name)
{
    if ((members->present & key) != 0)
        return false;
    mp_buffer_add_text(&members->text, ",\"");
    mp_buffer_add_text(&members->text, name);
    mp_buffer_add_text(&members->text, "\":");
    return true;
}

static void add_text_member(struct members *members, enum mp_meta_key key, const char *name,
                            const char *value)
{
    if (value != NULL && begin_member(members, key, name))
        add_string(&members->text, value);
}

static void add_json_member(struct members *members, enum mp_meta_key key, const char *name,
                            const char *value)
{
    if (begin_member(members, key, name))
        mp_buffer_add_text(&members->text, value);
}

static void add_members(struct members *members, const struct mp_metadata *metadata)
{
    const struct mp_client *client = metadata->client;
    const struct mp_trace *trace = &metadata->trace;
    if (client != NULL) {
        add_text_member(members, MP_META_PROTOCOL_VERSION, PREFIX "protocolVersion",
                        metadata->version);
        add_json_member(members, MP_META_CLIENT_INFO, PREFIX "clientInfo", client->info);
        add_json_member(members, MP_META_CLIENT_CAPABILITIES, PREFIX "clientCapabilities",
                        client->capabilities);
        add_text_member(members, MP_META_LOG_LEVEL, PREFIX "logLevel", metadata->log_level);
    }
    add_text_member(members, MP_META_TRACEPARENT, "traceparent", trace->traceparent);
    add_text_member(members, MP_META_TRACESTATE, "tracestate", trace->tracestate);
    add_text_member(members, MP_META_BAGGAGE, "baggage", trace->baggage);
}

/* The message in another text; id and method stand in front of whatever was added. */
static void move_to(struct mp_message *message, struct mp_buffer *text)
{
    const char *from = message->text.bytes;
    struct mp_envelope *envelope = &message->envelope;
    struct mp_envelope moved = {.kind = envelope->kind, .id = envelope->id};
    moved.id.bytes = text->bytes + (envelope->id.bytes - from);
    moved.method = envelope->method;
    moved.method.bytes = text->bytes + (envelope->method.bytes - from);
    *envelope = moved;
    mp_buffer_done(&message->text);
    message->text = *text;
}

const char *mp_message_add_metadata(struct mp_message *message, const struct mp_metadata *metadata)
{
    struct members members = {.text = MP_BUFFER_INIT, .present = message->envelope.meta_keys};
    struct mp_buffer text = MP_BUFFER_INIT;
    const char *why = NULL;
    add_members(&members, metadata);
    if (members.text.size > 0) {
        struct mp_span added = {members.text.bytes + 1, members.text.size - 1};
        if (!mp_splice_meta(&text, mp_message_span(message), &message->envelope, added))
            why = "params._meta is not a JSON object";
    }
    bool failed = members.text.failed || text.failed;
    mp_buffer_done(&members.text);
    if (!failed && why == NULL && text.size > 0) {
        move_to(message, &text);
        return NULL;
    }
    mp_buffer_done(&text);
    message->text.failed = failed;
    return failed ? no_memory : why;
}
