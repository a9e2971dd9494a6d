/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which process we are in, without a system call: a forked child has another home. An object that
 * remembers where it was made can tell that its threads are not there.
 */
#ifndef MP_BASE_HOME_H
#define MP_BASE_HOME_H

#include <stdbool.h>
#include <stdint.h>

/* A number that is not 0 and differs between a process and the children it forks. Any thread. */
uint64_t mp_home(void);

/* For something that a process makes once, and a forked child once more. */
struct mp_once {
    _Atomic uint64_t home; /* where it was made; its complement: is being made; 0: nowhere */
};

/* Runs `make` with `arg` unless it was run in this process. Other threads wait for it. */
void mp_once_here(struct mp_once *once, void (*make)(void *arg), void *arg);

/* Whether it was made in this process. Async-signal-safe. */
bool mp_once_was_here(const struct mp_once *once);

#endif
