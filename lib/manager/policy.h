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

/* A connection that was lost, or could not be made. */
struct mp_outage {
    int64_t tries_in_row; /* since the last stable connection */
    int64_t ready_ms;     /* how long it was ready; -1: never */
    bool comes_back;      /* whether it is tried again by itself */
    uint64_t chance;      /* any 64 bits */
};

/* The delay is drawn evenly below a bound that doubles with each try; it is the bound when the
 * server does not come back by itself. */
struct mp_policy_step mp_policy_next(const struct mp_policy *policy,
                                     const struct mp_outage *outage);

#endif
