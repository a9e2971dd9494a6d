/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcpump-guard SERVER_PID STDIN_GRACE_MS TERM_GRACE_MS: the parent of one server, and of whatever
 * that leaves behind. It takes orders from the host, tells it how the server ended, and ends it and
 * all its descendants when the host is dead. It goes when it has no child left.
 *
 * The library makes it (lib/process/spawn_child.c, process/guard.h): it starts as a subreaper, with
 * the server as its child and all signals blocked; they stay so, since whoever signals a group or a
 * session does not mean the guard.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tree.h"

#define ORDERS_FD 0 /* messages 'T', 'K'; their end means that the host is dead */
#define NEWS_FD   1 /* takes a message of two ints, once: exit status or -1, signal or 0 */
#define HOST_FD   2 /* pidfd: readable when the host is dead */

#define NS_PER_MS INT64_C(1000000)
#define NEVER     INT64_MAX
/* While something that was killed lives: how soon to kill again at first, and in the end. */
#define LEAST_RETRY_MS 10
#define MOST_RETRY_MS  1000
#define WRONG_USAGE    2

enum stage {
    WATCHING,    /* the host lives, and has not told us to kill */
    STDIN_GRACE, /* the host is dead: the server sees the end of its stdin */
    TERM_GRACE,
    KILLING,
};

struct guard {
    pid_t server; /* 0: it has been reaped, and its number may be another's */
    int64_t stdin_grace_ms, term_grace_ms;
    enum stage stage;
    int64_t due; /* when the stage has to be left, or to be done again */
    int64_t retry_ms;
    bool is_host_dead;
    int children_fd; /* signalfd of SIGCHLD */
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 * NS_PER_MS + now.tv_nsec;
}

static int64_t after_ms(int64_t ms)
{
    int64_t now = now_ns();
    return ms > (NEVER - now) / NS_PER_MS ? NEVER : now + ms * NS_PER_MS;
}

/* -- the children */

static void tell(int status)
{
    int message[2] = {-1, 0};
    if (WIFEXITED(status))
        message[0] = WEXITSTATUS(status);
    else
        message[1] = WTERMSIG(status);
    /* It fails when the host is dead, which is seen elsewhere. */
    send(NEWS_FD, message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Does not return when no child is left. */
static void reap(struct guard *guard)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != guard->server)
            continue;
        guard->server = 0;
        tell(status);
    }
    if (pid < 0 && errno == ECHILD)
        _exit(0);
}

/* -- what has to be done */

static void signal_group(const struct guard *guard, int signal)
{
    if (guard->server != 0)
        kill(-guard->server, signal);
}

/* A stopped process takes no other signal. Nobody gets two of them: there are programs that take
 * the second SIGTERM for impatience. */
static void terminate(const struct guard *guard)
{
    if (tree_signal(SIGTERM, SIGCONT))
        return;
    signal_group(guard, SIGTERM);
    signal_group(guard, SIGCONT);
}

static void begin_killing(struct guard *guard)
{
    if (guard->stage == KILLING)
        return;
    guard->stage = KILLING;
    guard->retry_ms = LEAST_RETRY_MS;
    guard->due = now_ns();
}

static void kill_all(struct guard *guard)
{
    /* Reaches all members in one step, also those who fork as fast as they can. */
    signal_group(guard, SIGKILL);
    tree_signal(SIGKILL, 0);
    guard->due = after_ms(guard->retry_ms);
    guard->retry_ms *= 2;
    if (guard->retry_ms > MOST_RETRY_MS)
        guard->retry_ms = MOST_RETRY_MS;
}

static void act(struct guard *guard)
{
    if (now_ns() < guard->due)
        return;
    if (guard->stage == STDIN_GRACE) {
        terminate(guard);
        guard->stage = TERM_GRACE;
        guard->due = after_ms(guard->term_grace_ms);
    } else if (guard->stage == TERM_GRACE) {
        begin_killing(guard);
    }
    if (guard->stage == KILLING && now_ns() >= guard->due)
        kill_all(guard);
}

static void mourn(struct guard *guard)
{
    guard->is_host_dead = true;
    if (guard->stage != WATCHING)
        return;
    guard->stage = STDIN_GRACE;
    guard->due = after_ms(guard->stdin_grace_ms);
}

/* -- the loop */

static void take_order(struct guard *guard)
{
    char order;
    ssize_t size = recv(ORDERS_FD, &order, 1, MSG_DONTWAIT);
    /* The end comes as an error when there is news that the host has not read. */
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR))
        mourn(guard);
    else if (size == 1 && order == 'T')
        terminate(guard);
    else if (size == 1 && order == 'K')
        begin_killing(guard);
}

/* Whoever lost its parent by this death is our child now: what is killed next is what it hid. */
static void hear_of_children(struct guard *guard)
{
    struct signalfd_siginfo info;
    if (read(guard->children_fd, &info, sizeof(info)) < 0)
        return;
    if (guard->stage != KILLING)
        return;
    guard->due = now_ns();
    guard->retry_ms = LEAST_RETRY_MS;
}

static int time_left(const struct guard *guard)
{
    if (guard->due == NEVER)
        return -1;
    int64_t ns = guard->due - now_ns();
    int64_t ms = ns > 0 ? (ns + NS_PER_MS - 1) / NS_PER_MS : 0;
    return ms < INT32_MAX ? (int)ms : INT32_MAX;
}

static void wait_for_news(struct guard *guard)
{
    struct pollfd fds[] = {
        {guard->is_host_dead ? -1 : ORDERS_FD, POLLIN, 0},
        {guard->is_host_dead ? -1 : HOST_FD, POLLIN, 0},
        {guard->children_fd, POLLIN, 0},
    };
    poll(fds, sizeof(fds) / sizeof(*fds), time_left(guard));
    if (fds[2].revents != 0)
        hear_of_children(guard);
    if (fds[0].revents != 0)
        take_order(guard);
    if (fds[1].revents != 0)
        mourn(guard);
}

static bool init(struct guard *guard, int argc, char **argv)
{
    sigset_t all, children;
    if (argc != 4)
        return false;
    *guard = (struct guard){
        .server = (pid_t)strtol(argv[1], NULL, 10),
        .stdin_grace_ms = strtoll(argv[2], NULL, 10),
        .term_grace_ms = strtoll(argv[3], NULL, 10),
        .stage = WATCHING,
        .due = NEVER,
    };
    /* They are, but for a guard that was run by hand. Only added to: the C library leaves its own
     * signals out of every set. */
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    guard->children_fd = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    /* Not to keep the host's directory busy. */
    return guard->server > 0 && guard->children_fd >= 0 && chdir("/") == 0;
}

int main(int argc, char **argv)
{
    struct guard guard;
    if (!init(&guard, argc, argv))
        return WRONG_USAGE;
    for (;;) {
        reap(&guard);
        act(&guard);
        wait_for_news(&guard);
    }
}
