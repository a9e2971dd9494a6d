/* SPDX-License-Identifier: Apache-2.0 */
/* Starting a server: what can go wrong, and what the server finds. */
#include "raw.h"
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* -- what cannot be started */

static void write_file(const char *path, const char *text, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    cr_assert_geq(fd, 0, "%s", path);
    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static const struct bad_start {
    const char *name;
    const char *command; /* "@" in front: in the scratch folder */
    mcpump_stage stage;
    int sys_errno;
} bad_starts[] = {
    {"no such name", "mcpump-no-such-command", MCPUMP_STAGE_LOOKUP, ENOENT},
    {"no such path", "/nowhere/at/all", MCPUMP_STAGE_LOOKUP, ENOENT},
    {"a directory", "@", MCPUMP_STAGE_LOOKUP, EISDIR},
    {"not executable", "@/plain", MCPUMP_STAGE_LOOKUP, EACCES},
    {"below a file", "@/plain/deeper", MCPUMP_STAGE_LOOKUP, ENOTDIR},
    {"no interpreter", "@/script", MCPUMP_STAGE_EXEC, ENOENT},
    {"no program", "@/text", MCPUMP_STAGE_EXEC, ENOEXEC},
};

static void expect_bad_start(const struct bad_start *row, const char *folder)
{
    char command[256];
    struct test_resources before = test_resources();
    mcpump_server_options options = test_options(NO_STRINGS);
    bool is_ours = row->command[0] == '@';
    snprintf(command, sizeof(command), "%s%s", is_ours ? folder : "", row->command + is_ours);
    options.transport.command = command;
    mcpump_server *server = test_server_new(&options);
    int64_t started = test_now_ms();
    mcpump_failure *failure = test_connect_fails(server, MCPUMP_ERR_SPAWN);
    cr_expect_lt(test_now_ms() - started, 5000, "%s", row->name);
    cr_expect_eq(mcpump_failure_stage(failure), row->stage, "%s: %s", row->name,
                 mcpump_failure_message(failure));
    cr_expect_eq(mcpump_failure_errno(failure), row->sys_errno, "%s: %s", row->name,
                 mcpump_failure_message(failure));
    cr_expect_eq(mcpump_failure_phase(failure), MCPUMP_PHASE_START, "%s", row->name);
    cr_expect_eq(mcpump_failure_exit_status(failure), -1, "%s", row->name);
    test_expect_part(mcpump_failure_message(failure), command, row->name);
    mcpump_failure_free(failure);
    cr_expect_not(mcpump_server_is_connected(server), "%s", row->name);
    cr_expect_eq(test_pid(server), -1, "%s", row->name);
    cr_expect_not(test_has_children(), "%s: a zombie", row->name);
    mcpump_server_free(server);
    EXPECT_NOTHING_LEFT(before, row->name);
}

static void expect_bad_starts(void)
{
    struct test_folder folder;
    char path[128];
    test_folder_init(&folder);
    snprintf(path, sizeof(path), "%s/plain", folder.path);
    write_file(path, "#!/bin/sh\n", 0600);
    snprintf(path, sizeof(path), "%s/script", folder.path);
    write_file(path, "#!/nowhere/interpreter\n", 0700);
    snprintf(path, sizeof(path), "%s/text", folder.path);
    write_file(path, "no program\n", 0700);
    for (size_t i = 0; i < LENGTH(bad_starts); i++)
        expect_bad_start(&bad_starts[i], folder.path);
    test_folder_done(&folder);
}

Test(spawn, failures_are_distinct_and_name_the_thing)
{
    expect_bad_starts();
}

/* The child that could not run the command is then not ours to wait for. */
Test(spawn, failures_in_a_host_that_ignores_sigchld)
{
    signal(SIGCHLD, SIG_IGN);
    expect_bad_starts();
}

Test(spawn, a_directory_that_went_away_is_named)
{
    struct test_folder folder;
    struct test_resources before = test_resources();
    test_folder_init(&folder);
    mcpump_server_options options = test_options(NO_STRINGS);
    options.transport.cwd = folder.path;
    mcpump_server *server = test_server_new(&options);
    test_folder_done(&folder);
    mcpump_failure *failure = test_connect_fails(server, MCPUMP_ERR_SPAWN);
    cr_expect_eq(mcpump_failure_stage(failure), MCPUMP_STAGE_DIRECTORY);
    cr_expect_eq(mcpump_failure_errno(failure), ENOENT);
    test_expect_part(mcpump_failure_message(failure), folder.path, "cwd");
    mcpump_failure_free(failure);

    /* Nothing is cached: once it is there, the server starts. */
    cr_assert_eq(mkdir(folder.path, 0700), 0);
    test_connect_ok(server);
    mcpump_server_free(server);
    test_folder_done(&folder);
    EXPECT_NOTHING_LEFT(before, "");
}

Test(spawn, the_path_that_was_searched_is_named)
{
    mcpump_server_options options = test_options(NO_STRINGS);
    options.transport.command = "sh";
    options.transport.env = STRINGS("PATH=/nowhere/at/all");
    mcpump_server *server = test_server_new(&options);
    mcpump_failure *failure = test_connect_fails(server, MCPUMP_ERR_SPAWN);
    cr_expect_eq(mcpump_failure_stage(failure), MCPUMP_STAGE_LOOKUP);
    test_expect_part(mcpump_failure_message(failure), "/nowhere/at/all", "the PATH searched");
    mcpump_failure_free(failure);
    mcpump_server_free(server);
}

/* -- the environment */

static const struct inherited {
    const char *name;
    const char *const *env;
    const char *const *inherit_env;
    const char *key;
    const char *wanted; /* NULL: it is not there */
} inherited_rows[] = {
    {"PATH without env", NULL, NULL, "PATH", "/usr/bin:/bin"},
    {"HOME without env", NULL, NULL, "HOME", "/tmp"},
    {"PATH with env", (const char *const[]){"A=1", NULL}, NULL, "PATH", "/usr/bin:/bin"},
    {"HOME with env", (const char *const[]){"A=1", NULL}, NULL, "HOME", "/tmp"},
    {"own", (const char *const[]){"A= x=1 ", NULL}, NULL, "A", " x=1 "},
    {"own, empty", (const char *const[]){"A=", NULL}, NULL, "A", ""},
    {"own wins", (const char *const[]){"HOME=/dev", NULL}, NULL, "HOME", "/dev"},
    {"secret without env", NULL, NULL, "HOST_SECRET", NULL},
    {"secret with env", (const char *const[]){"A=1", NULL}, NULL, "HOST_SECRET", NULL},
    {"asked for", NULL, (const char *const[]){"HOST_SECRET", NULL}, "HOST_SECRET", "hunter2"},
    {"asked for, own wins", (const char *const[]){"HOST_SECRET=1", NULL},
     (const char *const[]){"HOST_SECRET", NULL}, "HOST_SECRET", "1"},
    {"function without env", NULL, NULL, "USER", NULL},
    {"function with env", (const char *const[]){"A=1", NULL}, NULL, "USER", NULL},
    {"function asked for", NULL, (const char *const[]){"HOST_FUNCTION", NULL}, "HOST_FUNCTION",
     NULL},
    {"own function", (const char *const[]){"F=() { :; }", NULL}, NULL, "F", "() { :; }"},
};

Test(spawn, environment)
{
    setenv("PATH", "/usr/bin:/bin", 1);
    setenv("HOME", "/tmp", 1);
    setenv("HOST_SECRET", "hunter2", 1);
    setenv("HOST_FUNCTION", "() { echo; }", 1);
    setenv("USER", "() { echo; }", 1);
    for (size_t i = 0; i < LENGTH(inherited_rows); i++) {
        const struct inherited *row = &inherited_rows[i];
        mcpump_server_options options = test_options(NO_STRINGS);
        options.transport.env = row->env;
        options.transport.inherit_env = row->inherit_env;
        mcpump_server *server = test_server_new(&options);
        json_object *env = test_result(server, "test/env", NULL), *value = NULL;
        bool is_there = json_object_object_get_ex(env, row->key, &value);
        cr_expect_eq(is_there, row->wanted != NULL, "%s", row->name);
        if (is_there && row->wanted != NULL)
            cr_expect_str_eq(json_object_get_string(value), row->wanted, "%s", row->name);
        json_object_put(env);
        mcpump_server_free(server);
    }
}

/* PATH of the env block decides, and nothing of the host's. */
Test(spawn, the_servers_path_is_searched)
{
    struct test_folder folder;
    char link[128], path[128];
    test_folder_init(&folder);
    snprintf(link, sizeof(link), "%s/mcpump-test-server", folder.path);
    snprintf(path, sizeof(path), "PATH=/nowhere:%s", folder.path);
    cr_assert_eq(symlink(test_fake_server(), link), 0);
    mcpump_server_options options = test_options(NO_STRINGS);
    options.transport.command = "mcpump-test-server";
    options.transport.env = (const char *const[]){path, NULL};
    mcpump_server *server = test_server_new(&options);
    test_connect_ok(server);
    mcpump_server_free(server);
    test_folder_done(&folder);
}

/* -- what the server finds */

static size_t read_proc(pid_t pid, const char *what, char *out, size_t capacity)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
    FILE *file = fopen(path, "re");
    cr_assert_not_null(file, "%s", path);
    size_t size = fread(out, 1, capacity - 1, file);
    fclose(file);
    out[size] = '\0';
    return size;
}

