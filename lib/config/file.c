/* SPDX-License-Identifier: Apache-2.0 */
#include "config/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vault.h"

#define FIRST_READ 4096

/* A regular file tells its size; anything else, such as a pipe, is read in growing steps. */
static size_t first_capacity(int fd)
{
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < FIRST_READ)
        return FIRST_READ;
    return (size_t)info.st_size + 1;
}

/* Reads until the end, or until there is no room. */
static int fill(int fd, char *text, size_t capacity, size_t *size)
{
    while (*size < capacity) {
        ssize_t got = read(fd, text + *size, capacity - *size);
        if (got == 0)
            return 0;
        if (got < 0 && errno != EINTR)
            return errno;
        *size += got > 0 ? (size_t)got : 0;
    }
    return EFBIG;
}

static int read_all(int fd, size_t most, char **ret_text, size_t *ret_size)
{
    size_t capacity = first_capacity(fd), size = 0;
    capacity = capacity <= most ? capacity : most + 1;
    for (char *text = NULL;;) {
        char *larger = mp_vault_new(capacity, true);
        if (larger != NULL && size > 0)
            memcpy(larger, text, size);
        mp_vault_free(text);
        if (larger == NULL)
            return ENOMEM;
        text = larger;
        int err = fill(fd, text, capacity, &size);
        if (err == 0) {
            *ret_text = text;
            *ret_size = size;
            return 0;
        }
        if (err != EFBIG || capacity > most) {
            mp_vault_free(text);
            return err;
        }
        capacity = capacity <= most / 2 ? capacity * 2 : most + 1;
    }
}

int mp_file_read(const char *path, size_t most, char **ret_text, size_t *ret_size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return errno;
    int err = read_all(fd, most, ret_text, ret_size);
    close(fd);
    return err;
}

/* -- places */

void mp_file_place(struct mp_buffer *out, unsigned place)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (place == 0)
        mp_buffer_add_text(out, "./.mcp.json");
    else if (config != NULL && config[0] == '/')
        mp_buffer_addf(out, "%s/mcpump/servers.json", config);
    else if (home != NULL && home[0] != '\0')
        mp_buffer_addf(out, "%s/.config/mcpump/servers.json", home);
}

/* Without slashes at the end; the root becomes "". */
static void trim(struct mp_buffer *path)
{
    while (path->size > 0 && path->bytes[path->size - 1] == '/')
        path->bytes[--path->size] = '\0';
}

bool mp_file_base(struct mp_buffer *out, const char *path)
{
    static const char editor[] = "/.vscode";
    const size_t editor_size = sizeof(editor) - 1;
    char current[PATH_MAX];
    if (path[0] != '/') {
        if (getcwd(current, sizeof(current)) == NULL)
            return false;
        mp_buffer_add_text(out, current);
        trim(out);
        while (strncmp(path, "./", 2) == 0)
            path += 2;
        mp_buffer_add(out, "/", 1);
    }
    const char *slash = strrchr(path, '/');
    mp_buffer_add(out, path, slash != NULL ? (size_t)(slash - path) : 0);
    trim(out);
    if (out->size >= editor_size &&
        memcmp(out->bytes + out->size - editor_size, editor, editor_size) == 0) {
        out->size -= editor_size;
        out->bytes[out->size] = '\0';
    }
    if (out->size == 0)
        mp_buffer_add(out, "/", 1);
    return true;
}
