/* SPDX-License-Identifier: Apache-2.0 */
/* The fake server's loop: bytes to lines, lines to messages, messages to the tables of behaviours.
 */
#include "fake.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#define READ_BYTES (64 * 1024)

struct input {
    char *bytes;
    size_t size;
    size_t scanned; /* of these, without a LF */
    size_t capacity;
};

static const struct fake_method *find_method(const char *name)
{
    static const struct fake_method *const tables[] = {fake_standard_methods, fake_reply_methods,
                                                       fake_byte_methods, fake_report_methods};
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        for (const struct fake_method *method = tables[i]; method->name != NULL; method++) {
            if (strcmp(method->name, name) == 0)
                return method;
        }
    }
    return NULL;
}

static void run_method(struct fake *fake, const struct fake_request *request, const char *name)
{
    const struct fake_method *method = find_method(name);
    if (method != NULL)
        method->run(fake, request);
    else
        fake_error(fake, request->id, -32601, "Method not found", NULL);
}

/* METHOD:NAME or METHOD:NAME:PARAMS, if METHOD is this one. */
static bool run_replacement(struct fake *fake, const struct fake_request *request,
                            const char *method, const char *rule)
{
    size_t size = strlen(method);
    if (strncmp(rule, method, size) != 0 || rule[size] != ':')
        return false;
    const char *name = rule + size + 1, *params = strchr(name, ':');
    struct fake_request changed = *request;
    struct out full = {NULL, 0, 0};
    if (params != NULL)
        changed.params = fake_span(params + 1);
    out_text(&full, "test/");
    out_bytes(&full, name, strcspn(name, ":"));
    out_bytes(&full, "", 1);
    run_method(fake, &changed, full.bytes);
    out_done(&full);
    return true;
}

static void answer_request(struct fake *fake, const struct fake_request *request)
{
    char method[256];
    size_t size = request->method.size < sizeof(method) ? json_decode(request->method, method) : 0;
    method[size] = '\0';
    for (size_t i = 0; i < fake->options.on.count; i++) {
        if (run_replacement(fake, request, method, fake->options.on.items[i]))
            return;
    }
    run_method(fake, request, method);
}

/* --after-probe: true when the request was dealt with. */
static bool broken_after_probe(struct fake *fake, const struct fake_request *request)
{
    const char *how = fake->options.after_probe;
    if (!fake->probed || how == NULL)
        return false;
    if (strcmp(how, "exit") == 0)
        fake_exit(fake, 3);
    if (strcmp(how, "error") == 0)
        fake_error(fake, request->id, -32603, "the fake server is broken", NULL);
    return true;
}

static void handle_message(struct fake *fake, struct json_span text)
{
    static const char *const keys[] = {"id", "method", "params", "result", "error"};
    struct json_span at[5];
    bool readable = json_pick(text, keys, 5, at);
    struct fake_request message = {.id = at[0], .method = at[1], .params = at[2]};
    bool has_method = json_type(message.method) == JSON_STRING;
    if (!readable || (!has_method && at[3].bytes == NULL && at[4].bytes == NULL)) {
        fake_watch_violation(fake, "not a message", text);
    } else if (!has_method) {
        fake_watch_answer(fake, message.id, fake_take_answer(fake, message.id, text));
    } else if (message.id.bytes == NULL) {
        fake_watch_notification(fake, &message);
    } else {
        fake_watch_request(fake, &message);
        if (message.params.bytes == NULL)
            message.params = fake_span("{}");
        if (!broken_after_probe(fake, &message))
            answer_request(fake, &message);
    }
}

static void handle_line(struct fake *fake, struct json_span line)
{
    const char *at = NULL;
    struct json_span element;
    fake_watch_line(fake, line);
    if (line.size == 0 || line.bytes[0] != '[' || !json_valid(line)) {
        handle_message(fake, line);
        return;
    }
    fake_watch_violation(fake, "a batch", line);
    while (json_next(line, &at, &element))
        handle_message(fake, element);
}

/* A behaviour may end the reading; what was read before that is not looked at any more. */
static void handle_lines(struct fake *fake, struct input *input)
{
    char *line = input->bytes, *end = line + input->size, *lf;
    char *from = line + input->scanned;
    while (fake->reading && (lf = memchr(from, '\n', (size_t)(end - from))) != NULL) {
        handle_line(fake, (struct json_span){line, (size_t)(lf - line)});
        line = from = lf + 1;
    }
    input->size = input->scanned = (size_t)(end - line);
    memmove(input->bytes, line, input->size);
}

static void end_of_input(struct fake *fake)
{
    static const char farewell[] = "{\"level\":\"info\",\"data\":\"farewell\"}";
    fake_log(fake, "eof", (struct json_span){NULL, 0});
    fake->reading = false;
    if (fake->options.ignore_eof)
        return;
    for (int64_t left = fake->options.flush_on_eof; left > 0; left -= (int64_t)strlen(farewell))
        fake_notify(fake, "notifications/message", farewell);
    fake_exit(fake, 0);
}

static void read_input(struct fake *fake, struct input *input)
{
    if (input->capacity - input->size < READ_BYTES) {
        input->capacity = input->capacity * 2 + READ_BYTES;
        input->bytes = fake_must(realloc(input->bytes, input->capacity));
    }
    ssize_t n = read(STDIN_FILENO, input->bytes + input->size, READ_BYTES);
    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0) {
        end_of_input(fake);
        return;
    }
    input->size += (size_t)n;
    if (fake->options.echo_per_byte) {
        memset(out_room(&fake->out, (size_t)n), '\n', (size_t)n);
        fake_flush(fake);
    }
    handle_lines(fake, input);
}

int main(int argc, char **argv)
{
    struct fake fake = {.reading = true, .log_fd = -1};
    struct input input = {NULL, 0, 0, 0};
    fake_options_parse(&fake.options, argc, argv);
    fake_watch_init(&fake);
    fake_startup(&fake);
    for (;;) {
        int idle_ms = fake_run_jobs(&fake);
        fake_flush(&fake);
        struct pollfd in = {.fd = fake.reading ? STDIN_FILENO : -1, .events = POLLIN};
        if (poll(&in, 1, idle_ms) > 0)
            read_input(&fake, &input);
    }
}
