/* SPDX-License-Identifier: Apache-2.0 */
#include "process/process.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "process/group.h"

/* glibc has the name since 2.36 only. */
#define WAIT_FOR_PIDFD ((idtype_t)3)

static const struct mp_exit exit_unknown = {.known = false, .status = -1, .signal = 0};

void mp_process_init(struct mp_process *process, pid_t pid, int pidfd)
{
    *process = (struct mp_process){.pid = pid, .pidfd = pidfd, .exit = exit_unknown};
}

void mp_process_done(struct mp_process *process)
{
    mp_fd_close(&process->pidfd);
    process->pid = -1;
}

bool mp_process_is_alive(int pidfd)
{
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    return pidfd >= 0 && poll(&ended, 1, 0) <= 0;
}

static struct mp_exit exit_of(const siginfo_t *info)
{
    if (info->si_code == CLD_EXITED)
        return (struct mp_exit){.known = true, .status = info->si_status, .signal = 0};
    return (struct mp_exit){.known = true, .status = -1, .signal = info->si_status};
}

static void look(struct mp_process *process, int options)
{
    if (process->pid < 0 || process->reaped)
        return;
    siginfo_t info = {.si_pid = 0};
    if (waitid(WAIT_FOR_PIDFD, (id_t)process->pidfd, &info, WEXITED | WNOHANG | options) == 0) {
        if (info.si_pid == 0)
            return;
        process->ended = true;
        process->reaped = (options & WNOWAIT) == 0;
        process->exit = exit_of(&info);
    } else if (!mp_process_is_alive(process->pidfd)) {
        /* The host was faster, or ignores SIGCHLD; an exit that was seen before stays known. */
        process->ended = true;
        process->reaped = true;
    }
}

bool mp_process_poll_exit(struct mp_process *process)
{
    look(process, WNOWAIT);
    return process->ended;
}

void mp_process_reap(struct mp_process *process)
{
    look(process, 0);
}

void mp_process_signal_group(struct mp_process *process, int signal)
{
    /* A zombie keeps its pid until it is reaped; the look tells whether the host did that. */
    look(process, WNOWAIT);
    if (process->pid > 0 && (!process->reaped || mp_process_group_is_left(process)))
        kill(-process->pid, signal);
}

bool mp_process_group_is_left(struct mp_process *process)
{
    if (process->pid <= 0 || process->group_gone)
        return false;
    process->group_gone = !mp_group_is_alive(process->pid);
    return !process->group_gone;
}
