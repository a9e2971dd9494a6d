/* SPDX-License-Identifier: Apache-2.0 */
/* A bell wakes a thread that sleeps in poll(2): an eventfd. Rings that nobody has heard are one. */
#ifndef MP_BASE_BELL_H
#define MP_BASE_BELL_H

struct mp_bell {
    int fd; /* immutable after init; -1: none */
};

/* 0 or an errno. On failure the bell is valid for mp_bell_done. */
int mp_bell_init(struct mp_bell *bell);
void mp_bell_done(struct mp_bell *bell);

/* Any thread, and async-signal-safe; errno kept. What was stored before is seen by the thread that
 * hears the ring. */
void mp_bell_ring(const struct mp_bell *bell);

/* Silences it. Call it before looking at what was rung for, or a ring is lost. */
void mp_bell_hear(const struct mp_bell *bell);

#endif
