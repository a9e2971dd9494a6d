/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of a JSON string, most of what a message consists of: skipped by the vector, with a
 * variant for each kind of CPU and a plain twin that tells what they all must do. The fastest
 * variant that the CPU can run is chosen at the first use. No lock, any thread.
 */
#ifndef MP_WIRE_BODY_H
#define MP_WIRE_BODY_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Behind the longest run of valid UTF-8 characters and of escapes of two characters (all but \u)
 * from `at`, where a character begins: at a quote, at a backslash that begins no such escape, at a
 * control character (below U+0020), at the first byte of what is not valid or cut off, or at `end`.
 */
typedef const char *mp_body_fn(const char *at, const char *end);

/* By the variant that was chosen. */
mp_body_fn mp_body_skip_far;

struct mp_body_variant {
    const char *name;
    mp_body_fn *skip;
};

#define MP_BODY_VARIANTS 3

/* Those that this CPU can run, the plain one first, the fastest last; returns how many. */
size_t mp_body_variants(struct mp_body_variant ret_variants[MP_BODY_VARIANTS]);

/* Chooses a variant, from now on: for who compares or counts. */
void mp_body_use(mp_body_fn *skip);

#define MP_BODY_EACH_BYTE(byte) (UINT64_MAX / 0xFF * (byte))

/*
 * The top bit of a byte says that this one of the eight bytes is not plain ASCII. A borrow can set
 * one wrongly, but only above a byte that borrowed and is therefore marked rightly: the lowest mark
 * is always right.
 */
static inline uint64_t mp_body_marks(const char *eight_bytes)
{
    uint64_t word;
    memcpy(&word, eight_bytes, sizeof(word));
    word = le64toh(word);
    uint64_t below_space = word - MP_BODY_EACH_BYTE(0x20);
    uint64_t quote = (word ^ MP_BODY_EACH_BYTE('"')) - MP_BODY_EACH_BYTE(1);
    uint64_t backslash = (word ^ MP_BODY_EACH_BYTE('\\')) - MP_BODY_EACH_BYTE(1);
    return (word | below_space | quote | backslash) & MP_BODY_EACH_BYTE(0x80);
}

/* Most strings are short: those are not worth a call. */
static inline const char *mp_body_skip(const char *at, const char *end)
{
    for (int words = 0; words < 2 && end - at >= 8; words++) {
        uint64_t marks = mp_body_marks(at);
        at += marks != 0 ? __builtin_ctzll(marks) / 8 : 8;
        if (marks != 0 && *at == '"')
            return at;
        if (marks != 0)
            break;
    }
    return mp_body_skip_far(at, end);
}

#endif
