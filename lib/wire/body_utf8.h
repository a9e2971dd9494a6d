/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UTF-8 checked a vector at a time. What can be wrong with two bytes in a row shows in three half
 * bytes: both of the first and the upper one of the second. Each half looks up a set of faults that
 * it allows, and a fault that all three allow is there. That a third or fourth byte is missing or
 * one too many does not show in two bytes; but two tails in a row (TAILS) are right exactly if a
 * lead of three or four bytes stands two or three bytes before, so the two bits must be equal.
 * The tables are RFC 3629, section 4, put that way.
 */
#ifndef MP_WIRE_BODY_UTF8_H
#define MP_WIRE_BODY_UTF8_H

enum {
    CUT = 1 << 0,       /* a lead without a tail behind it */
    STRAY = 1 << 1,     /* a tail behind ASCII */
    LONG_2 = 1 << 2,    /* C0 and C1: what ASCII can say */
    LONG_3 = 1 << 3,    /* E0 80 to E0 9F: what two bytes can say */
    SURROGATE = 1 << 4, /* ED A0 to ED BF */
    ABOVE = 1 << 5,     /* F4 90 to F4 BF, F5 to FF and 90 to BF: above U+10FFFF */
    EDGE = 1 << 6,      /* F0 80 to F0 8F, too long, and F5 to FF and 80 to 8F, above */
    TAILS = 1 << 7,     /* a tail behind a tail */
    ANY_LOW = CUT | STRAY | TAILS,
    ANY_TAIL = STRAY | LONG_2 | TAILS
};

/* By the upper half of the first byte. */
#define MP_UTF8_FIRST_HIGH                                                                         \
    STRAY, STRAY, STRAY, STRAY, STRAY, STRAY, STRAY, STRAY, TAILS, TAILS, TAILS, TAILS,            \
        CUT | LONG_2, CUT, CUT | LONG_3 | SURROGATE, CUT | ABOVE | EDGE

/* By the lower half of the first byte. */
#define MP_UTF8_FIRST_LOW                                                                          \
    ANY_LOW | LONG_2 | LONG_3 | EDGE, ANY_LOW | LONG_2, ANY_LOW, ANY_LOW, ANY_LOW | ABOVE,         \
        ANY_LOW | ABOVE | EDGE, ANY_LOW | ABOVE | EDGE, ANY_LOW | ABOVE | EDGE,                    \
        ANY_LOW | ABOVE | EDGE, ANY_LOW | ABOVE | EDGE, ANY_LOW | ABOVE | EDGE,                    \
        ANY_LOW | ABOVE | EDGE, ANY_LOW | ABOVE | EDGE, ANY_LOW | ABOVE | EDGE | SURROGATE,        \
        ANY_LOW | ABOVE | EDGE, ANY_LOW | ABOVE | EDGE

/* By the upper half of the second byte. */
#define MP_UTF8_SECOND_HIGH                                                                        \
    CUT, CUT, CUT, CUT, CUT, CUT, CUT, CUT, ANY_TAIL | LONG_3 | EDGE, ANY_TAIL | LONG_3 | ABOVE,   \
        ANY_TAIL | SURROGATE | ABOVE, ANY_TAIL | SURROGATE | ABOVE, CUT, CUT, CUT, CUT

/* What to take from a byte, with saturation, so that its top bit is left set for a lead only that
 * has a third byte, and for one that has a fourth. */
#define MP_UTF8_BELOW_THIRD  (0xE0 - 0x80)
#define MP_UTF8_BELOW_FOURTH (0xF0 - 0x80)

#define MP_BODY_EIGHT_ONES 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF

#endif
