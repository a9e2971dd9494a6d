/* SPDX-License-Identifier: Apache-2.0 */
#include "base/board.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* -- who is visited */

#define MOST 64

/* Members are places in this array; a visit counts there. */
static int visited[MOST];

static void count(void *member)
{
    ++*(int *)member;
}

static void expect_visited(struct mp_board *board, const int *wanted, size_t members,
                           const char *name)
{
    memset(visited, 0, sizeof(visited));
    mp_board_visit(board, count);
    for (size_t i = 0; i < members; i++)
        cr_expect_eq(visited[i], wanted[i], "%s: member %zu was visited %d times", name, i,
                     visited[i]);
}

Test(board, members_are_visited_while_they_are_in)
{
    static const struct {
        const char *name;
        const char *steps; /* a letter joins, its capital leaves */
        int wanted[3];
    } rows[] = {
        {"nobody", "", {0, 0, 0}},
        {"one", "a", {1, 0, 0}},
        {"one that has left", "aA", {0, 0, 0}},
        {"three", "abc", {1, 1, 1}},
        {"first leaves", "abcA", {0, 1, 1}},
        {"last leaves", "abcC", {1, 1, 0}},
        {"a place is used again", "abBc", {1, 0, 1}},
        {"comes back", "aAa", {1, 0, 0}},
        {"joined twice, visited once", "aa", {1, 0, 0}},
        {"joined twice, left once", "aaA", {1, 0, 0}},
        {"joined twice, left twice", "aaAA", {0, 0, 0}},
        {"joined twice with a gap", "abaB", {1, 0, 0}},
        {"a place with many uses is not given away", "aabABc", {1, 0, 1}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct mp_board board;
        mp_board_init(&board);
        for (const char *step = rows[i].steps; *step != '\0'; step++) {
            if (*step >= 'a')
                cr_assert(mp_board_join(&board, &visited[*step - 'a']), "%s", rows[i].name);
            else
                mp_board_leave(&board, &visited[*step - 'A']);
        }
        expect_visited(&board, rows[i].wanted, 3, rows[i].name);
        mp_board_done(&board);
    }
}

Test(board, more_than_a_chunk)
{
    static const size_t sizes[] = {MP_BOARD_CHUNK - 1, MP_BOARD_CHUNK, MP_BOARD_CHUNK + 1, MOST};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct mp_board board;
        int wanted[MOST];
        mp_board_init(&board);
        for (size_t k = 0; k < sizes[i]; k++) {
            wanted[k] = 1;
            cr_assert(mp_board_join(&board, &visited[k]));
        }
        expect_visited(&board, wanted, sizes[i], "all");
        for (size_t k = 0; k < sizes[i]; k += 2) {
            wanted[k] = 0;
            mp_board_leave(&board, &visited[k]);
        }
        expect_visited(&board, wanted, sizes[i], "the odd ones");
        mp_board_done(&board);
    }
}

Test(board, all_zero_is_empty)
{
    static struct mp_board board;
    mp_board_visit(&board, count);
    cr_expect_eq(atomic_load(&board.visits), 0);
}

Test(board, is_lock_free)
{
    struct mp_board board;
    mp_board_init(&board);
    cr_expect(atomic_is_lock_free(&board.visits), "or it is not async-signal-safe");
    cr_expect(atomic_is_lock_free(&board.first.members[0]));
    cr_expect(atomic_is_lock_free(&board.first.next));
    mp_board_done(&board);
}

/* -- who leaves waits for visits */

struct stay {
    struct mp_board board;
    atomic_bool has_come, may_go, has_gone, has_left;
    int other;
};

static void stay(void *member)
{
    struct stay *stay = member;
    atomic_store(&stay->has_come, true);
    while (!atomic_load(&stay->may_go))
        sched_yield();
    atomic_store(&stay->has_gone, true);
}

static void *visit_and_stay(void *arg)
{
    struct stay *stay_here = arg;
    mp_board_visit(&stay_here->board, stay);
    return NULL;
}

static void *leave(void *arg)
{
    struct stay *stay_here = arg;
    mp_board_leave(&stay_here->board, stay_here);
    cr_expect(atomic_load(&stay_here->has_gone), "left while it was visited");
    atomic_store(&stay_here->has_left, true);
    return NULL;
}

/* The member that leaves is out at once, and the board can be used, while the leaver waits. */
Test(board, a_leave_waits_for_the_visit, .timeout = 60)
{
    struct stay here = {.other = 0};
    pthread_t visitor, leaver;
    mp_board_init(&here.board);
    cr_assert(mp_board_join(&here.board, &here));
    cr_assert_eq(pthread_create(&visitor, NULL, visit_and_stay, &here), 0);
    while (!atomic_load(&here.has_come))
        sched_yield();
    cr_assert_eq(pthread_create(&leaver, NULL, leave, &here), 0);
    while (atomic_load(&here.board.first.members[0]) != NULL)
        sched_yield();
    cr_expect(mp_board_join(&here.board, &here.other), "the lock is held");
    mp_board_visit(&here.board, count);
    cr_expect_eq(here.other, 1);
    cr_expect_not(atomic_load(&here.has_left));
    atomic_store(&here.may_go, true);
    pthread_join(visitor, NULL);
    pthread_join(leaver, NULL);
    cr_expect(atomic_load(&here.has_left));
    mp_board_done(&here.board);
}

