/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/splice.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "span.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define V            "\"jsonrpc\":\"2.0\""

static bool buffer_is(const struct mp_buffer *buffer, struct mp_span text)
{
    return !buffer->failed && buffer->size == text.size &&
           memcmp(buffer->bytes, text.bytes, text.size) == 0;
}

Test(splice, replaces_the_hole)
{
    static const struct {
        const char *name;
        struct mp_span line;
        size_t at, size; /* of the hole */
        struct mp_span text, spliced, frame;
    } rows[] = {
        {"same size", SPAN("{\"id\":1}"), 6, 1, SPAN("2"), SPAN("{\"id\":2}"),
         SPAN("{\"id\":2}\n")},
        {"longer", SPAN("{\"id\":1}"), 6, 1, SPAN("\"abc\""), SPAN("{\"id\":\"abc\"}"),
         SPAN("{\"id\":\"abc\"}\n")},
        {"shorter", SPAN("{\"id\":12345}"), 6, 5, SPAN("7"), SPAN("{\"id\":7}"),
         SPAN("{\"id\":7}\n")},
        {"at the start", SPAN("abc"), 0, 1, SPAN("X"), SPAN("Xbc"), SPAN("Xbc\n")},
        {"at the end", SPAN("abc"), 2, 1, SPAN("X"), SPAN("abX"), SPAN("abX\n")},
        {"all of it", SPAN("abc"), 0, 3, SPAN("X"), SPAN("X"), SPAN("X\n")},
        {"empty hole", SPAN("abc"), 1, 0, SPAN("X"), SPAN("aXbc"), SPAN("aXbc\n")},
        {"empty text", SPAN("abc"), 1, 1, SPAN(""), SPAN("ac"), SPAN("ac\n")},
        {"line breaks", SPAN("{\r\n \"id\":\n1\r}\n"), 10, 1, SPAN("2"),
         SPAN("{\r\n \"id\":\n2\r}\n"), SPAN("{   \"id\": 2 } \n")},
        {"escaped line break stays", SPAN("[\"a\\n\",1]"), 7, 1, SPAN("2"), SPAN("[\"a\\n\",2]"),
         SPAN("[\"a\\n\",2]\n")},
        {"other separators stay", SPAN("\"\xE2\x80\xA8\t\v\" 1"), 8, 1, SPAN("2"),
         SPAN("\"\xE2\x80\xA8\t\v\" 2"), SPAN("\"\xE2\x80\xA8\t\v\" 2\n")},
        {"NUL stays", SPAN("a\0b"), 2, 1, SPAN("c"), SPAN("a\0c"), SPAN("a\0c\n")},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mp_span hole = {rows[i].line.bytes + rows[i].at, rows[i].size};
        struct mp_buffer out = MP_BUFFER_INIT;
        mp_splice(&out, rows[i].line, hole, rows[i].text);
        cr_expect(buffer_is(&out, rows[i].spliced), "%s: %s", rows[i].name, out.bytes);
        out.size = 0;
        mp_splice_frame(&out, rows[i].line, hole, rows[i].text);
        cr_expect(buffer_is(&out, rows[i].frame), "%s, frame: %s", rows[i].name, out.bytes);
        mp_buffer_done(&out);
    }
}

Test(splice, without_a_hole)
{
    struct mp_span none = ABSENT;
    struct mp_buffer out = MP_BUFFER_INIT;
    mp_splice(&out, span_of("a\nb"), none, none);
    mp_splice_frame(&out, span_of("c\nd"), none, none);
    cr_expect_str_eq(out.bytes, "a\nbc d\n");
    mp_buffer_done(&out);
}

/* What stands in the buffer already is not ours to change. */
Test(splice, appends)
{
    struct mp_span line = span_of("{\n1}");
    struct mp_buffer out = MP_BUFFER_INIT;
    mp_buffer_add_text(&out, "before\n");
    mp_splice_frame(&out, line, (struct mp_span){line.bytes + 2, 1}, span_of("2"));
    cr_expect_str_eq(out.bytes, "before\n{ 2}\n");
    mp_buffer_done(&out);
}

Test(splice, a_failed_buffer_stays_failed)
{
    struct mp_span line = span_of("abc");
    struct mp_buffer out = MP_BUFFER_INIT;
    out.failed = true;
    mp_splice_frame(&out, line, (struct mp_span){line.bytes, 1}, span_of("x"));
    mp_splice_string(&out, "a", 1);
    cr_expect(out.failed);
    cr_expect_eq(out.size, 0);
    mp_buffer_done(&out);
}

