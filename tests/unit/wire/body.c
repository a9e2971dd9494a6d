/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every variant of mp_body_skip against a slow reading of the same promise, the place where it
 * stops included. Texts end where their heap block ends, so that the sanitizer sees a read past the
 * end, and begin at every place of a block of vectors.
 */
#include "wire/body.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/text.h"
#include "span.h"
#include "wire/envelope.h"
#include "wire/scan.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BLOCK        32 /* of the widest variant */

static const char *skip_slowly(const char *at, const char *end)
{
    while (at < end && *at != '"' && (unsigned char)*at >= 0x20) {
        size_t size = mp_text_utf8_size(at, (size_t)(end - at));
        if (*at == '\\')
            size = end - at >= 2 && at[1] != '\0' && strchr("\"\\/bfnrt", at[1]) != NULL ? 2 : 0;
        if (size == 0)
            break;
        at += size;
    }
    return at;
}

struct variants {
    struct mp_body_variant list[MP_BODY_VARIANTS + 1];
    size_t count;
};

/* The inline step before them is one more. */
static struct variants all_variants(void)
{
    struct variants all;
    all.count = mp_body_variants(all.list);
    all.list[all.count++] = (struct mp_body_variant){"chosen", mp_body_skip};
    return all;
}

static void check(const struct variants *all, const char *at, const char *end)
{
    long slow = (long)(skip_slowly(at, end) - at);
    for (size_t v = 0; v < all->count; v++) {
        long size = (long)(all->list[v].skip(at, end) - at);
        if (size == slow)
            continue;
        char shown[512];
        mp_text_clean(at, (size_t)(end - at), shown, sizeof(shown));
        cr_assert_fail("%s: %ld, not %ld of %zu: %s", all->list[v].name, size, slow,
                       (size_t)(end - at), shown);
    }
}

/* The heap block of a text of `size` bytes that begins `offset` bytes behind its start. */
struct block {
    char *memory, *text, *end;
};

static struct block block_new(size_t offset, size_t size)
{
    char *memory = malloc(offset + size + 1);
    /* One byte more in front: no block is empty. */
    return (struct block){memory, memory + offset + 1, memory + offset + size + 1};
}

/* As much of `filler`, again and again, as fits in whole; then letters. */
static void fill(struct block block, const char *filler)
{
    size_t filler_size = strlen(filler);
    char *at = block.text;
    for (; (size_t)(block.end - at) >= filler_size; at += filler_size)
        memcpy(at, filler, filler_size);
    memset(at, 'a', (size_t)(block.end - at));
}

static const char *const fillers[] = {
    "a",
    "\\n",
    "\xC3\xA4",
    "\xE6\xBC\xA2",
    "\xF0\x9F\x98\x80",
    "a\xC3\xA4\\\"\xE6\xBC\xA2\\\\\xF0\x9F\x98\x80",
};

Test(body, plain_comes_first_and_the_vectors_are_there)
{
    struct mp_body_variant variants[MP_BODY_VARIANTS];
    size_t count = mp_body_variants(variants);
    cr_expect_str_eq(variants[0].name, "plain");
#if defined(__x86_64__)
    cr_expect_str_eq(variants[1].name, "sse2");
    cr_expect_eq(count, __builtin_cpu_supports("avx2") ? 3 : 2);
#elif defined(__aarch64__)
    cr_expect_str_eq(variants[count - 1].name, "neon");
#else
    cr_expect_eq(count, 1);
#endif
}

Test(body, every_length_at_every_place)
{
    struct variants all = all_variants();
    for (size_t f = 0; f < COUNT(fillers); f++) {
        for (size_t offset = 0; offset < BLOCK; offset++) {
            for (size_t size = 0; size < 4 * BLOCK; size++) {
                struct block block = block_new(offset, size);
                fill(block, fillers[f]);
                check(&all, block.text, block.end);
                free(block.memory);
            }
        }
    }
}

/* Also within what it cuts: a character, an escape. */
Test(body, every_byte_at_every_place)
{
    struct variants all = all_variants();
    for (size_t f = 0; f < COUNT(fillers); f++) {
        for (size_t size = 2 * BLOCK + 4; size < 3 * BLOCK; size += 9) {
            struct block block = block_new(0, size);
            for (size_t place = 0; place < size; place++) {
                fill(block, fillers[f]);
                for (unsigned byte = 0; byte < 256; byte++) {
                    block.text[place] = (char)byte;
                    check(&all, block.text, block.end);
                }
            }
            free(block.memory);
        }
    }
}

