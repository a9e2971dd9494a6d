/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers are read by exact decimal arithmetic: a double would take 9007199254740993 for its
 * neighbour. Nothing here costs more than the length of the text, whatever the exponent says.
 */
#include "wire/message_id.h"

#include <string.h>

#include "wire/scan.h"

/* Beyond any number of digits that a line can hold, and far from the limits of int64_t. */
#define EXPONENT_LIMIT ((int64_t)1 << 60)

/* significand * 10^zeros, the significand not divisible by ten */
struct decimal {
    uint64_t significand;
    int64_t zeros;
};

size_t mp_message_id_text(uint64_t id, char out[MP_MESSAGE_ID_SIZE])
{
    char digits[MP_MESSAGE_ID_SIZE];
    size_t first = sizeof(digits);
    do {
        digits[--first] = (char)('0' + id % 10);
        id /= 10;
    } while (id > 0 && first > 1);
    size_t size = sizeof(digits) - first;
    memcpy(out, digits + first, size);
    out[size] = '\0';
    return size;
}

/* Multiplies by ten, `count` times, and adds. False: above the largest id. */
static bool shift_in(uint64_t *number, int64_t count, unsigned digit)
{
    for (; count > 0; count--) {
        *number *= 10;
        if (*number > MP_MESSAGE_ID_MAX)
            return false;
    }
    *number += digit;
    return *number <= MP_MESSAGE_ID_MAX;
}

/* Zeros are counted until another digit stands behind them. */
static bool add_digit(struct decimal *decimal, unsigned digit)
{
    if (digit == 0) {
        decimal->zeros++;
        return true;
    }
    int64_t places = decimal->zeros + 1;
    decimal->zeros = 0;
    return shift_in(&decimal->significand, places, digit);
}

/* From behind the `e`. */
static int64_t read_exponent(const char *at, const char *end)
{
    bool negative = *at == '-';
    if (*at == '-' || *at == '+')
        at++;
    int64_t exponent = 0;
    for (; at < end && exponent < EXPONENT_LIMIT / 10; at++)
        exponent = exponent * 10 + (*at - '0');
    return negative ? -exponent : exponent;
}

/* A number of more significant digits than the largest id is either larger or no integer. */
static bool parse_number(const char *at, const char *end, uint64_t *ret_id)
{
    struct decimal decimal = {0, 0};
    int64_t exponent = 0;
    bool in_fraction = false;
    for (; at < end && *at != 'e' && *at != 'E'; at++) {
        if (*at == '.') {
            in_fraction = true;
            continue;
        }
        if (!add_digit(&decimal, (unsigned)(*at - '0')))
            return false;
        exponent -= in_fraction;
    }
    if (at < end)
        exponent += read_exponent(at + 1, end);
    exponent += decimal.zeros;
    if (decimal.significand == 0 || exponent < 0 || !shift_in(&decimal.significand, exponent, 0))
        return false;
    *ret_id = decimal.significand;
    return true;
}

static bool is_plain_decimal(const char *at, const char *end)
{
    if (at == end || *at == '0')
        return false;
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at == end;
}

bool mp_message_id_parse(struct mp_span id, uint64_t *ret_id)
{
    if (id.bytes == NULL || id.size == 0 || *id.bytes == '-')
        return false;
    const char *at = id.bytes, *end = id.bytes + id.size;
    if (*at != '"')
        return mp_scan_number(at, end) == end && parse_number(at, end, ret_id);
    if (id.size < 2 || end[-1] != '"')
        return false;
    return is_plain_decimal(at + 1, end - 1) && parse_number(at + 1, end - 1, ret_id);
}
