/* SPDX-License-Identifier: Apache-2.0 */
#include "base/home.h"

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

/* One word that a forked child finds zeroed. Made once, never given back. NULL: not made yet. */
static _Atomic(_Atomic uint64_t *) page;

/* Without the advice (Linux before 4.14) the process id has to be asked for each time. */
static _Atomic uint64_t *make_page(void)
{
    void *made =
        mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED)
        return NULL;
    if (madvise(made, sizeof(uint64_t), MADV_WIPEONFORK) != 0) {
        munmap(made, sizeof(uint64_t));
        return NULL;
    }
    _Atomic uint64_t *none = NULL;
    if (atomic_compare_exchange_strong(&page, &none, made))
        return made;
    munmap(made, sizeof(uint64_t));
    return none;
}

uint64_t mp_home(void)
{
    _Atomic uint64_t *word = atomic_load(&page);
    if (word == NULL && (word = make_page()) == NULL)
        return (uint64_t)getpid();
    uint64_t home = atomic_load(word);
    if (home != 0)
        return home;
    /* A pid comes back in time, but not to a process whose ancestor had it and left this page. */
    uint64_t ours = (uint64_t)getpid();
    return atomic_compare_exchange_strong(word, &home, ours) ? ours : home;
}

/* One that the parent was making when it forked is made anew: its mark is not ours. */
void mp_once_here(struct mp_once *once, void (*make)(void *arg), void *arg)
{
    uint64_t here = mp_home(), seen;
    const uint64_t making = ~here;
    while ((seen = atomic_load(&once->home)) != here) {
        if (seen == making || !atomic_compare_exchange_strong(&once->home, &seen, making)) {
            sched_yield(); /* another thread does it, in a moment */
            continue;
        }
        make(arg);
        atomic_store(&once->home, here);
    }
}

bool mp_once_was_here(const struct mp_once *once)
{
    return atomic_load(&once->home) == mp_home();
}
