/* SPDX-License-Identifier: Apache-2.0 */
/* Pipes that no other child inherits, and a write that raises no SIGPIPE. */
#ifndef MP_PROCESS_PIPE_H
#define MP_PROCESS_PIPE_H

#include <sys/types.h>
#include <sys/uio.h>

enum { MP_PIPE_READ = 0, MP_PIPE_WRITE = 1 };

/* 0 or an errno; both ends close-on-exec from birth, blocking, and above 2. On failure both are -1.
 */
int mp_pipe(int ret_fds[2]);

/* 0 or an errno. For an end that mp_pipe has just made, which has no other flags to keep. */
int mp_pipe_set_nonblocking(int fd);

/*
 * writev without SIGPIPE, whatever the host does about that signal: RWF_NOSIGNAL where the kernel
 * has it (Linux 6.18), else as below. Returns and sets errno as writev does.
 */
ssize_t mp_pipe_writev(int fd, const struct iovec *parts, int count);

/* The same on any kernel: the signal is blocked in this thread for the call, and taken back if the
 * call raised it. One that was pending before stays pending. */
ssize_t mp_pipe_writev_masked(int fd, const struct iovec *parts, int count);

#endif