Test(splice, ids_there_and_back)
{
    static const char *const ids[] = {
        "1", "-0.50E+3", "\"\"", "\"a\\\"\\u00e4\xE2\x82\xAC\"", "123456789012345678901234567890",
    };
    for (size_t i = 0; i < COUNT(ids); i++) {
        char request[300];
        snprintf(request, sizeof(request), "{" V ", \"id\" : %s ,\"method\":\"a\"}", ids[i]);
        struct mp_envelope envelope;
        struct mp_buffer there = MP_BUFFER_INIT, back = MP_BUFFER_INIT;
        mp_envelope_scan(span_of(request), &envelope);
        mp_splice(&there, span_of(request), envelope.id, span_of("77"));
        struct mp_span line = {there.bytes, there.size};
        mp_envelope_scan(line, &envelope);
        cr_assert_eq(envelope.kind, MP_KIND_REQUEST, "%s", there.bytes);
        cr_expect(span_is(envelope.id, "77"), "%s", there.bytes);
        mp_splice(&back, line, envelope.id, span_of(ids[i]));
        cr_expect_str_eq(back.bytes, request);
        mp_buffer_done(&there);
        mp_buffer_done(&back);
    }
}

Test(splice, meta)
{
    static const struct {
        const char *name, *request, *spliced; /* NULL: refused */
    } rows[] = {
        {"no params", "{" V ",\"id\":1,\"method\":\"a\"}",
         "{" V ",\"id\":1,\"method\":\"a\",\"params\":{\"_meta\":{\"x\":1}}}"},
        {"no params, space", "{\n" V ",\n\"id\":1,\n\"method\":\"a}\"\n} \n",
         "{\n" V ",\n\"id\":1,\n\"method\":\"a}\"\n,\"params\":{\"_meta\":{\"x\":1}}} \n"},
        {"no params, object last", "{" V ",\"id\":1,\"method\":\"a\",\"b\":{}}",
         "{" V ",\"id\":1,\"method\":\"a\",\"b\":{},\"params\":{\"_meta\":{\"x\":1}}}"},
        {"empty params", "{" V ",\"id\":1,\"method\":\"a\",\"params\":{}}",
         "{" V ",\"id\":1,\"method\":\"a\",\"params\":{\"_meta\":{\"x\":1}}}"},
        {"empty params, space", "{" V ",\"id\":1,\"method\":\"a\",\"params\": {\n } }",
         "{" V ",\"id\":1,\"method\":\"a\",\"params\": {\"_meta\":{\"x\":1}\n } }"},
        {"params", "{" V ",\"id\":1,\"params\":{\"b\":{\"_meta\":{}}},\"method\":\"a\"}",
         "{" V ",\"id\":1,\"params\":{\"_meta\":{\"x\":1},\"b\":{\"_meta\":{}}},\"method\":\"a\"}"},
        {"params, space", "{" V ",\"id\":1,\"params\":{\n  \"b\": 1\n},\"method\":\"a\"}",
         "{" V ",\"id\":1,\"params\":{\"_meta\":{\"x\":1},\n  \"b\": 1\n},\"method\":\"a\"}"},
        {"empty _meta", "{" V ",\"id\":1,\"params\":{\"_meta\":{}},\"method\":\"a\"}",
         "{" V ",\"id\":1,\"params\":{\"_meta\":{\"x\":1}},\"method\":\"a\"}"},
        {"empty _meta, space", "{" V ",\"id\":1,\"params\":{\"_meta\":{\t}},\"method\":\"a\"}",
         "{" V ",\"id\":1,\"params\":{\"_meta\":{\"x\":1\t}},\"method\":\"a\"}"},
        {"_meta", "{" V ",\"id\":1,\"params\":{\"b\":1,\"_meta\":{\"y\":{}}},\"method\":\"a\"}",
         "{" V ",\"id\":1,\"params\":{\"b\":1,\"_meta\":{\"x\":1,\"y\":{}}},\"method\":\"a\"}"},
        {"keys with escapes",
         "{" V ",\"id\":1,\"p\\u0061rams\":{\"\\u005fmeta\":{\"y\":1}},\"method\":\"a\"}",
         "{" V ",\"id\":1,\"p\\u0061rams\":{\"\\u005fmeta\":{\"x\":1,\"y\":1}},\"method\":\"a\"}"},
        {"notification", "{" V ",\"method\":\"a\"}",
         "{" V ",\"method\":\"a\",\"params\":{\"_meta\":{\"x\":1}}}"},
        {"params array", "{" V ",\"id\":1,\"method\":\"a\",\"params\":[]}", NULL},
        {"_meta null", "{" V ",\"id\":1,\"method\":\"a\",\"params\":{\"_meta\":null}}", NULL},
        {"_meta array", "{" V ",\"id\":1,\"method\":\"a\",\"params\":{\"_meta\":[{}]}}", NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mp_span request = span_of(rows[i].request);
        struct mp_envelope envelope;
        struct mp_buffer out = MP_BUFFER_INIT;
        mp_envelope_scan(request, &envelope);
        cr_assert_neq(envelope.kind, MP_KIND_JUNK, "%s: %s", rows[i].name, envelope.why);
        bool done = mp_splice_meta(&out, request, &envelope, span_of("\"x\":1"));
        cr_expect_eq(done, rows[i].spliced != NULL, "%s", rows[i].name);
        if (rows[i].spliced != NULL)
            cr_expect_str_eq(out.bytes, rows[i].spliced, "%s", rows[i].name);
        else
            cr_expect_eq(out.size, 0, "%s: touched", rows[i].name);
        mp_buffer_done(&out);
    }
}

Test(splice, string)
{
    static const struct {
        const char *name;
        struct mp_span text, json;
    } rows[] = {
        {"empty", SPAN(""), SPAN("\"\"")},
        {"plain", SPAN("abc/\x7F"), SPAN("\"abc/\x7F\"")},
        {"quote and backslash", SPAN("a\"b\\"), SPAN("\"a\\\"b\\\\\"")},
        {"named controls", SPAN("\b\f\n\r\t"), SPAN("\"\\b\\f\\n\\r\\t\"")},
        {"other controls", SPAN("\x01\x1F\v"), SPAN("\"\\u0001\\u001f\\u000b\"")},
        {"NUL", SPAN("a\0b"), SPAN("\"a\\u0000b\"")},
        {"UTF-8", SPAN("\xC3\xA4\xE2\x80\xA8\xF0\x9F\x98\x80"),
         SPAN("\"\xC3\xA4\xE2\x80\xA8\xF0\x9F\x98\x80\"")},
        {"invalid byte",
         SPAN("a\xFF"
              "b"),
         SPAN("\"a\xEF\xBF\xBD"
              "b\"")},
        {"each invalid byte", SPAN("\xED\xA0\x80"),
         SPAN("\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"")},
        {"cut off", SPAN("a\xE2\x82"), SPAN("\"a\xEF\xBF\xBD\xEF\xBF\xBD\"")},
        {"escape at both ends", SPAN("\"a\""), SPAN("\"\\\"a\\\"\"")},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mp_buffer out = MP_BUFFER_INIT;
        mp_splice_string(&out, rows[i].text.bytes, rows[i].text.size);
        cr_expect(buffer_is(&out, rows[i].json), "%s: %s", rows[i].name, out.bytes);
        mp_buffer_done(&out);
    }
}

/* In memory with so much room in front and behind. */
static void splice_in_place(const char *text, const char *id, size_t front, size_t back, bool fits)
{
    static char memory[256];
    size_t size = strlen(text);
    memset(memory, '#', sizeof(memory));
    memcpy(memory + front, text, size);
    struct mp_span line = {memory + front, size}, spliced;
    struct mp_span hole = {strchr(line.bytes, '7'), 2};
    char wanted[256];
    snprintf(wanted, sizeof(wanted), "%.*s%s%.*s", (int)(hole.bytes - line.bytes), line.bytes, id,
             (int)(line.bytes + size - hole.bytes - 2), hole.bytes + 2);
    bool done = mp_splice_in_place((struct mp_span){memory, front + size + back}, line, hole,
                                   span_of(id), &spliced);
    cr_assert_eq(done, fits, "%s, %zu and %zu", id, front, back);
    if (!done) {
        cr_expect_eq(memcmp(memory + front, text, size), 0, "nothing was moved");
        return;
    }
    cr_expect_eq(spliced.size, strlen(wanted));
    cr_expect_eq(memcmp(spliced.bytes, wanted, spliced.size), 0, "%.*s", (int)spliced.size,
                 spliced.bytes);
    cr_expect_lt(spliced.bytes + spliced.size, memory + front + size + back, "room for a NUL");
    cr_expect_eq(memory[front + size + back], '#');
}

Test(splice, in_place)
{
    static const char first[] = "{\"id\":77,\"result\":[1,2,3,4,5,6,8]}";
    static const char last[] = "{\"result\":[1,2,3,4,5,6,8],\"id\":77}";
    splice_in_place(first, "11", 0, 1, true);
    splice_in_place(first, "1", 0, 1, true);
    splice_in_place(first, "\"x\"", 1, 1, true);
    splice_in_place(first, "\"x\"", 0, 9, false);
    splice_in_place(first, "\"xyz\"", 3, 1, true);
    splice_in_place(first, "11", 0, 0, false);
    splice_in_place(last, "11", 0, 1, true);
    splice_in_place(last, "1", 0, 0, true);
    splice_in_place(last, "\"x\"", 0, 2, true);
    splice_in_place(last, "\"x\"", 9, 1, false);
    splice_in_place(last, "11", 0, 0, false);
}
