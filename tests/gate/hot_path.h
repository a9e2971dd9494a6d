/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pieces of the hot path whose instructions are counted (see tools/gate/run). A piece does the
 * same in each turn, whatever went before: no clock, no other thread, no system call, no memory
 * that grows. One thread.
 */
#ifndef TEST_GATE_HOT_PATH_H
#define TEST_GATE_HOT_PATH_H

#include <stdbool.h>

struct piece {
    const char *name;
    void (*start)(void); /* NULL: nothing to prepare */
    void (*turn)(void);
    void (*stop)(void); /* NULL: nothing to free */
};

/* Each ends with a piece without a name. */
extern const struct piece wire_pieces[], transport_pieces[], mcp_pieces[];

/* Ends the program when it is not so: what fails costs less, and would be counted as faster. */
void must(bool so, const char *what);

#define MUST(condition) must(condition, #condition)

/* Messages as they are seen every day. */
#define REQUEST                                                                                    \
    "{\"jsonrpc\":\"2.0\",\"id\":\"a-17\",\"method\":\"tools/call\",\"params\":{\"name\":"         \
    "\"search\",\"arguments\":{\"query\":\"where is it\",\"limit\":10,\"exact\":false}}}"
#define REPLY                                                                                      \
    "{\"jsonrpc\":\"2.0\",\"id\":4711,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"       \
    "\"The answer is short, as most of them are; it has two lines,\\nof which this is the "        \
    "second one. Not more.\"}],\"isError\":false}}"

#endif
