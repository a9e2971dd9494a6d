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

const char *mp_message_add_metadata(struct mp_message *message, const struct mp_client *client,
                                    const char *version)
{
    static const char prefix[] = "io.modelcontextprotocol/";
    struct mp_buffer members = MP_BUFFER_INIT, text = MP_BUFFER_INIT;
    unsigned present = message->envelope.meta_keys;
    if ((present & MP_META_PROTOCOL_VERSION) == 0)
        mp_buffer_addf(&members, ",\"%sprotocolVersion\":\"%s\"", prefix, version);
    if ((present & MP_META_CLIENT_INFO) == 0)
        mp_buffer_addf(&members, ",\"%sclientInfo\":%s", prefix, client->info);
    if ((present & MP_META_CLIENT_CAPABILITIES) == 0)
        mp_buffer_addf(&members, ",\"%sclientCapabilities\":%s", prefix, client->capabilities);

    const char *why = NULL;
    if (members.size > 0) {
        struct mp_span added = {members.bytes + 1, members.size - 1};
        if (!mp_splice_meta(&text, mp_message_span(message), &message->envelope, added))
            why = "params._meta is not a JSON object";
    }
    bool failed = members.failed || text.failed;
    mp_buffer_done(&members);
    if (failed || why != NULL || text.size == 0) {
        mp_buffer_done(&text);
        message->text.failed = failed;
        return failed ? no_memory : why;
    }
    mp_buffer_done(&message->text);
    message->text = text;
    mp_envelope_scan(mp_message_span(message), &message->envelope);
    return NULL;
}
