/* SPDX-License-Identifier: Apache-2.0 */
/* What a child may be given beyond its command: a session, a niceness, limits, a tie to its parent.
 * Each is tried with and without a guard. */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "probe.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

TestSuite(attributes, .timeout = 60);

static const mcpump_orphans policies[] = {MCPUMP_ORPHANS_DEFAULT, MCPUMP_ORPHANS_NONE,
                                          MCPUMP_ORPHANS_LEADER, MCPUMP_ORPHANS_TREE};

static struct mp_spawn_request probe_request(mcpump_orphans orphans)
{
    struct mp_spawn_request request = plain_request(probe_path(), no_args, plain_environment, NULL);
    request.orphans = orphans;
    return request;
}

Test(attributes, a_group_in_our_session_or_a_session)
{
    for (size_t i = 0; i < 2 * LENGTH(policies); i++) {
        struct mp_spawn_request request = probe_request(policies[i / 2]);
        request.new_session = i % 2 == 1;
        json_object *report = probe_run(&request);
        int pid = probe_int(report, "pid");
        cr_expect_eq(probe_int(report, "pgid"), pid);
        cr_expect_eq(probe_int(report, "sid"), request.new_session ? pid : getsid(0));
        json_object_put(report);
    }
}

static const struct {
    const char *name;
    int ours, added, wanted;
} nices[] = {
    {"from 0", 0, 1, 1}, {"exactly 19", 0, 19, 19}, {"as ours", 3, 0, 3},
    {"added", 3, 4, 7},  {"at most 19", 3, 40, 19}, {"ours is 19 already", 19, 1, 19},
};

/* In an order that needs no privilege. */
Test(attributes, niceness)
{
    int first = getpriority(PRIO_PROCESS, 0);
    for (size_t i = 0; i < LENGTH(nices) * LENGTH(policies); i++) {
        size_t row = i / LENGTH(policies);
        if (setpriority(PRIO_PROCESS, 0, nices[row].ours) != 0)
            cr_skip_test("no privilege to change our own niceness");
        struct mp_spawn_request request = probe_request(policies[i % LENGTH(policies)]);
        request.nice = nices[row].added;
        json_object *report = probe_run(&request);
        cr_expect_eq(probe_int(report, "nice"), nices[row].wanted, "%s: %s", nices[row].name,
                     probe_text(report, "nice"));
        json_object_put(report);
        cr_expect_eq(getpriority(PRIO_PROCESS, 0), nices[row].ours, "ours stays");
    }
    setpriority(PRIO_PROCESS, 0, first);
}

Test(attributes, limits)
{
    struct rlimit before, after;
    getrlimit(RLIMIT_NOFILE, &before);
    const mcpump_rlimit limits[] = {{RLIMIT_NOFILE, 4, 64}, {RLIMIT_CORE, 0, 4096}};
    for (size_t i = 0; i < LENGTH(policies); i++) {
        struct mp_spawn_request request = probe_request(policies[i]);
        request.rlimits = limits;
        request.rlimit_count = LENGTH(limits);
        json_object *report = probe_run(&request);
        cr_expect_str_eq(probe_text(report, "NOFILE"), "[4,64]");
        cr_expect_str_eq(probe_text(report, "CORE"), "[0,4096]");
        json_object_put(report);
    }
    getrlimit(RLIMIT_NOFILE, &after);
    cr_expect_eq(memcmp(&before, &after, sizeof(before)), 0, "ours stay");
}

Test(attributes, no_limit)
{
    struct rlimit ours;
    getrlimit(RLIMIT_CORE, &ours);
    if (ours.rlim_max != RLIM_INFINITY)
        cr_skip_test("we have a limit");
    const mcpump_rlimit limit = {RLIMIT_CORE, 0, UINT64_MAX};
    struct mp_spawn_request request = probe_request(MCPUMP_ORPHANS_NONE);
    request.rlimits = &limit;
    request.rlimit_count = 1;
    json_object *report = probe_run(&request);
    json_object *hard = json_object_array_get_idx(json_object_object_get(report, "CORE"), 1);
    cr_expect_str_eq(json_object_to_json_string(hard), "18446744073709551615");
    json_object_put(report);
}

Test(attributes, what_cannot_be_set_is_told)
{
    static const mcpump_rlimit wrong[] = {{9999, 1, 1}, {RLIMIT_CORE, 2, 1}};
    int fds = test_count_fds();
    for (size_t i = 0; i < LENGTH(wrong) * LENGTH(policies); i++) {
        struct mp_spawn_request request = probe_request(policies[i % LENGTH(policies)]);
        struct mp_spawned spawned;
        struct mp_spawn_error error = {MCPUMP_STAGE_NONE, 0};
        request.rlimits = &wrong[i / LENGTH(policies)];
        request.rlimit_count = 1;
        cr_expect_eq(mp_spawn(&request, &spawned, &error), -1);
        cr_expect_eq(error.stage, MCPUMP_STAGE_LIMITS, "%s", mcpump_stage_text(error.stage));
        cr_expect_eq(error.err, EINVAL, "%s", strerror(error.err));
        cr_expect_eq(test_count_fds(), fds);
        cr_expect(waitid(P_ALL, 0, NULL, WEXITED | WNOHANG) == -1 && errno == ECHILD);
    }
}

Test(attributes, the_kernel_is_told_what_to_do_when_the_parent_dies)
{
    for (size_t i = 0; i < LENGTH(policies); i++) {
        struct mp_spawn_request request = probe_request(policies[i]);
        json_object *report = probe_run(&request);
        int wanted = policies[i] == MCPUMP_ORPHANS_NONE ? 0 : SIGKILL;
        cr_expect_eq(probe_int(report, "death_signal"), wanted, "policy %d", (int)policies[i]);
        cr_expect_eq(probe_int(report, "ppid") == getpid(), policies[i] != MCPUMP_ORPHANS_TREE);
        json_object_put(report);
    }
}
