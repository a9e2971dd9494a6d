/* SPDX-License-Identifier: Apache-2.0 */
#include "process/group.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A child that leads a group of its own and lives until it is killed. */
static pid_t leader(void)
{
    int ready[2];
    char byte;
    cr_assert_eq(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        close(ready[0]);
        close(ready[1]);
        for (;;)
            pause();
    }
    close(ready[1]);
    cr_assert_eq(read(ready[0], &byte, 1), 0);
    close(ready[0]);
    return pid;
}

Test(group, lives_dies_and_is_gone)
{
    siginfo_t info;
    pid_t pid = leader();
    cr_assert(mp_group_is_alive(pid));
    kill(pid, SIGKILL);
    cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    cr_assert_eq(kill(-pid, 0), 0, "the kernel counts the zombie");
    cr_assert_not(mp_group_is_alive(pid), "a zombie is dead");
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
    cr_assert_not(mp_group_is_alive(pid));
}

Test(group, a_member_keeps_it_alive)
{
    pid_t first = leader(), second = leader();
    cr_assert_eq(setpgid(second, first), 0);
    kill(first, SIGKILL);
    cr_assert_eq(waitpid(first, NULL, 0), first);
    cr_assert(mp_group_is_alive(first));
    cr_assert_not(mp_group_is_alive(second), "it has left its own");
    kill(second, SIGKILL);
    cr_assert_eq(waitpid(second, NULL, 0), second);
    cr_assert_not(mp_group_is_alive(first));
}

static _Noreturn void *live_on(void *arg)
{
    (void)arg;
    for (;;)
        pause();
}

/* Its main thread ends; another does not. */
static void end_main_thread(void)
{
    pthread_t thread;
    setpgid(0, 0);
    pthread_create(&thread, NULL, live_on, NULL);
    pthread_exit(NULL);
}

static char state_of(pid_t pid)
{
    char path[32], state = '?';
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *stat = fopen(path, "re");
    cr_assert_not_null(stat);
    cr_assert_eq(fscanf(stat, "%*d (%*[^)]) %c", &state), 1);
    fclose(stat);
    return state;
}

/* Nothing tells when a main thread has ended: the test can only look. */
static bool becomes(pid_t pid, char state)
{
    time_t until = time(NULL) + 30;
    while (state_of(pid) != state && time(NULL) < until)
        sched_yield();
    return state_of(pid) == state;
}

Test(group, a_process_lives_without_its_main_thread)
{
    siginfo_t info;
    pid_t pid = fork();
    if (pid == 0)
        end_main_thread();
    cr_assert(becomes(pid, 'Z'));
    cr_expect(mp_group_is_alive(pid), "the other thread runs");
    kill(pid, SIGKILL);
    cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    cr_expect_not(mp_group_is_alive(pid));
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
}
