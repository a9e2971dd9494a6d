/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "process/environment.h"

#define MOST 8
#define LIST(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static const struct {
    const char *name;
    const char *host[MOST], *inherit[MOST], *unset[MOST], *own[MOST];
    const char *wanted[MOST]; /* in any order */
} rows[] = {
    {.name = "nothing at all"},
    {.name = "the allowlist and nothing else",
     .host =
         LIST("HOME=/h", "API_KEY=secret", "LOGNAME=l", "PATH=/p", "SHELL=/s", "TERM=t", "USER=u"),
     .wanted = LIST("HOME=/h", "LOGNAME=l", "PATH=/p", "SHELL=/s", "TERM=t", "USER=u")},
    {.name = "names that only begin alike",
     .host = LIST("HOMEDIR=/h", "PATHS=/p", "HOM=x", "home=y", "USER_KEY=k")},
    {.name = "an own variable does not remove the host's",
     .host = LIST("PATH=/p", "HOME=/h"),
     .own = LIST("A=1"),
     .wanted = LIST("PATH=/p", "HOME=/h", "A=1")},
    {.name = "own wins over the host's",
     .host = LIST("PATH=/p"),
     .own = LIST("PATH=/own"),
     .wanted = LIST("PATH=/own")},
    {.name = "own wins over inherited",
     .host = LIST("A=host"),
     .inherit = LIST("A"),
     .own = LIST("A=own"),
     .wanted = LIST("A=own")},
    {.name = "the last own wins",
     .own = LIST("A=1", "B=2", "A=3", "A="),
     .wanted = LIST("A=", "B=2")},
    {.name = "inherit adds names, missing ones are no error",
     .host = LIST("A=1", "B=2", "C=3"),
     .inherit = LIST("C", "A", "NONE", "A"),
     .wanted = LIST("A=1", "C=3")},
    {.name = "inherit of a name on the allowlist",
     .host = LIST("PATH=/p"),
     .inherit = LIST("PATH"),
     .wanted = LIST("PATH=/p")},
    {.name = "unset takes out what would be inherited",
     .host = LIST("PATH=/p", "A=1", "HOME=/h"),
     .inherit = LIST("A"),
     .unset = LIST("HOME", "A"),
     .wanted = LIST("PATH=/p")},
    {.name = "but not what is configured",
     .host = LIST("A=1"),
     .unset = LIST("A"),
     .own = LIST("A=own"),
     .wanted = LIST("A=own")},
    {.name = "values that start with () stay",
     .host = LIST("TERM=() { :;}; rm", "USER=()", "SHELL=(", "HOME=x()", "LOGNAME= ()"),
     .wanted = LIST("SHELL=(", "HOME=x()", "LOGNAME= ()")},
    {.name = "also when their names are inherited",
     .host = LIST("A=() { :;}", "B=1"),
     .inherit = LIST("A", "B"),
     .wanted = LIST("B=1")},
    {.name = "but not when they are configured",
     .host = LIST("A=() { :;}"),
     .own = LIST("A=()"),
     .wanted = LIST("A=()")},
    {.name = "values with = and line breaks, empty values",
     .host = LIST("HOME=", "PATH=a=b"),
     .own = LIST("X==", "Y=1\n2"),
     .wanted = LIST("HOME=", "PATH=a=b", "X==", "Y=1\n2")},
    {.name = "the host's first of a name, as getenv has it",
     .host = LIST("USER=first", "USER=second"),
     .wanted = LIST("USER=first")},
    {.name = "host entries that are no variables",
     .host = LIST("HOME", "", "=x", "USER=u"),
     .wanted = LIST("USER=u")},
};

static char *const *plain(const char *const *list)
{
    return (char *const *)(uintptr_t)list;
}

static bool holds(char *const *list, const char *entry)
{
    for (; *list != NULL; list++) {
        if (strcmp(*list, entry) == 0)
            return true;
    }
    return false;
}

static size_t count(char *const *list)
{
    size_t n = 0;
    while (list[n] != NULL)
        n++;
    return n;
}

Test(environment, table)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mp_environment_plan plan = {.host = plain(rows[i].host),
                                           .inherit = plain(rows[i].inherit),
                                           .unset = plain(rows[i].unset),
                                           .own = plain(rows[i].own)};
        char **made = mp_environment_new(&plan);
        cr_assert_not_null(made);
        char *const *wanted = plain(rows[i].wanted);
        cr_expect_eq(count(made), count(wanted), "%s: %zu entries", rows[i].name, count(made));
        for (; *wanted != NULL; wanted++)
            cr_expect(holds(made, *wanted), "%s: no %s", rows[i].name, *wanted);
        mp_environment_free(made);
    }
}

Test(environment, lists_may_be_null)
{
    static const char *const host[] = {"HOME=/h", "A=1", NULL};
    struct mp_environment_plan plan = {.host = plain(host)};
    char **made = mp_environment_new(&plan);
    cr_assert_not_null(made);
    cr_expect_str_eq(made[0], "HOME=/h");
    cr_expect_null(made[1]);
    mp_environment_free(made);
    mp_environment_free(NULL);
}

Test(environment, get)
{
    static const char *const list[] = {"AB=no", "A=1", "E=", "A=2", NULL};
    cr_expect_str_eq(mp_environment_get(plain(list), "A"), "1");
    cr_expect_str_eq(mp_environment_get(plain(list), "E"), "");
    cr_expect_null(mp_environment_get(plain(list), "B"));
    cr_expect_null(mp_environment_get(plain(list), "AB="));
    cr_expect_null(mp_environment_get(plain(list), ""));
}

Test(environment, is_a_copy)
{
    char own[] = "A=1";
    char *owns[] = {own, NULL}, *none[] = {NULL};
    struct mp_environment_plan plan = {.host = none, .own = owns};
    char **made = mp_environment_new(&plan);
    cr_assert_not_null(made);
    own[2] = '9';
    cr_expect_str_eq(mp_environment_get(made, "A"), "1");
    mp_environment_free(made);
}

Test(environment, a_secret_wins)
{
    static const char *const host[] = {"TOKEN=host", NULL}, *const own[] = {"TOKEN=own", NULL};
    mcpump_secret *value = mcpump_secret_new("s3cret");
    mcpump_secret_variable secrets[] = {{"TOKEN", value}, {NULL, NULL}};
    struct mp_environment_plan plan = {.host = plain(host), .own = plain(own), .secrets = secrets};
    char **made = mp_environment_new(&plan);
    cr_assert_not_null(made);
    cr_expect_str_eq(made[0], "TOKEN=s3cret");
    cr_expect_null(made[1]);
    cr_expect_str_eq(mcpump_secret_shown(value), "***");
    mp_environment_free(made);
    mcpump_secret_free(value);
}
