/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/sync.h"

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
    int saved = errno, closed = *fd;
    int state = mp_cancel_disable(); /* close is a point of cancellation */
    *fd = -1; /* before the close: a child forked in between must not close another's */
    close(closed);
    mp_cancel_restore(state);
    errno = saved;
}
