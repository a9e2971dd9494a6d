/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/loss.h"

#include <stdio.h>

void mp_loss_tell(mcpump_transport *transport, struct mp_loss *ret_loss,
                  struct mp_failure_facts *facts)
{
    ret_loss->verdict = mp_transport_verdict(transport);
    const struct mp_verdict *verdict = &ret_loss->verdict;
    facts->name = transport->options.label;
    facts->cause = verdict->cause;
    facts->sys_errno = verdict->sys_errno;
    facts->exit = verdict->exit;
    if (verdict->detail[0] == '\0')
        return;
    snprintf(ret_loss->detail, sizeof(ret_loss->detail), "%s; %s",
             mcpump_cause_text(verdict->cause), verdict->detail);
    facts->detail = ret_loss->detail;
}

mcpump_failure *mp_loss_failure(mcpump_transport *transport)
{
    struct mp_loss loss;
    struct mp_failure_facts facts = {.err = MCPUMP_ERR_CLOSED, .phase = MCPUMP_PHASE_CONNECTED};
    mp_loss_tell(transport, &loss, &facts);
    return mp_failure_new(&facts, mp_tail_copy(&transport->stderr_pump.tail));
}
