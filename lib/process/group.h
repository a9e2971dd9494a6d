/* SPDX-License-Identifier: Apache-2.0 */
/* Looking for the members of a process group that are not our children. */
#ifndef MP_PROCESS_GROUP_H
#define MP_PROCESS_GROUP_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Whether a process of the group is alive. Zombies are not: whoever should reap them may never do
 * it, such as a host that is the first process of a container. Asks the kernel first, which is
 * cheap and says no in the common case, and looks through /proc only then; true when that cannot
 * be read.
 */
bool mp_group_is_alive(pid_t group);

#endif
