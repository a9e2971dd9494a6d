/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that take time: an unsorted array of timers, looked through whenever one of them is due. */
#include "demo.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS 1000000

struct demo_slow {
    char *text;             /* owned: the bytes of both spans */
    struct json_span id;    /* in text */
    struct json_span token; /* in text; absent: no progress wanted */
    bool modern;
    int64_t start_ns;
    int64_t ms;
    int64_t steps;
    int64_t steps_done;
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 * NS_PER_MS + now.tv_nsec;
}

static int64_t due_ns(const struct demo_slow *slow)
{
    return slow->start_ns + slow->ms * NS_PER_MS / slow->steps * (slow->steps_done + 1);
}

static void *must(void *memory)
{
    if (memory == NULL) {
        fputs("out of memory\n", stderr);
        _exit(1);
    }
    return memory;
}

void demo_slow_start(struct demo_server *server, const struct demo_request *request, int64_t ms,
                     int64_t steps)
{
    struct json_span id = request->id, token = json_member(request->meta, "progressToken");
    char *text = must(malloc(id.size + token.size));
    memcpy(text, id.bytes, id.size);
    if (token.size > 0)
        memcpy(text + id.size, token.bytes, token.size);
    server->running =
        must(realloc(server->running, (server->running_count + 1) * sizeof(server->running[0])));
    server->running[server->running_count++] = (struct demo_slow){
        .text = text,
        .id = {text, id.size},
        .token = {token.size > 0 ? text + id.size : NULL, token.size},
        .modern = request->modern,
        .start_ns = now_ns(),
        .ms = ms,
        .steps = steps,
    };
}

/* The last one takes the free place. */
static void forget(struct demo_server *server, struct demo_slow *slow)
{
    free(slow->text);
    *slow = server->running[--server->running_count];
}

void demo_slow_cancel(struct demo_server *server, struct json_span id)
{
    for (size_t i = 0; id.bytes != NULL && i < server->running_count; i++) {
        struct demo_slow *slow = &server->running[i];
        if (slow->id.size == id.size && memcmp(slow->id.bytes, id.bytes, id.size) == 0) {
            forget(server, slow);
            return;
        }
    }
}

static void report_progress(struct out *out, const struct demo_slow *slow)
{
    out_text(out, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
                  "\"progressToken\":");
    out_span(out, slow->token);
    out_f(out, ",\"progress\":%lld,\"total\":%lld}}\n", (long long)slow->steps_done,
          (long long)slow->steps);
}

static void answer(struct out *out, const struct demo_slow *slow)
{
    bool whole = slow->steps_done == slow->steps;
    demo_result_begin(out, slow->id, slow->modern);
    out_f(out, "\"content\":[{\"type\":\"text\",\"text\":\"%s %lld of %lld steps.\"}]%s",
          whole ? "Done:" : "The client left after", (long long)slow->steps_done,
          (long long)slow->steps, whole ? "" : ",\"isError\":true");
    demo_result_end(out);
}

/* Takes the steps that are due. True: that was the last. */
static bool advance(struct out *out, struct demo_slow *slow, int64_t now)
{
    while (slow->steps_done < slow->steps && due_ns(slow) <= now) {
        slow->steps_done++;
        if (slow->token.bytes != NULL)
            report_progress(out, slow);
    }
    return slow->steps_done == slow->steps;
}

int demo_slow_run(struct demo_server *server)
{
    int64_t next = INT64_MAX;
    if (server->running_count == 0)
        return -1;
    int64_t now = now_ns();
    for (size_t i = 0; i < server->running_count;) {
        struct demo_slow *slow = &server->running[i];
        if (advance(&server->out, slow, now)) {
            answer(&server->out, slow);
            forget(server, slow);
            continue;
        }
        next = due_ns(slow) < next ? due_ns(slow) : next;
        i++;
    }
    if (next == INT64_MAX)
        return -1;
    int64_t ms = (next - now) / NS_PER_MS + 1;
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

void demo_slow_end(struct demo_server *server)
{
    for (size_t i = 0; i < server->running_count; i++) {
        answer(&server->out, &server->running[i]);
        free(server->running[i].text);
    }
    free(server->running);
    server->running = NULL;
    server->running_count = 0;
}
