/* SPDX-License-Identifier: Apache-2.0 */
#include "raw.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

/* -- transports */

mcpump_transport_options raw_options(const char *const *switches)
{
    return test_options(switches).transport;
}

mcpump_transport_options raw_shell(const char *const *args)
{
    mcpump_transport_options options = raw_options(args);
    options.command = "sh";
    options.stdin_grace_ms = MCPUMP_ZERO;
    return options;
}

mcpump_transport *raw_open(const mcpump_transport_options *options)
{
    mcpump_transport *transport = NULL;
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_transport_new(options, &transport, &failure);
    if (err == MCPUMP_OK)
        err = mcpump_transport_open(transport, &failure);
    cr_assert_eq(err, MCPUMP_OK, "%s",
                 failure != NULL ? mcpump_failure_message(failure) : mcpump_err_name(err));
    return transport;
}

mcpump_stats raw_stats(const mcpump_transport *transport)
{
    mcpump_stats stats = {.size = sizeof(stats)};
    mcpump_transport_stats(transport, &stats);
    return stats;
}

void raw_stop_server(const mcpump_transport *transport)
{
    siginfo_t info;
    pid_t pid = mcpump_transport_pid(transport);
    cr_assert_eq(kill(pid, SIGSTOP), 0);
    cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WSTOPPED), 0);
}

/* No event tells. */
void raw_await_requests(const mcpump_transport *transport, uint64_t count)
{
    int64_t until = test_now_ms() + TEST_PATIENCE_MS;
    while (raw_stats(transport).requests < count) {
        cr_assert_lt(test_now_ms(), until, "%llu requests did not come", (unsigned long long)count);
        sched_yield();
    }
}

void raw_await_junk(const mcpump_transport *transport, uint64_t count)
{
    int64_t until = test_now_ms() + TEST_PATIENCE_MS;
    while (raw_stats(transport).junk_lines < count) {
        cr_assert_lt(test_now_ms(), until, "%llu lines did not come", (unsigned long long)count);
        sched_yield();
    }
}

/* What is asked last is answered after the others were read. */
void raw_await_read(mcpump_transport *transport, uint64_t count)
{
    raw_await_requests(transport, count);
    raw_expect(transport, "await", "test/echo", "{}", "{}");
}

/* -- calls */

void raw_call_make(struct raw_call *call)
{
    char *request = NULL;
    int size = asprintf(&request, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\",\"params\":%s}",
                        call->id != NULL ? call->id : "1", call->method,
                        call->params != NULL ? call->params : "{}");
    call->options.size = sizeof(call->options);
    int64_t started = test_now_ms();
    pthread_cleanup_push(free, request); /* of a thread that is cancelled */
    call->err = mcpump_transport_send_request(call->transport, request, (size_t)size,
                                              &call->options, &call->reply, &call->failure);
    pthread_cleanup_pop(true);
    call->took_ms = test_now_ms() - started;
}

static void *run(void *arg)
{
    raw_call_make(arg);
    return NULL;
}

void raw_call_start(struct raw_call *call)
{
    cr_assert_eq(pthread_create(&call->thread, NULL, run, call), 0);
}

void raw_call_join(struct raw_call *call)
{
    cr_assert_eq(pthread_join(call->thread, NULL), 0);
}

void raw_call_done(struct raw_call *call)
{
    mcpump_reply_free(call->reply);
    mcpump_failure_free(call->failure);
    call->reply = NULL;
    call->failure = NULL;
}

bool raw_call_got(const struct raw_call *call, const char *wanted)
{
    size_t size;
    if (call->err != MCPUMP_OK || mcpump_reply_is_error(call->reply))
        return false;
    const char *value = mcpump_reply_value(call->reply, &size);
    return size == strlen(wanted) && memcmp(value, wanted, size) == 0;
}

const char *raw_call_words(const struct raw_call *call)
{
    if (call->err == MCPUMP_OK)
        return mcpump_reply_text(call->reply, NULL);
    return call->failure != NULL ? mcpump_failure_message(call->failure)
                                 : mcpump_err_name(call->err);
}

void raw_expect(mcpump_transport *transport, const char *name, const char *method,
                const char *params, const char *wanted)
{
    struct raw_call call = {.transport = transport, .method = method, .params = params};
    raw_call_make(&call);
    cr_expect(raw_call_got(&call, wanted), "%s: %s: %.300s; wanted: %.300s", name, method,
              raw_call_words(&call), wanted);
    raw_call_done(&call);
}

