/* SPDX-License-Identifier: Apache-2.0 */
#include "config/keys.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

Test(keys, names_are_unique_and_known)
{
    const struct mp_key_table *tables[] = {&mp_keys_of_entry, &mp_keys_of_own};
    for (size_t t = 0; t < COUNT(tables); t++) {
        cr_assert_leq(tables[t]->count, 64);
        for (unsigned i = 0; i < tables[t]->count; i++)
            cr_expect_eq(mp_key_find(tables[t], tables[t]->keys[i].name), &tables[t]->keys[i], "%s",
                         tables[t]->keys[i].name);
        cr_expect_null(mp_key_find(tables[t], ""));
        cr_expect_null(mp_key_find(tables[t], "Command"));
    }
}

Test(keys, guesses)
{
    const struct mp_key_table *const entry = &mp_keys_of_entry, *const own = &mp_keys_of_own;
    const struct {
        const struct mp_key_table *table;
        const char *name, *guess; /* NULL: none */
        const struct mp_key_table *where;
    } rows[] = {
        {entry, "comand", "command", entry},
        {entry, "commnad", "command", entry},
        {entry, "Command", "command", entry},
        {entry, "comm", NULL, NULL},
        {entry, "arg", "args", entry},
        {entry, "arguments", NULL, NULL},
        {entry, "envs", "env", entry},
        {entry, "ENV", "env", entry},
        {entry, "env_file", "envFile", entry},
        {entry, "cdw", NULL, NULL},
        {entry, "cwdd", "cwd", entry},
        {entry, "disable", "disabled", entry},
        {entry, "stdin_grace_ms", "stdin_grace_ms", own},
        {entry, "stdinGraceMs", "stdin_grace_ms", own},
        {entry, "orphan", "orphans", own},
        {own, "command", "command", entry},
        {own, "max-junk-lines", "max_junk_lines", own},
        {own, "default_timeout", "default_timeout_ms", own},
        {own, "timeout", "timeout", entry},
        {own, "rlimit", "rlimits", own},
        {entry, "x", NULL, NULL},
        {entry, "", NULL, NULL},
        {entry, "descriptionn", NULL, NULL}, /* what means nothing is not proposed */
        {entry, "command_command_command_command_command", NULL, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct mp_key_table *where = NULL;
        const struct mp_key *guess = mp_key_guess(rows[i].table, rows[i].name, &where);
        cr_expect_eq(guess != NULL, rows[i].guess != NULL, "%s: %s", rows[i].name,
                     guess != NULL ? guess->name : "nothing");
        if (guess == NULL || rows[i].guess == NULL)
            continue;
        cr_expect_str_eq(guess->name, rows[i].guess, "%s: %s", rows[i].name, guess->name);
        cr_expect_eq(where, rows[i].where, "%s", rows[i].name);
    }
}

Test(keys, comments)
{
    cr_expect(mp_key_is_comment("_comment"));
    cr_expect(mp_key_is_comment("//"));
    cr_expect(mp_key_is_comment("// x"));
    cr_expect_not(mp_key_is_comment("/"));
    cr_expect_not(mp_key_is_comment("x"));
    cr_expect_not(mp_key_is_comment(""));
}

/* The manual without the backslashes of its language. */
static char *read_manual(void)
{
    static char text[64 * 1024];
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/../../docs/man/mcpump-config.5.scd",
             getenv("MCPUMP_TEST_DATA"));
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    size_t size = 0;
    for (int c; (c = getc(file)) != EOF && size < sizeof(text) - 1;) {
        if (c != '\\')
            text[size++] = (char)c;
    }
    fclose(file);
    return text;
}

Test(keys, the_manual_knows_all)
{
    const struct mp_key_table *tables[] = {&mp_keys_of_entry, &mp_keys_of_own};
    char *manual = read_manual(), word[64];
    for (size_t t = 0; t < COUNT(tables); t++) {
        for (unsigned i = 0; i < tables[t]->count; i++) {
            snprintf(word, sizeof(word), "*%s*", tables[t]->keys[i].name);
            cr_expect_not_null(strstr(manual, word), "%s", word);
        }
    }
}

Test(keys, the_manuals_example_is_one)
{
    char *manual = read_manual(), *start = strstr(manual, "# EXAMPLE");
    cr_assert_not_null(start);
    start = strstr(start, "```") + 3;
    char *end = strstr(start, "```");
    mcpump_config *config = NULL;
    setenv("HOME", "/tmp", 1);
    setenv("SEARCH_KEY", "x", 1);
    cr_assert_eq(mcpump_config_parse("/f.json", start, (size_t)(end - start), &config, NULL),
                 MCPUMP_OK);
    cr_expect_eq(mcpump_config_warning_count(config), 0, "%s", mcpump_config_warning(config, 0));
    cr_expect_eq(mcpump_config_state(config, 0), MCPUMP_ENTRY_USABLE);
    cr_expect_str_eq(mcpump_config_problem(config, 1),
                     "/f.json:17: mcpServers.search.cwd: \"/search\": No such file or directory");
    mcpump_config_free(config);
}
