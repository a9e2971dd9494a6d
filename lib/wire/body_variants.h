/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variants of mp_body_skip, for body.c alone. A variant for vectors may give up early and leave
 * the rest to the plain one: so what is wrong, and where, is decided in one place.
 */
#ifndef MP_WIRE_BODY_VARIANTS_H
#define MP_WIRE_BODY_VARIANTS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/body.h"

#if defined(__x86_64__)
#define MP_BODY_X86 1
#elif defined(__AARCH64EL__) && defined(__ARM_NEON)
#define MP_BODY_ARM 1
#endif

mp_body_fn mp_body_skip_plain;
mp_body_fn mp_body_skip_sse2;
mp_body_fn mp_body_skip_avx2;
mp_body_fn mp_body_skip_neon;

/* Not 0 for a character that makes an escape of two with a backslash before it. */
extern const unsigned char mp_body_letters[256];

/* Steps over the escapes and characters above ASCII that stand here in a row, one at least. False:
 * the run ends at *at. */
bool mp_body_step_over(const char **at, const char *end);

/* How much of a block of `size` bytes belongs to the run, its UTF-8 aside. In `stops` a bit each
 * `bits` stands for a byte that is a quote, a backslash or a control character. */
static inline int mp_body_run_in(const char *block, int size, uint64_t stops, int bits)
{
    while (stops != 0) {
        int place = __builtin_ctzll(stops) / bits;
        if (block[place] != '\\' || place == size - 1 ||
            mp_body_letters[(unsigned char)block[place + 1]] == 0)
            return place;
        uint64_t both = ((uint64_t)1 << 2 * bits) - 1;
        stops &= ~(both << place * bits);
    }
    return size;
}

/* `at` is within the span that begins at `start` and is valid up to `at`, but for a character that
 * may be cut off there: back to where that one begins. */
static inline const char *mp_body_char_start(const char *start, const char *at)
{
    static const unsigned char leads[] = {0xC0, 0xE0, 0xF0};
    for (int back = 1; back <= 3 && at - back >= start; back++) {
        if ((unsigned char)at[-back] >= leads[back - 1])
            return at - back;
    }
    return at;
}

#endif