/* Not the last of its joins: it stays, so there is nothing to wait for. */
Test(board, a_leave_that_is_not_the_last_waits_for_nobody, .timeout = 60)
{
    struct stay here = {.other = 0};
    pthread_t visitor;
    mp_board_init(&here.board);
    cr_assert(mp_board_join(&here.board, &here));
    cr_assert(mp_board_join(&here.board, &here));
    cr_assert_eq(pthread_create(&visitor, NULL, visit_and_stay, &here), 0);
    while (!atomic_load(&here.has_come))
        sched_yield();
    mp_board_leave(&here.board, &here);
    cr_expect_not(atomic_load(&here.has_gone));
    atomic_store(&here.may_go, true);
    pthread_join(visitor, NULL);
    mp_board_leave(&here.board, &here);
    mp_board_done(&here.board);
}

/* -- visits by a signal handler, members that are freed as soon as they have left */

enum { JOINERS = 4, ROUNDS = 20000, ALIVE = 0x11FE };

static struct mp_board stormy;
static atomic_int visits_made;

static void look(void *member)
{
    /* Freed memory would not say so; a sanitizer tells it better. */
    if (*(atomic_int *)member != ALIVE)
        abort();
    atomic_fetch_add(&visits_made, 1);
}

static void visit_in_handler(int number)
{
    (void)number;
    int saved = errno;
    mp_board_visit(&stormy, look);
    errno = saved;
}

static void *join_and_leave(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        atomic_int *member = malloc(sizeof(*member));
        atomic_init(member, ALIVE);
        cr_assert(mp_board_join(&stormy, member));
        if (i % 64 == 0)
            raise(SIGUSR1); /* in this thread, while it is in */
        mp_board_leave(&stormy, member);
        atomic_store(member, 0);
        free(member);
    }
    return NULL;
}

/* A timer, so that the signal also interrupts join and leave themselves, in whatever thread. */
Test(board, visits_by_a_handler_see_only_the_living, .timeout = 60)
{
    pthread_t threads[JOINERS];
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    const struct itimerspec often = {{0, 200000}, {0, 200000}};
    mp_board_init(&stormy);
    signal(SIGUSR1, visit_in_handler);
    cr_assert_eq(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    cr_assert_eq(timer_settime(timer, 0, &often, NULL), 0);
    for (int i = 0; i < JOINERS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, join_and_leave, NULL), 0);
    for (int i = 0; i < JOINERS; i++)
        pthread_join(threads[i], NULL);
    timer_delete(timer);
    cr_expect_geq(atomic_load(&visits_made), JOINERS * ROUNDS / 64, "%d",
                  atomic_load(&visits_made));
    cr_expect_eq(atomic_load(&stormy.visits), 0);
    atomic_store(&visits_made, 0);
    mp_board_visit(&stormy, look);
    cr_expect_eq(atomic_load(&visits_made), 0, "somebody is still in");
    mp_board_done(&stormy);
}

/* -- in a forked child */

/* 0, or which step went wrong; one that waits for ever is ended by the alarm. */
static int use_in_child(struct mp_board *board)
{
    alarm(30);
    memset(visited, 0, sizeof(visited));
    mp_board_visit(board, count);
    if (visited[0] != 0)
        return 1; /* a member of the parent's */
    mp_board_leave(board, &visited[0]);
    if (!mp_board_join(board, &visited[1]))
        return 2;
    mp_board_visit(board, count);
    if (visited[0] != 0 || visited[1] != 1)
        return 3;
    mp_board_leave(board, &visited[1]);
    mp_board_done(board);
    return 0;
}

/* As if another thread had been joining, and a third one visiting, at the fork. */
Test(board, is_empty_and_free_in_a_forked_child)
{
    struct mp_board board;
    int status;
    mp_board_init(&board);
    cr_assert(mp_board_join(&board, &visited[0]));
    atomic_fetch_add(&board.visits, 1);
    mp_mutex_lock(&board.lock);
    pid_t pid = fork();
    if (pid == 0)
        _exit(use_in_child(&board));
    mp_mutex_unlock(&board.lock);
    atomic_fetch_sub(&board.visits, 1);
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_expect_eq(status, 0, "%x", (unsigned)status);
    expect_visited(&board, (const int[]){1}, 1, "the parent's");
    mp_board_leave(&board, &visited[0]);
    mp_board_done(&board);
}

/* Not used there before it is freed. */
Test(board, that_was_locked_can_be_freed_in_a_forked_child)
{
    struct mp_board board;
    int status;
    mp_board_init(&board);
    mp_mutex_lock(&board.lock);
    pid_t pid = fork();
    if (pid == 0) {
        mp_board_done(&board);
        _exit(0);
    }
    mp_mutex_unlock(&board.lock);
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_expect_eq(status, 0);
    mp_board_done(&board);
}
