/* SPDX-License-Identifier: Apache-2.0 */
/* The trace: one valid file whatever happens, each call in it once, its times in order. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "raw.h"

#define THREADS 8

/* -- a trace that was read back */

struct trace {
    struct test_folder folder;
    char path[96];
    json_object *events; /* NULL: not read yet */
};

static void start(struct trace *trace)
{
    mcpump_failure *failure = NULL;
    test_folder_init(&trace->folder);
    snprintf(trace->path, sizeof(trace->path), "%s/trace.json", trace->folder.path);
    trace->events = NULL;
    mcpump_err err = mcpump_trace_start(trace->path, &failure);
    cr_assert_eq(err, MCPUMP_OK, "%s", mcpump_failure_message(failure));
}

static void read_back(struct trace *trace)
{
    trace->events = json_object_from_file(trace->path);
    cr_assert(json_object_is_type(trace->events, json_type_array), "%s: %s", trace->path,
              json_util_get_last_err());
}

static void stop(struct trace *trace)
{
    mcpump_trace_stop();
    read_back(trace);
}

static void done(struct trace *trace)
{
    json_object_put(trace->events);
    unlink(trace->path);
    test_folder_done(&trace->folder);
}

static json_object *event(const struct trace *trace, size_t i)
{
    return json_object_array_get_idx(trace->events, i);
}

static size_t event_count(const struct trace *trace)
{
    return json_object_array_length(trace->events);
}

static bool is(json_object *object, const char *key, const char *wanted)
{
    json_object *member = json_object_object_get(object, key);
    return member != NULL && strcmp(json_object_get_string(member), wanted) == 0;
}

static json_object *args_of(json_object *object)
{
    return json_object_object_get(object, "args");
}

static double time_of(json_object *object)
{
    json_object *ts = json_object_object_get(object, "ts");
    cr_assert_not_null(ts, "%s", json_object_to_json_string(object));
    return json_object_get_double(ts);
}

/* The call that begins at this event: which parts it has, in a row, and that their times fit. */
static const char *parts_of(const struct trace *trace, size_t first)
{
    static char parts[128];
    json_object *begin = event(trace, first);
    const char *track = json_object_to_json_string(json_object_object_get(begin, "id2"));
    double last = time_of(begin);
    *parts = '\0';
    for (size_t i = first + 1; i < event_count(trace); i++) {
        json_object *each = event(trace, i);
        cr_assert(is(each, "id2", track), "one call stands together");
        cr_expect_geq(time_of(each), last, "%s", json_object_to_json_string(each));
        last = time_of(each);
        if (is(each, "ph", "b"))
            strcat(strcat(parts, test_member(each, "name")), ",");
        else if (is(each, "name", test_member(begin, "name")))
            return parts;
    }
    cr_assert_fail("it does not end");
    return parts;
}

/* How many calls have this method and outcome; *ret_first is where the last of them begins. */
static int count_calls(const struct trace *trace, const char *method, const char *outcome,
                       size_t *ret_first)
{
    int count = 0;
    for (size_t i = 0; i < event_count(trace); i++) {
        json_object *args = args_of(event(trace, i));
        if (!is(event(trace, i), "ph", "b") || args == NULL ||
            (method != NULL && !is(event(trace, i), "name", method)) ||
            (outcome != NULL && !is(args, "outcome", outcome)))
            continue;
        if (ret_first != NULL)
            *ret_first = i;
        count++;
    }
    return count;
}

static int count_moments(const struct trace *trace, const char *name, const char *detail)
{
    int count = 0;
    for (size_t i = 0; i < event_count(trace); i++)
        count += is(event(trace, i), "ph", "i") && is(event(trace, i), "name", name) &&
                 (detail == NULL || is(args_of(event(trace, i)), "detail", detail));
    return count;
}

static int64_t dropped(const struct trace *trace)
{
    json_object *last = event(trace, event_count(trace) - 1);
    cr_assert(is(last, "name", "end of trace"));
    return test_int_member(args_of(last), "dropped");
}

static void expect_call(const struct trace *trace, const char *method, const char *outcome,
                        const char *sent, const char *parts)
{
    size_t first;
    cr_assert_eq(count_calls(trace, method, NULL, NULL), 1, "%s", method);
    cr_assert_eq(count_calls(trace, method, outcome, &first), 1, "%s: %s", method, outcome);
    cr_expect(is(args_of(event(trace, first)), "sent", sent), "%s: %s", method, sent);
    cr_expect_str_eq(parts_of(trace, first), parts, "%s", method);
}

