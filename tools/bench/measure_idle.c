/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system calls that a process with idle connections makes. Counted by ptrace, from a process
 * beside it: each thread is asleep in one call when it is seized, and stops at the end of that and
 * of every later one, and at their beginnings.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "request.h"
#include "samples.h"

#define CONNECTIONS  4
#define SETTLE_NS    (100 * BENCH_NS_PER_MS)
#define NS_PER_S     1000000000
#define SYSCALL_STOP (SIGTRAP | 0x80) /* what PTRACE_O_TRACESYSGOOD makes of it */

/* The process that is watched: one call on each connection, then nothing more. */
static _Noreturn void be_idle(const struct bench_plan *plan, int ready_fd)
{
    for (int i = 0; i < CONNECTIONS; i++)
        bench_client_prepare(bench_client_open(plan), &bench_echo);
    if (write(ready_fd, "", 1) != 1)
        bench_die("nobody watches");
    for (;;)
        pause();
}

static pid_t start_idle(const struct bench_plan *plan)
{
    int ready[2];
    char byte;
    if (pipe(ready) != 0)
        bench_die("cannot make a pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid < 0)
        bench_die("cannot fork: %s", strerror(errno));
    if (pid == 0)
        be_idle(plan, ready[1]);
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1)
        bench_die("the idle process has ended");
    close(ready[0]);
    return pid;
}

static void run_to_next_stop(pid_t thread, int signal_number)
{
    if (ptrace(PTRACE_SYSCALL, thread, NULL, (void *)(intptr_t)signal_number) != 0)
        bench_die("cannot go on tracing: %s", strerror(errno));
}

static void seize(pid_t thread)
{
    void *options = (void *)(intptr_t)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    if (ptrace(PTRACE_SEIZE, thread, NULL, options) != 0 ||
        ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) != 0 || waitpid(thread, NULL, __WALL) < 0)
        bench_die("cannot trace: %s", strerror(errno));
    run_to_next_stop(thread, 0);
}

static void seize_all(pid_t pid)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    if (tasks == NULL)
        bench_die("%s cannot be read", path);
    for (const struct dirent *task; (task = readdir(tasks)) != NULL;) {
        if (task->d_name[0] != '.')
            seize((pid_t)strtol(task->d_name, NULL, 10));
    }
    closedir(tasks);
}

/* Lets the stopped threads go on. Returns how many stood at the beginning or end of a call. */
static int pass_stops(void)
{
    int stops = 0, status;
    for (pid_t thread; (thread = waitpid(-1, &status, __WALL | WNOHANG)) > 0;) {
        if (!WIFSTOPPED(status))
            bench_die("the idle process has ended");
        bool at_call = WSTOPSIG(status) == SYSCALL_STOP;
        bool is_event = status >> 16 != 0;
        stops += at_call;
        run_to_next_stop(thread, at_call || is_event ? 0 : WSTOPSIG(status));
    }
    return stops;
}

/* SIGCHLD is blocked; each stop sends one. */
static int watch(int64_t ns)
{
    sigset_t stopped;
    int stops = 0;
    sigemptyset(&stopped);
    sigaddset(&stopped, SIGCHLD);
    int64_t end = bench_now_ns() + ns;
    for (int64_t left; (left = end - bench_now_ns()) > 0;) {
        struct timespec time = {left / NS_PER_S, left % NS_PER_S};
        sigtimedwait(&stopped, NULL, &time);
        stops += pass_stops();
    }
    return stops;
}

void bench_idle(const struct bench_plan *plan, struct bench_values *ret_values)
{
    pid_t pid = start_idle(plan);
    sigset_t stopped;
    sigemptyset(&stopped);
    sigaddset(&stopped, SIGCHLD);
    sigprocmask(SIG_BLOCK, &stopped, NULL);
    seize_all(pid);
    watch(SETTLE_NS);
    int stops = watch(plan->idle_ns);
    /* A thread that wakes and sleeps again ends one call and begins one. */
    ret_values->of[BENCH_SYSCALLS] = (stops + 1) / 2;
    kill(pid, SIGKILL);
    /* All threads, since whoever traces them has to reap them, the first one last. */
    while (waitpid(-1, NULL, __WALL) > 0) {
    }
}
