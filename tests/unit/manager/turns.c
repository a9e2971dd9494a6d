/* SPDX-License-Identifier: Apache-2.0 */
#include "manager/turns.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "support.h"

#define SERVERS 6

struct stage {
    struct mp_hub *hub;
    struct mp_turns *turns;
    mcpump_server *servers[SERVERS];
};

static void setup(struct stage *stage, int64_t turns)
{
    struct mp_event_limits limits = {0, 10, 1000};
    int err;
    stage->hub = mp_hub_new(&limits, turns, &err);
    cr_assert_not_null(stage->hub);
    stage->turns = &stage->hub->turns;
    for (int i = 0; i < SERVERS; i++)
        stage->servers[i] = fake_server_new(stage->hub, "s");
}

static void teardown(struct stage *stage)
{
    cr_expect_null(stage->turns->first, "somebody waits");
    for (int i = 0; i < SERVERS; i++)
        fake_server_free(stage->servers[i]);
    mp_hub_unref(stage->hub);
}

static bool take(struct stage *stage, int number)
{
    return mp_turns_take(stage->turns, &stage->servers[number]->turn);
}

static void give_back(struct stage *stage, int number)
{
    mp_turns_give_back(stage->turns, &stage->servers[number]->turn);
}

static uint64_t nudges(struct stage *stage, int number)
{
    return stage->servers[number]->nudges;
}

Test(turns, so_many_and_in_order)
{
    struct stage stage;
    setup(&stage, 2);
    cr_expect(take(&stage, 0));
    cr_expect(take(&stage, 1));
    for (int i = 2; i < SERVERS; i++)
        cr_expect_not(take(&stage, i), "%d", i);
    give_back(&stage, 1);
    cr_expect_eq(nudges(&stage, 2), 1);
    cr_expect_eq(nudges(&stage, 3), 0);
    cr_expect(take(&stage, 2));
    cr_expect_not(take(&stage, 3));
    give_back(&stage, 0);
    give_back(&stage, 2);
    cr_expect(take(&stage, 3));
    cr_expect(take(&stage, 4));
    cr_expect_not(take(&stage, 5));
    give_back(&stage, 3);
    give_back(&stage, 4);
    cr_expect(take(&stage, 5));
    give_back(&stage, 5);
    cr_expect_eq(stage.turns->free, 2);
    teardown(&stage);
}

Test(turns, asking_again_takes_no_more)
{
    struct stage stage;
    setup(&stage, 1);
    for (int i = 0; i < 3; i++) {
        cr_expect(take(&stage, 0));
        cr_expect_not(take(&stage, 1));
    }
    give_back(&stage, 0);
    cr_expect_eq(nudges(&stage, 1), 1, "it stood in the queue once");
    give_back(&stage, 0); /* it has none */
    cr_expect_not(take(&stage, 0));
    give_back(&stage, 0);
    give_back(&stage, 1);
    cr_expect_eq(stage.turns->free, 1);
    teardown(&stage);
}

/* From the front, the middle and the end of the queue. */
Test(turns, who_leaves_the_queue_is_passed_over)
{
    for (int leaver = 1; leaver < 4; leaver++) {
        struct stage stage;
        setup(&stage, 1);
        cr_expect(take(&stage, 0));
        for (int i = 1; i < 4; i++)
            cr_expect_not(take(&stage, i));
        give_back(&stage, leaver);
        cr_expect_not(take(&stage, 4), "behind the others");
        give_back(&stage, 0);
        for (int i = 1; i < 5; i++) {
            if (i == leaver)
                continue;
            cr_expect(take(&stage, i), "%d, without %d", i, leaver);
            give_back(&stage, i);
        }
        cr_expect_eq(nudges(&stage, leaver), 0);
        cr_expect_eq(stage.turns->free, 1);
        teardown(&stage);
    }
}

