/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the pieces of the hot path for tools/gate/run, which counts the instructions between the
 * begin and the end of counted_turns under callgrind.
 *
 *   hot-path            every piece, a few turns: do they work at all
 *   hot-path --list     the names
 *   hot-path --about    what the counts depend on: compiler, machine, libc
 *   hot-path NAME N     one piece; N turns are counted
 */
#include "hot_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/body.h"

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#define LIBC         "glibc "
#define LIBC_VERSION gnu_get_libc_version()
#else
#define LIBC         "another libc"
#define LIBC_VERSION ""
#endif

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

#if defined(__x86_64__)
#define MACHINE "x86-64"
#elif defined(__aarch64__)
#define MACHINE "aarch64"
#else
#define MACHINE "another machine"
#endif

void counted_turns(void (*turn)(void), long count);

static const struct piece *const lists[] = {wire_pieces, transport_pieces, mcp_pieces};

void must(bool so, const char *what)
{
    if (so)
        return;
    fprintf(stderr, "hot-path: not so: %s\n", what);
    exit(1);
}

/* Callgrind knows it by its name. */
__attribute__((noinline)) void counted_turns(void (*turn)(void), long count)
{
    for (long i = 0; i < count; i++)
        turn();
}

static void run_piece(const struct piece *piece, long count)
{
    if (piece->start != NULL)
        piece->start();
    /* What is made once, at the first use, does not count. */
    piece->turn();
    counted_turns(piece->turn, count);
    if (piece->stop != NULL)
        piece->stop();
}

/* Those of the name; NULL: all. Returns how many they are; 0 turns: prints their names only. */
static int run_pieces(const char *name, long count)
{
    int found = 0;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        for (const struct piece *piece = lists[i]; piece->name != NULL; piece++) {
            if (name != NULL && strcmp(piece->name, name) != 0)
                continue;
            found++;
            if (count > 0)
                run_piece(piece, count);
            else
                puts(piece->name);
        }
    }
    return found;
}

/* The counts must not depend on what this CPU has: the fastest variant that every one has. */
static void choose_variant(void)
{
    struct mp_body_variant variants[MP_BODY_VARIANTS];
    size_t count = mp_body_variants(variants);
    mp_body_use(variants[count > 1 ? 1 : 0].skip);
}

int main(int argc, char **argv)
{
    choose_variant();
    if (argc == 1)
        return run_pieces(NULL, 10) > 0 ? 0 : 1;
    if (argc == 2 && strcmp(argv[1], "--list") == 0)
        return run_pieces(NULL, 0) > 0 ? 0 : 1;
    if (argc == 2 && strcmp(argv[1], "--about") == 0) {
        printf("%s, %s, %s%s\n", COMPILER, MACHINE, LIBC, LIBC_VERSION);
        return 0;
    }
    if (argc == 3 && atol(argv[2]) > 0 && run_pieces(argv[1], atol(argv[2])) == 1)
        return 0;
    fprintf(stderr, "usage: hot-path [--list | --about | NAME TURNS]\n");
    return 2;
}
