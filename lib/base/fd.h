/* SPDX-License-Identifier: Apache-2.0 */
/* File descriptors that we own: close-on-exec, and never 0, 1 or 2, which a host may have closed.
 */
#ifndef MP_BASE_FD_H
#define MP_BASE_FD_H

/* Takes fd. Returns it, or a close-on-exec copy above 2 with fd closed; -1 with errno on failure. A
 * negative fd passes through with errno kept. */
int mp_fd_above_stdio(int fd);

/* Closes unless negative, sets to -1, keeps errno. */
void mp_fd_close(int *fd);

#endif
