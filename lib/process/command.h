/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the command as execvp would, but before the fork, and in the PATH the child will have. */
#ifndef MP_PROCESS_COMMAND_H
#define MP_PROCESS_COMMAND_H

/*
 * 0, and *ret_path is the new path of a regular file that may be executed; or an errno: ENOENT (in
 * no directory), EACCES (found, not executable), EISDIR (a directory), ENOMEM, ... A command with a
 * slash is not looked up; if relative, it counts from cwd (absolute, or NULL for the host's), as do
 * empty and relative elements of `path`. path NULL: "/usr/local/bin:/usr/bin:/bin".
 */
int mp_command_find(const char *command, const char *path, const char *cwd, char **ret_path);

/*
 * The new path of a command that is not looked up, as it has a slash; NULL if it has none. 0 or
 * ENOMEM. Whether it may be executed is not asked: execve tells, at no cost when it may.
 */
int mp_command_path(const char *command, const char *cwd, char **ret_path);

#endif
