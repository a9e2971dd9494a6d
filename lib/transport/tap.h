/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tap: shows the host's function each line that goes to a server or comes from it, the secrets
 * of that server masked. Each direction has one thread at a time, who writes or who reads, and a
 * buffer of its own; so there is no lock.
 */
#ifndef MP_TRANSPORT_TAP_H
#define MP_TRANSPORT_TAP_H

#include <stdbool.h>

#include "base/buffer.h"
#include "mcpump/options.h"
#include "wire/framer.h"

/* A shorter secret is not masked: it would be found everywhere. */
#define MP_TAP_LEAST_SECRET 4

struct mp_tap {
    /* -- immutable */
    mcpump_tap_fn fn; /* NULL: nobody listens */
    void *user;
    const mcpump_secret_variable *secrets; /* borrowed; ended by an entry without name */
    bool begins[256];                      /* whether a secret, or an escape, begins so */
    /* -- by direction: who writes; who reads */
    struct mp_buffer masked[2];
};

void mp_tap_init(struct mp_tap *tap, mcpump_tap_fn fn, void *user,
                 const mcpump_secret_variable *secrets);
void mp_tap_done(struct mp_tap *tap);

/* Shows a line, without its end, if somebody listens. No lock held. */
void mp_tap_show(struct mp_tap *tap, mcpump_direction direction, struct mp_span line);

/* The line with "***" for each secret in it, as its bytes or as JSON spells them, with any escapes.
 * Borrows the line or `out`, which it empties first; "***" alone when memory is missing. */
struct mp_span mp_tap_mask(const struct mp_tap *tap, struct mp_span line, struct mp_buffer *out);

#endif
