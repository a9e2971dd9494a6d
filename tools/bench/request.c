/* SPDX-License-Identifier: Apache-2.0 */
#include "request.h"

#include <stdio.h>

#define CALL(tool, arguments, rest)                                                                \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"" tool         \
    "\",\"arguments\":" arguments rest "}}\n"
#define PREFIX "io.modelcontextprotocol/"
#define META                                                                                       \
    ",\"_meta\":{\"" PREFIX "protocolVersion\":\"2026-07-28\",\"" PREFIX                           \
    "clientInfo\":{\"name\":\"mcpump\",\"version\":\"0.1.0\"},\"" PREFIX                           \
    "clientCapabilities\":{}}"
#define TEXT(text)                                                                                 \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }

const struct bench_text bench_initialize =
    TEXT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
         "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
         "\"clientInfo\":{\"name\":\"mcpump-bench\",\"version\":\"1\"}}}\n");
const struct bench_text bench_initialized =
    TEXT("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
const struct bench_text bench_echo = TEXT(CALL("echo", BENCH_ECHO_ARGUMENTS, ""));
const struct bench_text bench_modern_echo = TEXT(CALL("echo", BENCH_ECHO_ARGUMENTS, META));
const struct bench_text bench_slow = TEXT(CALL("slow", "{\"ms\":3600000,\"steps\":1}", ""));

struct bench_text bench_echo_of(size_t bytes, char room[BENCH_ECHO_OF_SIZE])
{
    int size = snprintf(room, BENCH_ECHO_OF_SIZE, CALL("echo", "{\"size\":%zu}", ""), bytes);
    return (struct bench_text){room, (size_t)size};
}
