/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"

#include <stdio.h>

#define BEGINNING                                                                                  \
    "next() { IFS= read -r line || exit 0; id=${line#*'\"id\":'}; id=${id%%[,\\}]*}; }\n"          \
    "reply() { printf '{\"jsonrpc\":\"2.0\",\"id\":%s,%s}\\n' \"$id\" \"$1\"; }\n"                 \
    "echo \"pid $$\" >&2\n"                                                                        \
    "next\n"                                                                                       \
    "reply '\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},"       \
    "\"serverInfo\":{\"name\":\"peer\",\"version\":\"1\"}}'\n"                                     \
    "next\n"                                                                                       \
    "next\n"

const char *peer_script(const char *then)
{
    static char script[4096];
    snprintf(script, sizeof(script), "%s%s\nnext\n", BEGINNING, then);
    return script;
}
