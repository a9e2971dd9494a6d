/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/trace.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "wire/splice.h"

#define NS_PER_US 1000

/* The longest foreign text. */
#define TEXT_BYTES 256

/* 1 is the host. */
static _Atomic uint32_t rows = 2;

void mp_trace_row_init(struct mp_trace_row *row)
{
    row->number = atomic_fetch_add_explicit(&rows, 1, memory_order_relaxed);
    atomic_init(&row->titled_in, 0);
}

static void add_string(struct mp_buffer *out, const char *text, size_t size)
{
    char clean[TEXT_BYTES];
    mp_splice_string(out, clean, mp_text_clean(text, size, clean, sizeof(clean)));
}

static void add_title(struct mp_buffer *out, struct mp_trace_row *row, const char *label)
{
    uint32_t trace = atomic_load_explicit(&mp_trace_number, memory_order_relaxed);
    if (atomic_exchange_explicit(&row->titled_in, trace, memory_order_relaxed) == trace)
        return;
    mp_buffer_addf(out,
                   "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
                   ",\"args\":{\"name\":",
                   row->number, row->number);
    add_string(out, label, strlen(label));
    mp_buffer_add_text(out, "}},");
}

/* Ends a line. Its title is told again if it was dropped. */
static void add_line(struct mp_buffer *line, struct mp_trace_row *row, bool may_write)
{
    mp_buffer_add_text(line, "\n");
    if (!mp_trace_add(line, may_write))
        atomic_store_explicit(&row->titled_in, 0, memory_order_relaxed);
    mp_buffer_done(line);
}

static void add_place(struct mp_buffer *out, const struct mp_trace_row *row, int64_t ns)
{
    mp_buffer_addf(out, ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":%" PRId64 ".%03d",
                   row->number, row->number, ns / NS_PER_US, (int)(ns % NS_PER_US));
}

/* -- calls: "nestable async" events, which may overlap. Each call has a track of its own. */

struct track {
    struct mp_buffer *out;
    const struct mp_trace_row *row;
    uint64_t number;
};

/* `name` is a JSON string. The event stays open for its args. */
static void add_event(const struct track *track, char phase, struct mp_span name, int64_t ns)
{
    mp_buffer_addf(track->out,
                   "{\"ph\":\"%c\",\"cat\":\"call\",\"id2\":{\"local\":\"0x%" PRIx64
                   "\"},\"name\":%.*s",
                   phase, track->number, (int)name.size, name.bytes);
    add_place(track->out, track->row, ns);
}

static void add_part(const struct track *track, const char *name, int64_t from_ns, int64_t to_ns)
{
    struct mp_span text = {name, strlen(name)};
    add_event(track, 'b', text, from_ns);
    mp_buffer_add_text(track->out, "},");
    add_event(track, 'e', text, to_ns);
    mp_buffer_add_text(track->out, "},");
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A reply may be read before the writer has looked at its clock. */
static void add_parts(const struct track *track, const struct mp_trace_times *times,
                      int64_t woken_ns)
{
    int64_t replied = times->replied_ns != 0 ? times->replied_ns : woken_ns;
    bool is_written = times->written_ns != 0 || times->replied_ns != 0;
    int64_t written = times->written_ns != 0 ? earlier(times->written_ns, replied) : replied;
    if (times->queued_ns != 0)
        add_part(track, "\"queued\"", times->queued_ns, written);
    if (is_written)
        add_part(track, "\"on the wire\"", written, replied);
    if (times->replied_ns != 0)
        add_part(track, "\"waking\"", replied, woken_ns);
}

/* A small number for each thread, that stays. */
static uint32_t thread_number(void)
{
    static _Atomic uint32_t threads = 1;
    static _Thread_local uint32_t number;
    if (number == 0)
        number = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed);
    return number;
}

static void add_args(struct mp_buffer *out, const struct mp_traced_call *call)
{
    static const char *const words[] = {
        [MCPUMP_NOT_SENT] = "no", [MCPUMP_SENT] = "yes", [MCPUMP_SENT_UNKNOWN] = "unknown"};
    mp_buffer_add_text(out, ",\"args\":{\"server\":");
    add_string(out, call->label, strlen(call->label));
    mp_buffer_addf(out,
                   ",\"id\":%" PRIu64 ",\"thread\":%" PRIu32
                   ",\"outcome\":\"%s\",\"sent\":\"%s\",\"bytes\":%zu,\"reply_bytes\":%zu}},",
                   call->id, thread_number(), call->outcome, words[call->sent], call->times->bytes,
                   call->reply_bytes);
}

void mp_trace_call(struct mp_trace_row *row, const struct mp_traced_call *call)
{
    static _Atomic uint64_t tracks = 1;
    int64_t woken_ns = mp_now_ns();
    struct mp_buffer line = MP_BUFFER_INIT, name = MP_BUFFER_INIT;
    struct track track = {&line, row, atomic_fetch_add_explicit(&tracks, 1, memory_order_relaxed)};
    add_string(&name, call->method.bytes, call->method.size);
    struct mp_span method = {name.failed ? "\"\"" : name.bytes, name.failed ? 2 : name.size};
    add_title(&line, row, call->label);
    add_event(&track, 'b', method, call->started_ns);
    add_args(&line, call);
    add_parts(&track, call->times, woken_ns);
    add_event(&track, 'e', method, woken_ns);
    mp_buffer_add_text(&line, "},");
    add_line(&line, row, true);
    mp_buffer_done(&name);
}

void mp_trace_moment(struct mp_trace_row *row, const char *label, const char *what,
                     const char *detail)
{
    struct mp_buffer line = MP_BUFFER_INIT;
    if (!mp_trace_is_on())
        return;
    add_title(&line, row, label);
    mp_buffer_add_text(&line, "{\"ph\":\"i\",\"s\":\"p\",\"cat\":\"connection\",\"name\":");
    add_string(&line, what, strlen(what));
    add_place(&line, row, mp_now_ns());
    mp_buffer_add_text(&line, ",\"args\":{\"detail\":");
    add_string(&line, detail, strlen(detail));
    mp_buffer_add_text(&line, "}},");
    add_line(&line, row, false);
}
