/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bell wakes a thread that sleeps in poll(2): an eventfd. Rings that nobody has heard are one. An
 * alarm is a bell that is rung only while somebody has armed it, so that it costs nothing else.
 */
#ifndef MP_BASE_BELL_H
#define MP_BASE_BELL_H

#include <stdatomic.h>
#include <stdbool.h>

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

struct mp_alarm {
    struct mp_bell bell;
    /* Sequentially consistent: who sleeps arms it, then looks; who wakes stores, then raises. */
    atomic_bool is_armed;
};

/* As for a bell. */
int mp_alarm_init(struct mp_alarm *alarm);
void mp_alarm_done(struct mp_alarm *alarm);

/* By who is about to sleep in a poll on the bell; then it looks once more at what it waits for. */
void mp_alarm_arm(struct mp_alarm *alarm);

/* By the same, awake. A ring may come yet, for who arms it next. */
void mp_alarm_disarm(struct mp_alarm *alarm);

/* Rings if it is armed. Any thread. */
void mp_alarm_raise(struct mp_alarm *alarm);

#endif
