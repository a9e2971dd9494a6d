/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The envelope of a JSON-RPC message: one validating pass over the whole line tells what it is and
 * where its parts are; no tree is built. Spans point into the line. A key counts by its decoded
 * text ("\u0069d" is "id"); a member that stands twice and is looked at here makes the line junk,
 * since two readers could take it for two things.
 */
#ifndef MP_WIRE_ENVELOPE_H
#define MP_WIRE_ENVELOPE_H

#include "wire/framer.h"

enum mp_kind {
    MP_KIND_JUNK,         /* not valid JSON, too deep, or valid and no JSON-RPC 2.0 message */
    MP_KIND_REQUEST,      /* method, id a string or a number */
    MP_KIND_NOTIFICATION, /* method, no id, or null as JSON-RPC 1.0 had it */
    MP_KIND_RESULT,       /* result, id a string or a number */
    MP_KIND_ERROR,        /* error (an object); id a string, a number, null or absent */
    MP_KIND_BATCH,        /* a non-empty array; each element is to be scanned on its own */
};

/* Members of params._meta that the client fills in when its caller did not. */
enum mp_meta_key {
    MP_META_PROTOCOL_VERSION = 1 << 0,    /* io.modelcontextprotocol/protocolVersion */
    MP_META_CLIENT_INFO = 1 << 1,         /* io.modelcontextprotocol/clientInfo */
    MP_META_CLIENT_CAPABILITIES = 1 << 2, /* io.modelcontextprotocol/clientCapabilities */
    MP_META_LOG_LEVEL = 1 << 3,           /* io.modelcontextprotocol/logLevel */
    MP_META_TRACEPARENT = 1 << 4,
    MP_META_TRACESTATE = 1 << 5,
    MP_META_BAGGAGE = 1 << 6,
};

struct mp_envelope {
    enum mp_kind kind;
    const char *why;       /* JUNK: a static phrase for a person, else NULL */
    struct mp_span id;     /* with the quotes of a string; absent for `null` */
    struct mp_span method; /* raw, without its quotes */
    struct mp_span params;
    struct mp_span value;          /* of result or error */
    struct mp_span meta;           /* params._meta, of whatever type */
    unsigned meta_keys;            /* which enum mp_meta_key stand in it */
    struct mp_span progress_token; /* a string or a number: params._meta.progressToken of a request,
                                      params.progressToken of a notification */
};

/* Scans one line, or one element of a batch. Never fails: what is wrong is junk, and says why. */
void mp_envelope_scan(struct mp_span line, struct mp_envelope *ret_envelope);

/* Steps through the elements of a line of kind BATCH: start with *at = NULL; false at the end. An
 * element that is a batch again is no message. */
bool mp_batch_next(struct mp_span line, const char **at, struct mp_span *ret_element);

/* Whether the method is this one, escapes decoded; `method` is ASCII. */
bool mp_envelope_is_method(const struct mp_envelope *envelope, const char *method);

#endif
