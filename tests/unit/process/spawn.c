/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <json-c/json.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "probe.h"
#include "process/spawn.h"
#include "support.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

TestSuite(spawn, .timeout = 60);

static const mcpump_orphans policies[] = {MCPUMP_ORPHANS_NONE, MCPUMP_ORPHANS_LEADER,
                                          MCPUMP_ORPHANS_TREE};

static void expect_list(json_object *report, const char *key, const char *first, char *const *rest)
{
    json_object *list = json_object_object_get(report, key);
    size_t at = 0;
    if (first != NULL)
        cr_expect_str_eq(json_object_get_string(json_object_array_get_idx(list, at++)), first);
    for (; *rest != NULL; rest++)
        cr_expect_str_eq(json_object_get_string(json_object_array_get_idx(list, at++)), *rest);
    cr_expect_eq(json_object_array_length(list), at, "%s", probe_text(report, key));
}

Test(spawn, arguments_and_environment_byte_for_byte)
{
    char *args[] = {(char[]){"a b"},   (char[]){""},          (char[]){"*"},
                    (char[]){"\"'`"},  (char[]){"l1\nl2\t"},  (char[]){"; rm -rf ~"},
                    (char[]){"$HOME"}, (char[]){"\\\\ \\"},   (char[]){"\xff\xfe \xc3\xa9"},
                    (char[]){"-x"},    (char[]){"\x01\x1b["}, NULL};
    char *environment[] = {(char[]){"A= x  y "}, (char[]){"E="}, (char[]){"B=1\n2\"'$A"}, NULL};
    struct mp_spawn_request request = plain_request(probe_path(), args, environment, NULL);
    json_object *report = probe_run(&request);
    expect_list(report, "args", request.command, args);
    expect_list(report, "env", NULL, environment);
    json_object_put(report);
}

Test(spawn, the_childs_path_is_searched_and_argv_0_is_what_was_asked_for)
{
    char path[4300];
    snprintf(path, sizeof(path), "PATH=/none:%s", peers_folder());
    setenv("PATH", "/none", 1);
    struct mp_spawn_request request = plain_request("probe", no_args, (char *[]){path, NULL}, NULL);
    json_object *report = probe_run(&request);
    expect_list(report, "args", "probe", no_args);
    json_object_put(report);
}

Test(spawn, relative_command_and_working_directory)
{
    struct test_folder folder;
    char link[512], wanted[80];
    test_folder_init(&folder);
    test_folder_add(&folder, "sub", NULL, 0755);
    cr_assert_eq(symlink(probe_path(), test_folder_path(&folder, "sub/here", link, sizeof(link))),
                 0);
    struct mp_spawn_request request =
        plain_request("sub/here", no_args, plain_environment, folder.path);
    json_object *report = probe_run(&request);
    snprintf(wanted, sizeof(wanted), "\"%s\"", folder.path);
    cr_expect_str_eq(probe_text(report, "cwd"), wanted);
    expect_list(report, "args", "sub/here", no_args);
    json_object_put(report);
    test_folder_done(&folder);
}

Test(spawn, leads_its_own_group_in_our_session)
{
    json_object *report = plain_probe();
    json_object *pid = json_object_object_get(report, "pid");
    cr_expect(json_object_equal(pid, json_object_object_get(report, "pgid")));
    cr_expect_eq(json_object_get_int(json_object_object_get(report, "sid")), getsid(0));
    json_object_put(report);
}

static void expect_our_ends(const struct mp_spawned *spawned)
{
    int fds[] = {spawned->stdin_fd, spawned->stdout_fd, spawned->stderr_fd, spawned->pidfd};
    for (size_t i = 0; i < LENGTH(fds); i++) {
        cr_expect_gt(fds[i], 2);
        cr_expect(fcntl(fds[i], F_GETFD) & FD_CLOEXEC, "fd %zu", i);
        cr_expect(i == 3 || (fcntl(fds[i], F_GETFL) & O_NONBLOCK), "fd %zu", i);
    }
}

Test(spawn, our_ends_do_not_block_and_the_childs_do)
{
    struct mp_spawned spawned = test_spawn(probe_path(), (const char *const[]){NULL});
    expect_our_ends(&spawned);
    json_object *report = probe_read(&spawned);
    cr_expect_str_eq(probe_text(report, "nonblocking"), "[]");
    json_object_put(report);
}

