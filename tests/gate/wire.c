/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and rewriting: scanner, framer, splices, ids. */
#include <string.h>

#include "base/buffer.h"
#include "hot_path.h"
#include "wire/envelope.h"
#include "wire/framer.h"
#include "wire/member.h"
#include "wire/message_id.h"
#include "wire/splice.h"

#define LINES 32 /* of a read */

static struct mp_buffer line;
static struct mp_envelope envelope;
static struct mp_framer framer;

static struct mp_span line_span(void)
{
    return (struct mp_span){line.bytes, line.size};
}

static void free_line(void)
{
    mp_buffer_done(&line);
}

static void scan(enum mp_kind kind)
{
    mp_envelope_scan(line_span(), &envelope);
    MUST(envelope.kind == kind);
}

static void start_reply(void)
{
    mp_buffer_add_text(&line, REPLY);
    scan(MP_KIND_RESULT);
}

static void scan_result(void)
{
    scan(MP_KIND_RESULT);
}

static void start_request(void)
{
    mp_buffer_add_text(&line, REQUEST);
    scan(MP_KIND_REQUEST);
}

/* 1 KiB, with everything that the scan looks for. */
static void start_large_request(void)
{
    mp_buffer_add_text(
        &line,
        "{\"jsonrpc\":\"2.0\",\"id\":\"a-17\",\"method\":\"tools/call\",\"params\":{\"_meta\":{"
        "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
        "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"host\",\"version\":\"1.2.3\"},"
        "\"io.modelcontextprotocol/clientCapabilities\":{},\"progressToken\":17},"
        "\"name\":\"search\",\"arguments\":{\"rows\":[");
    while (line.size < 1000)
        mp_buffer_add_text(&line, "{\"path\":\"src/main.c\",\"line\":120,\"score\":0.75},");
    mp_buffer_add_text(&line, "null]}}}");
    scan(MP_KIND_REQUEST);
}

static void scan_request(void)
{
    scan(MP_KIND_REQUEST);
}

/* 10 KiB of lines of text, some of them not ASCII. */
static void start_text(void)
{
    mp_buffer_add_text(&line, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"text\":\"");
    while (line.size < 10 * 1024)
        mp_buffer_add_text(
            &line, "A line of text as it stands in files, \\\"quoted\\\" and all, with its end.\\n"
                   "Und eine mit \xC3\xBC und \xE2\x82\xAC, so da\xC3\x9F sie nicht ASCII ist.\\n");
    mp_buffer_add_text(&line, "\"}}");
    scan(MP_KIND_RESULT);
}

static void find_member(void)
{
    struct mp_span found;
    MUST(mp_member_find(envelope.value, "isError", &found));
}

static void start_framer(void)
{
    for (int i = 0; i < LINES; i++)
        mp_buffer_add_text(&line, REPLY "\n");
    mp_framer_init(&framer, 1024 * 1024);
}

static void frame_read(void)
{
    struct mp_span found;
    size_t room_size;
    int count = 0;
    char *room = mp_framer_room(&framer, 64 * 1024, &room_size);
    MUST(room != NULL);
    memcpy(room, line.bytes, line.size);
    mp_framer_filled(&framer, line.size);
    while (mp_framer_next(&framer, &found) == MP_FRAMER_LINE)
        count++;
    MUST(count == LINES);
}

static void stop_framer(void)
{
    mp_framer_done(&framer);
    free_line();
}

static void splice_frame(void)
{
    struct mp_buffer frame = MP_BUFFER_INIT;
    mp_splice_frame(&frame, line_span(), envelope.id, (struct mp_span){"4711", 4});
    MUST(!frame.failed);
    mp_buffer_done(&frame);
}

static void write_and_read_id(void)
{
    char text[MP_MESSAGE_ID_SIZE];
    uint64_t id = 0;
    size_t size = mp_message_id_text(1234567, text);
    MUST(mp_message_id_parse((struct mp_span){text, size}, &id) && id == 1234567);
}

const struct piece wire_pieces[] = {
    {"scan: reply, 200 B", start_reply, scan_result, free_line},
    {"scan: request, 1 KiB", start_large_request, scan_request, free_line},
    {"scan: text, 10 KiB", start_text, scan_result, free_line},
    {"member: find in a result", start_reply, find_member, free_line},
    {"framer: 32 lines", start_framer, frame_read, stop_framer},
    {"splice: request to frame", start_request, splice_frame, free_line},
    {"id: write, read", NULL, write_and_read_id, NULL},
    {NULL, NULL, NULL, NULL},
};
