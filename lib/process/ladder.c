/* SPDX-License-Identifier: Apache-2.0 */
#include "process/ladder.h"

#include <assert.h>

#define NS_PER_MS     1000000
#define KILL_GRACE_MS 5000 /* only a process in uninterruptible sleep outlives SIGKILL for long */
#define AT_ONCE       INT64_MIN

static mp_deadline after(mp_deadline now, int64_t ms)
{
    return ms > (MP_NEVER - now) / NS_PER_MS ? MP_NEVER : now + ms * NS_PER_MS;
}

void mp_ladder_init(struct mp_ladder *ladder, int64_t stdin_grace_ms, int64_t term_grace_ms)
{
    assert(stdin_grace_ms >= 0 && term_grace_ms >= 0);
    *ladder = (struct mp_ladder){.next = MP_LADDER_CLOSE_STDIN, .until = AT_ONCE};
    ladder->grace_ms[MP_LADDER_CLOSE_STDIN] = stdin_grace_ms;
    ladder->grace_ms[MP_LADDER_TERMINATE] = term_grace_ms;
    ladder->grace_ms[MP_LADDER_KILL] = KILL_GRACE_MS;
}

enum mp_ladder_action mp_ladder_step(struct mp_ladder *ladder, mp_deadline now)
{
    if (ladder->next == MP_LADDER_ACTIONS || now < ladder->until)
        return MP_LADDER_ACTIONS;
    int action = ladder->next++;
    ladder->until = after(now, ladder->grace_ms[action]);
    return (enum mp_ladder_action)action;
}

void mp_ladder_escalate(struct mp_ladder *ladder)
{
    if (ladder->next == MP_LADDER_ACTIONS)
        return;
    ladder->next = MP_LADDER_KILL;
    ladder->until = AT_ONCE;
}

bool mp_ladder_is_over(const struct mp_ladder *ladder, mp_deadline now)
{
    return ladder->next == MP_LADDER_ACTIONS && now >= ladder->until;
}