Test(spawn, three_pipes_that_go_where_they_should)
{
    char out[64];
    struct mp_spawned spawned = test_spawn_shell("cat; echo err >&2");
    cr_assert_eq(write(spawned.stdin_fd, "out", 3), 3);
    close(spawned.stdin_fd);
    spawned.stdin_fd = dup(0);
    test_read_all(spawned.stdout_fd, out, sizeof(out));
    cr_expect_str_eq(out, "out");
    test_read_all(spawned.stderr_fd, out, sizeof(out));
    cr_expect_str_eq(out, "err\n");
    probe_end(&spawned);
}

Test(spawn, host_without_0_to_2)
{
    int kept[3];
    const char *path = probe_path();
    struct mp_spawn_request request = plain_request(path, no_args, plain_environment, NULL);
    struct mp_spawned spawned;
    struct mp_spawn_error error = {MCPUMP_STAGE_NONE, 0};
    for (int fd = 0; fd < 3; fd++) {
        kept[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 100);
        close(fd);
    }
    int result = mp_spawn(&request, &spawned, &error);
    bool taken = fcntl(0, F_GETFD) >= 0 || fcntl(1, F_GETFD) >= 0 || fcntl(2, F_GETFD) >= 0;
    for (int fd = 0; fd < 3; fd++)
        dup2(kept[fd], fd);
    cr_assert_eq(result, 0, "%s: %s", mcpump_stage_text(error.stage), strerror(error.err));
    cr_assert_not(taken);
    expect_our_ends(&spawned);
    json_object *report = probe_read(&spawned);
    cr_expect_str_eq(probe_text(report, "fds"), "[0,1,2]");
    json_object_put(report);
}

static void handler(int signal)
{
    (void)signal;
}

Test(spawn, signals_of_the_host_stay_with_the_host)
{
    static sigset_t all, before, after; /* zero where the kernel does not write */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGRTMAX, SIG_IGN);
    signal(SIGUSR1, handler);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    sigprocmask(SIG_BLOCK, NULL, &before);

    struct mp_spawned spawned = test_spawn(probe_path(), (const char *const[]){NULL});
    sigprocmask(SIG_BLOCK, NULL, &after);
    cr_expect_eq(memcmp(&before, &after, sizeof(before)), 0);
    cr_expect_eq(signal(SIGPIPE, SIG_DFL), SIG_IGN);
    cr_expect_eq(signal(SIGRTMAX, SIG_DFL), SIG_IGN);
    cr_expect_eq(signal(SIGUSR1, SIG_DFL), handler);

    json_object *report = probe_read(&spawned);
    cr_expect_str_eq(probe_text(report, "SigBlk"), "\"0000000000000000\"");
    cr_expect_str_eq(probe_text(report, "SigIgn"), "\"0000000000000000\"");
    json_object_put(report);
}

