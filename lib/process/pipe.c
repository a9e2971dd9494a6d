/* SPDX-License-Identifier: Apache-2.0 */
#include "process/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"

#ifndef RWF_NOSIGNAL
#define RWF_NOSIGNAL 0x00000100
#endif

int mp_pipe(int ret_fds[2])
{
    int ends[2];
    ret_fds[MP_PIPE_READ] = ret_fds[MP_PIPE_WRITE] = -1;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    int err = 0;
    for (int i = 0; i < 2; i++) {
        ret_fds[i] = mp_fd_above_stdio(ends[i]);
        if (ret_fds[i] < 0)
            err = errno;
    }
    if (err != 0) {
        mp_fd_close(&ret_fds[MP_PIPE_READ]);
        mp_fd_close(&ret_fds[MP_PIPE_WRITE]);
    }
    return err;
}

int mp_pipe_set_nonblocking(int fd)
{
    return fcntl(fd, F_SETFL, O_NONBLOCK) == 0 ? 0 : errno;
}

ssize_t mp_pipe_writev_masked(int fd, const struct iovec *parts, int count)
{
    static const struct timespec no_wait = {0, 0};
    sigset_t sigpipe, pending, old;
    sigemptyset(&sigpipe);
    sigaddset(&sigpipe, SIGPIPE);
    sigemptyset(&pending);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &sigpipe, &old);

    ssize_t written = writev(fd, parts, count);
    int err = errno;
    /* A pending signal is one however often it is raised: one that was there before is the host's,
     * and the call added nothing to it. */
    if (written < 0 && err == EPIPE && !sigismember(&pending, SIGPIPE)) {
        while (sigtimedwait(&sigpipe, NULL, &no_wait) < 0 && errno == EINTR) {
        }
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = err;
    return written;
}

ssize_t mp_pipe_writev(int fd, const struct iovec *parts, int count)
{
    /* Relaxed: it guards no data; a thread that sees it late asks the kernel once more. */
    static atomic_bool must_mask;
    if (!atomic_load_explicit(&must_mask, memory_order_relaxed)) {
        /* An offset of -1 is the current position. By number: C libraries learned the function
         * late, and some refuse flags that they do not know. */
        ssize_t written = syscall(SYS_pwritev2, fd, parts, (long)count, -1L, -1L, RWF_NOSIGNAL);
        if (written >= 0 || (errno != EOPNOTSUPP && errno != EINVAL && errno != ENOSYS))
            return written;
        atomic_store_explicit(&must_mask, true, memory_order_relaxed);
    }
    return mp_pipe_writev_masked(fd, parts, count);
}
