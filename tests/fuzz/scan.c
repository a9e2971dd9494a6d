/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every variant of mp_body_skip stops where the plain one does, wherever the text begins and ends
 * in memory, and a scan of it as a value or a message gives the same with each. The first byte of
 * the input says how far from the start of its memory the text begins.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "wire/body.h"
#include "wire/envelope.h"
#include "wire/scan.h"

enum { LARGEST_VECTOR = 64 };

/* All that is compared. */
struct outcome {
    const char *body, *string, *value;
    struct mp_envelope envelope;
};

static struct outcome scan(const struct mp_body_variant *variant, const char *text, const char *end)
{
    struct outcome outcome;
    memset(&outcome, 0, sizeof(outcome));
    mp_body_use(variant->skip);
    outcome.body = variant->skip(text, end);
    CHECK(mp_body_skip(text, end) == outcome.body);
    outcome.string = mp_scan_string(text, end);
    outcome.value = mp_scan_value(text, end, MP_JSON_MAX_DEPTH);
    mp_envelope_scan((struct mp_span){text, (size_t)(end - text)}, &outcome.envelope);
    return outcome;
}

static bool same_span(struct mp_span a, struct mp_span b)
{
    return a.bytes == b.bytes && a.size == b.size;
}

static bool same_envelope(const struct mp_envelope *a, const struct mp_envelope *b)
{
    return a->kind == b->kind && a->why == b->why && same_span(a->id, b->id) &&
           same_span(a->method, b->method) && same_span(a->params, b->params) &&
           same_span(a->value, b->value) && same_span(a->meta, b->meta) &&
           a->meta_keys == b->meta_keys && same_span(a->progress_token, b->progress_token);
}

static void compare(const char *text, const char *end)
{
    struct mp_body_variant variants[MP_BODY_VARIANTS];
    size_t count = mp_body_variants(variants);
    struct outcome plain = scan(&variants[0], text, end);
    for (size_t v = 1; v < count; v++) {
        struct outcome other = scan(&variants[v], text, end);
        CHECK(other.body == plain.body);
        CHECK(other.string == plain.string);
        CHECK(other.value == plain.value);
        CHECK(same_envelope(&other.envelope, &plain.envelope));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    size_t offset = data[0] % LARGEST_VECTOR;
    char *memory = malloc(offset + size);
    CHECK(memory != NULL);
    /* The text ends where the memory ends. */
    char *text = memory + offset + 1;
    memcpy(text, data + 1, size - 1);
    compare(text, text + size - 1);
    free(memory);
    return 0;
}
