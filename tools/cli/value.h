/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as people type them. False, and no output, for junk, signs, zero and what is too large.
 */
#ifndef CLI_VALUE_H
#define CLI_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLI_SECONDS_MAX 1000000000

/* Seconds above 0, up to CLI_SECONDS_MAX, a fraction allowed; rounded up to milliseconds. */
bool cli_value_seconds(const char *text, int64_t *ret_ms);

/* Bytes above 0, with K, M or G (powers of 1024) behind the number or not. */
bool cli_value_bytes(const char *text, size_t *ret_bytes);

/* A whole number; 0 is allowed. */
bool cli_value_count(const char *text, int64_t *ret_count);

#endif
