/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int64_t test_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* -- programs */

static const char *from_environment(const char *name)
{
    const char *path = getenv(name);
    cr_assert_not_null(path, "%s is not set; meson test sets it", name);
    return path;
}

const char *test_fake_server(void)
{
    return from_environment("MCPUMP_FAKE_SERVER");
}

const char *test_demo_server(void)
{
    return from_environment("MCPUMP_DEMO_SERVER");
}

const char *test_probe(void)
{
    return from_environment("MCPUMP_PROBE");
}

/* -- what must be left as it was */

static int count_entries(const char *directory)
{
    DIR *entries = opendir(directory);
    cr_assert_not_null(entries, "%s", directory);
    int count = 0;
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries))
        count += entry->d_name[0] != '.';
    closedir(entries);
    return count;
}

struct test_resources test_resources(void)
{
    return (struct test_resources){
        .fds = count_entries("/proc/self/fd") - 1, /* without its own */
        .threads = count_entries("/proc/self/task"),
    };
}

bool test_has_children(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

long test_rss_kib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    cr_assert_not_null(file);
    cr_assert_eq(fscanf(file, "%*s %ld", &pages), 1);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* A thread that was joined stands in /proc for some instants more, and nothing tells when not. */
static struct test_resources resources_without_joined(int threads)
{
    int64_t until = test_now_ms() + TEST_PATIENCE_MS;
    struct test_resources now = test_resources();
    while (now.threads > threads && test_now_ms() < until) {
        sched_yield();
        now = test_resources();
    }
    return now;
}

void test_check_nothing_left(const struct test_resources *before, const char *name)
{
    struct test_resources now = resources_without_joined(before->threads);
    cr_expect_eq(now.fds, before->fds, "%s: %d fds, were %d", name, now.fds, before->fds);
    cr_expect_eq(now.threads, before->threads, "%s: %d threads, were %d", name, now.threads,
                 before->threads);
    cr_expect_not(test_has_children(), "%s: a child is left", name);
}

static bool await_end(pid_t pid, int patience_ms)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0) {
        cr_assert_eq(errno, ESRCH, "pidfd_open of %d: %s", (int)pid, strerror(errno));
        return true;
    }
    struct pollfd end = {.fd = fd, .events = POLLIN};
    bool ended = poll(&end, 1, patience_ms) == 1;
    close(fd);
    return ended;
}

bool test_await_end(pid_t pid)
{
    return await_end(pid, TEST_PATIENCE_MS);
}

bool test_is_alive(pid_t pid)
{
    return !await_end(pid, 0);
}

/* -- scratch files */

void test_folder_init(struct test_folder *folder)
{
    strcpy(folder->path, "/tmp/mcpump-it-XXXXXX");
    cr_assert_not_null(mkdtemp(folder->path));
    snprintf(folder->log, sizeof(folder->log), "%s/log", folder->path);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status, (void)type, (void)where;
    return remove(path);
}

