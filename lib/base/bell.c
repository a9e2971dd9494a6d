/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bell.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
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
    /* By number, since write would be a point of cancellation. Fails only when the counter is full:
     * it rings already. */
    syscall(SYS_write, bell->fd, &one, sizeof(one));
    errno = saved;
}

void mp_bell_hear(const struct mp_bell *bell)
{
    uint64_t rings;
    syscall(SYS_read, bell->fd, &rings, sizeof(rings));
}

int mp_alarm_init(struct mp_alarm *alarm)
{
    atomic_init(&alarm->is_armed, false);
    return mp_bell_init(&alarm->bell);
}

void mp_alarm_done(struct mp_alarm *alarm)
{
    mp_bell_done(&alarm->bell);
}

void mp_alarm_arm(struct mp_alarm *alarm)
{
    atomic_store(&alarm->is_armed, true);
}

void mp_alarm_disarm(struct mp_alarm *alarm)
{
    atomic_store(&alarm->is_armed, false);
}

void mp_alarm_raise(struct mp_alarm *alarm)
{
    if (atomic_exchange(&alarm->is_armed, false))
        mp_bell_ring(&alarm->bell);
}
