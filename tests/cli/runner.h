/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the tool and collects what it says. Everything here fails the test when something does not
 * come within CLI_PATIENCE_MS; nothing ever waits for time to pass.
 */
#ifndef TEST_CLI_RUNNER_H
#define TEST_CLI_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CLI_PATIENCE_MS 60000

struct cli_text {
    char *bytes; /* NUL-terminated. */
    size_t size;
    int fd; /* -1: ended. */
};

struct cli_process {
    pid_t pid;
    struct cli_text out;
    struct cli_text err;
    int status; /* Exit status, or minus the signal; valid after cli_finish. */
};

enum cli_stdout {
    CLI_PIPE,
    CLI_TERMINAL,
    CLI_FULL_DISK, /* Nothing is collected. */
};

/* Arguments without the tool itself, ended by NULL. */
void cli_start(struct cli_process *process, enum cli_stdout kind, const char *const *args);

/* Waits until the text stands in stderr. */
void cli_await_err(struct cli_process *process, const char *text);

/* Waits until `size` bytes of stdout are there. */
void cli_await_out(struct cli_process *process, size_t size);

/* Closes our end of the tool's stdout. */
void cli_stop_reading(struct cli_process *process);

/* Waits for the tool's end. */
void cli_finish(struct cli_process *process);

void cli_process_free(struct cli_process *process);

/* The pid behind "pid " in the text, as peers print it. */
pid_t cli_pid_in(const char *text);

/* Whether there is such a process. */
bool cli_is_alive(pid_t pid);

/* Starts the tool and waits for its end. */
void cli_run(struct cli_process *process, const char *const *args);
#define RUN(process, ...)         cli_run(process, (const char *const[]){__VA_ARGS__, NULL})
#define START(process, kind, ...) cli_start(process, kind, (const char *const[]){__VA_ARGS__, NULL})

/* The path of the demo server. */
const char *cli_demo(void);
#define DEMO cli_demo()

#endif
