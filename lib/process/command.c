/* SPDX-License-Identifier: Apache-2.0 */
#include "process/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

/* 0 when execve may try it. Asks with the effective ids, as execve does. */
static int executable_error(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return errno;
    if (S_ISDIR(status.st_mode))
        return EISDIR;
    if (!S_ISREG(status.st_mode))
        return EACCES;
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

static void add_segment(struct mp_buffer *path, const char *text, size_t size)
{
    if (path->size > 0 && path->bytes[path->size - 1] != '/')
        mp_buffer_add(path, "/", 1);
    mp_buffer_add(path, text, size);
}

/* The command in one directory, or (size 0) where it stands; both count from cwd if relative. NULL:
 * no memory. */
static char *join(const char *directory, size_t size, const char *command, const char *cwd)
{
    struct mp_buffer path = MP_BUFFER_INIT;
    const char *base = cwd != NULL ? cwd : ".";
    if ((size > 0 ? directory : command)[0] != '/')
        add_segment(&path, base, strlen(base));
    if (size > 0)
        add_segment(&path, directory, size);
    add_segment(&path, command, strlen(command));
    return mp_buffer_take(&path);
}

static int try_directory(const char *directory, size_t size, const char *command, const char *cwd,
                         char **ret_path)
{
    char *whole = join(directory, size, command, cwd);
    if (whole == NULL)
        return ENOMEM;
    int err = executable_error(whole);
    if (err == 0)
        *ret_path = whole;
    else
        free(whole);
    return err;
}

int mp_command_path(const char *command, const char *cwd, char **ret_path)
{
    char *path = NULL;
    if (strchr(command, '/') != NULL && (path = join(NULL, 0, command, cwd)) == NULL)
        return ENOMEM;
    *ret_path = path;
    return 0;
}

int mp_command_find(const char *command, const char *path, const char *cwd, char **ret_path)
{
    if (command[0] == '\0')
        return ENOENT;
    if (strchr(command, '/') != NULL)
        return try_directory(NULL, 0, command, cwd, ret_path);

    /* What is wrong with one directory does not end the search, but is told if nothing is found;
     * of several such errors, "found, not executable" tells most. */
    int found = ENOENT;
    const char *at = path != NULL ? path : DEFAULT_PATH;
    for (;;) {
        size_t size = strcspn(at, ":");
        int err = try_directory(at, size, command, cwd, ret_path);
        if (err == 0 || err == ENOMEM)
            return err;
        if (err != ENOTDIR && (found == ENOENT || err == EACCES))
            found = err;
        if (at[size] == '\0')
            return found;
        at += size + 1;
    }
}
