/* SPDX-License-Identifier: Apache-2.0 */
/* How the end of a connection is told: its cause, exit status and last words as facts. */
#ifndef MP_TRANSPORT_LOSS_H
#define MP_TRANSPORT_LOSS_H

#include "transport/failure.h"
#include "transport/transport.h"

/* Room for what the facts borrow; must live as long as they are used. */
struct mp_loss {
    struct mp_verdict verdict;
    char detail[256];
};

/* Fills in why the connection ended, and the name. Any thread. */
void mp_loss_tell(mcpump_transport *transport, struct mp_loss *ret_loss,
                  struct mp_failure_facts *facts);

/* Returns new: the failure of a connection that ended by itself. NULL: no memory. */
mcpump_failure *mp_loss_failure(mcpump_transport *transport);

#endif