Test(spawn, arguments_arrive_byte_for_byte)
{
    static const char *const args[] = {
        "-c",    "echo up; read line", "sh",       "a b",      "",   "*", "\"'`", "l1\nl2\t",
        "$HOME", "; rm -rf ~",         "\\\\ \\n", "\xff\xfe", "-x", "",  NULL};
    char wanted[512], found[512];
    size_t size = 0;
    mcpump_transport_options options = MCPUMP_TRANSPORT_OPTIONS_INIT;
    mcpump_transport *transport = NULL;
    options.command = "sh";
    options.args = args;
    for (size_t i = 0; i == 0 || args[i - 1] != NULL; i++) {
        const char *arg = i == 0 ? options.command : args[i - 1];
        memcpy(wanted + size, arg, strlen(arg) + 1);
        size += strlen(arg) + 1;
    }
    cr_assert_eq(mcpump_transport_new(&options, &transport, NULL), MCPUMP_OK);
    cr_assert_eq(mcpump_transport_open(transport, NULL), MCPUMP_OK);
    /* The open returns once the exec cannot fail, a little before the kernel shows its arguments.
     */
    raw_await_junk(transport, 1);
    size_t got = read_proc(mcpump_transport_pid(transport), "cmdline", found, sizeof(found));
    cr_expect_eq(got, size);
    cr_expect(got == size && memcmp(found, wanted, size) == 0);
    mcpump_transport_free(transport);
}

