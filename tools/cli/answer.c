/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interrupt.h"
#include "report.h"
#include "text.h"

bool cli_answer_begin(struct cli_answer *answer)
{
    *answer = (struct cli_answer){.stream = NULL};
    answer->stream = open_memstream(&answer->bytes, &answer->size);
    return answer->stream != NULL;
}

/* Closes the stream, after which bytes and size are final. */
static bool collect(struct cli_answer *answer)
{
    bool failed = ferror(answer->stream) != 0;
    return fclose(answer->stream) == 0 && !failed;
}

/* Replaces the bytes by what a terminal may see. */
static bool make_harmless(struct cli_answer *answer)
{
    struct cli_answer clean;
    if (!cli_answer_begin(&clean))
        return false;
    cli_text_clean(clean.stream, answer->bytes, answer->size, "\n\t");
    bool complete = collect(&clean);
    free(answer->bytes);
    *answer = clean;
    return complete;
}

/*
 * Waits for room and writes what surely fits: a write of PIPE_BUF bytes that has room does not
 * block. Signals come through only in the wait. Returns the bytes written, which may be 0, or -1.
 */
static ssize_t write_some(const char *bytes, size_t size, const sigset_t *open)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    ssize_t written = -1;
    if (ppoll(&out, 1, NULL, open) > 0)
        written = write(STDOUT_FILENO, bytes, size < PIPE_BUF ? size : PIPE_BUF);
    return written < 0 && (errno == EINTR || errno == EAGAIN) ? 0 : written;
}

/* Returns 0 or an errno; EINTR means that we were interrupted. */
static int write_out(const char *bytes, size_t size)
{
    sigset_t open;
    cli_interrupt_block(&open);
    int err = 0;
    while (size > 0 && err == 0) {
        ssize_t written = write_some(bytes, size, &open);
        if (cli_interrupt_signal() != 0) {
            err = EINTR;
        } else if (written < 0) {
            err = errno;
        } else {
            bytes += written;
            size -= (size_t)written;
        }
    }
    pthread_sigmask(SIG_SETMASK, &open, NULL);
    return err;
}

int cli_answer_end(struct cli_answer *answer, int status)
{
    bool complete = collect(answer);
    if (complete && isatty(STDOUT_FILENO))
        complete = make_harmless(answer);
    if (!complete) {
        free(answer->bytes);
        return cli_report_no_memory();
    }
    int err = write_out(answer->bytes, answer->size);
    free(answer->bytes);
    if (err == 0 || err == EPIPE)
        return status;
    if (err == EINTR)
        return cli_interrupt_exit();
    cli_say("writing to standard output failed: %s", strerror(err));
    return CLI_EXIT_OUTPUT;
}
