/* SPDX-License-Identifier: Apache-2.0 */
/* When a server that is down is tried again. Pure: numbers in, numbers out. */
#ifndef MP_MANAGER_POLICY_H
#define MP_MANAGER_POLICY_H

#include <stdbool.h>
#include <stdint.h>

struct mp_policy {
    int64_t backoff_first_ms;
    int64_t backoff_most_ms;
    int64_t stable_ms;
    int64_t max_reconnects; /* in a row; 0: none */
};

struct mp_policy_step {
    int64_t tries_in_row; /* from now on */
    int64_t delay_ms;     /* before the next try */
    bool by_itself;       /* else only when somebody asks, after the delay */
};

/*
 * A connection was lost, or could not be made. `tries_in_row`: reconnects since the last stable
 * connection; `ready_ms`: how long this one was ready, -1 when it never was; `chance`: any 64 bits.
 * The delay is drawn evenly from what doubles with each try, up to backoff_most_ms.
 */
struct mp_policy_step mp_policy_next(const struct mp_policy *policy, int64_t tries_in_row,
                                     int64_t ready_ms, uint64_t chance);

#endif