/* All bytes that begin or end a range of RFC 3629's table, four in a row, across the end of a block
 * and within it. */
Test(body, every_kind_of_character)
{
    static const unsigned char edges[] = {
        0x00, 0x1F, '"',  'n',  '\\', 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1,
        0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
    };
    static const size_t places[] = {4, BLOCK - 4, BLOCK - 3, BLOCK - 2, BLOCK - 1, BLOCK};
    struct variants all = all_variants();
    struct block block = block_new(0, 2 * BLOCK + 8);
    fill(block, "a");
    for (size_t p = 0; p < COUNT(places); p++) {
        char *text = block.text + places[p];
        for (size_t i = 0; i < COUNT(edges) * COUNT(edges) * COUNT(edges) * COUNT(edges); i++) {
            size_t rest = i;
            for (int byte = 0; byte < 4; byte++, rest /= COUNT(edges))
                text[byte] = (char)edges[rest % COUNT(edges)];
            check(&all, block.text, block.end);
        }
        memset(text, 'a', 4);
    }
    free(block.memory);
}

/* Every text of two bytes, and of three that begins above ASCII. */
Test(body, all_short_texts)
{
    struct variants all = all_variants();
    struct block block = block_new(0, BLOCK + 8);
    fill(block, "a");
    char *text = block.text + BLOCK - 2;
    for (unsigned bytes = 0x800000; bytes < 0x1000000; bytes++) {
        text[0] = (char)(bytes >> 16);
        text[1] = (char)(bytes >> 8);
        text[2] = (char)bytes;
        check(&all, block.text, block.end);
    }
    free(block.memory);
}

static uint32_t random_next(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* Valid text, in which at most one byte is then changed, and its end cut off. */
static size_t random_text(uint32_t *state, char *text, size_t capacity)
{
    static const char *const pieces[] = {
        "a",
        "plain text",
        "\xC2\x80",
        "\xDF\xBF",
        "\xE0\xA0\x80",
        "\xED\x9F\xBF",
        "\xEF\xBF\xBF",
        "\xF0\x90\x80\x80",
        "\xF4\x8F\xBF\xBF",
        "\\n",
        "\\\\",
        "\\\"",
        "\x7F",
        "\xE6\xBC\xA2",
        "abcdefghijklmnopqrstuvwxyz",
    };
    size_t size = 0;
    for (;;) {
        const char *piece = pieces[random_next(state) % COUNT(pieces)];
        if (size + strlen(piece) > capacity)
            break;
        memcpy(text + size, piece, strlen(piece));
        size += strlen(piece);
    }
    uint32_t what = random_next(state);
    if (what % 4 != 0)
        text[random_next(state) % size] = (char)random_next(state);
    return what % 3 == 0 ? size - random_next(state) % 4 : size;
}

Test(body, random_texts)
{
    struct variants all = all_variants();
    uint32_t state = 1;
    for (int round = 0; round < 100000; round++) {
        char text[300];
        size_t size = random_text(&state, text, 30 + random_next(&state) % 270);
        struct block block = block_new(random_next(&state) % BLOCK, size);
        memcpy(block.text, text, size);
        check(&all, block.text, block.end);
        free(block.memory);
    }
}

/* In a message, where the inline step comes before. */
Test(body, an_envelope_does_not_depend_on_the_variant)
{
    struct mp_body_variant variants[MP_BODY_VARIANTS];
    size_t count = mp_body_variants(variants);
    uint32_t state = 7;
    for (int round = 0; round < 20000; round++) {
        char line[400], text[300];
        size_t size = random_text(&state, text, 30 + random_next(&state) % 270);
        char *at = stpcpy(line, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"");
        memcpy(at, text, size);
        char *end = stpcpy(at + size, "\"}");
        /* A change may have ended the string before; what follows decides then. */
        const char *stop = skip_slowly(at, end);
        bool valid = *stop == '"' && mp_scan_space(stop + 1, end) == end - 1;
        if (stop[0] == '\\' && stop[1] == 'u')
            continue;
        for (size_t v = 0; v < count; v++) {
            struct mp_envelope envelope;
            mp_body_use(variants[v].skip);
            mp_envelope_scan((struct mp_span){line, (size_t)(end - line)}, &envelope);
            cr_assert_eq(envelope.kind == MP_KIND_RESULT, valid, "%s, round %d: %s",
                         variants[v].name, round, envelope.why);
        }
    }
}
