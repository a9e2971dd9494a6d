/* SPDX-License-Identifier: Apache-2.0 */
/* The monotonic clock and absolute deadlines: wall-clock jumps change no timeout. */
#ifndef MP_BASE_CLOCK_H
#define MP_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* A point of CLOCK_MONOTONIC in nanoseconds; MP_NEVER is later than all others. */
typedef int64_t mp_deadline;
#define MP_NEVER INT64_MAX

int64_t mp_now_ns(void);

/* So long after start_ns, or after now. ms < 0: never. Saturates. */
mp_deadline mp_deadline_from(int64_t start_ns, int64_t ms);
mp_deadline mp_deadline_after_ms(int64_t ms);

static inline mp_deadline mp_deadline_earlier(mp_deadline a, mp_deadline b)
{
    return a < b ? a : b;
}

bool mp_deadline_passed(mp_deadline deadline);

/* For poll(2): what is left in milliseconds, rounded up, so that a poll never ends early; 0 when it
 * has passed, -1 for never. A far deadline is clamped: poll in a loop. */
int mp_deadline_poll_ms(mp_deadline deadline);

/* For pthread_cond_timedwait; not for MP_NEVER. */
struct timespec mp_deadline_timespec(mp_deadline deadline);

#endif
