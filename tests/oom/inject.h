/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations that fail when they are told to. The linker passes the library's calls of malloc,
 * calloc, realloc, strdup, strndup, free, mmap, munmap and pthread_create through here; while armed
 * they are counted, in all threads together, and one of them fails, or that one and all later ones.
 * What is live is counted always.
 */
#ifndef TEST_OOM_INJECT_H
#define TEST_OOM_INJECT_H

#include <stdbool.h>

/* The nth allocation from here fails; with `lasting` those after it too. */
void inject_arm(long nth, bool lasting);
/* Memory is back. Returns how many allocations were asked for since it was armed. */
long inject_disarm(void);
/* Whether one has failed since it was armed. */
bool inject_has_failed(void);

/* Allocations and mappings that were not given back. */
long inject_live(void);
/* Says of those after the first `known` which code asked for them, as addresses for addr2line. */
void inject_show_live(long known);

#endif
