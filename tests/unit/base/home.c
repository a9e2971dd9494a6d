/* SPDX-License-Identifier: Apache-2.0 */
#include "base/home.h"

#include <criterion/criterion.h>
#include <sys/wait.h>
#include <unistd.h>

Test(home, is_the_same_until_a_fork)
{
    uint64_t ours = mp_home();
    cr_assert_neq(ours, 0);
    cr_assert_eq(mp_home(), ours);
    pid_t pid = fork();
    if (pid == 0)
        _exit(mp_home() != ours && mp_home() == mp_home() && mp_home() != 0 ? 0 : 1);
    int status;
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_assert_eq(status, 0);
    cr_assert_eq(mp_home(), ours);
}
