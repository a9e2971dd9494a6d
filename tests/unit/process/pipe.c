/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "process/pipe.h"
#include "support.h"

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

Test(pipe, ends)
{
    int ends[2];
    cr_assert_eq(mp_pipe(ends), 0);
    for (int i = 0; i < 2; i++) {
        cr_expect_gt(ends[i], 2);
        cr_expect(fcntl(ends[i], F_GETFD) & FD_CLOEXEC);
        cr_expect_not(fcntl(ends[i], F_GETFL) & O_NONBLOCK);
    }
    cr_expect_eq(fcntl(ends[MP_PIPE_READ], F_GETFL) & O_ACCMODE, O_RDONLY);
    cr_expect_eq(fcntl(ends[MP_PIPE_WRITE], F_GETFL) & O_ACCMODE, O_WRONLY);

    cr_assert_eq(mp_pipe_set_nonblocking(ends[MP_PIPE_READ]), 0);
    cr_expect(fcntl(ends[MP_PIPE_READ], F_GETFL) & O_NONBLOCK);
    cr_expect_not(fcntl(ends[MP_PIPE_WRITE], F_GETFL) & O_NONBLOCK, "the other end is its own");
    close(ends[0]);
    close(ends[1]);
    cr_expect_eq(mp_pipe_set_nonblocking(ends[0]), EBADF);
}

/* Takes 0 to 2 away and gives them back, so that the test can still speak. */
static void hide_stdio(int kept[3])
{
    for (int fd = 0; fd < 3; fd++) {
        kept[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 100);
        close(fd);
    }
}

static void show_stdio(const int kept[3])
{
    for (int fd = 0; fd < 3; fd++) {
        dup2(kept[fd], fd);
        close(kept[fd]);
    }
}

Test(pipe, above_2_although_those_are_free)
{
    int ends[2], kept[3];
    hide_stdio(kept);
    int err = mp_pipe(ends);
    bool taken = is_open(0) || is_open(1) || is_open(2);
    int flags = fcntl(ends[0], F_GETFD) & fcntl(ends[1], F_GETFD);
    show_stdio(kept);
    cr_assert_eq(err, 0);
    cr_expect_not(taken);
    cr_expect(ends[0] > 2 && ends[1] > 2, "%d %d", ends[0], ends[1]);
    cr_expect(flags & FD_CLOEXEC);
    close(ends[0]);
    close(ends[1]);
}

/* The limit counts from the lowest fd that is free; -1 for both ends and nothing left open. */
Test(pipe, out_of_fds)
{
    int kept[3], before = test_count_fds(), free_fd = dup(0);
    close(free_fd);
    for (int room = 0; room < 2; room++) {
        struct rlimit old, limit;
        getrlimit(RLIMIT_NOFILE, &old);
        limit = old;
        limit.rlim_cur = (rlim_t)(free_fd + room);
        setrlimit(RLIMIT_NOFILE, &limit);
        int ends[2] = {77, 77}, err = mp_pipe(ends);
        setrlimit(RLIMIT_NOFILE, &old);
        cr_expect_eq(err, EMFILE);
        cr_expect(ends[0] == -1 && ends[1] == -1);
        cr_expect_eq(test_count_fds(), before);
    }

    /* The pipe is made with two of 0 to 2, and there is no place above. */
    struct rlimit old, limit;
    getrlimit(RLIMIT_NOFILE, &old);
    limit = old;
    limit.rlim_cur = (rlim_t)dup(0) + 1; /* that is free_fd again */
    hide_stdio(kept);
    setrlimit(RLIMIT_NOFILE, &limit);
    int ends[2], err = mp_pipe(ends);
    setrlimit(RLIMIT_NOFILE, &old);
    bool taken = is_open(0) || is_open(1) || is_open(2);
    show_stdio(kept);
    cr_expect_eq(err, EMFILE);
    cr_expect(ends[0] == -1 && ends[1] == -1);
    cr_expect_not(taken);
    close(free_fd);
}

static const struct writer {
    const char *name;
    ssize_t (*write)(int fd, const struct iovec *parts, int count);
} writers[] = {{"best", mp_pipe_writev}, {"masked", mp_pipe_writev_masked}};
#define WRITERS 2

