/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which process we are in, without a system call: a forked child has another home. An object that
 * remembers where it was made can tell that its threads are not there.
 */
#ifndef MP_BASE_HOME_H
#define MP_BASE_HOME_H

#include <stdint.h>

/* A number that is not 0 and differs between a process and the children it forks. Any thread. */
uint64_t mp_home(void);

#endif
