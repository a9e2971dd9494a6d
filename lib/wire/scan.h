/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pieces of a strict JSON scanner (RFC 8259): each takes a position and the end of the text and
 * returns the position behind what it read, or NULL when it is not valid. UTF-8 is checked within
 * strings. No recursion, no allocation.
 */
#ifndef MP_WIRE_SCAN_H
#define MP_WIRE_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#define MP_JSON_MAX_DEPTH 128

/* Behind space, tab, LF and CR. */
const char *mp_scan_space(const char *at, const char *end);

/* `at` is behind the opening quote; returns behind the closing one. */
const char *mp_scan_string(const char *at, const char *end);

const char *mp_scan_number(const char *at, const char *end);

/* A member's key with its colon: from the opening quote to the first byte of the value. *ret_size
 * is the key's size without its quotes. */
const char *mp_scan_key(const char *at, const char *end, size_t *ret_size);

/* Any value, objects and arrays included, at most max_depth levels deep; `at` is its first byte. */
const char *mp_scan_value(const char *at, const char *end, unsigned max_depth);

#endif