/* One that is given a turn it does not want any more passes it on. */
Test(turns, an_unwanted_turn_is_not_lost)
{
    struct stage stage;
    setup(&stage, 1);
    cr_expect(take(&stage, 0));
    cr_expect_not(take(&stage, 1));
    cr_expect_not(take(&stage, 2));
    give_back(&stage, 0);
    give_back(&stage, 1);
    cr_expect_eq(nudges(&stage, 2), 1);
    cr_expect(take(&stage, 2));
    give_back(&stage, 2);
    cr_expect_eq(stage.turns->free, 1);
    teardown(&stage);
}

Test(turns, without_turns_it_is_always_ones_turn)
{
    struct mp_turn turn = {.server = NULL};
    cr_expect(mp_turns_take(NULL, &turn));
    mp_turns_give_back(NULL, &turn);
}

/* -- a server is not freed beneath a nudge */

struct nudged {
    struct stage *stage;
    atomic_bool has_left;
};

static void *leave(void *arg)
{
    struct nudged *nudged = arg;
    give_back(nudged->stage, 1);
    atomic_store(&nudged->has_left, true);
    return NULL;
}

static void *pass_on(void *arg)
{
    give_back(arg, 0);
    return NULL;
}

Test(turns, who_leaves_waits_for_the_nudge)
{
    struct stage stage;
    pthread_t passer, leaver;
    setup(&stage, 1);
    struct nudged nudged = {.stage = &stage};
    cr_expect(take(&stage, 0));
    cr_expect_not(take(&stage, 1));
    mp_mutex_lock(&stage.servers[1]->lock); /* the nudge cannot get through */
    cr_assert_eq(pthread_create(&passer, NULL, pass_on, &stage), 0);
    bool is_given = false;
    while (!is_given) { /* until the nudge is about to come */
        mp_mutex_lock(&stage.turns->lock);
        is_given = stage.servers[1]->turn.is_given;
        mp_mutex_unlock(&stage.turns->lock);
        sched_yield();
    }
    cr_assert_eq(pthread_create(&leaver, NULL, leave, &nudged), 0);
    for (int i = 0; i < 1000; i++)
        sched_yield();
    cr_expect_not(atomic_load(&nudged.has_left));
    mp_mutex_unlock(&stage.servers[1]->lock);
    pthread_join(passer, NULL);
    pthread_join(leaver, NULL);
    cr_expect(atomic_load(&nudged.has_left));
    cr_expect_eq(stage.turns->free, 1);
    teardown(&stage);
}

/* -- many at once */

#define ROUNDS 2000

struct racer {
    struct stage *stage;
    int number;
    atomic_int *running;
};

static void await_turn(struct stage *stage, int number)
{
    mcpump_server *server = stage->servers[number];
    mp_mutex_lock(&server->lock);
    uint64_t seen = server->nudges;
    while (!take(stage, number)) { /* with the server's lock, as its keeper may */
        while (server->nudges == seen)
            mp_cond_wait(&server->work, &server->lock, MP_NEVER);
        seen = server->nudges;
    }
    mp_mutex_unlock(&server->lock);
}

static void *race(void *arg)
{
    struct racer *racer = arg;
    for (int i = 0; i < ROUNDS; i++) {
        await_turn(racer->stage, racer->number);
        int running = atomic_fetch_add(racer->running, 1) + 1;
        cr_assert_leq(running, 2);
        atomic_fetch_sub(racer->running, 1);
        give_back(racer->stage, racer->number);
    }
    return NULL;
}

Test(turns, never_more_than_allowed_and_none_is_forgotten)
{
    struct stage stage;
    struct racer racers[SERVERS];
    pthread_t threads[SERVERS];
    atomic_int running = 0;
    setup(&stage, 2);
    for (int i = 0; i < SERVERS; i++) {
        racers[i] = (struct racer){&stage, i, &running};
        cr_assert_eq(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    for (int i = 0; i < SERVERS; i++)
        pthread_join(threads[i], NULL);
    cr_expect_eq(stage.turns->free, 2);
    teardown(&stage);
}
