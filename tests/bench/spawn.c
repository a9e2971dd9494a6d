/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it costs until a command runs: mp_spawn beside a bare posix_spawn of the same program, and
 * beside one that does as much (three pipes, a process group, signals, no other fds). The three
 * take turns, so that whatever the machine does meets all of them. Reaping is not measured.
 *
 *   bench-spawn [COUNT [MIB]]    MIB: so much memory is touched before, as a large host has it
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/spawn.h"

#define PROGRAM "/bin/true"
#define WARM_UP 20

static char *const args[] = {(char[]){"true"}, NULL};
static char *const environment[] = {(char[]){"PATH=/usr/bin:/bin"}, NULL};

static void must(int err, const char *what)
{
    if (err == 0)
        return;
    fprintf(stderr, "bench-spawn: %s: %s\n", what, strerror(err));
    exit(1);
}

/* -- the three; each returns how long it took */

static void reap(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

static int64_t spawn_bare(void)
{
    pid_t pid;
    int64_t start = mp_now_ns();
    must(posix_spawn(&pid, PROGRAM, NULL, NULL, args, environment), "posix_spawn");
    int64_t took = mp_now_ns() - start;
    reap(pid);
    return took;
}

static void set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(attributes);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                             POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
}

static int64_t spawn_alike(void)
{
    pid_t pid;
    int pipes[3][2];
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int64_t start = mp_now_ns();
    set_attributes(&attributes);
    posix_spawn_file_actions_init(&actions);
    for (int i = 0; i < 3; i++) {
        must(pipe2(pipes[i], O_CLOEXEC) == 0 ? 0 : errno, "pipe2");
        must(fcntl(pipes[i][i == 0], F_SETFL, O_NONBLOCK) == 0 ? 0 : errno, "fcntl");
        posix_spawn_file_actions_adddup2(&actions, pipes[i][i != 0], i);
    }
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 34)
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
#endif
    must(posix_spawn(&pid, PROGRAM, &actions, &attributes, args, environment), "posix_spawn");
    for (int i = 0; i < 3; i++)
        close(pipes[i][i != 0]);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    int64_t took = mp_now_ns() - start;
    for (int i = 0; i < 3; i++)
        close(pipes[i][i == 0]);
    reap(pid);
    return took;
}

static int64_t spawn_ours(void)
{
    const struct mp_spawn_request request = {
        .command = PROGRAM, .args = args + 1, .environment = environment};
    struct mp_spawned spawned;
    struct mp_spawn_error error = {MCPUMP_STAGE_NONE, 0};
    int64_t start = mp_now_ns();
    must(mp_spawn(&request, &spawned, &error) == 0 ? 0 : error.err, "mp_spawn");
    int64_t took = mp_now_ns() - start;
    close(spawned.stdin_fd);
    close(spawned.stdout_fd);
    close(spawned.stderr_fd);
    reap(spawned.pid);
    close(spawned.pidfd);
    return took;
}

/* -- the run */

static int compare(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static double median_us(int64_t *samples, size_t count)
{
    qsort(samples, count, sizeof(*samples), compare);
    return (double)samples[count / 2] / 1000;
}

static void touch(size_t mib)
{
    size_t size = mib << 20;
    if (size == 0)
        return;
    void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(bytes != MAP_FAILED ? 0 : errno, "mmap");
    madvise(bytes, size, MADV_NOHUGEPAGE); /* as many page tables as can be */
    memset(bytes, 1, size);
}

int main(int argc, char **argv)
{
    static int64_t (*const ways[])(void) = {spawn_bare, spawn_alike, spawn_ours};
    enum { WAYS = sizeof(ways) / sizeof(ways[0]) };
    size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    size_t mib = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    int64_t *samples[WAYS];
    double us[WAYS];
    if (count == 0)
        return 2;
    touch(mib);
    for (int way = 0; way < WAYS; way++) {
        samples[way] = calloc(count, sizeof(**samples));
        must(samples[way] != NULL ? 0 : ENOMEM, "samples");
    }
    for (size_t i = 0; i < WARM_UP + count; i++) {
        for (int way = 0; way < WAYS; way++) {
            int64_t took = ways[way]();
            samples[way][i < WARM_UP ? 0 : i - WARM_UP] = took;
        }
    }
    for (int way = 0; way < WAYS; way++) {
        us[way] = median_us(samples[way], count);
        free(samples[way]);
    }
    printf("%zu times, %zu MiB touched: posix_spawn %.1f us, as much by posix_spawn %.1f us, "
           "mp_spawn %.1f us: %.3f, %.3f\n",
           count, mib, us[0], us[1], us[2], us[2] / us[0], us[2] / us[1]);
    return 0;
}
