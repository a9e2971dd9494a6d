/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bell.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

static bool rings(const struct mp_bell *bell)
{
    struct pollfd poller = {.fd = bell->fd, .events = POLLIN};
    return poll(&poller, 1, 0) == 1;
}

Test(bell, rings_until_it_is_heard)
{
    struct mp_bell bell;
    cr_assert_eq(mp_bell_init(&bell), 0);
    cr_expect(!rings(&bell));
    mp_bell_ring(&bell);
    mp_bell_ring(&bell);
    cr_expect(rings(&bell));
    cr_expect(rings(&bell), "looking does not silence it");
    mp_bell_hear(&bell);
    cr_expect(!rings(&bell), "two rings are one");
    mp_bell_hear(&bell);
    cr_expect(!rings(&bell), "hearing a silent bell does not block");
    mp_bell_ring(&bell);
    cr_expect(rings(&bell));
    mp_bell_done(&bell);
    cr_expect_eq(bell.fd, -1);
}

Test(bell, keeps_errno)
{
    struct mp_bell bell;
    cr_assert_eq(mp_bell_init(&bell), 0);
    errno = EDOM;
    mp_bell_ring(&bell);
    cr_expect_eq(errno, EDOM);
    mp_bell_done(&bell);
    errno = EDOM;
    mp_bell_ring(&bell);
    cr_expect_eq(errno, EDOM, "not even a bell that is gone changes it");
}

Test(bell, its_fd_is_private)
{
    struct mp_bell bell;
    cr_assert_eq(mp_bell_init(&bell), 0);
    cr_expect_gt(bell.fd, STDERR_FILENO);
    cr_expect(fcntl(bell.fd, F_GETFD) & FD_CLOEXEC);
    cr_expect(fcntl(bell.fd, F_GETFL) & O_NONBLOCK);
    mp_bell_done(&bell);
}