/* Makes a system call fail with ENOSYS, here and in our children. */
static bool take_away(unsigned number)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {LENGTH(code), code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static const struct {
    const char *name;
    unsigned number; /* a system call that is missing from then on */
} kernels[] = {
    {"all system calls", 0},
    {"no close_range", 436},
    {"no close_range, no list of fds", SYS_getdents64},
};

Test(spawn, foreign_fds_do_not_reach_the_child)
{
    for (int i = 0; i < 300; i++)
        cr_assert_geq(dup(0), 0);
    cr_assert_eq(dup2(0, 900), 900);
    for (size_t i = 0; i < LENGTH(kernels); i++) {
        if (kernels[i].number != 0 && !take_away(kernels[i].number))
            cr_skip_test("no seccomp here");
        for (size_t j = 0; j < LENGTH(policies); j++) {
            struct mp_spawn_request request =
                plain_request(probe_path(), no_args, plain_environment, NULL);
            request.orphans = policies[j];
            json_object *report = probe_run(&request);
            cr_expect_str_eq(probe_text(report, "fds"), "[0,1,2]", "%s", kernels[i].name);
            json_object_put(report);
        }
    }
    cr_expect_eq(fcntl(900, F_GETFD), 0, "ours stay open");
}

/* '@' in front stands for the folder. */
static const struct {
    const char *name, *command, *cwd;
    mcpump_stage stage;
    int err;
} failures[] = {
    {"missing command", "mcpump-no-such-command", NULL, MCPUMP_STAGE_LOOKUP, ENOENT},
    {"missing path", "@/missing", NULL, MCPUMP_STAGE_LOOKUP, ENOENT},
    {"empty command", "", NULL, MCPUMP_STAGE_LOOKUP, ENOENT},
    {"directory", "@/dir", NULL, MCPUMP_STAGE_LOOKUP, EISDIR},
    {"not executable", "@/plain", NULL, MCPUMP_STAGE_LOOKUP, EACCES},
    {"script without interpreter", "@/script", NULL, MCPUMP_STAGE_EXEC, ENOEXEC},
    {"empty program", "@/empty", NULL, MCPUMP_STAGE_EXEC, ENOEXEC},
    {"script with a missing interpreter", "@/lost", NULL, MCPUMP_STAGE_EXEC, ENOENT},
    {"missing cwd", "true", "@/missing", MCPUMP_STAGE_DIRECTORY, ENOENT},
    {"missing cwd of a relative command", "./true", "@/missing", MCPUMP_STAGE_DIRECTORY, ENOENT},
    {"missing cwd and command", "missing", "@/missing", MCPUMP_STAGE_DIRECTORY, ENOENT},
    {"cwd is a file", "true", "@/plain", MCPUMP_STAGE_DIRECTORY, ENOTDIR},
    {"relative command that is not in cwd", "./script", "@/dir", MCPUMP_STAGE_LOOKUP, ENOENT},
};

static void make_failing(struct test_folder *folder)
{
    test_folder_init(folder);
    test_folder_add(folder, "dir", NULL, 0755);
    test_folder_add(folder, "plain", "x", 0644);
    test_folder_add(folder, "script", "echo hello\n", 0755);
    test_folder_add(folder, "empty", "", 0755);
    test_folder_add(folder, "lost", "#!/none/such\n", 0755);
}

static void expect_nothing_left(int fds, const char *name)
{
    cr_expect_eq(test_count_fds(), fds, "%s: fds", name);
    cr_expect(waitid(P_ALL, 0, NULL, WEXITED | WNOHANG | WNOWAIT) == -1 && errno == ECHILD,
              "%s: a child is left", name);
}

static void expect_failure(size_t row, const char *folder, mcpump_orphans orphans)
{
    char command[512], cwd[512];
    const char *name = failures[row].name;
    bool in_folder = failures[row].command[0] == '@';
    snprintf(command, sizeof(command), "%s%s", in_folder ? folder : "",
             failures[row].command + in_folder);
    snprintf(cwd, sizeof(cwd), "%s%s", folder, failures[row].cwd ? failures[row].cwd + 1 : "");
    struct mp_spawn_request request =
        plain_request(command, no_args, plain_environment, failures[row].cwd ? cwd : NULL);
    request.orphans = orphans;
    struct mp_spawned spawned = {.pid = 77};
    struct mp_spawn_error error = {MCPUMP_STAGE_NONE, 0};
    errno = EXDEV;
    cr_expect_eq(mp_spawn(&request, &spawned, &error), -1, "%s", name);
    cr_expect_eq(errno, EXDEV, "%s: errno is kept", name);
    cr_expect_eq(error.stage, failures[row].stage, "%s: %s", name, mcpump_stage_text(error.stage));
    cr_expect_eq(error.err, failures[row].err, "%s: %s", name, strerror(error.err));
    cr_expect_eq(spawned.pid, 77, "%s: result touched", name);
}

Test(spawn, failures_say_where_and_why_and_leave_nothing)
{
    struct test_folder folder;
    make_failing(&folder);
    int fds = test_count_fds();
    for (size_t i = 0; i < LENGTH(failures) * LENGTH(policies); i++) {
        size_t row = i / LENGTH(policies);
        expect_failure(row, folder.path, policies[i % LENGTH(policies)]);
        expect_nothing_left(fds, failures[row].name);
    }
    test_folder_done(&folder);
}

/* Both are wrong; the one that the user has written is told. */
Test(spawn, a_missing_command_is_told_before_a_missing_guard)
{
    static const char *const commands[] = {"/none/such", "mcpump-no-such-command"};
    int fds = test_count_fds();
    for (size_t i = 0; i < LENGTH(commands); i++) {
        struct mp_spawn_request request =
            plain_request(commands[i], no_args, plain_environment, NULL);
        request.orphans = MCPUMP_ORPHANS_TREE;
        request.guard = "/none/such/guard";
        struct mp_spawned spawned;
        struct mp_spawn_error error = {MCPUMP_STAGE_NONE, 0};
        cr_assert_eq(mp_spawn(&request, &spawned, &error), -1);
        cr_expect_eq(error.stage, MCPUMP_STAGE_LOOKUP, "%s", mcpump_stage_text(error.stage));
        cr_expect_eq(error.err, ENOENT, "%s", strerror(error.err));
        expect_nothing_left(fds, commands[i]);
    }
}

Test(spawn, arguments_that_are_too_long)
{
    size_t size = 1 << 20;
    char *args[] = {malloc(size), NULL};
    memset(args[0], 'x', size - 1);
    args[0][size - 1] = '\0';
    int fds = test_count_fds();
    for (size_t i = 0; i < LENGTH(policies); i++) {
        struct mp_spawn_request request = plain_request("true", args, plain_environment, NULL);
        request.orphans = policies[i];
        struct mp_spawned spawned;
        struct mp_spawn_error error = {MCPUMP_STAGE_NONE, 0};
        cr_assert_eq(mp_spawn(&request, &spawned, &error), -1);
        cr_expect_eq(error.stage, MCPUMP_STAGE_EXEC);
        cr_expect_eq(error.err, E2BIG, "%s", strerror(error.err));
        expect_nothing_left(fds, "too long");
    }
    free(args[0]);
}

#define MOST_ROOM 32

/* Whether it could be started with so many fds beyond those that are there. */
static bool start_with_room(int room, int first_free, mcpump_orphans orphans)
{
    struct rlimit old, limit;
    struct mp_spawn_request request = plain_request("cat", no_args, plain_environment, NULL);
    request.orphans = orphans;
    struct mp_spawned spawned;
    struct mp_spawn_error error = {MCPUMP_STAGE_NONE, 0};
    getrlimit(RLIMIT_NOFILE, &old);
    limit = old;
    limit.rlim_cur = (rlim_t)(first_free + room);
    setrlimit(RLIMIT_NOFILE, &limit);
    int result = mp_spawn(&request, &spawned, &error);
    setrlimit(RLIMIT_NOFILE, &old);
    if (result == 0) {
        probe_end(&spawned);
        return true;
    }
    cr_expect(error.stage == MCPUMP_STAGE_PIPES || error.stage == MCPUMP_STAGE_FORK ||
                  error.stage == MCPUMP_STAGE_GUARD,
              "room %d: %s", room, mcpump_stage_text(error.stage));
    cr_expect_eq(error.err, EMFILE, "room %d: %s", room, strerror(error.err));
    return false;
}

Test(spawn, at_every_limit_of_fds)
{
    int fds = test_count_fds(), first = dup(0);
    close(first);
    for (size_t i = 0; i < LENGTH(policies); i++) {
        int successes = 0;
        for (int room = 0; room < MOST_ROOM; room++) {
            successes += start_with_room(room, first, policies[i]);
            expect_nothing_left(fds, "limit");
        }
        cr_expect(successes > 0 && successes < MOST_ROOM, "%d", successes);
    }
}

/* Only the first needs a pipe for its report. Of those later, the child's ends of the three are all
 * that was open while the pidfd was made, and no more is. */
Test(spawn, reports_without_a_pipe)
{
    for (int i = 0; i < 3; i++) {
        struct mp_spawned spawned = test_spawn("cat", (const char *const[]){NULL});
        int closed = 0;
        for (int fd = 0; fd < spawned.pidfd; fd++)
            closed += fcntl(fd, F_GETFD) < 0;
        cr_expect(i == 0 || closed == 3, "%d", closed);
        probe_end(&spawned);
        expect_failure(0, "", MCPUMP_ORPHANS_NONE);
    }
}

Test(spawn, nothing_is_left_after_a_success)
{
    int fds = test_count_fds();
    for (int i = 0; i < 20; i++) {
        struct mp_spawned spawned = test_spawn("cat", (const char *const[]){NULL});
        probe_end(&spawned);
    }
    expect_nothing_left(fds, "success");
}

/* Each thread keeps one child while it ends the one before: were a sibling to hold its stdin, it
 * would not end. */
static void *start_and_end(void *arg)
{
    (void)arg;
    struct mp_spawned last = test_spawn("cat", (const char *const[]){NULL});
    for (int i = 0; i < 300; i++) {
        struct mp_spawned next = test_spawn("cat", (const char *const[]){NULL});
        probe_end(&last);
        last = next;
    }
    probe_end(&last);
    return NULL;
}

Test(spawn, two_threads_at_once)
{
    pthread_t threads[2];
    for (size_t i = 0; i < LENGTH(threads); i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, start_and_end, NULL), 0);
    for (size_t i = 0; i < LENGTH(threads); i++)
        pthread_join(threads[i], NULL);
}

