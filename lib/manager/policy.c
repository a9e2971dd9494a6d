/* SPDX-License-Identifier: Apache-2.0 */
#include "manager/policy.h"

static int64_t bound_of(const struct mp_policy *policy, int64_t tries)
{
    int64_t bound = policy->backoff_first_ms;
    while (tries-- > 0 && bound < policy->backoff_most_ms)
        bound *= 2;
    return bound < policy->backoff_most_ms ? bound : policy->backoff_most_ms;
}

struct mp_policy_step mp_policy_next(const struct mp_policy *policy, const struct mp_outage *outage)
{
    int64_t tries = outage->ready_ms >= policy->stable_ms ? 0 : outage->tries_in_row;
    bool has_more = tries < policy->max_reconnects;
    bool by_itself = outage->comes_back && has_more;
    int64_t bound = bound_of(policy, tries);
    return (struct mp_policy_step){
        .tries_in_row = has_more ? tries + 1 : tries,
        .delay_ms = by_itself ? (int64_t)(outage->chance % ((uint64_t)bound + 1)) : bound,
        .by_itself = by_itself,
    };
}
