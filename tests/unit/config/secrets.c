/* SPDX-License-Identifier: Apache-2.0 */
/* No value of an env stands in any message, however wrong the file is; and none stays in memory,
 * nor does an argument, which may be as secret. */
#include <malloc.h>

#include "support.h"

#define MARKER "hunter2"

static void expect_silence(const char *text, size_t size)
{
    mcpump_config *config = NULL;
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_config_parse(NAME, text, size, &config, &failure);
    cr_expect_null(strstr(mcpump_failure_message(failure), MARKER), "%s",
                   mcpump_failure_message(failure));
    mcpump_failure_free(failure);
    if (err != MCPUMP_OK)
        return;
    for (size_t i = 0; i < mcpump_config_count(config); i++)
        cr_expect_null(strstr(mcpump_config_problem(config, i), MARKER), "%s",
                       mcpump_config_problem(config, i));
    for (size_t i = 0; i < mcpump_config_warning_count(config); i++)
        cr_expect_null(strstr(mcpump_config_warning(config, i), MARKER), "%s",
                       mcpump_config_warning(config, i));
    mcpump_config_free(config);
}

static const char whole[] =
    "{\"mcpServers\": {\n"
    "  \"a\": {\"command\": \"a\", \"args\": [\"b\"], \"env\": {\"A\": \"" MARKER
    "\", \"B\": \"x" MARKER "\\n" MARKER "\"}, \"zag\": 1},\n"
    "  \"b\": {\"env\": {\"A\": \"${NONE:-" MARKER "}\", \"B\": \"" MARKER "${UNSET}\"}},\n"
    "  \"c\": {\"command\": \"c d\", \"env\": {\"A\": \"${SECRET}\"}},\n"
    "  \"d\": {\"command\": \"d\", \"env\": {\"A\": \"" MARKER "${" MARKER "\"}},\n"
    "  \"e\": {\"command\": \"e\", \"env\": {\"A\": \"${ " MARKER "}\"}},\n"
    "  \"f\": {\"command\": \"f\", \"env\": {\"A\": [\"" MARKER "\"]}},\n"
    "  \"g\": {\"command\": \"g\", \"env\": {\"A\": {\"A\": \"" MARKER "\"}}},\n"
    "  \"h\": {\"command\": \"h\", \"env\": {\"A=" MARKER "\": \"\"}},\n"
    "  \"i\": {\"command\": \"i\", \"env\": [\"A=" MARKER "\"]},\n"
    "  \"j\": {\"command\": \"j\", \"env\": \"A=" MARKER "\"},\n"
    "  \"k\": {\"command\": \"k\", \"env\": {\"A\": \"" MARKER "\", \"A\": \"" MARKER "\"}},\n"
    "  \"l\": {\"command\": \"l\", \"env\": {\"A\": \"${LONG}${LONG}" MARKER "\"}},\n"
    "  \"m\": {\"command\": \"m\", \"env\": {\"A\": \"" MARKER "\\u0000" MARKER "\"}}}}";

static void set_variables(void)
{
    static char value[100001];
    memset(value, 'v', sizeof(value) - 1);
    memcpy(value, MARKER, strlen(MARKER));
    setenv("SECRET", MARKER, 1);
    setenv("LONG", value, 1);
    unsetenv("UNSET");
    unsetenv("NONE");
}

TestSuite(secrets, .init = set_variables);

/* As it is, cut off anywhere, and with each of its bytes being another. */
Test(secrets, in_no_message)
{
    /* Nothing that could make the name of a variable of the marker: such names are shown. */
    static const char others[] = "\"{}[]:,\\/* \n\0\xFF$";
    char text[sizeof(whole)];
    expect_silence(whole, strlen(whole));
    for (size_t size = 0; size < strlen(whole); size++)
        expect_silence(whole, size);
    for (size_t at = 0; at < strlen(whole); at++) {
        for (size_t i = 0; i < sizeof(others) - 1; i++) {
            memcpy(text, whole, sizeof(whole));
            text[at] = others[i];
            expect_silence(text, strlen(whole));
        }
    }
}

/* All entries but the first are wrong, each in its own way: the test above shows what it says. */
Test(secrets, the_file_is_as_wrong_as_it_should_be)
{
    mcpump_config *config = parse(whole);
    cr_assert_eq(mcpump_config_count(config), 13);
    cr_expect_str_eq(show_secrets(first(config)), "A=" MARKER " B=x" MARKER "\n" MARKER " ");
    for (size_t i = 1; i < 13; i++)
        cr_expect_eq(mcpump_config_state(config, i), MCPUMP_ENTRY_INVALID, "%s",
                     mcpump_config_name(config, i));
    mcpump_config_free(config);
}

/* How often these bytes stand in what we may write to. */
static size_t count_in_memory(const char *needle, size_t size)
{
    size_t found = 0;
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    cr_assert_not_null(maps);
    while (fgets(line, sizeof(line), maps) != NULL) {
        unsigned long from, to;
        char access[5];
        if (sscanf(line, "%lx-%lx %4s", &from, &to, access) != 3 || access[0] != 'r' ||
            access[1] != 'w' || strstr(line, "[v") != NULL)
            continue;
        const char *at = (const char *)from;
        const char *end = (const char *)to;
        while ((at = memmem(at, (size_t)(end - at), needle, size)) != NULL) {
            found++;
            at += size;
        }
    }
    fclose(maps);
    return found;
}

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ODD_MEMORY true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ODD_MEMORY true
#endif
#endif
#ifndef HAS_ODD_MEMORY
#define HAS_ODD_MEMORY false
#endif

Test(secrets, nothing_stays_in_memory)
{
    char needle[] = "fvzcyr-frperg-inyhr"; /* made the value in place, each letter moved by 13 */
    static char text[2048];
    if (HAS_ODD_MEMORY)
        return;
    mallopt(M_PERTURB, 0); /* what is freed stays what it was */
    for (char *at = needle; *at != '\0'; at++)
        *at = *at == '-' ? '-' : (char)('a' + (*at - 'a' + 13) % 26);
    snprintf(text, sizeof(text),
             ENTRY("\"command\": \"a\", \"args\": [\"%0700d%s\"], \"env\": {\"A\": \"%s\"}"), 0,
             needle, needle);
    size_t size = strlen(needle), before = count_in_memory(needle, size);
    mcpump_config *config = parse(text);
    cr_expect_eq(count_in_memory(needle, size), before + 2, "not the argument and the secret only");
    mcpump_config_free(config);
    cr_expect_eq(count_in_memory(needle, size), before);
}
