/* SPDX-License-Identifier: Apache-2.0 */
#include "process/guard.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

int mp_guard_fds_init(struct mp_guard_fds *fds)
{
    int ends[2];
    *fds = MP_GUARD_FDS_NONE;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return errno;
    fds->ours = mp_fd_above_stdio(ends[0]);
    int err = fds->ours < 0 ? errno : 0;
    fds->theirs = mp_fd_above_stdio(ends[1]);
    if (err != 0 || fds->theirs < 0)
        return err != 0 ? err : errno;
    fds->host = mp_fd_above_stdio((int)syscall(SYS_pidfd_open, getpid(), 0));
    return fds->host < 0 ? errno : 0;
}

void mp_guard_fds_done(struct mp_guard_fds *fds)
{
    mp_fd_close(&fds->ours);
    mp_fd_close(&fds->theirs);
    mp_fd_close(&fds->host);
}

void mp_guard_order(int guard_fd, int guard_pidfd, enum mp_guard_order order)
{
    char letter = (char)order;
    /* It fails when the guard has ended, which is what the order wants. */
    send(guard_fd, &letter, sizeof(letter), MSG_NOSIGNAL | MSG_DONTWAIT);
    syscall(SYS_pidfd_send_signal, guard_pidfd, SIGCONT, NULL, 0);
}

enum mp_guard_news mp_guard_look(int guard_fd, int *ret_status, int *ret_signal)
{
    int message[2];
    ssize_t size;
    /* That the guard went without reading an order comes first, once, and is no news. */
    do
        size = recv(guard_fd, message, sizeof(message), MSG_PEEK | MSG_DONTWAIT);
    while (size < 0 && (errno == ECONNRESET || errno == EINTR));
    if (size == sizeof(message)) {
        *ret_status = message[0];
        *ret_signal = message[1];
        return MP_GUARD_TOLD;
    }
    return size < 0 && errno == EAGAIN ? MP_GUARD_SILENT : MP_GUARD_LOST;
}
