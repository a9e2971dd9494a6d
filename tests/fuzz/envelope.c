/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the envelope accepts is JSON for json-c too, its spans lie in the line, and it survives
 * being rewritten: another id and back, as a frame, with metadata, and answered.
 */
#include <json-c/json.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "check.h"
#include "wire/control.h"
#include "wire/envelope.h"
#include "wire/message_id.h"
#include "wire/scan.h"
#include "wire/splice.h"

#define VERSION_MEMBER "\"io.modelcontextprotocol/protocolVersion\":\"x\""

static struct mp_span content(const struct mp_buffer *buffer)
{
    CHECK(!buffer->failed && buffer->size > 0);
    return (struct mp_span){buffer->bytes, buffer->size};
}

static bool same(struct mp_span a, struct mp_span b)
{
    return a.size == b.size && (a.bytes != NULL) == (b.bytes != NULL) &&
           (a.size == 0 || memcmp(a.bytes, b.bytes, a.size) == 0);
}

static bool json_c_accepts(struct mp_span line)
{
    struct json_tokener *tokener = json_tokener_new_ex(MP_JSON_MAX_DEPTH + 1);
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    json_object_put(json_tokener_parse_ex(tokener, line.bytes, (int)line.size));
    bool accepts = json_tokener_get_error(tokener) == json_tokener_success;
    json_tokener_free(tokener);
    return accepts;
}

static void check_span(struct mp_span line, struct mp_span part)
{
    CHECK(part.bytes == NULL ||
          (part.bytes >= line.bytes && part.bytes + part.size <= line.bytes + line.size));
}

static void check_value(struct mp_span line, struct mp_span value)
{
    check_span(line, value);
    if (value.bytes == NULL)
        return;
    const char *end = value.bytes + value.size;
    CHECK(mp_scan_value(value.bytes, end, MP_JSON_MAX_DEPTH) == end);
}

static void check_parts(struct mp_span line, const struct mp_envelope *envelope)
{
    bool call = envelope->kind == MP_KIND_REQUEST || envelope->kind == MP_KIND_NOTIFICATION;
    bool answer = envelope->kind == MP_KIND_RESULT || envelope->kind == MP_KIND_ERROR;
    CHECK((envelope->why != NULL) == (envelope->kind == MP_KIND_JUNK));
    CHECK((envelope->method.bytes != NULL) == call);
    CHECK((envelope->value.bytes != NULL) == answer);
    check_value(line, envelope->id);
    check_value(line, envelope->params);
    check_value(line, envelope->value);
    check_value(envelope->params, envelope->meta);
    check_value(line, envelope->progress_token);
    check_span(line, envelope->method);
}

static void check_batch(struct mp_span line)
{
    struct mp_span element;
    size_t elements = 0;
    for (const char *at = NULL; mp_batch_next(line, &at, &element); elements++)
        check_value(line, element);
    CHECK(elements > 0);
}

/* The request's way and back. */
static void check_id(struct mp_span line, const struct mp_envelope *envelope)
{
    struct mp_buffer there = MP_BUFFER_INIT, back = MP_BUFFER_INIT;
    struct mp_span ours = {"4711", 4};
    struct mp_envelope again;
    mp_splice(&there, line, envelope->id, ours);
    mp_envelope_scan(content(&there), &again);
    CHECK(again.kind == envelope->kind && same(again.id, ours));
    CHECK(same(again.method, envelope->method) && same(again.value, envelope->value));
    mp_splice(&back, content(&there), again.id, envelope->id);
    CHECK(same(content(&back), line));
    mp_buffer_done(&there);
    mp_buffer_done(&back);

    uint64_t id, id_again;
    char text[MP_MESSAGE_ID_SIZE];
    if (!mp_message_id_parse(envelope->id, &id))
        return;
    CHECK(id > 0 && id <= MP_MESSAGE_ID_MAX);
    struct mp_span plain = {text, mp_message_id_text(id, text)};
    CHECK(mp_message_id_parse(plain, &id_again) && id == id_again);
}

static void check_frame(struct mp_span line, const struct mp_envelope *envelope)
{
    struct mp_buffer frame = MP_BUFFER_INIT;
    struct mp_envelope again;
    mp_splice_frame(&frame, line, (struct mp_span){NULL, 0}, (struct mp_span){NULL, 0});
    struct mp_span bytes = content(&frame);
    CHECK(memchr(bytes.bytes, '\n', bytes.size) == bytes.bytes + bytes.size - 1);
    CHECK(memchr(bytes.bytes, '\r', bytes.size) == NULL);
    mp_envelope_scan(bytes, &again);
    CHECK(again.kind == envelope->kind && same(again.id, envelope->id));
    mp_buffer_done(&frame);
}

static void check_meta(struct mp_span line, const struct mp_envelope *envelope)
{
    struct mp_span member = {VERSION_MEMBER, sizeof(VERSION_MEMBER) - 1};
    struct mp_buffer out = MP_BUFFER_INIT;
    struct mp_envelope again;
    if (envelope->method.bytes == NULL || (envelope->meta_keys & MP_META_PROTOCOL_VERSION) != 0)
        return;
    if (mp_splice_meta(&out, line, envelope, member)) {
        mp_envelope_scan(content(&out), &again);
        CHECK(again.kind == envelope->kind && same(again.id, envelope->id));
        CHECK(same(again.method, envelope->method));
        CHECK(again.meta_keys == (envelope->meta_keys | MP_META_PROTOCOL_VERSION));
        CHECK(same(again.progress_token, envelope->progress_token));
    } else {
        CHECK(out.size == 0);
    }
    mp_buffer_done(&out);
}

static void check_answer(const struct mp_envelope *request)
{
    struct mp_buffer out = MP_BUFFER_INIT;
    struct mp_envelope answer;
    mp_control_answer(&out, request);
    mp_envelope_scan(content(&out), &answer);
    CHECK(answer.kind == MP_KIND_RESULT || answer.kind == MP_KIND_ERROR);
    CHECK(same(answer.id, request->id));
    mp_buffer_done(&out);
}

/* Any bytes as a JSON string. */
static void check_string(struct mp_span bytes)
{
    struct mp_buffer out = MP_BUFFER_INIT;
    mp_splice_string(&out, bytes.bytes, bytes.size);
    const char *end = out.bytes + out.size;
    CHECK(*out.bytes == '"' && mp_scan_string(out.bytes + 1, end) == end);
    mp_buffer_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mp_span line = {size > 0 ? (const char *)data : "", size};
    struct mp_envelope envelope;
    mp_envelope_scan(line, &envelope);
    check_parts(line, &envelope);
    check_string(line);
    if (envelope.kind == MP_KIND_JUNK)
        return 0;
    CHECK(json_c_accepts(line));
    check_frame(line, &envelope);
    if (envelope.kind == MP_KIND_BATCH)
        check_batch(line);
    if (envelope.id.bytes != NULL)
        check_id(line, &envelope);
    check_meta(line, &envelope);
    if (envelope.kind == MP_KIND_REQUEST)
        check_answer(&envelope);
    return 0;
}
