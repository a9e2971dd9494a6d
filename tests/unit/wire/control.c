/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/control.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "span.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define V            "\"jsonrpc\":\"2.0\""

/* The frame is one line; without its LF it is scanned. */
static struct mp_envelope scan_frame(const struct mp_buffer *frame)
{
    cr_assert(frame->size > 0 && !frame->failed);
    cr_expect_eq(strchr(frame->bytes, '\n'), frame->bytes + frame->size - 1, "one LF, at the end");
    struct mp_envelope envelope;
    mp_envelope_scan((struct mp_span){frame->bytes, frame->size - 1}, &envelope);
    return envelope;
}

Test(control, answers)
{
    static const char not_found[] = "{\"code\":-32601,\"message\":\"Method not found\"}";
    static const struct {
        const char *id, *method;
        enum mp_kind kind;
    } rows[] = {
        {"1", "ping", MP_KIND_RESULT},
        {"\"a\\u0022\xE2\x82\xAC\"", "p\\u0069ng", MP_KIND_RESULT},
        {"-1.50e+2", "ping", MP_KIND_RESULT},
        {"1", "Ping", MP_KIND_ERROR},
        {"\"\"", "roots/list", MP_KIND_ERROR},
        {"12345678901234567890123", "ping/x", MP_KIND_ERROR},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char line[200];
        snprintf(line, sizeof(line), "{" V ",\"id\":%s,\"method\":\"%s\"}", rows[i].id,
                 rows[i].method);
        struct mp_envelope request;
        struct mp_buffer out = MP_BUFFER_INIT;
        mp_envelope_scan(span_of(line), &request);
        cr_assert_eq(request.kind, MP_KIND_REQUEST, "%s", line);
        mp_control_answer(&out, &request);
        struct mp_envelope answer = scan_frame(&out);
        cr_expect_eq(answer.kind, rows[i].kind, "%s: %s", line, out.bytes);
        cr_expect(span_is(answer.id, rows[i].id), "%s: %s", line, out.bytes);
        cr_expect(span_is(answer.value, rows[i].kind == MP_KIND_RESULT ? "{}" : not_found),
                  "%s: %s", line, out.bytes);
        mp_buffer_done(&out);
    }
}

Test(control, cancelled)
{
    static const struct {
        uint64_t id;
        const char *reason, *params;
    } rows[] = {
        {7, NULL, "{\"requestId\":7,\"reason\":\"The client gave up on this request\"}"},
        {9007199254740991, "", "{\"requestId\":9007199254740991,\"reason\":\"\"}"},
        {1, "a \"b\"\n\xFF", "{\"requestId\":1,\"reason\":\"a \\\"b\\\"\\n\xEF\xBF\xBD\"}"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mp_buffer out = MP_BUFFER_INIT;
        mp_control_cancelled(&out, rows[i].id, rows[i].reason);
        struct mp_envelope envelope = scan_frame(&out);
        cr_expect_eq(envelope.kind, MP_KIND_NOTIFICATION, "%s", out.bytes);
        cr_expect(mp_envelope_is_method(&envelope, "notifications/cancelled"), "%s", out.bytes);
        cr_expect(span_is(envelope.params, rows[i].params), "%s", out.bytes);
        mp_buffer_done(&out);
    }
}

Test(control, frames_follow_each_other)
{
    struct mp_buffer out = MP_BUFFER_INIT;
    mp_control_cancelled(&out, 1, "a");
    size_t first = out.size;
    mp_control_cancelled(&out, 2, "b");
    struct mp_buffer second = {out.bytes + first, out.size - first, 0, false};
    cr_expect_eq(out.bytes[first - 1], '\n');
    cr_expect_eq(scan_frame(&second).kind, MP_KIND_NOTIFICATION);
    mp_buffer_done(&out);
}