void test_folder_done(struct test_folder *folder)
{
    nftw(folder->path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* The first line that starts so, behind that start; NULL: none. Counts them all. */
static char *find_lines(const char *file, const char *start, int *ret_count)
{
    char *line = NULL, *found = NULL;
    size_t capacity = 0, size = strlen(start);
    *ret_count = 0;
    FILE *stream = fopen(file, "re");
    while (stream != NULL && getline(&line, &capacity, stream) > 0) {
        if (strncmp(line, start, size) != 0)
            continue;
        if ((*ret_count)++ == 0)
            found = strdup(line + size);
    }
    if (stream != NULL)
        fclose(stream);
    free(line);
    return found;
}

int test_count_lines(const char *file, const char *start)
{
    int count;
    free(find_lines(file, start, &count));
    return count;
}

int test_count_received(const char *log, const char *part)
{
    char *line = NULL;
    size_t capacity = 0;
    int count = 0;
    FILE *stream = fopen(log, "re");
    while (stream != NULL && getline(&line, &capacity, stream) > 0)
        count += strncmp(line, "recv ", 5) == 0 && strstr(line, part) != NULL;
    if (stream != NULL)
        fclose(stream);
    free(line);
    return count;
}

long test_number_in_log(const char *file, const char *start)
{
    int count;
    char *rest = find_lines(file, start, &count);
    long number = rest != NULL ? strtol(rest, NULL, 10) : 0;
    free(rest);
    return number;
}

/* Its folder is watched, since the file need not be there yet. */
void test_await_lines(const char *file, const char *start, int count)
{
    char folder[256], events[4096];
    snprintf(folder, sizeof(folder), "%s", file);
    *strrchr(folder, '/') = '\0';
    struct pollfd change = {.fd = inotify_init1(IN_CLOEXEC), .events = POLLIN};
    cr_assert_geq(inotify_add_watch(change.fd, folder, IN_CREATE | IN_MODIFY), 0);
    while (test_count_lines(file, start) < count) {
        cr_assert_eq(poll(&change, 1, TEST_PATIENCE_MS), 1, "no line \"%s\" came", start);
        cr_assert_gt(read(change.fd, events, sizeof(events)), 0);
    }
    close(change.fd);
}

/* -- servers */

mcpump_server_options test_options(const char *const *switches)
{
    mcpump_server_options options = MCPUMP_SERVER_OPTIONS_INIT;
    options.transport.command = test_fake_server();
    options.transport.args = switches;
    options.transport.display_name = "fake";
    options.transport.stderr_sink = MCPUMP_STDERR_DISCARD;
    return options;
}

mcpump_server *test_server_new(const mcpump_server_options *options)
{
    mcpump_server *server = NULL;
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_server_new(options, &server, &failure);
    cr_assert_eq(err, MCPUMP_OK, "%s",
                 failure != NULL ? mcpump_failure_message(failure) : mcpump_err_name(err));
    return server;
}

void test_connect_ok(mcpump_server *server)
{
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_server_connect(server, &failure);
    cr_assert_eq(err, MCPUMP_OK, "%s",
                 failure != NULL ? mcpump_failure_message(failure) : mcpump_err_name(err));
}

mcpump_server *test_connect(const char *const *switches)
{
    mcpump_server_options options = test_options(switches);
    mcpump_server *server = test_server_new(&options);
    test_connect_ok(server);
    return server;
}

mcpump_failure *test_connect_fails(mcpump_server *server, mcpump_err wanted)
{
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_server_connect(server, &failure);
    cr_assert_eq(err, wanted, "%s: %s", mcpump_err_name(err),
                 failure != NULL ? mcpump_failure_message(failure) : "no failure");
    cr_assert_not_null(failure);
    cr_assert_eq(mcpump_failure_error(failure), wanted);
    return failure;
}

pid_t test_pid(mcpump_server *server)
{
    return mcpump_transport_pid(mcpump_server_transport(server));
}

mcpump_stats test_stats(mcpump_server *server)
{
    mcpump_stats stats = {.size = sizeof(stats)};
    mcpump_transport_stats(mcpump_server_transport(server), &stats);
    return stats;
}

/* -- transports */

mcpump_transport *test_transport_new(const char *const *switches)
{
    mcpump_server_options options = test_options(switches);
    mcpump_transport *transport = NULL;
    cr_assert_eq(mcpump_transport_new(&options.transport, &transport, NULL), MCPUMP_OK);
    return transport;
}

mcpump_transport *test_open(const char *const *switches)
{
    mcpump_transport *transport = test_transport_new(switches);
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_transport_open(transport, &failure);
    cr_assert_eq(err, MCPUMP_OK, "%s",
                 failure != NULL ? mcpump_failure_message(failure) : mcpump_err_name(err));
    return transport;
}

/* -- calls */

static json_object *parse(const char *text, size_t size)
{
    json_tokener *tokener = json_tokener_new();
    json_object *object = json_tokener_parse_ex(tokener, text, (int)size);
    /* A bare number is complete only with what follows it. */
    if (object == NULL)
        object = json_tokener_parse_ex(tokener, "", 1);
    json_tokener_free(tokener);
    return object;
}

json_object *test_result(mcpump_server *server, const char *method, const char *params)
{
    mcpump_reply *reply = NULL;
    mcpump_failure *failure = NULL;
    size_t size;
    mcpump_err err = mcpump_server_request(server, method, params, NULL, &reply, &failure);
    cr_assert_eq(err, MCPUMP_OK, "%s: %s", method,
                 failure != NULL ? mcpump_failure_message(failure) : mcpump_err_name(err));
    const char *value = mcpump_reply_value(reply, &size);
    cr_assert_not(mcpump_reply_is_error(reply), "%s: %.*s", method, (int)size, value);
    json_object *result = parse(value, size);
    mcpump_reply_free(reply);
    return result;
}

void test_expect_result(mcpump_server *server, const char *method, const char *params,
                        const char *wanted)
{
    mcpump_reply *reply = NULL;
    mcpump_failure *failure = NULL;
    size_t size;
    mcpump_err err = mcpump_server_request(server, method, params, NULL, &reply, &failure);
    cr_assert_eq(err, MCPUMP_OK, "%s: %s", method,
                 failure != NULL ? mcpump_failure_message(failure) : mcpump_err_name(err));
    const char *value = mcpump_reply_value(reply, &size);
    cr_expect(size == strlen(wanted) && memcmp(value, wanted, size) == 0, "%s: %.*s, not %s",
              method, (int)size, value, wanted);
    mcpump_reply_free(reply);
}

mcpump_failure *test_call_fails(mcpump_server *server, const char *method, const char *params,
                                mcpump_err wanted)
{
    mcpump_reply *reply = NULL;
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_server_request(server, method, params, NULL, &reply, &failure);
    cr_assert_eq(err, wanted, "%s: %s: %s", method, mcpump_err_name(err),
                 failure != NULL ? mcpump_failure_message(failure) : "no failure");
    cr_assert_not_null(failure);
    cr_assert_eq(mcpump_failure_error(failure), wanted);
    return failure;
}

const char *test_member(json_object *object, const char *key)
{
    json_object *member = NULL;
    cr_assert(json_object_object_get_ex(object, key, &member), "no member %s", key);
    if (json_object_is_type(member, json_type_string))
        return json_object_get_string(member);
    return json_object_to_json_string_ext(member,
                                          JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
}

int64_t test_int_member(json_object *object, const char *key)
{
    json_object *member = NULL;
    cr_assert(json_object_object_get_ex(object, key, &member), "no member %s", key);
    return json_object_get_int64(member);
}

void test_expect_no_violation(mcpump_server *server, const char *name)
{
    json_object *report = test_result(server, "test/report", NULL);
    cr_expect_eq(test_int_member(report, "violation_count"), 0, "%s: %s", name,
                 test_member(report, "violations"));
    json_object_put(report);
}

static void *run_call(void *arg)
{
    struct test_call *call = arg;
    int64_t started = test_now_ms();
    call->err = mcpump_server_request(call->server, call->method, call->params, NULL, &call->reply,
                                      &call->failure);
    call->took_ms = test_now_ms() - started;
    return NULL;
}

void test_call_start(struct test_call *call, mcpump_server *server, const char *method,
                     const char *params)
{
    *call = (struct test_call){.server = server, .method = method, .params = params};
    cr_assert_eq(pthread_create(&call->thread, NULL, run_call, call), 0);
}

void test_call_join(struct test_call *call)
{
    cr_assert_eq(pthread_join(call->thread, NULL), 0);
}

void test_call_done(struct test_call *call)
{
    mcpump_reply_free(call->reply);
    mcpump_failure_free(call->failure);
}

void test_expect_part(const char *text, const char *part, const char *name)
{
    cr_expect_not_null(strstr(text, part), "%s: \"%s\" does not hold \"%s\"", name, text, part);
}