/* -- outcomes */

static void end_by_run(mcpump_transport *transport, const char *method)
{
    mcpump_run *run = mcpump_run_new(NULL);
    struct raw_call call = {.transport = transport, .method = method};
    call.options.run = run;
    raw_call_start(&call);
    raw_await_requests(transport, 1);
    mcpump_run_cancel(run);
    raw_call_join(&call);
    cr_assert_eq(call.err, MCPUMP_ERR_CANCELLED, "%s", raw_call_words(&call));
    raw_call_done(&call);
    mcpump_run_free(run);
}

static void end_by_interrupt(mcpump_transport *transport, const char *method)
{
    struct raw_call call = {.transport = transport, .method = method};
    raw_call_start(&call);
    raw_await_requests(transport, 2);
    mcpump_transport_interrupt(transport);
    raw_call_join(&call);
    mcpump_transport_clear_interrupt(transport);
    cr_assert_eq(call.err, MCPUMP_ERR_INTERRUPTED, "%s", raw_call_words(&call));
    raw_call_done(&call);
}

TIDY_TEST(each_outcome)
{
    static const char answered[] = "queued,on the wire,waking,", silent[] = "queued,on the wire,";
    struct trace trace;
    start(&trace);
    mcpump_transport *transport =
        test_open(STRINGS("--on", "run:drop", "--on", "interrupt:drop", "--on", "timeout:drop"));
    end_by_run(transport, "run");
    end_by_interrupt(transport, "interrupt");
    mcpump_failure_free(raw_times_out(transport, "timeout", "timeout", "{}", 10));
    raw_expect(transport, "ok", "test/echo", "{\"a\":\"sesame\"}", "{\"a\":\"sesame\"}");
    struct raw_call call = {.transport = transport, .method = "test/error"};
    raw_call_make(&call);
    raw_call_done(&call);
    mcpump_failure_free(raw_fails(transport, "exit", "test/exit", "{}", MCPUMP_ERR_CLOSED));
    mcpump_transport_close(transport);
    mcpump_failure_free(raw_fails(transport, "closed", "none", "{}", MCPUMP_ERR_NOT_OPEN));
    stop(&trace);
    mcpump_transport_free(transport);

    expect_call(&trace, "run", "CANCELLED", "yes", silent);
    expect_call(&trace, "interrupt", "INTERRUPTED", "yes", silent);
    expect_call(&trace, "timeout", "TIMEOUT", "yes", silent);
    expect_call(&trace, "test/echo", "OK", "yes", answered);
    expect_call(&trace, "test/error", "SERVER_ERROR", "yes", answered);
    expect_call(&trace, "test/exit", "CLOSED", "yes", silent);
    expect_call(&trace, "none", "NOT_OPEN", "no", "");
    cr_expect_eq(count_moments(&trace, "spawned", NULL), 1);
    cr_expect_eq(count_moments(&trace, "ended", "the server exited"), 1);
    cr_expect_null(strstr(json_object_to_json_string(trace.events), "sesame"), "no params");
    cr_expect_eq(dropped(&trace), 0);
    done(&trace);
}

TIDY_TEST(one_that_does_not_leave)
{
    struct trace trace;
    start(&trace);
    mcpump_transport *transport = test_open(NO_STRINGS);
    raw_stop_server(transport);
    char *large = malloc(300001);
    memset(large, 'x', 300000);
    memcpy(large, "{\"a\":\"", 6);
    strcpy(large + 299998, "\"}");
    mcpump_failure_free(raw_times_out(transport, "large", "large", large, 20));
    mcpump_failure_free(raw_times_out(transport, "small", "small", "{}", 20));
    free(large);
    stop(&trace);
    kill(mcpump_transport_pid(transport), SIGKILL);
    mcpump_transport_free(transport);
    expect_call(&trace, "large", "TIMEOUT", "unknown", "queued,");
    expect_call(&trace, "small", "TIMEOUT", "no", "queued,");
    done(&trace);
}

