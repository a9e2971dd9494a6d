/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells what it was started with, as one line of JSON on stdout, and exits with 0: arguments (bytes
 * as they are, but for control characters, quotes and backslashes), environment, working directory,
 * ids, open fds, which of 0 to 2 are non-blocking, the signal masks of /proc/self/status in
 * hexadecimal, niceness, parent-death signal, and two limits, soft and hard.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define MOST_FDS 4096

static void put_text(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte < 0x20 || byte == '"' || byte == '\\')
            printf("\\u%04x", byte);
        else
            putchar(byte);
    }
    putchar('"');
}

static void put_list(const char *name, char *const *list)
{
    printf("\"%s\":[", name);
    for (size_t i = 0; list[i] != NULL; i++) {
        if (i > 0)
            putchar(',');
        put_text(list[i]);
    }
    printf("],");
}

/* By asking for each: opening /proc/self/fd would add one. */
static void put_fds(const char *name, int count, int command, int wanted)
{
    const char *comma = "";
    printf("\"%s\":[", name);
    for (int fd = 0; fd < count; fd++) {
        int flags = fcntl(fd, command);
        if (flags < 0 || (wanted != 0 && (flags & wanted) == 0))
            continue;
        printf("%s%d", comma, fd);
        comma = ",";
    }
    printf("],");
}

static void put_signals(void)
{
    FILE *status = fopen("/proc/self/status", "re");
    char line[256], name[16], mask[32];
    while (status != NULL && fgets(line, sizeof(line), status) != NULL) {
        if (sscanf(line, "Sig%15[A-Za-z]: %31s", name, mask) == 2)
            printf("\"Sig%s\":\"%s\",", name, mask);
    }
    if (status != NULL)
        fclose(status);
}

static void put_limit(const char *name, int resource)
{
    struct rlimit limit = {0, 0};
    prlimit(0, resource, NULL, &limit);
    printf("\"%s\":[%llu,%llu],", name, (unsigned long long)limit.rlim_cur,
           (unsigned long long)limit.rlim_max);
}

static void put_attributes(void)
{
    int death_signal = 0;
    prctl(PR_GET_PDEATHSIG, &death_signal);
    put_limit("NOFILE", RLIMIT_NOFILE);
    put_limit("CORE", RLIMIT_CORE);
    printf("\"nice\":%d,\"death_signal\":%d,", getpriority(PRIO_PROCESS, 0), death_signal);
}

int main(int argc, char **argv)
{
    char cwd[4096];
    (void)argc;
    putchar('{');
    put_fds("fds", MOST_FDS, F_GETFD, 0);
    put_fds("nonblocking", STDERR_FILENO + 1, F_GETFL, O_NONBLOCK);
    put_list("args", argv);
    put_list("env", environ);
    put_signals();
    put_attributes();
    printf("\"cwd\":");
    put_text(getcwd(cwd, sizeof(cwd)) != NULL ? cwd : "");
    printf(",\"pid\":%d,\"ppid\":%d,\"pgid\":%d,\"sid\":%d}\n", getpid(), getppid(), getpgrp(),
           getsid(0));
    return fflush(stdout) == 0 ? 0 : 1;
}
