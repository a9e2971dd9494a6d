/* SPDX-License-Identifier: Apache-2.0 */
#include "config/expand.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void set_variables(void)
{
    setenv("ONE", "1", 1);
    setenv("EMPTY", "", 1);
    setenv("NESTED", "${ONE} $ONE }", 1);
    setenv("HOME", "/srv/me", 1);
    unsetenv("UNSET");
}

Test(expand, what_is_put_in, .init = set_variables)
{
    static const struct {
        const char *text, *expanded;
    } rows[] = {
        {"", ""},
        {"plain", "plain"},
        {"${ONE}", "1"},
        {"a${ONE}b${ONE}c", "a1b1c"},
        {"${env:ONE}", "1"},
        {"${EMPTY}", ""},
        {"${ONE:-x}", "1"},
        {"${EMPTY:-x}", "x"},
        {"${UNSET:-x}", "x"},
        {"${UNSET:-}", ""},
        {"${env:UNSET:-x y}", "x y"},
        {"${UNSET:-a:-b}", "a:-b"},
        {"${UNSET:-http://x:1}", "http://x:1"},
        {"${NESTED}", "${ONE} $ONE }"},
        {"$ONE $ $$ $1 {ONE} }", "$ONE $ $$ $1 {ONE} }"},
        {"$${ONE}", "$1"},
        {"${UNSET:-$}{ONE}", "${ONE}"},
        {"cost: 5$", "cost: 5$"},
        {"${workspaceFolder}/x", "/srv/base/x"},
        {"${workspaceFolderBasename}", "base"},
        {"${userHome}", "/srv/me"},
        {"${pathSeparator}${/}", "//"},
        {"${_a1:-x}", "x"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char out[64], why[MP_EXPAND_WHY] = "";
        bool ok = mp_expand(rows[i].text, "/srv/base", out, sizeof(out), why);
        cr_expect(ok, "%s: %s", rows[i].text, why);
        if (ok)
            cr_expect_str_eq(out, rows[i].expanded, "%s: %s", rows[i].text, out);
    }
}

Test(expand, what_is_refused, .init = set_variables)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"a ${ONE", "a ${ is not closed by }"},
        {"${", "a ${ is not closed by }"},
        {"${ONE}${", "a ${ is not closed by }"},
        {"${UNSET}", "the variable UNSET is not set, and no default is given"},
        {"${env:UNSET}", "the variable UNSET is not set, and no default is given"},
        {"${}", "it holds a ${...} that means nothing here"},
        {"${:-x}", "it holds a ${...} that means nothing here"},
        {"${hunter 2}", "it holds a ${...} that means nothing here"},
        {"${1}", "it holds a ${...} that means nothing here"},
        {"${ONE-x}", "it holds a ${...} that means nothing here"},
        {"${ONE:?x}", "it holds a ${...} that means nothing here"},
        {"${command:x}", "it holds a ${...} that means nothing here"},
        {"${config:x.y}", "it holds a ${...} that means nothing here"},
        {"${input:api-key.1}", "${input:api-key.1}: inputs are asked for by VS Code only"},
        {"${input:hunter 2}", "${input:...}: inputs are asked for by VS Code only"},
        {"${UNSET:-${ONE}}", "the default of UNSET may not hold another ${"},
        {"0123456789012345678901234567890${ONE}", "it becomes longer than 31 bytes"},
        {"${NESTED}${NESTED}${NESTED}${NESTED}", "it becomes longer than 31 bytes"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char out[32], why[MP_EXPAND_WHY] = "";
        cr_expect_not(mp_expand(rows[i].text, "/srv/base", out, sizeof(out), why), "%s",
                      rows[i].text);
        cr_expect_str_eq(why, rows[i].why, "%s: %s", rows[i].text, why);
    }
}

Test(expand, places_that_are_not_known, .init = set_variables)
{
    char out[32], why[MP_EXPAND_WHY];
    cr_expect_not(mp_expand("${workspaceFolder}", NULL, out, sizeof(out), why));
    cr_expect_str_eq(why, "${workspaceFolder} is not known: the current directory is gone");
    unsetenv("HOME");
    cr_expect_not(mp_expand("${userHome}", NULL, out, sizeof(out), why));
    cr_expect_str_eq(why, "${userHome} is not known: the variable HOME is not set");
}

/* Names are bounded; the last byte of the room is for the NUL. */
Test(expand, limits, .init = set_variables)
{
    char text[256], out[8], why[MP_EXPAND_WHY];
    cr_expect(mp_expand("123456${ONE}", "/", out, sizeof(out), why));
    cr_expect_str_eq(out, "1234561");
    cr_expect_not(mp_expand("1234567${ONE}", "/", out, sizeof(out), why));
    cr_expect(mp_expand("${workspaceFolderBasename}", "/", out, sizeof(out), why));
    cr_expect_str_eq(out, "");

    memset(text, 'A', sizeof(text));
    memcpy(text, "${", 2);
    strcpy(text + 2 + 128, "}");
    cr_expect_not(mp_expand(text, "/", out, sizeof(out), why));
    cr_expect_eq(strncmp(why, "the variable AAA", 16), 0, "%s", why);
    strcpy(text + 2 + 128, "A}");
    cr_expect_not(mp_expand(text, "/", out, sizeof(out), why));
    cr_expect_str_eq(why, "it holds a ${...} that means nothing here");
}
