/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages rewritten as text: all bytes outside the replaced span stay as they are, except raw line
 * breaks between tokens of what we write, which become spaces, since LF ends a message.
 */
#ifndef MP_WIRE_SPLICE_H
#define MP_WIRE_SPLICE_H

#include "base/buffer.h"
#include "wire/envelope.h"

/* Appends `line` to out with `hole` (a span within it; absent: nothing is replaced) replaced by
 * `text`. The reply's way: the bytes are not looked at. */
void mp_splice(struct mp_buffer *out, struct mp_span line, struct mp_span hole,
               struct mp_span text);

/* The same into memory of the right size, line.size - hole.size + text.size. */
void mp_splice_to(char *out, struct mp_span line, struct mp_span hole, struct mp_span text);

/*
 * The same without copying: the line stands in `memory`, and what stands before or behind the hole,
 * whichever is shorter, is moved. *ret_line is then the line, with at least one byte of the memory
 * behind it. False: there is not the room for that; nothing was moved.
 */
bool mp_splice_in_place(struct mp_span memory, struct mp_span line, struct mp_span hole,
                        struct mp_span text, struct mp_span *ret_line);

/* The same for the request's way: line breaks become spaces and one LF is added at the end. */
void mp_splice_frame(struct mp_buffer *out, struct mp_span line, struct mp_span hole,
                     struct mp_span text);

/*
 * Appends `request` (scanned into `envelope`) to out with `members`, the text of one or more
 * members of an object without braces and outer commas, added in front of those of params._meta;
 * params and _meta are made when they are absent. False when params is no object or _meta is not
 * one: out is untouched then.
 */
bool mp_splice_meta(struct mp_buffer *out, struct mp_span request,
                    const struct mp_envelope *envelope, struct mp_span members);

/* Appends text as a JSON string with its quotes; invalid UTF-8 becomes U+FFFD. */
void mp_splice_string(struct mp_buffer *out, const char *text, size_t size);

#endif
