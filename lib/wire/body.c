/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/body.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "base/text.h"
#include "wire/body_variants.h"

static bool is_plain(char c)
{
    unsigned char byte = (unsigned char)c;
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

static const char *skip_ascii(const char *at, const char *end)
{
    for (; end - at >= 8; at += 8) {
        uint64_t marks = mp_body_marks(at);
        if (marks != 0)
            return at + __builtin_ctzll(marks) / 8;
    }
    while (at < end && is_plain(*at))
        at++;
    return at;
}

const unsigned char mp_body_letters[256] = {
    ['"'] = 1, ['\\'] = 1, ['/'] = 1, ['b'] = 1, ['f'] = 1, ['n'] = 1, ['r'] = 1, ['t'] = 1,
};

/* Of what skip_ascii stopped at; 0: the run ends here. */
static size_t step_size(const char *at, const char *end)
{
    if ((unsigned char)*at >= 0x80)
        return mp_text_utf8_size(at, (size_t)(end - at));
    return *at == '\\' && end - at >= 2 && mp_body_letters[(unsigned char)at[1]] != 0 ? 2 : 0;
}

bool mp_body_step_over(const char **at, const char *end)
{
    const char *place = *at;
    size_t size;
    do {
        size = step_size(place, end);
        place += size;
    } while (size != 0 && place < end && !is_plain(*place));
    *at = place;
    return size != 0;
}

const char *mp_body_skip_plain(const char *at, const char *end)
{
    do {
        at = skip_ascii(at, end);
    } while (at < end && mp_body_step_over(&at, end));
    return at;
}

size_t mp_body_variants(struct mp_body_variant ret_variants[MP_BODY_VARIANTS])
{
    size_t count = 0;
    ret_variants[count++] = (struct mp_body_variant){"plain", mp_body_skip_plain};
#ifdef MP_BODY_X86
    ret_variants[count++] = (struct mp_body_variant){"sse2", mp_body_skip_sse2};
    if (__builtin_cpu_supports("avx2"))
        ret_variants[count++] = (struct mp_body_variant){"avx2", mp_body_skip_avx2};
#endif
#ifdef MP_BODY_ARM
    ret_variants[count++] = (struct mp_body_variant){"neon", mp_body_skip_neon};
#endif
    return count;
}

static mp_body_fn choose_and_skip;

/* Relaxed: whoever sees the old one chooses the same again. */
static mp_body_fn *_Atomic chosen = choose_and_skip;

void mp_body_use(mp_body_fn *skip)
{
    atomic_store_explicit(&chosen, skip, memory_order_relaxed);
}

static const char *choose_and_skip(const char *at, const char *end)
{
    struct mp_body_variant variants[MP_BODY_VARIANTS];
    size_t count = mp_body_variants(variants);
    mp_body_use(variants[count - 1].skip);
    return variants[count - 1].skip(at, end);
}

const char *mp_body_skip_far(const char *at, const char *end)
{
    return atomic_load_explicit(&chosen, memory_order_relaxed)(at, end);
}
