/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/params.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Takes the buffer. */
static void expect(struct mp_buffer *params, const char *why, const char *wanted)
{
    cr_assert_null(why, "%s", why);
    cr_expect_str_eq(params->bytes, wanted, "%s", params->bytes);
    mp_buffer_done(params);
}

Test(params, strings_are_written_and_objects_passed_on)
{
    struct mp_buffer params = MP_BUFFER_INIT;
    expect(&params, mp_params_call(&params, "a\"b", NULL),
           "{\"name\":\"a\\\"b\",\"arguments\":{}}");
    expect(&params, mp_params_call(&params, "t", " {\"b\":1e400,\"a\" : \"\\u0041\\/\"}\n"),
           "{\"name\":\"t\",\"arguments\": {\"b\":1e400,\"a\" : \"\\u0041\\/\"}\n}");
    expect(&params, mp_params_read(&params, "file:///a\nb\xFF"),
           "{\"uri\":\"file:///a\\nb\xEF\xBF\xBD\"}");
}

Test(params, arguments_are_one_object)
{
    static const char *const bad[] = {
        "",        " ",     "1",   "[]",  "null",       "\"a\"",       "{",
        "{\"a\":", "{} {}", "{},", "{}}", "{},\"x\":1", "{\"a\":1},{", "{\"a\" 1}",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct mp_buffer params = MP_BUFFER_INIT;
        const mcpump_completion completion = {.prompt = "p", .argument = "a", .context = bad[i]};
        cr_expect_not_null(mp_params_call(&params, "t", bad[i]), "%s", bad[i]);
        cr_expect_not_null(mp_params_complete(&params, &completion), "%s", bad[i]);
        mp_buffer_done(&params);
    }
}

Test(params, completion)
{
    struct mp_buffer params = MP_BUFFER_INIT;
    mcpump_completion completion = {.prompt = "p", .argument = "a"};
    expect(&params, mp_params_complete(&params, &completion),
           "{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"p\"},"
           "\"argument\":{\"name\":\"a\",\"value\":\"\"}}");
    completion = (mcpump_completion){.uri_template = "file:///{path}",
                                     .argument = "path",
                                     .value = "\\",
                                     .context = "{\"z\":\"1\",\"a\":\"2\"}"};
    expect(&params, mp_params_complete(&params, &completion),
           "{\"ref\":{\"type\":\"ref/resource\",\"uri\":\"file:///{path}\"},"
           "\"argument\":{\"name\":\"path\",\"value\":\"\\\\\"},"
           "\"context\":{\"arguments\":{\"z\":\"1\",\"a\":\"2\"}}}");
}

Test(params, completion_of_one_thing)
{
    static const mcpump_completion bad[] = {
        {.argument = "a"},
        {.prompt = "p", .uri_template = "u", .argument = "a"},
        {.prompt = "p"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct mp_buffer params = MP_BUFFER_INIT;
        cr_expect_not_null(mp_params_complete(&params, &bad[i]), "%zu", i);
        mp_buffer_done(&params);
    }
}

Test(params, levels)
{
    static const char *const good[] = {"debug", "info",     "notice", "warning",
                                       "error", "critical", "alert",  "emergency"};
    static const char *const bad[] = {"", "Debug", "debug ", "warn", "trace"};
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        char *copy = strdup(good[i]); /* what is given back is not the caller's */
        const char *level = mp_params_level(copy);
        cr_expect_neq(level, copy);
        free(copy);
        cr_expect_str_eq(level, good[i]);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        cr_expect_null(mp_params_level(bad[i]), "%s", bad[i]);
}
