/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variants for x86-64: SSE2, which every one has, for ASCII; AVX2 for all of it. What they do
 * with a block of 32 bytes:
 *
 * 1. Find how much of it belongs to the run, stepping over escapes. (One that reaches out of the
 *    block ends it: the next block begins there.)
 * 2. Check the UTF-8 of so much of it, with the block before, unless both are ASCII.
 *
 * A fault, or the end of the run, leaves the rest to the plain variant, which so decides alone what
 * is wrong and where. Nothing is read outside the span.
 */
#include "wire/body_variants.h"

#ifdef MP_BODY_X86
#include <immintrin.h>

#include "wire/body_utf8.h"

/* Not plain ASCII: the signed comparison takes bytes from 0x80 for negative. */
static __m128i not_plain_16(__m128i block)
{
    __m128i quote = _mm_cmpeq_epi8(block, _mm_set1_epi8('"'));
    __m128i backslash = _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'));
    __m128i outside = _mm_cmplt_epi8(block, _mm_set1_epi8(0x20));
    return _mm_or_si128(_mm_or_si128(quote, backslash), outside);
}

const char *mp_body_skip_sse2(const char *at, const char *end)
{
    while (end - at >= 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)at);
        unsigned marks = (unsigned)_mm_movemask_epi8(not_plain_16(block));
        at += marks != 0 ? __builtin_ctz(marks) : 16;
        if (marks != 0 && !mp_body_step_over(&at, end))
            return at;
    }
    return mp_body_skip_plain(at, end);
}

#define AVX2 __attribute__((target("avx2")))

AVX2 static inline __m256i each(int byte)
{
    return _mm256_set1_epi8((char)byte);
}

AVX2 static inline __m256i look_up(const uint8_t table[16], __m256i index)
{
    __m128i half = _mm_loadu_si128((const __m128i *)table);
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(half), index);
}

AVX2 static inline __m256i upper_half(__m256i bytes)
{
    return _mm256_and_si256(_mm256_srli_epi16(bytes, 4), each(0x0F));
}

/* Not zero where something is wrong; `before` is the block before. */
AVX2 static inline __m256i faults_of(__m256i block, __m256i before)
{
    static const uint8_t first_high[] = {MP_UTF8_FIRST_HIGH};
    static const uint8_t first_low[] = {MP_UTF8_FIRST_LOW};
    static const uint8_t second_high[] = {MP_UTF8_SECOND_HIGH};
    __m256i middle = _mm256_permute2x128_si256(before, block, 0x21);
    __m256i first = _mm256_alignr_epi8(block, middle, 15);
    __m256i faults = look_up(first_high, upper_half(first));
    faults = _mm256_and_si256(faults, look_up(first_low, _mm256_and_si256(first, each(0x0F))));
    faults = _mm256_and_si256(faults, look_up(second_high, upper_half(block)));
    __m256i third =
        _mm256_subs_epu8(_mm256_alignr_epi8(block, middle, 14), each(MP_UTF8_BELOW_THIRD));
    __m256i fourth =
        _mm256_subs_epu8(_mm256_alignr_epi8(block, middle, 13), each(MP_UTF8_BELOW_FOURTH));
    __m256i wanted = _mm256_and_si256(_mm256_or_si256(third, fourth), each(TAILS));
    return _mm256_xor_si256(faults, wanted);
}

AVX2 static inline unsigned marks_of(__m256i vector)
{
    return (unsigned)_mm256_movemask_epi8(vector);
}

/* The bytes that end a run: quote, backslash, control characters. */
AVX2 static inline unsigned stops_in(__m256i block)
{
    __m256i quote = _mm256_cmpeq_epi8(block, each('"'));
    __m256i backslash = _mm256_cmpeq_epi8(block, each('\\'));
    __m256i control = _mm256_cmpeq_epi8(_mm256_min_epu8(block, each(0x1F)), block);
    return marks_of(_mm256_or_si256(_mm256_or_si256(quote, backslash), control));
}

AVX2 static inline __m256i first_bytes(__m256i block, int count)
{
    static const uint8_t window[64] = {MP_BODY_EIGHT_ONES, MP_BODY_EIGHT_ONES, MP_BODY_EIGHT_ONES,
                                       MP_BODY_EIGHT_ONES};
    return _mm256_and_si256(block, _mm256_loadu_si256((const __m256i *)(window + 32 - count)));
}

AVX2 const char *mp_body_skip_avx2(const char *at, const char *end)
{
    const char *start = at;
    __m256i before = _mm256_setzero_si256();
    bool before_is_ascii = true;
    while (end - at >= 32) {
        __m256i block = _mm256_loadu_si256((const __m256i *)at);
        int count = mp_body_run_in(at, 32, stops_in(block), 1);
        bool is_ascii = marks_of(block) == 0;
        if (!is_ascii || !before_is_ascii) {
            if (count < 32)
                block = first_bytes(block, count);
            __m256i faults = faults_of(block, before);
            if (!_mm256_testz_si256(faults, faults))
                break;
        }
        at += count;
        if (count < 32 && !mp_body_step_over(&at, end))
            return at;
        before = count < 32 ? _mm256_setzero_si256() : block;
        before_is_ascii = is_ascii || count < 32;
    }
    return mp_body_skip_plain(mp_body_char_start(start, at), end);
}
#endif