static unsigned long long mask_of(const char *status, const char *key)
{
    const char *line = strstr(status, key);
    cr_assert_not_null(line, "%s", key);
    return strtoull(line + strlen(key), NULL, 16);
}

static void expect_blocking(pid_t pid, int fd)
{
    char what[32], info[512];
    unsigned flags = O_NONBLOCK;
    snprintf(what, sizeof(what), "fdinfo/%d", fd);
    read_proc(pid, what, info, sizeof(info));
    const char *line = strstr(info, "flags:");
    cr_assert_not_null(line);
    cr_assert_eq(sscanf(line, "flags: %o", &flags), 1);
    cr_expect_eq(flags & O_NONBLOCK, 0, "fd %d does not block", fd);
}

/* A host with signals blocked and ignored, with fds that are not close-on-exec. */
Test(spawn, the_server_finds_a_clean_process)
{
    sigset_t all;
    char status[8192], path[64];
    int stray[2];
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGUSR1, SIG_IGN);
    signal(SIGRTMIN, SIG_IGN);
    cr_assert_eq(pipe(stray), 0);
    mcpump_server *server = test_connect(NO_STRINGS);
    pid_t pid = test_pid(server);
    for (int fd = 0; fd <= 2; fd++)
        expect_blocking(pid, fd);
    for (int fd = 3; fd < 256; fd++) {
        snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
        cr_expect_neq(faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW), 0, "fd %d is open", fd);
    }
    read_proc(pid, "status", status, sizeof(status));
    cr_expect_eq(mask_of(status, "SigBlk:"), 0);
    cr_expect_eq(mask_of(status, "SigIgn:"), 0);
    cr_expect_eq(getpgid(pid), pid);
    mcpump_server_free(server);
    close(stray[0]);
    close(stray[1]);
}

