/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the integration tests share: servers to start, calls with their expectations, the server's
 * log as events to wait for, and a count of what must be left as it was. Whatever is not as it
 * should be ends the test; nothing waits for time to pass.
 */
#ifndef TEST_INTEGRATION_SUPPORT_H
#define TEST_INTEGRATION_SUPPORT_H

#include <criterion/criterion.h>
#include <json-c/json.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mcpump/mcpump.h"

#define TEST_PATIENCE_MS 60000 /* far more than anything here takes */

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
/* A list ended by NULL. */
#define STRINGS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NO_STRINGS   ((const char *const[]){NULL})

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer) ||                           \
    defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define TEST_IS_SANITIZED 1
#else
#define TEST_IS_SANITIZED 0
#endif
/* How often something is done; a sanitizer makes all of it slow. */
#define TEST_SCALED(count) (TEST_IS_SANITIZED ? (count) / 10 : (count))

int64_t test_now_ms(void);

/* -- programs of the build; the paths stay */

const char *test_fake_server(void);
const char *test_demo_server(void);
const char *test_probe(void);

/* -- what must be left as it was: fds and threads of this process, and no child at all */

struct test_resources {
    int fds;
    int threads;
};
struct test_resources test_resources(void);
bool test_has_children(void);
/* Resident memory in KiB. */
long test_rss_kib(void);
void test_check_nothing_left(const struct test_resources *before, const char *name);
/* In the body of a test, with the name of the row or "". */
#define EXPECT_NOTHING_LEFT(before, name) test_check_nothing_left(&(before), (name))

/* Waits for the end of any process; false: it lives on. A zombie has ended. */
bool test_await_end(pid_t pid);
bool test_is_alive(pid_t pid);

/* -- a folder for scratch files, and the log of a fake server in it */

struct test_folder {
    char path[64];
    char log[80]; /* for --log */
};
void test_folder_init(struct test_folder *folder);
void test_folder_done(struct test_folder *folder);

/* Waits until so many lines of the file start with `start`. */
void test_await_lines(const char *file, const char *start, int count);
/* So many do, now. A file that does not exist has none. */
int test_count_lines(const char *file, const char *start);
/* So many messages that a fake server has received hold `part`, now. */
int test_count_received(const char *log, const char *part);
/* The number that follows `start` in its first line of the file; 0: no such line. */
long test_number_in_log(const char *file, const char *start);

/* -- servers */

/* Options for the fake server with these switches: its stderr is discarded. Borrows the switches.
 */
mcpump_server_options test_options(const char *const *switches);
mcpump_server *test_server_new(const mcpump_server_options *options);
/* A fake server that is ready. */
mcpump_server *test_connect(const char *const *switches);
void test_connect_ok(mcpump_server *server);
/* Must fail; the failure is the caller's. */
mcpump_failure *test_connect_fails(mcpump_server *server, mcpump_err wanted);
pid_t test_pid(mcpump_server *server);
mcpump_stats test_stats(mcpump_server *server);

/* -- transports: the fake server without a handshake */

mcpump_transport *test_transport_new(const char *const *switches);
mcpump_transport *test_open(const char *const *switches);

/* -- calls */

/* Must succeed with a result, which the caller frees with json_object_put. */
json_object *test_result(mcpump_server *server, const char *method, const char *params);
/* Must succeed with this text as the result. */
void test_expect_result(mcpump_server *server, const char *method, const char *params,
                        const char *wanted);
/* Must fail; the failure is the caller's. */
mcpump_failure *test_call_fails(mcpump_server *server, const char *method, const char *params,
                                mcpump_err wanted);
/* Member of an object as text: a string as it is, anything else as JSON. Valid until the next. */
const char *test_member(json_object *object, const char *key);
int64_t test_int_member(json_object *object, const char *key);
/* test/report says that this client did nothing that no client may do. */
void test_expect_no_violation(mcpump_server *server, const char *name);

/* A call in a thread of its own. */
struct test_call {
    mcpump_server *server;
    const char *method, *params;
    mcpump_err err;
    mcpump_reply *reply;
    mcpump_failure *failure;
    int64_t took_ms;
    pthread_t thread;
};
void test_call_start(struct test_call *call, mcpump_server *server, const char *method,
                     const char *params);
/* Waits for it; reply and failure are freed by test_call_done. */
void test_call_join(struct test_call *call);
void test_call_done(struct test_call *call);

/* `text` must hold `part`. */
void test_expect_part(const char *text, const char *part, const char *name);

#endif
