/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast the envelope scan goes over lines of several kinds, a row each, with every variant that
 * this CPU has: nanoseconds a line and bytes a nanosecond (GB/s), medians of rounds in which the
 * variants take turns. One thread. `meson test --benchmark`, or run it by hand.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "wire/body.h"
#include "wire/envelope.h"

#define HEAD                                                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":4711,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\""
#define TAIL   "\"}],\"isError\":false}}"
#define MIB    ((size_t)1024 * 1024)
#define ROUNDS 25

/* Long enough for the clock, short enough for a round to be spoiled alone. */
#define SLICE_NS 1000000

/* Adds `piece` again and again until the line, its end not counted, has `size` bytes at least. */
static void fill(struct mp_buffer *line, const char *piece, size_t size)
{
    size_t piece_size = strlen(piece);
    while (line->size < size)
        mp_buffer_add(line, piece, piece_size);
}

static void text_reply(struct mp_buffer *line, const char *piece, size_t size)
{
    mp_buffer_add_text(line, HEAD);
    fill(line, piece, size - strlen(TAIL));
    mp_buffer_add_text(line, TAIL);
}

static void array_reply(struct mp_buffer *line, const char *piece, size_t size)
{
    mp_buffer_add_text(line, "{\"jsonrpc\":\"2.0\",\"id\":4711,\"result\":{\"rows\":[0");
    fill(line, piece, size - 3);
    mp_buffer_add_text(line, "]}}");
}

/* Text that holds JSON, and the same as structured content, as many servers answer. */
static void tool_result(struct mp_buffer *line, const char *piece, size_t size)
{
    mp_buffer_add_text(line, HEAD "{\\\"files\\\":[");
    fill(line, "{\\\"path\\\":\\\"src/lib/main.c\\\",\\\"size\\\":48211},", size / 2);
    mp_buffer_add_text(line, "]}\"}],\"structuredContent\":{\"files\":[0");
    fill(line, piece, size - 4);
    mp_buffer_add_text(line, "]}}}");
}

static const struct row {
    const char *name;
    void (*make)(struct mp_buffer *line, const char *piece, size_t size);
    const char *piece;
    size_t size;
} rows[] = {
    {"reply, 200 B", text_reply, "The answer. ", 195},
    {"tool result, 10 KiB", tool_result,
     ",{\"path\":\"src/lib/main.c\",\"size\":48211,\"modified\":\"2026-01-31T12:00:00Z\"}", 10240},
    {"base64, 1 MiB", text_reply, "QmFzZTY0IGlzIHBsYWluIHRleHQgYWxsIGFsb25n", MIB},
    {"ASCII, \\n at 80, 1 MiB", text_reply,
     "A line of a text file that somebody wants to read, with its end as an escape.\\n", MIB},
    {"quotes, 1 MiB", text_reply, "{\\\"key\\\":\\\"value\\\",\\\"n\\\":1},", MIB},
    {"Latin, 1 MiB", text_reply,
     "Z\xC3\xBCrich \xC3\xBC"
     "ber alles, und daneben ein langes St\xC3\xBC"
     "ck Text. ",
     MIB},
    {"CJK, 1 MiB", text_reply, "\xE6\xBC\xA2\xE5\xAD\x97\xE4\xBB\xAE\xE5\x90\x8D\xE3\x80\x82", MIB},
    {"emoji, 1 MiB", text_reply, "\xF0\x9F\x98\x80\xF0\x9F\x9A\x80", MIB},
    {"numbers, 1 MiB", array_reply, ",1,23,-4.5,678901,2.5e10", MIB},
    {"objects, 1 MiB", array_reply, ",{\"id\":17,\"x\":1.25,\"ok\":true,\"tags\":[\"a\",\"bc\"]}",
     MIB},
    {"indented, 1 MiB", array_reply,
     ",\n    {\n      \"name\": \"first\",\n      \"count\": 12,\n      \"next\": null\n    }",
     MIB},
};

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Nanoseconds a scan, over one slice. */
static double measure(struct mp_span line)
{
    struct mp_envelope envelope;
    double start = now_ns(), passed = 0;
    long scans = 0;
    for (long batch = 1; passed < SLICE_NS; batch *= 2) {
        for (long i = 0; i < batch; i++)
            mp_envelope_scan(line, &envelope);
        scans += batch;
        passed = now_ns() - start;
    }
    if (envelope.kind != MP_KIND_RESULT) {
        fprintf(stderr, "not a result: %s\n", envelope.why != NULL ? envelope.why : "?");
        exit(1);
    }
    return passed / (double)scans;
}

static int ascending(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

static void run_row(const struct row *row, const struct mp_body_variant *variants, size_t count)
{
    struct mp_buffer buffer = MP_BUFFER_INIT;
    double ns[MP_BODY_VARIANTS][ROUNDS];
    row->make(&buffer, row->piece, row->size);
    struct mp_span line = {buffer.bytes, buffer.size};
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t v = 0; v < count; v++) {
            mp_body_use(variants[v].skip);
            ns[v][round] = measure(line);
        }
    }
    printf("%-24s %8zu", row->name, line.size);
    for (size_t v = 0; v < count; v++) {
        qsort(ns[v], ROUNDS, sizeof(ns[v][0]), ascending);
        double median = ns[v][ROUNDS / 2];
        printf(" %11.0f %6.2f", median, (double)line.size / median);
    }
    putchar('\n');
    mp_buffer_done(&buffer);
}

int main(void)
{
    struct mp_body_variant variants[MP_BODY_VARIANTS];
    size_t count = mp_body_variants(variants);
    printf("%-24s %8s", "line", "bytes");
    for (size_t v = 0; v < count; v++)
        printf(" %8s ns %6s", variants[v].name, "GB/s");
    putchar('\n');
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        run_row(&rows[i], variants, count);
    return 0;
}
