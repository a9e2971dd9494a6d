/* SPDX-License-Identifier: Apache-2.0 */
#include "runner.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_ARGS 64

extern char **environ;

static const char *path_of(const char *variable)
{
    const char *path = getenv(variable);
    cr_assert_not_null(path, "%s is not set: run this through meson test", variable);
    return path;
}

const char *cli_demo(void)
{
    return path_of("DEMO_SERVER");
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The two ends of what will be the tool's stdout; *ret_read is -1 where nothing can be read. */
static void open_stdout(enum cli_stdout kind, int *ret_read, int *ret_write)
{
    int ends[2] = {-1, -1};
    if (kind == CLI_PIPE) {
        cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    } else if (kind == CLI_FULL_DISK) {
        ends[1] = open("/dev/full", O_WRONLY | O_CLOEXEC);
    } else {
        ends[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
        cr_assert(grantpt(ends[0]) == 0 && unlockpt(ends[0]) == 0);
        ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY | O_CLOEXEC);
    }
    cr_assert_geq(ends[1], 0);
    *ret_read = ends[0];
    *ret_write = ends[1];
}

static pid_t spawn_tool(const char *const *args, int out, int err)
{
    char *argv[MAX_ARGS] = {(char *)(size_t)path_of("MCPUMP")};
    size_t count = 1;
    for (; args[count - 1] != NULL; count++) {
        cr_assert_lt(count, MAX_ARGS - 1);
        argv[count] = (char *)(size_t)args[count - 1];
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
    /* Whatever runs the tests may ignore signals that these tests send. */
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t signals;
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    pid_t pid = -1;
    int failed = posix_spawn(&pid, argv[0], &actions, &attributes, argv, environ);
    cr_assert_eq(failed, 0, "%s: %s", argv[0], strerror(failed));
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

void cli_start(struct cli_process *process, enum cli_stdout kind, const char *const *args)
{
    int out, err[2];
    *process = (struct cli_process){.out.fd = -1, .err.fd = -1};
    process->out.bytes = calloc(1, 1);
    process->err.bytes = calloc(1, 1);
    open_stdout(kind, &process->out.fd, &out);
    cr_assert_eq(pipe2(err, O_CLOEXEC), 0);
    process->err.fd = err[0];
    process->pid = spawn_tool(args, out, err[1]);
    close(out);
    close(err[1]);
}

static void end_text(struct cli_text *text)
{
    if (text->fd >= 0)
        close(text->fd);
    text->fd = -1;
}

/* The end of a terminal reads as EIO. */
static void read_some(struct cli_text *text)
{
    char chunk[65536];
    ssize_t got = read(text->fd, chunk, sizeof(chunk));
    if (got <= 0) {
        cr_assert(got == 0 || errno == EIO, "read: %s", strerror(errno));
        end_text(text);
        return;
    }
    text->bytes = realloc(text->bytes, text->size + (size_t)got + 1);
    memcpy(text->bytes + text->size, chunk, (size_t)got);
    text->size += (size_t)got;
    text->bytes[text->size] = '\0';
}

/* Reads once from what is ready. A terminal hangs up without POLLIN. */
static void pump(struct cli_process *process, int64_t until_ms)
{
    struct pollfd fds[2] = {{.fd = process->out.fd, .events = POLLIN},
                            {.fd = process->err.fd, .events = POLLIN}};
    int64_t left = until_ms - now_ms();
    int ready = left > 0 ? poll(fds, 2, (int)left) : 0;
    if (ready == 0) {
        kill(process->pid, SIGKILL);
        cr_assert_fail("the tool hangs; stdout: %.500s\nstderr: %.500s", process->out.bytes,
                       process->err.bytes);
    }
    if (fds[0].revents != 0)
        read_some(&process->out);
    if (fds[1].revents != 0)
        read_some(&process->err);
}

void cli_await_err(struct cli_process *process, const char *text)
{
    int64_t until = now_ms() + CLI_PATIENCE_MS;
    while (strstr(process->err.bytes, text) == NULL) {
        cr_assert_geq(process->err.fd, 0, "\"%s\" is not in stderr: %s", text, process->err.bytes);
        pump(process, until);
    }
}

void cli_await_out(struct cli_process *process, size_t size)
{
    int64_t until = now_ms() + CLI_PATIENCE_MS;
    while (process->out.size < size) {
        cr_assert_geq(process->out.fd, 0, "stdout ended early; stderr: %s", process->err.bytes);
        pump(process, until);
    }
}

void cli_stop_reading(struct cli_process *process)
{
    end_text(&process->out);
}

void cli_finish(struct cli_process *process)
{
    int64_t until = now_ms() + CLI_PATIENCE_MS;
    while (process->out.fd >= 0 || process->err.fd >= 0)
        pump(process, until);
    int status;
    cr_assert_eq(waitpid(process->pid, &status, 0), process->pid);
    process->status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void cli_process_free(struct cli_process *process)
{
    end_text(&process->out);
    end_text(&process->err);
    free(process->out.bytes);
    free(process->err.bytes);
}

pid_t cli_pid_in(const char *text)
{
    const char *found = strstr(text, "pid ");
    cr_assert_not_null(found, "no pid in: %s", text);
    return (pid_t)strtol(found + 4, NULL, 10);
}

bool cli_is_alive(pid_t pid)
{
    cr_assert_gt(pid, 0);
    return kill(pid, 0) == 0 || errno != ESRCH;
}

void cli_run(struct cli_process *process, const char *const *args)
{
    cli_start(process, CLI_PIPE, args);
    cli_finish(process);
}
