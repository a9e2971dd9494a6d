/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of this room share: a scratch folder, a count of fds, waits on fds, a short way to
 * start a command. Failures end the test. */
#ifndef UNIT_PROCESS_SUPPORT_H
#define UNIT_PROCESS_SUPPORT_H

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/spawn.h"

#define TEST_PATIENCE_MS 30000 /* far more than anything here takes */

struct test_folder {
    char path[64];
};

static inline void test_folder_init(struct test_folder *folder)
{
    strcpy(folder->path, "/tmp/mcpump-unit-XXXXXX");
    cr_assert_not_null(mkdtemp(folder->path));
}

static inline int test_remove(const char *path, const struct stat *status, int type,
                              struct FTW *where)
{
    (void)status, (void)type, (void)where;
    return remove(path);
}

static inline void test_folder_done(struct test_folder *folder)
{
    nftw(folder->path, test_remove, 8, FTW_DEPTH | FTW_PHYS);
}

static inline const char *test_folder_path(const struct test_folder *folder, const char *name,
                                           char *out, size_t capacity)
{
    snprintf(out, capacity, "%s/%s", folder->path, name);
    return out;
}

/* A file with this text; text NULL: a directory. */
static inline void test_folder_add(const struct test_folder *folder, const char *name,
                                   const char *text, mode_t mode)
{
    char path[512];
    test_folder_path(folder, name, path, sizeof(path));
    if (text == NULL) {
        cr_assert_eq(mkdir(path, mode), 0, "%s", path);
        return;
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    cr_assert_geq(fd, 0, "%s", path);
    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static inline int test_count_fds(void)
{
    DIR *fds = opendir("/proc/self/fd");
    cr_assert_not_null(fds);
    int count = -1; /* its own */
    for (struct dirent *entry = readdir(fds); entry != NULL; entry = readdir(fds))
        count += entry->d_name[0] != '.';
    closedir(fds);
    return count;
}

/* A pidfd is readable when its process has ended, a pipe when it has bytes or came to its end. */
static inline bool test_wait_readable(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};
    return poll(&one, 1, TEST_PATIENCE_MS) == 1;
}

/* Reads up to the end of the pipe, which must come. Returns the size; the text is NUL-terminated.
 */
static inline size_t test_read_all(int fd, char *out, size_t capacity)
{
    size_t size = 0;
    for (;;) {
        cr_assert(test_wait_readable(fd), "no end of output");
        ssize_t n = read(fd, out + size, capacity - 1 - size);
        cr_assert_geq(n, 0);
        size += (size_t)n;
        cr_assert_lt(size, capacity - 1, "output too long");
        out[size] = '\0';
        if (n == 0)
            return size;
    }
}

static inline void test_close(struct mp_spawned *spawned)
{
    int *fds[] = {&spawned->stdin_fd, &spawned->stdout_fd, &spawned->stderr_fd, &spawned->pidfd,
                  &spawned->guard_fd};
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        if (*fds[i] >= 0)
            cr_assert_eq(close(*fds[i]), 0);
        *fds[i] = -1;
    }
}

/* A program of the build; this one is in tests/unit. */
static inline const char *test_build_path(const char *name, char *out, size_t capacity)
{
    ssize_t size = readlink("/proc/self/exe", out, capacity - 1);
    cr_assert_gt(size, 0);
    out[size] = '\0';
    for (int up = 0; up < 3; up++)
        *strrchr(out, '/') = '\0';
    size_t used = strlen(out);
    snprintf(out + used, capacity - used, "/%s", name);
    return out;
}

static inline const char *test_guard_path(void)
{
    static char path[4096];
    return test_build_path("tools/guard/mcpump-guard", path, sizeof(path));
}

/* Starts a command that is there. */
static inline struct mp_spawned test_spawn_request(const struct mp_spawn_request *request)
{
    struct mp_spawned spawned;
    struct mp_spawn_error error = {MCPUMP_STAGE_NONE, 0};
    cr_assert_eq(mp_spawn(request, &spawned, &error), 0, "%s: %s: %s", request->command,
                 mcpump_stage_text(error.stage), strerror(error.err));
    return spawned;
}

/* In a plain environment. */
static inline struct mp_spawned test_spawn_under(mcpump_orphans orphans, const char *command,
                                                 const char *const *args)
{
    char path[] = "PATH=/usr/bin:/bin";
    char *environment[] = {path, NULL};
    struct mp_spawn_request request = {.command = command,
                                       .args = (char *const *)(uintptr_t)args,
                                       .environment = environment,
                                       .orphans = orphans};
    if (orphans == MCPUMP_ORPHANS_TREE)
        request.guard = test_guard_path();
    return test_spawn_request(&request);
}

static inline struct mp_spawned test_spawn(const char *command, const char *const *args)
{
    return test_spawn_under(MCPUMP_ORPHANS_DEFAULT, command, args);
}

static inline struct mp_spawned test_spawn_shell(const char *script)
{
    return test_spawn("sh", (const char *const[]){"-c", script, NULL});
}

#endif
