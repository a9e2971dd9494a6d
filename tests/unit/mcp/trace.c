/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "mcp/metadata.h"

#define ID     "0af7651916cd43dd8448eb211c80319c"
#define PARENT "b7ad6b7169203331"

static const struct row {
    struct mp_trace trace;
    const char *name; /* of what is wrong; NULL: nothing */
} rows[] = {
    {{NULL, NULL, NULL}, NULL},
    {{"00-" ID "-" PARENT "-01", NULL, NULL}, NULL},
    {{"00-" ID "-" PARENT "-00", "a=1,b@c=2", "k=v;p, \xC3\xA9=1"}, NULL},
    {{NULL, "", ""}, NULL},
    {{"cc-" ID "-" PARENT "-01", NULL, NULL}, NULL},
    {{"cc-" ID "-" PARENT "-01-what-will-be", NULL, NULL}, NULL},
    {{"cc-" ID "-" PARENT "-01.what", NULL, NULL}, "traceparent"},
    {{"00-" ID "-" PARENT "-01-more", NULL, NULL}, "traceparent"},
    {{"ff-" ID "-" PARENT "-01", NULL, NULL}, "traceparent"},
    {{"", NULL, NULL}, "traceparent"},
    {{"00", NULL, NULL}, "traceparent"},
    {{"00-" ID "-" PARENT "-0", NULL, NULL}, "traceparent"},
    {{"00-" ID "-" PARENT "-0g", NULL, NULL}, "traceparent"},
    {{"00-" ID "-" PARENT "_01", NULL, NULL}, "traceparent"},
    {{"00_" ID "-" PARENT "-01", NULL, NULL}, "traceparent"},
    {{"00-" ID "_" PARENT "-01", NULL, NULL}, "traceparent"},
    {{"0x-" ID "-" PARENT "-01", NULL, NULL}, "traceparent"},
    {{"00-0AF7651916CD43DD8448EB211C80319C-" PARENT "-01", NULL, NULL}, "traceparent"},
    {{"00-00000000000000000000000000000000-" PARENT "-01", NULL, NULL}, "traceparent"},
    {{"00-" ID "-0000000000000000-01", NULL, NULL}, "traceparent"},
    {{NULL, "a\n", NULL}, "tracestate"},
    {{NULL, "a\xFF", NULL}, "tracestate"},
    {{NULL, "a\x7F", NULL}, "tracestate"},
    {{NULL, NULL, "a\t"}, "baggage"},
    {{NULL, NULL, "a\xC2\x85"}, "baggage"},
    {{NULL, NULL, "a\xC3"}, "baggage"},
};

Test(trace, check)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const char *name = NULL;
        const char *why = mp_trace_check(&rows[i].trace, &name);
        cr_expect_eq(why == NULL, rows[i].name == NULL, "row %zu: %s", i, why);
        if (rows[i].name != NULL && why != NULL)
            cr_expect_str_eq(name, rows[i].name, "row %zu", i);
    }
}
