/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <limits.h>

#define NS_PER_S  1000000000
#define NS_PER_MS 1000000

int64_t mp_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

mp_deadline mp_deadline_from(int64_t start_ns, int64_t ms)
{
    if (ms < 0 || ms > (MP_NEVER - start_ns) / NS_PER_MS)
        return MP_NEVER;
    return start_ns + ms * NS_PER_MS;
}

mp_deadline mp_deadline_after_ms(int64_t ms)
{
    return ms < 0 ? MP_NEVER : mp_deadline_from(mp_now_ns(), ms);
}

bool mp_deadline_passed(mp_deadline deadline)
{
    return deadline != MP_NEVER && mp_now_ns() >= deadline;
}

int mp_deadline_poll_ms(mp_deadline deadline)
{
    if (deadline == MP_NEVER)
        return -1;
    int64_t left = deadline - mp_now_ns();
    if (left <= 0)
        return 0;
    int64_t ms = left / NS_PER_MS + (left % NS_PER_MS != 0);
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

struct timespec mp_deadline_timespec(mp_deadline deadline)
{
    return (struct timespec){.tv_sec = (time_t)(deadline / NS_PER_S),
                             .tv_nsec = deadline % NS_PER_S};
}
