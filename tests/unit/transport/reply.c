/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/reply.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const struct row {
    const char *name, *line, *caller_id, *text, *value;
    bool is_error;
} rows[] = {
    {"id first", "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"a\":1}}", "\"x\\u0041\"",
     "{\"jsonrpc\":\"2.0\",\"id\":\"x\\u0041\",\"result\":{\"a\":1}}", "{\"a\":1}", false},
    {"id last", "{\"result\":[1, 2],\"jsonrpc\":\"2.0\",\"id\":123456}", "1",
     "{\"result\":[1, 2],\"jsonrpc\":\"2.0\",\"id\":1}", "[1, 2]", false},
    {"error", "{\"error\":{\"code\":-1,\"message\":\"m\"},\"id\":\"7\",\"jsonrpc\":\"2.0\"}", "1.0",
     "{\"error\":{\"code\":-1,\"message\":\"m\"},\"id\":1.0,\"jsonrpc\":\"2.0\"}",
     "{\"code\":-1,\"message\":\"m\"}", true},
    {"longer id", "{\"id\":1,\"jsonrpc\":\"2.0\",\"result\":null}", "12345678901234567890123",
     "{\"id\":12345678901234567890123,\"jsonrpc\":\"2.0\",\"result\":null}", "null", false},
};

Test(reply, has_the_callers_id)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct row *row = &rows[i];
        struct mp_span line = {row->line, strlen(row->line)};
        struct mp_span id = {row->caller_id, strlen(row->caller_id)};
        struct mp_envelope envelope;
        mp_envelope_scan(line, &envelope);
        mcpump_reply *reply = mp_reply_new(line, &envelope, id);
        size_t size, value_size;
        cr_assert_str_eq(mcpump_reply_text(reply, &size), row->text, "%s", row->name);
        cr_assert_eq(size, strlen(row->text), "%s", row->name);
        const char *value = mcpump_reply_value(reply, &value_size);
        cr_assert_eq(value_size, strlen(row->value), "%s", row->name);
        cr_assert_eq(memcmp(value, row->value, value_size), 0, "%s: %.*s", row->name,
                     (int)value_size, value);
        cr_assert_eq(mcpump_reply_is_error(reply), row->is_error, "%s", row->name);
        mcpump_reply_free(reply);
    }
}

/* Each row as a large line that is taken, in memory with room and without. */
static struct mp_taken taken_of(const char *line, size_t front, size_t back)
{
    size_t size = strlen(line);
    struct mp_taken taken = {.block = malloc(front + size + back), .size = front + size + back};
    memcpy(taken.block + front, line, size);
    taken.line = (struct mp_span){taken.block + front, size};
    return taken;
}

Test(reply, is_moved_with_the_callers_id)
{
    static const size_t rooms[][2] = {{64, 1}, {0, 1}, {0, 64}, {64, 4096}};
    for (size_t i = 0; i < 4 * sizeof(rows) / sizeof(*rows); i++) {
        const struct row *row = &rows[i / 4];
        struct mp_taken taken = taken_of(row->line, rooms[i % 4][0], rooms[i % 4][1]);
        struct mp_span id = {row->caller_id, strlen(row->caller_id)};
        struct mp_envelope envelope;
        mp_envelope_scan(taken.line, &envelope);
        mcpump_reply *reply = mp_reply_move(taken, &envelope, id);
        size_t size, value_size;
        cr_assert_str_eq(mcpump_reply_text(reply, &size), row->text, "%s", row->name);
        cr_assert_eq(size, strlen(row->text), "%s", row->name);
        const char *value = mcpump_reply_value(reply, &value_size);
        cr_assert_eq(value_size, strlen(row->value), "%s", row->name);
        cr_assert_eq(memcmp(value, row->value, value_size), 0, "%s", row->name);
        cr_assert_eq(mcpump_reply_is_error(reply), row->is_error, "%s", row->name);
        mcpump_reply_free(reply);
    }
}

Test(reply, null_is_freed)
{
    mcpump_reply_free(NULL);
}
