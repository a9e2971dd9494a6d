/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/splice.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "wire/scan.h"

#define REPLACEMENT "\xEF\xBF\xBD"

static void add_span(struct mp_buffer *out, struct mp_span span)
{
    mp_buffer_add(out, span.bytes, span.size);
}

static struct mp_span between(const char *at, const char *end)
{
    return (struct mp_span){at, (size_t)(end - at)};
}

static void put(char **at, struct mp_span span)
{
    if (span.size > 0)
        memcpy(*at, span.bytes, span.size);
    *at += span.size;
}

void mp_splice_to(char *out, struct mp_span line, struct mp_span hole, struct mp_span text)
{
    const char *end = line.bytes + line.size;
    if (hole.bytes == NULL)
        hole = (struct mp_span){end, 0};
    put(&out, between(line.bytes, hole.bytes));
    put(&out, text);
    put(&out, between(hole.bytes + hole.size, end));
}

void mp_splice(struct mp_buffer *out, struct mp_span line, struct mp_span hole, struct mp_span text)
{
    size_t size = line.size - hole.size + text.size;
    if (!mp_buffer_reserve(out, size + 1))
        return;
    mp_splice_to(out->bytes + out->size, line, hole, text);
    out->size += size;
    out->bytes[out->size] = '\0';
}

/* The memory is the caller's to change, though spans are read-only. */
static char *writable(const char *at)
{
    union {
        const char *in;
        char *out;
    } cast = {at};
    return cast.out;
}

bool mp_splice_in_place(struct mp_span memory, struct mp_span line, struct mp_span hole,
                        struct mp_span text, struct mp_span *ret_line)
{
    assert(hole.bytes != NULL);
    struct mp_span before = between(line.bytes, hole.bytes);
    struct mp_span behind = between(hole.bytes + hole.size, line.bytes + line.size);
    size_t size = line.size - hole.size + text.size;
    bool moves_before = before.size < behind.size;
    /* Where the line then begins, counted from the start of the memory. */
    size_t at = (size_t)(line.bytes - memory.bytes);
    if (moves_before && at + hole.size < text.size)
        return false;
    if (moves_before)
        at = at + hole.size - text.size;
    if (at + size >= memory.size)
        return false;
    char *start = writable(memory.bytes) + at;
    if (moves_before)
        memmove(start, before.bytes, before.size);
    else
        memmove(start + before.size + text.size, behind.bytes, behind.size);
    if (text.size > 0)
        memcpy(start + before.size, text.bytes, text.size);
    *ret_line = (struct mp_span){start, size};
    return true;
}

/* In valid JSON a raw line break stands between tokens only. */
static void breaks_to_spaces(char *bytes, size_t size, char line_break)
{
    char *end = bytes + size;
    for (char *at = bytes; (at = memchr(at, line_break, (size_t)(end - at))) != NULL; at++)
        *at = ' ';
}

void mp_splice_frame(struct mp_buffer *out, struct mp_span line, struct mp_span hole,
                     struct mp_span text)
{
    size_t before = out->size;
    mp_splice(out, line, hole, text);
    if (out->failed)
        return;
    breaks_to_spaces(out->bytes + before, out->size - before, '\n');
    breaks_to_spaces(out->bytes + before, out->size - before, '\r');
    mp_buffer_add(out, "\n", 1);
}

/* Where the new members go, and what stands around them there. */
struct place {
    const char *at;
    const char *before, *after;
};

static bool is_empty_object(struct mp_span object)
{
    return *mp_scan_space(object.bytes + 1, object.bytes + object.size) == '}';
}

static struct place place_in(struct mp_span request, struct mp_span params, struct mp_span meta)
{
    if (params.bytes == NULL) {
        const char *brace = memrchr(request.bytes, '}', request.size);
        return (struct place){brace, ",\"params\":{\"_meta\":{", "}}"};
    }
    if (meta.bytes == NULL)
        return (struct place){params.bytes + 1, "\"_meta\":{",
                              is_empty_object(params) ? "}" : "},"};
    return (struct place){meta.bytes + 1, "", is_empty_object(meta) ? "" : ","};
}

static bool is_object_if_any(struct mp_span value)
{
    return value.bytes == NULL || *value.bytes == '{';
}

bool mp_splice_meta(struct mp_buffer *out, struct mp_span request,
                    const struct mp_envelope *envelope, struct mp_span members)
{
    assert(envelope->method.bytes != NULL && members.size > 0);
    if (!is_object_if_any(envelope->params) || !is_object_if_any(envelope->meta))
        return false;
    struct place place = place_in(request, envelope->params, envelope->meta);
    mp_buffer_reserve(out,
                      request.size + strlen(place.before) + members.size + strlen(place.after));
    add_span(out, between(request.bytes, place.at));
    mp_buffer_add_text(out, place.before);
    add_span(out, members);
    mp_buffer_add_text(out, place.after);
    add_span(out, between(place.at, request.bytes + request.size));
    return true;
}

/* `size` is that of the character at text, 0 when it is not valid. */
static void add_escaped(struct mp_buffer *out, const char *text, size_t size)
{
    static const char named[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *name = size == 1 && *text != '\0' ? strchr(named, *text) : NULL;
    if (size == 0)
        mp_buffer_add_text(out, REPLACEMENT);
    else if (name != NULL)
        mp_buffer_addf(out, "\\%c", letters[name - named]);
    else
        mp_buffer_addf(out, "\\u%04x", (unsigned)(unsigned char)*text);
}

static bool is_plain(const char *text, size_t size)
{
    return size > 1 || (size == 1 && (unsigned char)*text >= 0x20 && *text != '"' && *text != '\\');
}

void mp_splice_string(struct mp_buffer *out, const char *text, size_t size)
{
    mp_buffer_add(out, "\"", 1);
    size_t plain = 0;
    for (size_t at = 0; at < size;) {
        size_t char_size = mp_text_utf8_size(text + at, size - at);
        if (is_plain(text + at, char_size)) {
            at += char_size;
            continue;
        }
        mp_buffer_add(out, text + plain, at - plain);
        add_escaped(out, text + at, char_size);
        at += char_size > 0 ? char_size : 1;
        plain = at;
    }
    mp_buffer_add(out, text + plain, size - plain);
    mp_buffer_add(out, "\"", 1);
}