static atomic_bool enough;

static void *allocate_and_print(void *arg)
{
    (void)arg;
    FILE *null = fopen("/dev/null", "we");
    while (!atomic_load(&enough)) {
        char *bytes = malloc(1000);
        fprintf(null, "%p\n", (void *)bytes);
        free(bytes);
    }
    fclose(null);
    return NULL;
}

Test(spawn, a_thousand_beside_threads_that_allocate)
{
    pthread_t threads[8];
    for (size_t i = 0; i < LENGTH(threads); i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, allocate_and_print, NULL), 0);
    for (int i = 0; i < 1000; i++) {
        struct mp_spawned spawned = test_spawn("true", (const char *const[]){NULL});
        probe_end(&spawned);
    }
    atomic_store(&enough, true);
    for (size_t i = 0; i < LENGTH(threads); i++)
        pthread_join(threads[i], NULL);
}

struct forker {
    int lifeline[2]; /* the children end with the last write end, thus also if the test dies */
    pid_t children[100];
};

/* Children that never exec, forked at any moment: they keep copies of whatever was open. */
static void *fork_and_keep(void *arg)
{
    struct forker *forker = arg;
    for (size_t i = 0; i < LENGTH(forker->children); i++) {
        forker->children[i] = fork();
        if (forker->children[i] == 0) {
            char none;
            close(forker->lifeline[1]);
            _exit((int)read(forker->lifeline[0], &none, 1));
        }
    }
    atomic_store(&enough, true);
    return NULL;
}