static ssize_t write_hello(const struct writer *writer, int fd)
{
    char hel[] = "hel", lo[] = "lo";
    struct iovec parts[] = {{hel, 3}, {lo, 2}};
    return writer->write(fd, parts, 2);
}

Test(writev, writes_all_parts)
{
    for (int i = 0; i < WRITERS; i++) {
        int ends[2];
        char got[8] = "";
        cr_assert_eq(mp_pipe(ends), 0);
        cr_expect_eq(write_hello(&writers[i], ends[1]), 5, "%s", writers[i].name);
        cr_expect_eq(read(ends[0], got, sizeof(got)), 5);
        cr_expect_str_eq(got, "hello", "%s", writers[i].name);
        close(ends[0]);
        close(ends[1]);
    }
}

static volatile sig_atomic_t signals;

static void count_signal(int signal)
{
    (void)signal;
    signals++;
}

static const struct {
    const char *name;
    void (*handler)(int);
    bool blocked, pending;
} hosts[] = {
    {"default", SIG_DFL, false, false},         {"ignored", SIG_IGN, false, false},
    {"handled", count_signal, false, false},    {"default, blocked", SIG_DFL, true, false},
    {"ignored, blocked", SIG_IGN, true, false}, {"handled, blocked", count_signal, true, false},
    {"default, pending", SIG_DFL, true, true},  {"handled, pending", count_signal, true, true},
};

static bool is_in(const sigset_t *set)
{
    return sigismember(set, SIGPIPE) == 1;
}

/* A pipe that nobody reads: EPIPE, the host lives, and its signals are as they were. */
static void write_in_vain(const struct writer *writer, size_t host)
{
    sigset_t sigpipe, mask, pending;
    int ends[2];
    cr_assert_eq(mp_pipe(ends), 0);
    close(ends[MP_PIPE_READ]);
    sigemptyset(&sigpipe);
    sigaddset(&sigpipe, SIGPIPE);
    signals = 0;
    signal(SIGPIPE, hosts[host].handler);
    sigprocmask(hosts[host].blocked ? SIG_BLOCK : SIG_UNBLOCK, &sigpipe, NULL);
    if (hosts[host].pending)
        raise(SIGPIPE);

    ssize_t n = write_hello(writer, ends[MP_PIPE_WRITE]);
    int err = errno;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    sigpending(&pending);
    cr_expect(n == -1 && err == EPIPE, "%s, %s: %zd", writer->name, hosts[host].name, n);
    cr_expect_eq(is_in(&mask), hosts[host].blocked, "%s, %s", writer->name, hosts[host].name);
    cr_expect_eq(is_in(&pending), hosts[host].pending, "%s, %s", writer->name, hosts[host].name);
    cr_expect_eq(signals, 0, "%s, %s", writer->name, hosts[host].name);
    cr_expect_eq(signal(SIGPIPE, SIG_IGN), hosts[host].handler); /* drops what is pending */
    close(ends[MP_PIPE_WRITE]);
}

Test(writev, raises_no_signal)
{
    for (int i = 0; i < WRITERS; i++) {
        for (size_t host = 0; host < sizeof(hosts) / sizeof(hosts[0]); host++)
            write_in_vain(&writers[i], host);
    }
}

Test(writev, full_pipe)
{
    for (int i = 0; i < WRITERS; i++) {
        static char much[1 << 20];
        struct iovec part = {much, sizeof(much)};
        int ends[2];
        cr_assert_eq(mp_pipe(ends), 0);
        mp_pipe_set_nonblocking(ends[MP_PIPE_WRITE]);
        ssize_t n = writers[i].write(ends[MP_PIPE_WRITE], &part, 1);
        cr_expect(n > 0 && n < (ssize_t)sizeof(much), "%s: %zd", writers[i].name, n);
        n = writers[i].write(ends[MP_PIPE_WRITE], &part, 1);
        cr_expect(n == -1 && errno == EAGAIN, "%s: %zd", writers[i].name, n);
        close(ends[0]);
        close(ends[1]);
        n = writers[i].write(ends[MP_PIPE_WRITE], &part, 1);
        cr_expect(n == -1 && errno == EBADF, "%s: %zd", writers[i].name, n);
    }
}
