/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the stress programs share. They are plain programs, since ThreadSanitizer and Criterion do
 * not go together; the first wrong answer ends them with a message and status 1.
 *
 *     PROGRAM SERVER [--scale PERCENT]
 */
#ifndef STRESS_H
#define STRESS_H

#include <mcpump/mcpump.h>
#include <stdbool.h>
#include <stdint.h>

struct stress {
    const char *server; /* path of mcpump-demo-server */
    int scale;          /* percent of the full count */
};

struct stress stress_init(int argc, char **argv);

/* So many of `full`, at least one. */
int stress_count(const struct stress *stress, int full);

void stress_die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Ends the program unless it holds. */
#define STRESS_CHECK(holds, ...)                                                                   \
    do {                                                                                           \
        if (!(holds))                                                                              \
            stress_die(__VA_ARGS__);                                                               \
    } while (0)

/* New: a server that runs the demo server; nothing started. stderr discarded. */
mcpump_server *stress_server(const struct stress *stress);

/* Runs `threads` threads, each with its own number from 0, and joins them. */
void stress_run(int threads, void (*body)(void *context, int number), void *context);

/* Calls `echo` with a text of thread and round; the answer must be that text. */
mcpump_err stress_echo(mcpump_server *server, int number, int round, int64_t timeout_ms);

/* Open file descriptors, threads, children of this process. */
struct stress_footprint {
    int fds, threads, children;
};
struct stress_footprint stress_footprint(void);
void stress_check_footprint(struct stress_footprint before);

/* A small generator of the thread's own: xorshift. */
uint32_t stress_random(uint32_t *state);

#endif
