/* SPDX-License-Identifier: Apache-2.0 */
/* What the fake server does before it reads its first message, and the children that it leaves. */
#include "fake.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define STDERR_LINE "stderr line of the fake server, sixty-four bytes with its end..\n"

static void write_all(int fd, const char *bytes, size_t size)
{
    struct out out = {NULL, 0, 0};
    out_bytes(&out, bytes, size);
    out_flush(&out, fd);
    out_done(&out);
}

void fake_stderr_lines(int64_t bytes, bool newline)
{
    char line[sizeof(STDERR_LINE)] = STDERR_LINE;
    const int64_t size = sizeof(line) - 1;
    if (!newline)
        line[size - 1] = '.';
    for (; bytes > 0; bytes -= size)
        write_all(STDERR_FILENO, line, (size_t)(bytes < size ? bytes : size));
}

/* Writes a switch's text with its escapes decoded. */
static void write_text(int fd, const char *text)
{
    static const char names[] = "nrte0\\", bytes[] = "\n\r\t\033\0\\";
    struct out out = {NULL, 0, 0};
    while (*text != '\0') {
        const char *name = *text == '\\' && text[1] != '\0' ? strchr(names, text[1]) : NULL;
        unsigned byte = (unsigned char)*text;
        int used = 1;
        if (name != NULL) {
            byte = (unsigned char)bytes[name - names];
            used = 2;
        } else if (*text == '\\' && text[1] == 'x' && sscanf(text + 2, "%2x", &byte) == 1) {
            used = 4;
        }
        char c = (char)byte;
        out_bytes(&out, &c, 1);
        text += used;
    }
    out_flush(&out, fd);
    out_done(&out);
}

pid_t fake_fork_grandchild(struct fake *fake, const char *kind)
{
    char text[16];
    fake_flush(fake);
    pid_t pid = fork();
    if (pid == 0) {
        alarm((unsigned)fake->options.lifetime);
        if (strcmp(kind, "hold") != 0) {
            int null = open("/dev/null", O_RDWR);
            for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
                dup2(null, fd);
        } else {
            close(STDIN_FILENO);
        }
        if (strcmp(kind, "detached") == 0)
            setsid();
        for (;;)
            pause();
    }
    fake->grandchild = pid;
    snprintf(text, sizeof(text), "%d", (int)pid);
    fake_log(fake, "grandchild", fake_span(text));
    return pid;
}

/* Returns in the child only. */
static void launch(struct fake *fake)
{
    pid_t child = fork();
    if (child == 0) {
        alarm((unsigned)fake->options.lifetime);
        return;
    }
    if (fake->options.launcher_exits_first)
        _exit(0);
    int status = 0;
    waitpid(child, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static void open_log(struct fake *fake)
{
    char pid[16];
    fake->log_fd = -1;
    if (fake->options.log == NULL)
        return;
    fake->log_fd = open(fake->options.log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    fake_log(fake, "start", fake_span(pid));
}

void fake_startup(struct fake *fake)
{
    const struct fake_options *options = &fake->options;
    alarm((unsigned)options->lifetime);
    if (options->ignore_term)
        signal(SIGTERM, SIG_IGN);
    if (options->launcher || options->launcher_exits_first)
        launch(fake);
    open_log(fake);
    if (options->grandchild != NULL)
        fake_fork_grandchild(fake, options->grandchild);
    for (size_t i = 0; i < options->stderr_text.count; i++)
        write_text(STDERR_FILENO, options->stderr_text.items[i]);
    fake_stderr_lines(options->stderr_bytes, !options->stderr_no_newline);
    if (options->bom)
        write_all(STDOUT_FILENO, "\xEF\xBB\xBF", 3);
    for (size_t i = 0; i < options->banner.count; i++)
        write_text(STDOUT_FILENO, options->banner.items[i]);
    if (options->delay_start > 0)
        poll(NULL, 0, (int)options->delay_start);
    if (options->exit_now != NULL)
        fake_exit(fake, atoi(options->exit_now));
}
