/* SPDX-License-Identifier: Apache-2.0 */
/* What the answers of a handshake say. Trees, in the thread that connects. Pure. */
#ifndef MP_MCP_ANSWER_H
#define MP_MCP_ANSWER_H

#include <stdbool.h>

#include "mcp/era.h"
#include "mcpump/reply.h"
#include "wire/framer.h"

/* What the reply to `server/discover` means; also what an error of `initialize` may mean. */
enum mp_discovery {
    MP_DISCOVERY_MODERN,   /* ret_revision: the best modern version that both have */
    MP_DISCOVERY_LEGACY,   /* go on with `initialize` */
    MP_DISCOVERY_REFUSED,  /* UnsupportedProtocolVersion; ret_revision: what to ask with instead */
    MP_DISCOVERY_HOPELESS, /* modern, and no version in common */
};

/* `asked` is the version that the request carried. */
enum mp_discovery mp_answer_discovery(const mcpump_reply *reply, const char *asked,
                                      const struct mp_revision **ret_revision);

/*
 * The version in the result of `initialize`: the revision, or NULL when it is no known legacy one;
 * *ret_words, of `size` bytes, tells what the server said instead.
 */
const struct mp_revision *mp_answer_initialize(const mcpump_reply *reply, char *ret_words,
                                               size_t size);

/* What a server said of itself: the value of serverInfo in the result with which it presented
 * itself, wherever its era has that. Borrowed from `hello`. */
bool mp_answer_info(const char *hello, struct mp_span *ret_info);

/* Name and version of the server out of the result with which it presented itself, cleaned and cut;
 * "" where it does not say. */
void mp_answer_server_info(const char *hello, char *ret_name, size_t name_size, char *ret_version,
                           size_t version_size);

/* "error -32603: words" of an error reply. */
void mp_answer_error(const mcpump_reply *reply, char *ret_words, size_t size);

#endif
