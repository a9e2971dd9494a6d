/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The demo server: a small MCP server over stdio for trying out and measuring clients. One thread:
 * it reads what is there, answers every line of it, and writes all answers at once. Calls that take
 * time are timers, so they hold up nobody. Answers are text, put together in the output buffer.
 *
 *   main.c      options, the loop of reading and writing
 *   protocol.c  messages, eras, handshake
 *   tools.c     the tools
 *   slow.c      calls that take time
 *   json.c      reading JSON;  out.c  writing it
 */
#ifndef MCPUMP_DEMO_DEMO_H
#define MCPUMP_DEMO_DEMO_H

#include "out.h"

enum demo_era {
    DEMO_LEGACY = 1 << 0,
    DEMO_MODERN = 1 << 1,
};

enum demo_error {
    DEMO_PARSE_ERROR = -32700,
    DEMO_INVALID_REQUEST = -32600,
    DEMO_METHOD_NOT_FOUND = -32601,
    DEMO_INVALID_PARAMS = -32602,
    DEMO_UNSUPPORTED_VERSION = -32022,
};

/* A request as it stands in the line being answered. */
struct demo_request {
    struct json_span id;
    struct json_span method;
    struct json_span params;
    struct json_span meta; /* params._meta */
    bool modern;           /* it carries the metadata of the modern era */
};

struct demo_slow; /* one running call */

struct demo_server {
    unsigned eras;    /* bits of enum demo_era */
    size_t page_size; /* of tools/list; 0: all on one page */
    bool initialized; /* a legacy handshake was done */
    struct out out;
    struct demo_slow *running;
    size_t running_count;
};

/* protocol.c: answers one line of input. */
void demo_handle_line(struct demo_server *server, struct json_span line);

/* An answer is begun, then its members are added as text, each followed by a comma but the last,
 * then it is ended. The first members are those that every result of the era has. */
void demo_result_begin(struct out *out, struct json_span id, bool modern);
void demo_result_end(struct out *out);

/* id: absent when the request could not be read. `data`: JSON, or NULL. */
void demo_error(struct out *out, struct json_span id, enum demo_error code, const char *message,
                const char *data);

/* tools.c */
void demo_list_tools(struct demo_server *server, const struct demo_request *request);
void demo_call_tool(struct demo_server *server, const struct demo_request *request);

/* slow.c: starts a call that takes `ms` in all and reports progress after each of `steps` parts. */
void demo_slow_start(struct demo_server *server, const struct demo_request *request, int64_t ms,
                     int64_t steps);
void demo_slow_cancel(struct demo_server *server, struct json_span id);
/* Writes what is due; returns for how long nothing more is, -1: for ever. */
int demo_slow_run(struct demo_server *server);
/* The client has left: every running call ends with an error of its tool. */
void demo_slow_end(struct demo_server *server);

#endif
