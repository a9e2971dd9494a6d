/* SPDX-License-Identifier: Apache-2.0 */
#include "place.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

static cpu_set_t allowed;

static int nth_core(int n)
{
    if (CPU_COUNT(&allowed) == 0 && sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
        return -1;
    for (int core = 0; core < CPU_SETSIZE; core++) {
        if (CPU_ISSET(core, &allowed) && n-- == 0)
            return core;
    }
    return -1;
}

static void pin(pid_t pid, int core)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    if (sched_setaffinity(pid, sizeof(one), &one) != 0)
        bench_die("cannot run on core %d only: %s", core, strerror(errno));
}

const char *bench_place_name(enum bench_place place)
{
    static const char *const names[] = {
        [BENCH_ONE_CORE] = "one_core",
        [BENCH_SPLIT] = "split",
        [BENCH_FREE] = "free",
    };
    return names[place];
}

bool bench_place_is_possible(enum bench_place place)
{
    return place == BENCH_FREE || nth_core(place == BENCH_SPLIT ? 1 : 0) >= 0;
}

void bench_place_client(enum bench_place place)
{
    if (place != BENCH_FREE)
        pin(0, nth_core(0));
}

void bench_place_server(enum bench_place place, pid_t pid)
{
    if (place == BENCH_SPLIT)
        pin(pid, nth_core(1));
}
