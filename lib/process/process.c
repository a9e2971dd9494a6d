/* SPDX-License-Identifier: Apache-2.0 */
#include "process/process.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/sync.h"
#include "process/group.h"
#include "process/guard.h"

/* glibc has the name since 2.36 only. */
#define WAIT_FOR_PIDFD ((idtype_t)3)
/* No event tells that a process group has become empty: it is looked at so often. */
#define GROUP_LOOK_MS 10

void mp_process_init(struct mp_process *process, struct mp_spawned *spawned)
{
    *process = MP_PROCESS_NONE;
    process->pid = spawned->pid;
    process->pidfd = spawned->pidfd;
    process->guard_fd = spawned->guard_fd;
    spawned->pidfd = spawned->guard_fd = -1;
}

void mp_process_done(struct mp_process *process)
{
    mp_fd_close(&process->pidfd);
    mp_fd_close(&process->guard_fd);
    process->pid = -1;
}

static bool has_guard(const struct mp_process *process)
{
    return process->guard_fd >= 0;
}

static bool is_readable(int fd)
{
    struct pollfd end = {.fd = fd, .events = POLLIN};
    return poll(&end, 1, 0) > 0;
}

bool mp_process_is_alive(const struct mp_process *process)
{
    int fd = has_guard(process) ? process->guard_fd : process->pidfd;
    return fd >= 0 && !is_readable(fd);
}

int mp_process_watch_fd(const struct mp_process *process)
{
    if (!process->ended && has_guard(process))
        return process->guard_fd;
    return !process->ended || (has_guard(process) && !process->reaped) ? process->pidfd : -1;
}

/* -- looking */

static struct mp_exit exit_of(const siginfo_t *info)
{
    if (info->si_code == CLD_EXITED)
        return (struct mp_exit){.known = true, .status = info->si_status, .signal = 0};
    return (struct mp_exit){.known = true, .status = -1, .signal = info->si_status};
}

/* Whether our child has ended; options as of waitid. *ret_exit is untouched when somebody else has
 * reaped it: the host was faster, or ignores SIGCHLD. */
static bool look_at_child(struct mp_process *process, int options, struct mp_exit *ret_exit)
{
    siginfo_t info = {.si_pid = 0};
    if (process->pid < 0 || process->reaped)
        return process->reaped;
    if (waitid(WAIT_FOR_PIDFD, (id_t)process->pidfd, &info, WEXITED | WNOHANG | options) == 0) {
        if (info.si_pid == 0)
            return false;
        process->reaped = (options & WNOWAIT) == 0;
        *ret_exit = exit_of(&info);
        return true;
    }
    process->reaped = is_readable(process->pidfd);
    return process->reaped;
}

static void look_at_guard(struct mp_process *process)
{
    if (process->pid < 0 || process->ended)
        return;
    struct mp_exit *exit = &process->exit;
    enum mp_guard_news news = mp_guard_look(process->guard_fd, &exit->status, &exit->signal);
    exit->known = news == MP_GUARD_TOLD;
    process->ended = news != MP_GUARD_SILENT;
}

bool mp_process_poll_exit(struct mp_process *process)
{
    if (has_guard(process))
        look_at_guard(process);
    else if (look_at_child(process, WNOWAIT, &process->exit))
        process->ended = true;
    return process->ended;
}

/*
 * A guard that has told of the server's end goes when it has no child left. One that went without a
 * word was killed, and the kernel has killed the server with it: then the group is looked for as
 * without a guard, at once, before others can get its number.
 */
static void reap_guard(struct mp_process *process)
{
    struct mp_exit exit;
    if (!process->reaped && look_at_child(process, 0, &exit))
        process->group_gone = process->exit.known;
}

static bool is_group_left(struct mp_process *process)
{
    if (process->pid <= 0 || process->group_gone)
        return false;
    process->group_gone = !mp_group_is_alive(process->pid);
    return !process->group_gone;
}

bool mp_process_is_gone(struct mp_process *process)
{
    if (!mp_process_poll_exit(process))
        return process->pid < 0;
    if (has_guard(process))
        reap_guard(process);
    else
        look_at_child(process, 0, &process->exit);
    return process->reaped && !is_group_left(process);
}

/* -- signals */

static void signal_group(struct mp_process *process, int signal)
{
    /* A zombie keeps its pid until it is reaped; the look tells whether the host did that. */
    mp_process_poll_exit(process);
    if (process->pid > 0 && (!process->reaped || is_group_left(process)))
        kill(-process->pid, signal);
}

/* Whether there is a guard to be given orders. */
static bool is_guarded(struct mp_process *process)
{
    return has_guard(process) && !mp_process_is_gone(process) && !process->reaped;
}

void mp_process_terminate(struct mp_process *process)
{
    if (is_guarded(process)) {
        mp_guard_order(process->guard_fd, process->pidfd, MP_GUARD_TERMINATE);
        return;
    }
    signal_group(process, SIGTERM);
    signal_group(process, SIGCONT);
}

void mp_process_kill(struct mp_process *process)
{
    if (is_guarded(process))
        mp_guard_order(process->guard_fd, process->pidfd, MP_GUARD_KILL);
    else
        signal_group(process, SIGKILL);
}

bool mp_process_end(struct mp_process *process)
{
    mp_deadline until = mp_deadline_after_ms(MP_PROCESS_KILL_MS);
    mp_process_kill(process);
    while (!mp_process_is_gone(process)) {
        if (mp_deadline_passed(until))
            return false;
        struct pollfd next = {.fd = mp_process_watch_fd(process), .events = POLLIN};
        mp_deadline look = next.fd < 0 ? mp_deadline_after_ms(GROUP_LOOK_MS) : until;
        poll(&next, 1, mp_deadline_poll_ms(mp_deadline_earlier(look, until)));
    }
    return true;
}
