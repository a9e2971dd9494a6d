/* SPDX-License-Identifier: Apache-2.0 */
/* tests/peers/probe, run as a child: it tells what it was started with. Failures end the test. */
#ifndef UNIT_PROCESS_PROBE_H
#define UNIT_PROCESS_PROBE_H

#include <json-c/json.h>
#include <sys/wait.h>

#include "support.h"

static char *no_args[] = {NULL};
static char plain_path[] = "PATH=/usr/bin:/bin";
static char *plain_environment[] = {plain_path, NULL};

static inline struct mp_spawn_request plain_request(const char *command, char *const *args,
                                                    char *const *environment, const char *cwd)
{
    return (struct mp_spawn_request){.command = command,
                                     .args = args,
                                     .environment = environment,
                                     .cwd = cwd,
                                     .guard = test_guard_path()};
}

static inline const char *peers_folder(void)
{
    static char path[4096];
    return test_build_path("tests/peers", path, sizeof(path));
}

static inline const char *probe_path(void)
{
    static char path[4096];
    return test_build_path("tests/peers/probe", path, sizeof(path));
}

/* Our child, the command or its guard, must end by itself, with 0. */
static inline void probe_end(struct mp_spawned *spawned)
{
    siginfo_t info;
    close(spawned->stdin_fd);
    spawned->stdin_fd = -1;
    cr_assert(test_wait_readable(spawned->pidfd), "it does not end");
    cr_assert_eq(waitid((idtype_t)3, (id_t)spawned->pidfd, &info, WEXITED), 0); /* P_PIDFD */
    cr_expect_eq(info.si_code, CLD_EXITED);
    cr_expect_eq(info.si_status, 0);
    test_close(spawned);
}

/* What the probe said. */
static inline json_object *probe_read(struct mp_spawned *spawned)
{
    static char text[1 << 16];
    test_read_all(spawned->stdout_fd, text, sizeof(text));
    probe_end(spawned);
    json_object *report = json_tokener_parse(text);
    cr_assert_not_null(report, "%s", text);
    return report;
}

static inline json_object *probe_run(const struct mp_spawn_request *request)
{
    struct mp_spawned spawned = test_spawn_request(request);
    return probe_read(&spawned);
}

static inline json_object *plain_probe(void)
{
    struct mp_spawn_request request = plain_request(probe_path(), no_args, plain_environment, NULL);
    return probe_run(&request);
}

static inline const char *probe_text(json_object *report, const char *key)
{
    return json_object_to_json_string_ext(json_object_object_get(report, key),
                                          JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
}

static inline int probe_int(json_object *report, const char *key)
{
    return json_object_get_int(json_object_object_get(report, key));
}

#endif
