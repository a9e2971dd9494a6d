/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/member.h"

#include <criterion/criterion.h>

#include "span.h"

Test(member, find)
{
    static const struct {
        const char *object, *key, *value; /* NULL: not found */
    } rows[] = {
        {"{}", "a", NULL},
        {"{ }", "", NULL},
        {"{\"a\":1}", "a", "1"},
        {"{\"a\":1}", "b", NULL},
        {"{\"a\":1}", "", NULL},
        {"{\"\":1}", "", "1"},
        {"{\"ab\":1}", "a", NULL},
        {"{\"a\":1}", "ab", NULL},
        {"{\"a\":1,\"b\":[2,{\"c\":3}],\"c\":\"x\"}", "b", "[2,{\"c\":3}]"},
        {"{\"a\":1,\"b\":[2,{\"c\":3}],\"c\":\"x\"}", "c", "\"x\""},
        {"{\"b\":{\"a\":1}}", "a", NULL},
        {" { \"a\" :\n{ } , \"b\" : null } ", "a", "{ }"},
        {" { \"a\" :\n{ } , \"b\" : null } ", "b", "null"},
        {"{\"a\":1,\"a\":2}", "a", "2"},
        {"{\"\\u0061\":1}", "a", NULL},
        {"{\"x\":\"\\\"a\\\":1\",\"a\":2}", "a", "2"},
        {"[\"a\",1]", "a", NULL},
        {"\"a\"", "a", NULL},
        {"", "a", NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mp_span value = {NULL, 0};
        bool found = mp_member_find(span_of(rows[i].object), rows[i].key, &value);
        cr_expect_eq(found, rows[i].value != NULL, "%s in %s", rows[i].key, rows[i].object);
        cr_expect(span_is(value, rows[i].value), "%s in %s", rows[i].key, rows[i].object);
    }
}