Test(spawn, is_not_held_up_by_copies_of_its_fds)
{
    struct forker forker;
    pthread_t thread;
    cr_assert_eq(pipe2(forker.lifeline, O_CLOEXEC), 0);
    cr_assert_eq(pthread_create(&thread, NULL, fork_and_keep, &forker), 0);
    while (!atomic_load(&enough)) {
        struct mp_spawned spawned = test_spawn("true", (const char *const[]){NULL});
        probe_end(&spawned);
    }
    pthread_join(thread, NULL);
    close(forker.lifeline[1]);
    for (size_t i = 0; i < LENGTH(forker.children); i++)
        cr_expect_eq(waitpid(forker.children[i], NULL, 0), forker.children[i]);
}

static void *spawn_while_cancelled(void *arg)
{
    struct mp_spawn_request request = plain_request("cat", no_args, plain_environment, NULL);
    request.orphans = MCPUMP_ORPHANS_NONE; /* this thread ends before the command */
    struct mp_spawn_error error;
    int cancel_state;
    pthread_cancel(pthread_self());
    int result = mp_spawn(&request, arg, &error);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    cr_expect_eq(result, 0);
    cr_expect_eq(cancel_state, PTHREAD_CANCEL_ENABLE, "as it was");
    return arg;
}

Test(spawn, is_not_cut_short_by_cancellation)
{
    struct mp_spawned spawned = {.pid = -1};
    pthread_t thread;
    void *result;
    cr_assert_eq(pthread_create(&thread, NULL, spawn_while_cancelled, &spawned), 0);
    pthread_join(thread, &result);
    cr_assert_eq(result, &spawned, "cancelled inside");
    probe_end(&spawned);
}