TIDY_TEST(a_server_with_its_handshake)
{
    struct trace trace;
    start(&trace);
    mcpump_server_options options = test_options(STRINGS("--era", "legacy"));
    options.transport.display_name = "the \"name\"\\";
    mcpump_server *server = test_server_new(&options);
    test_expect_result(server, "test/echo", "{\"a\":1}", "{\"a\":1}");
    mcpump_server_close(server);
    stop(&trace);
    mcpump_server_free(server);
    int titles = 0;
    for (size_t i = 0; i < event_count(&trace); i++)
        titles += is(event(&trace, i), "ph", "M") &&
                  is(args_of(event(&trace, i)), "name", options.transport.display_name);
    cr_expect_eq(titles, 1);
    cr_expect_eq(count_calls(&trace, "initialize", "OK", NULL), 1);
    cr_expect_eq(count_calls(&trace, "test/echo", "OK", NULL), 1);
    cr_expect_eq(count_moments(&trace, "CONNECTING", "IDLE"), 1);
    cr_expect_eq(count_moments(&trace, "READY", "CONNECTING"), 1);
    cr_expect_eq(count_moments(&trace, "IDLE", "READY"), 1);
    done(&trace);
}

TIDY_TEST(methods_of_every_kind)
{
    static const char request[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\u0000\\\"\\\\\\n\xC3\xA9%s%n\x7F";
    struct trace trace;
    char text[2000];
    mcpump_reply *reply = NULL;
    start(&trace);
    mcpump_transport *transport = test_open(NO_STRINGS);
    memset(text, 'm', sizeof(text));
    memcpy(text, request, sizeof(request) - 1);
    memcpy(text + sizeof(text) - 2, "\"}", 2);
    cr_assert_eq(mcpump_transport_send_request(transport, text, sizeof(text), NULL, &reply, NULL),
                 MCPUMP_OK);
    mcpump_reply_free(reply);
    stop(&trace);
    mcpump_transport_free(transport);
    size_t first;
    cr_assert_eq(count_calls(&trace, NULL, "SERVER_ERROR", &first), 1);
    test_expect_part(test_member(event(&trace, first), "name"), "\\u0000\\\"\\\\\\n\xC3\xA9%s%n",
                     "as it was spelled");
    done(&trace);
}

/* -- many */

struct crowd {
    mcpump_transport *transport;
    atomic_bool is_over;
    int rounds; /* 0: until it is over */
};

static void *call_on(void *arg)
{
    struct crowd *crowd = arg;
    for (int i = 0; crowd->rounds == 0 ? !atomic_load(&crowd->is_over) : i < crowd->rounds; i++)
        raw_expect(crowd->transport, "crowd", "test/echo", "{\"a\":1}", "{\"a\":1}");
    return NULL;
}

static void crowd_start(struct crowd *crowd, pthread_t threads[THREADS])
{
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, call_on, crowd), 0);
}

