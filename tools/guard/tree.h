/* SPDX-License-Identifier: Apache-2.0 */
/* The descendants of this process, found in /proc. No allocation, no recursion. */
#ifndef GUARD_TREE_H
#define GUARD_TREE_H

#include <stdbool.h>

/*
 * Sends two signals (the second may be 0: none) to every process that descends from this one, in a
 * session or group of its own or not. A subreaper cannot lose any: who loses its parent becomes its
 * child. What is forked meanwhile may be missed: do it again. False: /proc cannot be read.
 */
bool tree_signal(int first, int second);

#endif
