/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bell.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/fd.h"

int mp_bell_init(struct mp_bell *bell)
{
    bell->fd = mp_fd_above_stdio(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    return bell->fd < 0 ? errno : 0;
}

void mp_bell_done(struct mp_bell *bell)
{
    mp_fd_close(&bell->fd);
}

void mp_bell_ring(const struct mp_bell *bell)
{
    int saved = errno;
    uint64_t one = 1;
    /* Fails only when the counter is full: it rings already. */
    ssize_t n = write(bell->fd, &one, sizeof(one));
    (void)n;
    errno = saved;
}

void mp_bell_hear(const struct mp_bell *bell)
{
    uint64_t rings;
    ssize_t n = read(bell->fd, &rings, sizeof(rings));
    (void)n;
}