static void crowd_join(struct crowd *crowd, pthread_t threads[THREADS])
{
    atomic_store(&crowd->is_over, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* More than one buffer of them. */
TIDY_TEST(each_call_of_eight_threads)
{
    struct trace trace;
    pthread_t threads[THREADS];
    start(&trace);
    struct crowd crowd = {.transport = test_open(NO_STRINGS), .rounds = 200};
    crowd_start(&crowd, threads);
    crowd_join(&crowd, threads);
    stop(&trace);
    mcpump_transport_free(crowd.transport);
    cr_expect_eq(count_calls(&trace, "test/echo", "OK", NULL), THREADS * crowd.rounds);
    cr_expect_eq(dropped(&trace), 0);
    bool seen[THREADS * 200 + 1] = {false};
    for (size_t i = 0; i < event_count(&trace); i++) {
        if (!is(event(&trace, i), "name", "test/echo") || !is(event(&trace, i), "ph", "b"))
            continue;
        int64_t id = test_int_member(args_of(event(&trace, i)), "id");
        cr_assert(id > 0 && id < (int64_t)LENGTH(seen) && !seen[id], "id %lld", (long long)id);
        seen[id] = true;
        cr_expect_str_eq(parts_of(&trace, i), "queued,on the wire,waking,");
    }
    done(&trace);
}

TIDY_TEST(started_and_stopped_while_calls_are_made)
{
    struct crowd crowd = {.transport = test_open(NO_STRINGS)};
    pthread_t threads[THREADS];
    crowd_start(&crowd, threads);
    for (int i = 0; i < 20; i++) {
        struct trace trace;
        start(&trace);
        raw_await_requests(crowd.transport, raw_stats(crowd.transport).requests + 100);
        stop(&trace);
        cr_expect_geq(count_calls(&trace, NULL, NULL, NULL), 100 - 2 * THREADS);
        done(&trace);
    }
    crowd_join(&crowd, threads);
    mcpump_transport_free(crowd.transport);
}

TIDY_TEST(submitted_calls)
{
    static const char request[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"test/reverse\"}";
    struct trace trace;
    mcpump_call *calls[2];
    start(&trace);
    mcpump_transport *transport = test_open(NO_STRINGS);
    for (size_t i = 0; i < LENGTH(calls); i++)
        cr_assert_eq(
            mcpump_transport_submit(transport, request, strlen(request), NULL, &calls[i], NULL),
            MCPUMP_OK);
    for (size_t i = 0; i < LENGTH(calls); i++) {
        mcpump_reply *reply = NULL;
        cr_assert_eq(mcpump_call_wait(calls[i], &reply, NULL), MCPUMP_OK);
        mcpump_reply_free(reply);
        mcpump_call_free(calls[i]);
    }
    stop(&trace);
    mcpump_transport_free(transport);
    cr_expect_eq(count_calls(&trace, "test/reverse", "OK", NULL), 2);
    done(&trace);
}

/* -- files that do not take it */

static void make_many_calls(void)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    for (int i = 0; i < 2000; i++)
        raw_expect(transport, "many", "test/echo", "{\"a\":1}", "{\"a\":1}");
    mcpump_transport_free(transport);
}

TIDY_TEST(a_full_disk)
{
    cr_assert_eq(mcpump_trace_start("/dev/full", NULL), MCPUMP_OK);
    make_many_calls();
    mcpump_trace_stop();
}

/* A limit is a disk that is full at that byte. */
static void check_limit(rlim_t bytes)
{
    struct trace trace;
    struct rlimit old, limit;
    getrlimit(RLIMIT_FSIZE, &old);
    limit = (struct rlimit){bytes, old.rlim_max};
    start(&trace);
    setrlimit(RLIMIT_FSIZE, &limit);
    make_many_calls();
    setrlimit(RLIMIT_FSIZE, &old);
    stop(&trace);
    struct stat info;
    cr_assert_eq(stat(trace.path, &info), 0);
    int calls = count_calls(&trace, NULL, NULL, NULL);
    cr_expect_eq(dropped(&trace) + calls + count_moments(&trace, "spawned", NULL) +
                     count_moments(&trace, "ended", NULL),
                 2000 + 2, "%d calls and %d, limit %d", calls, (int)dropped(&trace), (int)bytes);
    cr_expect_gt(dropped(&trace), 0);
    done(&trace);
}

TIDY_TEST(a_disk_that_is_full_in_the_middle_of_a_line)
{
    signal(SIGXFSZ, SIG_IGN);
    const rlim_t limits[] = {1, 2, 100, 70000, 70001, 70002, 70500, 200000};
    for (size_t i = 0; i < LENGTH(limits); i++)
        check_limit(limits[i]);
}

/* It has no room to the end, either: what was begun is taken back. */
TIDY_TEST(a_disk_that_stays_full)
{
    signal(SIGXFSZ, SIG_IGN);
    struct trace trace;
    struct rlimit old, limit;
    getrlimit(RLIMIT_FSIZE, &old);
    limit = (struct rlimit){70300, old.rlim_max};
    start(&trace);
    setrlimit(RLIMIT_FSIZE, &limit);
    make_many_calls();
    stop(&trace);
    setrlimit(RLIMIT_FSIZE, &old);
    cr_expect_gt(count_calls(&trace, "test/echo", "OK", NULL), 30);
    cr_expect_gt(dropped(&trace), 1000);
    done(&trace);
}

TIDY_TEST(a_reader_that_goes)
{
    struct test_folder folder;
    char path[96];
    test_folder_init(&folder);
    snprintf(path, sizeof(path), "%s/fifo", folder.path);
    cr_assert_eq(mkfifo(path, 0600), 0);
    mcpump_failure *failure = NULL;
    cr_expect_eq(mcpump_trace_start(path, &failure), MCPUMP_ERR_SYSTEM, "nobody reads");
    cr_expect_eq(mcpump_failure_errno(failure), ENXIO);
    mcpump_failure_free(failure);
    int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    cr_assert_eq(mcpump_trace_start(path, NULL), MCPUMP_OK);
    make_many_calls(); /* more than a pipe takes */
    close(reader);
    make_many_calls();
    mcpump_trace_stop();
    unlink(path);
    test_folder_done(&folder);
}

TIDY_TEST(what_is_refused)
{
    struct trace trace;
    mcpump_failure *failure = NULL;
    static const struct {
        const char *path;
        mcpump_err wanted;
        int sys_errno;
    } rows[] = {
        {NULL, MCPUMP_ERR_INVALID_ARGUMENT, 0},
        {"", MCPUMP_ERR_INVALID_ARGUMENT, 0},
        {"/nowhere/at/all", MCPUMP_ERR_SYSTEM, ENOENT},
        {"/", MCPUMP_ERR_SYSTEM, EISDIR},
    };
    mcpump_trace_stop(); /* there is none */
    for (size_t i = 0; i < LENGTH(rows); i++) {
        cr_expect_eq(mcpump_trace_start(rows[i].path, &failure), rows[i].wanted);
        cr_expect_eq(mcpump_failure_errno(failure), rows[i].sys_errno);
        if (rows[i].sys_errno != 0)
            test_expect_part(mcpump_failure_message(failure), rows[i].path, "names the file");
        mcpump_failure_free(failure);
        cr_expect_eq(mcpump_trace_start(rows[i].path, NULL), rows[i].wanted);
    }
    start(&trace);
    cr_expect_eq(mcpump_trace_start("/tmp", &failure), MCPUMP_ERR_ALREADY_OPEN);
    mcpump_failure_free(failure);
    stop(&trace);
    mcpump_trace_stop();
    cr_expect_eq(dropped(&trace), 0, "valid, though nothing happened");
    done(&trace);
}

/* -- the file, and processes */

static int find_fd(const char *path)
{
    for (int fd = 0; fd < 256; fd++) {
        char link[64], target[256];
        snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        ssize_t size = readlink(link, target, sizeof(target) - 1);
        if (size > 0 && (size_t)size == strlen(path) && memcmp(target, path, (size_t)size) == 0)
            return fd;
    }
    return -1;
}

TIDY_TEST(the_file_is_for_us_alone)
{
    struct trace trace;
    struct stat info;
    int copy = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
    close(STDIN_FILENO);
    umask(0);
    start(&trace);
    dup2(copy, STDIN_FILENO);
    close(copy);
    int fd = find_fd(trace.path);
    cr_assert_gt(fd, STDERR_FILENO);
    cr_expect(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    cr_assert_eq(fstat(fd, &info), 0);
    cr_expect_eq(info.st_mode & 0777, 0600);
    stop(&trace);
    done(&trace);
}

static int call_in_child(const char *path)
{
    mcpump_transport *transport = test_open(NO_STRINGS);
    raw_expect(transport, "child", "test/echo", "{\"child\":1}", "{\"child\":1}");
    if (path != NULL && mcpump_trace_start(path, NULL) != MCPUMP_OK)
        return 1;
    raw_expect(transport, "child", "test/echo", "{\"child\":2}", "{\"child\":2}");
    mcpump_trace_stop();
    mcpump_transport_free(transport);
    return 0;
}

static void run_child(const char *path)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(call_in_child(path));
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", status);
}

TIDY_TEST(a_forked_child_writes_no_line_of_its_parent)
{
    struct trace trace, of_child;
    start(&trace);
    mcpump_transport *transport = test_open(NO_STRINGS);
    raw_expect(transport, "parent", "test/echo", "{\"a\":1}", "{\"a\":1}");
    test_folder_init(&of_child.folder);
    snprintf(of_child.path, sizeof(of_child.path), "%s/child.json", of_child.folder.path);
    run_child(NULL);
    run_child(of_child.path);
    raw_expect(transport, "parent", "test/echo", "{\"a\":1}", "{\"a\":1}");
    stop(&trace);
    mcpump_transport_free(transport);
    read_back(&of_child);
    cr_expect_eq(count_calls(&trace, "test/echo", "OK", NULL), 2);
    cr_expect_eq(count_calls(&of_child, "test/echo", "OK", NULL), 1);
    done(&of_child);
    done(&trace);
}
