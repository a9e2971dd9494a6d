/* SPDX-License-Identifier: Apache-2.0 */
#include "value.h"

#include <string.h>

/* Moves *text behind its digits; false when there are none or the number is above `most`. */
static bool take_whole(const char **text, uint64_t most, uint64_t *ret_number)
{
    const char *at = *text;
    uint64_t number = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (number > (most - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    if (at == *text)
        return false;
    *text = at;
    *ret_number = number;
    return true;
}

/* Digits behind the point, as milliseconds. Anything beyond the third counts as one more. */
static bool take_fraction(const char **text, int64_t *ret_ms)
{
    const char *at = *text;
    int64_t ms = 0, weight = 100;
    bool rest = false;
    for (; *at >= '0' && *at <= '9'; at++, weight /= 10) {
        ms += weight * (*at - '0');
        rest = rest || (weight == 0 && *at != '0');
    }
    if (at == *text)
        return false;
    *text = at;
    *ret_ms = ms + (rest ? 1 : 0);
    return true;
}

bool cli_value_seconds(const char *text, int64_t *ret_ms)
{
    uint64_t seconds = 0;
    int64_t ms = 0;
    if (*text != '.' && !take_whole(&text, CLI_SECONDS_MAX, &seconds))
        return false;
    if (*text == '.') {
        text++;
        if (!take_fraction(&text, &ms))
            return false;
    }
    ms += (int64_t)seconds * 1000;
    if (*text != '\0' || ms == 0 || ms > (int64_t)CLI_SECONDS_MAX * 1000)
        return false;
    *ret_ms = ms;
    return true;
}

bool cli_value_bytes(const char *text, size_t *ret_bytes)
{
    uint64_t number;
    if (!take_whole(&text, SIZE_MAX, &number) || number == 0)
        return false;
    unsigned shift = 0;
    if (*text != '\0') {
        static const char units[] = "KkMmGg";
        const char *unit = strchr(units, *text++);
        if (unit == NULL)
            return false;
        shift = 10 * ((unsigned)(unit - units) / 2 + 1);
    }
    if (*text != '\0' || number > SIZE_MAX >> shift)
        return false;
    *ret_bytes = (size_t)number << shift;
    return true;
}

bool cli_value_count(const char *text, int64_t *ret_count)
{
    uint64_t number;
    if (!take_whole(&text, INT64_MAX, &number) || *text != '\0')
        return false;
    *ret_count = (int64_t)number;
    return true;
}