/* What a terminal does on Ctrl-C: SIGINT to the host's whole group. */
Test(spawn, an_interrupt_from_the_terminal_does_not_reach_the_server)
{
    cr_assert(getpgrp() == getpid() || setpgid(0, 0) == 0);
    signal(SIGINT, SIG_IGN);
    mcpump_server *server = test_connect(STRINGS("--era", "legacy"));
    pid_t pid = test_pid(server);
    cr_assert_eq(kill(-getpgrp(), SIGINT), 0);
    test_expect_result(server, "test/echo", "{\"a\":1}", "{\"a\":1}");
    cr_expect_eq(test_pid(server), pid);
    mcpump_server_free(server);
}

/* -- many at once */

#define CAT_GRACE_MS 60000 /* so long a close would take if a sibling held the pipe */

static mcpump_transport *new_cat(void)
{
    mcpump_transport_options options = MCPUMP_TRANSPORT_OPTIONS_INIT;
    mcpump_transport *transport = NULL;
    options.command = "cat";
    options.stdin_grace_ms = CAT_GRACE_MS;
    cr_assert_eq(mcpump_transport_new(&options, &transport, NULL), MCPUMP_OK);
    return transport;
}

static void *start_and_end_often(void *arg)
{
    int64_t *longest = arg;
    mcpump_transport *transport = new_cat();
    for (int i = 0; i < TEST_SCALED(500); i++) {
        cr_assert_eq(mcpump_transport_open(transport, NULL), MCPUMP_OK);
        int64_t started = test_now_ms();
        mcpump_transport_close(transport);
        int64_t took = test_now_ms() - started;
        *longest = took > *longest ? took : *longest;
    }
    mcpump_transport_free(transport);
    return NULL;
}

Test(spawn, two_threads_start_servers_at_once_and_no_sibling_holds_a_pipe)
{
    struct test_resources before = test_resources();
    pthread_t threads[2];
    int64_t longest[2] = {0, 0};
    for (size_t i = 0; i < 2; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, start_and_end_often, &longest[i]), 0);
    for (size_t i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        cr_expect_lt(longest[i], CAT_GRACE_MS / 2);
    }
    EXPECT_NOTHING_LEFT(before, "");
}

/* Locks of malloc and stdio are held at any moment by one of these; a fork that took them along
 * would hang in the child. They run at the lowest priority, so that the rest gets on. */
static void *allocate_and_print(void *arg)
{
    atomic_bool *stop = arg;
    FILE *null = fopen("/dev/null", "we");
    cr_assert_not_null(null);
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 19);
    for (unsigned i = 0; !atomic_load(stop); i++) {
        void *memory = malloc(16 + i % 5000);
        fprintf(null, "%u %p\n", i, memory);
        free(memory);
    }
    fclose(null);
    return NULL;
}

Test(spawn, from_a_host_whose_threads_are_in_malloc_and_printf)
{
    pthread_t threads[8];
    atomic_bool stop = false;
    struct test_resources before = test_resources();
    for (size_t i = 0; i < LENGTH(threads); i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, allocate_and_print, &stop), 0);
    mcpump_transport *transport = new_cat();
    for (int i = 0; i < TEST_SCALED(1000); i++) {
        cr_assert_eq(mcpump_transport_open(transport, NULL), MCPUMP_OK, "spawn %d", i);
        mcpump_transport_close(transport);
    }
    mcpump_transport_free(transport);
    atomic_store(&stop, true);
    for (size_t i = 0; i < LENGTH(threads); i++)
        pthread_join(threads[i], NULL);
    EXPECT_NOTHING_LEFT(before, "");
}
