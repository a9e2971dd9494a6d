/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

int mp_fd_above_stdio(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    mp_fd_close(&fd);
    return copy;
}

void mp_fd_close(int *fd)
{
    if (*fd < 0)
        return;
    int saved = errno;
    syscall(SYS_close, *fd); /* by number, since close would be a point of cancellation */
    errno = saved;
    *fd = -1;
}