static mcpump_failure *fails(struct raw_call *call, const char *name, mcpump_err wanted)
{
    raw_call_make(call);
    cr_assert_eq(call->err, wanted, "%s: %s: %.300s", name, call->method, raw_call_words(call));
    cr_assert_not_null(call->failure, "%s: %s", name, call->method);
    cr_expect_eq(mcpump_failure_error(call->failure), wanted, "%s", name);
    cr_expect_null(call->reply, "%s", name);
    return call->failure;
}

mcpump_failure *raw_fails(mcpump_transport *transport, const char *name, const char *method,
                          const char *params, mcpump_err wanted)
{
    struct raw_call call = {.transport = transport, .method = method, .params = params};
    return fails(&call, name, wanted);
}

mcpump_failure *raw_times_out(mcpump_transport *transport, const char *name, const char *method,
                              const char *params, int64_t timeout_ms)
{
    struct raw_call call = {.transport = transport, .method = method, .params = params};
    call.options.timeout_ms = timeout_ms;
    mcpump_failure *failure = fails(&call, name, MCPUMP_ERR_TIMEOUT);
    cr_expect_geq(call.took_ms, timeout_ms, "%s: too early", name);
    return failure;
}

/* -- what the server saw */

static json_object *ask(mcpump_transport *transport, const char *method)
{
    struct raw_call call = {.transport = transport, .method = method};
    raw_call_make(&call);
    cr_assert_eq(call.err, MCPUMP_OK, "%s", raw_call_words(&call));
    json_object *reply = json_tokener_parse(mcpump_reply_text(call.reply, NULL));
    json_object *result = NULL;
    cr_assert(json_object_object_get_ex(reply, "result", &result));
    json_object_get(result);
    json_object_put(reply);
    raw_call_done(&call);
    return result;
}

json_object *raw_report(mcpump_transport *transport)
{
    return ask(transport, "test/report");
}

/* A message that is too long to be kept whole comes as a string: its first part. */
static int64_t id_of(json_object *message)
{
    json_object *id = NULL, *params = NULL;
    if (json_object_is_type(message, json_type_string)) {
        const char *at = strstr(json_object_get_string(message), "\"id\":");
        return at != NULL ? strtoll(at + 5, NULL, 10) : 0;
    }
    if (json_object_object_get_ex(message, "id", &id))
        return json_object_get_int64(id);
    if (json_object_object_get_ex(message, "params", &params) &&
        json_object_object_get_ex(params, "requestId", &id))
        return json_object_get_int64(id);
    return 0;
}

static const char *method_of(json_object *message)
{
    json_object *method = NULL;
    bool found = json_object_is_type(message, json_type_object) &&
                 json_object_object_get_ex(message, "method", &method);
    return found ? json_object_get_string(method) : "?";
}

void raw_receive(mcpump_transport *transport, struct raw_received *received)
{
    json_object *result = ask(transport, "test/received"), *list = NULL;
    cr_assert(json_object_object_get_ex(result, "messages", &list));
    *received = (struct raw_received){.count = json_object_array_length(list) - 1};
    cr_assert_leq(received->count, RAW_MOST_MESSAGES);
    char *end = received->methods;
    for (size_t i = 0; i < received->count; i++) {
        json_object *message = json_object_array_get_idx(list, i);
        size_t room = sizeof(received->methods) - (size_t)(end - received->methods);
        int size = snprintf(end, room, "%s%s", i > 0 ? " " : "", method_of(message));
        cr_assert_lt((size_t)size, room);
        end += size;
        received->ids[i] = id_of(message);
    }
    received->messages = json_object_get(list);
    json_object_put(result);
}

void raw_received_done(struct raw_received *received)
{
    json_object_put(received->messages);
}

/* How often a message of this method has this id. */
static size_t count_id(const struct raw_received *received, const char *method, int64_t id)
{
    size_t count = 0;
    for (size_t i = 0; i < received->count; i++)
        count += received->ids[i] == id &&
                 strcmp(method_of(json_object_array_get_idx(received->messages, i)), method) == 0;
    return count;
}

