/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mp_body_skip for aarch64, which always has NEON: the same as for AVX2 (see body_x86.c), in blocks
 * of 16 bytes.
 */
#include "wire/body_variants.h"

#ifdef MP_BODY_ARM
#include <arm_neon.h>

#include "wire/body_utf8.h"

/* Not zero where something is wrong; `before` is the block before. */
static inline uint8x16_t faults_of(uint8x16_t block, uint8x16_t before)
{
    static const uint8_t first_high[] = {MP_UTF8_FIRST_HIGH};
    static const uint8_t first_low[] = {MP_UTF8_FIRST_LOW};
    static const uint8_t second_high[] = {MP_UTF8_SECOND_HIGH};
    uint8x16_t first = vextq_u8(before, block, 15);
    uint8x16_t faults = vqtbl1q_u8(vld1q_u8(first_high), vshrq_n_u8(first, 4));
    faults = vandq_u8(faults, vqtbl1q_u8(vld1q_u8(first_low), vandq_u8(first, vdupq_n_u8(0x0F))));
    faults = vandq_u8(faults, vqtbl1q_u8(vld1q_u8(second_high), vshrq_n_u8(block, 4)));
    uint8x16_t third = vqsubq_u8(vextq_u8(before, block, 14), vdupq_n_u8(MP_UTF8_BELOW_THIRD));
    uint8x16_t fourth = vqsubq_u8(vextq_u8(before, block, 13), vdupq_n_u8(MP_UTF8_BELOW_FOURTH));
    uint8x16_t wanted = vandq_u8(vorrq_u8(third, fourth), vdupq_n_u8(TAILS));
    return veorq_u8(faults, wanted);
}

/* Four bits a byte, all set where the byte ends a run: quote, backslash, control characters. */
static inline uint64_t stops_in(uint8x16_t block)
{
    uint8x16_t quote = vceqq_u8(block, vdupq_n_u8('"'));
    uint8x16_t backslash = vceqq_u8(block, vdupq_n_u8('\\'));
    uint8x16_t control = vcltq_u8(block, vdupq_n_u8(0x20));
    uint16x8_t stops = vreinterpretq_u16_u8(vorrq_u8(vorrq_u8(quote, backslash), control));
    return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(stops, 4)), 0);
}

static inline uint8x16_t first_bytes(uint8x16_t block, int count)
{
    static const uint8_t window[32] = {MP_BODY_EIGHT_ONES, MP_BODY_EIGHT_ONES};
    return vandq_u8(block, vld1q_u8(window + 16 - count));
}

const char *mp_body_skip_neon(const char *at, const char *end)
{
    const char *start = at;
    uint8x16_t before = vdupq_n_u8(0);
    bool before_is_ascii = true;
    while (end - at >= 16) {
        uint8x16_t block = vld1q_u8((const uint8_t *)at);
        int count = mp_body_run_in(at, 16, stops_in(block), 4);
        bool is_ascii = vmaxvq_u8(block) < 0x80;
        if (!is_ascii || !before_is_ascii) {
            if (count < 16)
                block = first_bytes(block, count);
            if (vmaxvq_u8(faults_of(block, before)) != 0)
                break;
        }
        at += count;
        if (count < 16 && !mp_body_step_over(&at, end))
            return at;
        before = count < 16 ? vdupq_n_u8(0) : block;
        before_is_ascii = is_ascii || count < 16;
    }
    return mp_body_skip_plain(mp_body_char_start(start, at), end);
}
#endif
