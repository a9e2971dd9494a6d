/* SPDX-License-Identifier: Apache-2.0 */
#include "manager/lists.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char one[] = "[1]", two[] = "[2]";
static const struct mp_listed fresh = {one, MP_NEVER}, other = {two, MP_NEVER}, stale = {one, 1};

/* Whether this is what is kept; NULL: nothing. */
static bool keeps(struct mp_lists *lists, enum mp_list list, const char *items)
{
    uint64_t changes;
    char *found = mp_lists_find(lists, list, &changes);
    bool is_so = items == NULL ? found == NULL : found != NULL && strcmp(found, items) == 0;
    free(found);
    return is_so;
}

static void keep(struct mp_lists *lists, enum mp_list list, const struct mp_listed *listed)
{
    uint64_t changes;
    free(mp_lists_find(lists, list, &changes));
    mp_lists_keep(lists, list, listed, changes);
}

static void notify(struct mp_lists *lists, const char *method)
{
    struct mp_envelope envelope = {.kind = MP_KIND_NOTIFICATION,
                                   .method = {method, strlen(method)}};
    mp_lists_notified(lists, &envelope);
}

Test(lists, kept_while_fresh)
{
    struct mp_lists lists = {.kept = {{0}}};
    mp_lists_init(&lists);
    cr_expect(keeps(&lists, MP_LIST_TOOLS, NULL));
    keep(&lists, MP_LIST_TOOLS, &fresh);
    cr_expect(keeps(&lists, MP_LIST_TOOLS, one));
    cr_expect(keeps(&lists, MP_LIST_PROMPTS, NULL));
    keep(&lists, MP_LIST_TOOLS, &other);
    cr_expect(keeps(&lists, MP_LIST_TOOLS, two));
    keep(&lists, MP_LIST_TOOLS, &stale);
    cr_expect(keeps(&lists, MP_LIST_TOOLS, NULL), "a stale one takes the place of a fresh one");
    keep(&lists, MP_LIST_TOOLS, &fresh);
    lists.kept[MP_LIST_TOOLS].fresh_until = 1;
    cr_expect(keeps(&lists, MP_LIST_TOOLS, NULL), "its time is over");
    mp_lists_done(&lists);
}

Test(lists, dropped_when_they_change)
{
    static const struct {
        const char *method;
        bool stays[MP_LISTS];
    } rows[] = {
        {"notifications/tools/list_changed", {false, true, true, true}},
        {"notifications/resources/list_changed", {true, false, false, true}},
        {"notifications/prompts/list_changed", {true, true, true, false}},
        {"notifications\\/prompts\\/list_changed", {true, true, true, false}},
        {"notifications/tools/list_changes", {true, true, true, true}},
        {"notifications/resources/updated", {true, true, true, true}},
        {"tools/list_changed", {true, true, true, true}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct mp_lists lists = {.kept = {{0}}};
        mp_lists_init(&lists);
        for (int list = 0; list < MP_LISTS; list++)
            keep(&lists, (enum mp_list)list, &fresh);
        notify(&lists, rows[i].method);
        for (int list = 0; list < MP_LISTS; list++)
            cr_expect(keeps(&lists, (enum mp_list)list, rows[i].stays[list] ? one : NULL),
                      "%s: list %d", rows[i].method, list);
        mp_lists_done(&lists);
    }
}

/* Asked for before the change, answered after it: which of the two it shows is not known. */
Test(lists, not_kept_when_they_change_meanwhile)
{
    uint64_t tools, prompts;
    struct mp_lists lists = {.kept = {{0}}};
    mp_lists_init(&lists);
    free(mp_lists_find(&lists, MP_LIST_TOOLS, &tools));
    free(mp_lists_find(&lists, MP_LIST_PROMPTS, &prompts));
    notify(&lists, "notifications/tools/list_changed");
    mp_lists_keep(&lists, MP_LIST_TOOLS, &fresh, tools);
    mp_lists_keep(&lists, MP_LIST_PROMPTS, &fresh, prompts);
    cr_expect(keeps(&lists, MP_LIST_TOOLS, NULL));
    cr_expect(keeps(&lists, MP_LIST_PROMPTS, one));

    free(mp_lists_find(&lists, MP_LIST_TOOLS, &tools));
    mp_lists_forget(&lists);
    mp_lists_keep(&lists, MP_LIST_TOOLS, &fresh, tools);
    cr_expect(keeps(&lists, MP_LIST_TOOLS, NULL), "the server was started anew");
    cr_expect(keeps(&lists, MP_LIST_PROMPTS, NULL));
    mp_lists_done(&lists);
}