void raw_expect_cancelled(mcpump_transport *transport, const char *name, const char *method,
                          size_t count)
{
    struct raw_received received;
    raw_receive(transport, &received);
    size_t cancelled = 0, abandoned = 0;
    for (size_t i = 0; i < received.count; i++) {
        const char *what = method_of(json_object_array_get_idx(received.messages, i));
        cancelled += strcmp(what, "notifications/cancelled") == 0;
        if (strcmp(what, method) != 0)
            continue;
        abandoned++;
        cr_expect_eq(count_id(&received, "notifications/cancelled", received.ids[i]), 1,
                     "%s: %lld was not cancelled once", name, (long long)received.ids[i]);
    }
    cr_expect_eq(abandoned, count, "%s: %zu requests", name, abandoned);
    cr_expect_eq(cancelled, count, "%s: %zu cancelled", name, cancelled);
    raw_received_done(&received);
}

/* -- lines */

void raw_lines_init(struct raw_lines *lines)
{
    pthread_condattr_t attributes;
    *lines = (struct raw_lines){.text = calloc(1, 1)};
    pthread_mutex_init(&lines->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&lines->more, &attributes);
    pthread_condattr_destroy(&attributes);
}

void raw_lines_done(struct raw_lines *lines)
{
    pthread_cond_destroy(&lines->more);
    pthread_mutex_destroy(&lines->lock);
    free(lines->text);
}

static void add(struct raw_lines *lines, const char *line, size_t size)
{
    pthread_mutex_lock(&lines->lock);
    lines->text = realloc(lines->text, lines->size + size + 2);
    memcpy(lines->text + lines->size, line, size);
    memcpy(lines->text + lines->size + size, "\n", 2);
    lines->size += size + 1;
    pthread_cond_broadcast(&lines->more);
    pthread_mutex_unlock(&lines->lock);
}

void raw_lines_log(void *user, mcpump_log_level level, const char *name, const char *message)
{
    (void)level, (void)name;
    add(user, message, strlen(message));
}

void raw_lines_stderr(void *user, const char *line, size_t size)
{
    add(user, line, size);
}

void raw_lines_await(struct raw_lines *lines, const char *part, const char *name)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += TEST_PATIENCE_MS / 1000;
    int err = 0;
    pthread_mutex_lock(&lines->lock);
    while (strstr(lines->text, part) == NULL && err == 0)
        err = pthread_cond_timedwait(&lines->more, &lines->lock, &until);
    pthread_mutex_unlock(&lines->lock);
    cr_assert_eq(err, 0, "%s: no line holds \"%s\"", name, part);
}

bool raw_lines_hold(struct raw_lines *lines, const char *part)
{
    pthread_mutex_lock(&lines->lock);
    bool found = strstr(lines->text, part) != NULL;
    pthread_mutex_unlock(&lines->lock);
    return found;
}

void raw_write_to_closed_stdin(const char *name)
{
    mcpump_transport_options options = raw_options(NO_STRINGS);
    options.stdin_grace_ms = MCPUMP_ZERO;
    mcpump_transport *transport = raw_open(&options);
    raw_expect(transport, name, "test/close-stdin", NULL, "{}");
    mcpump_failure *failure = raw_fails(transport, name, "test/echo", NULL, MCPUMP_ERR_CLOSED);
    cr_expect_eq(mcpump_failure_cause(failure), MCPUMP_CAUSE_WRITE_FAILED, "%s: %s", name,
                 mcpump_failure_message(failure));
    cr_expect_eq(mcpump_failure_errno(failure), EPIPE, "%s", name);
    cr_expect_eq(mcpump_failure_sent(failure), MCPUMP_NOT_SENT, "%s", name);
    mcpump_failure_free(failure);
    cr_expect_not(mcpump_transport_is_connected(transport), "%s", name);
    mcpump_transport_free(transport);
}

/* -- the gate */

void raw_gate_log(void *user, mcpump_log_level level, const char *name, const char *message)
{
    struct raw_gate *gate = user;
    (void)level, (void)name;
    if (strstr(message, "junk") == NULL)
        return;
    pthread_mutex_lock(&gate->lock);
    gate->reached = true;
    pthread_cond_broadcast(&gate->moved);
    while (!gate->open)
        pthread_cond_wait(&gate->moved, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

void raw_gate_await(struct raw_gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    while (!gate->reached)
        pthread_cond_wait(&gate->moved, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

void raw_gate_open(struct raw_gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->open = true;
    pthread_cond_broadcast(&gate->moved);
    pthread_mutex_unlock(&gate->lock);
}
