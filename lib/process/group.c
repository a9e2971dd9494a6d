/* SPDX-License-Identifier: Apache-2.0 */
#include "process/group.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The start of a stat file up to the number of threads: pid, a name of at most 64 bytes in
 * parentheses, the state, 17 numbers of at most 20 digits. */
#define STAT_BYTES 512

/* Whether /proc/NAME is a living process of the group. One that ends meanwhile is not. */
static bool is_living_member(int proc, const char *name, pid_t group)
{
    char path[32], text[STAT_BYTES];
    snprintf(path, sizeof(path), "%.20s/stat", name);
    int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t size = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (size <= 0)
        return false;
    text[size] = '\0';
    /* The name may hold anything, parentheses and spaces too: what counts is behind its last one.
     */
    const char *behind_name = strrchr(text, ')');
    char state;
    int found;
    long threads;
    if (behind_name == NULL ||
        sscanf(behind_name + 1,
               " %c %*s %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld", &state,
               &found, &threads) != 3)
        return false;
    /* A process shows the state of its main thread, which may have ended before the others. */
    return found == group && ((state != 'Z' && state != 'X') || threads > 1);
}

static bool has_living_member(pid_t group)
{
    DIR *proc = opendir("/proc");
    if (proc == NULL)
        return true;
    bool found = false;
    const struct dirent *entry;
    while (!found && (entry = readdir(proc)) != NULL)
        found = isdigit((unsigned char)entry->d_name[0]) &&
                is_living_member(dirfd(proc), entry->d_name, group);
    closedir(proc);
    return found;
}

bool mp_group_is_alive(pid_t group)
{
    /* EPERM: there are members, of another user. */
    if (kill(-group, 0) != 0 && errno == ESRCH)
        return false;
    return has_living_member(group);
}
