/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/outcome.h"

#include <criterion/criterion.h>

#include "replies.h"

static const struct row {
    const char *member;
    enum mp_outcome outcome;
    const char *type; /* of UNKNOWN */
} rows[] = {
    {"\"result\":{}", MP_OUTCOME_COMPLETE, NULL},
    {"\"result\":null", MP_OUTCOME_COMPLETE, NULL},
    {"\"result\":[\"resultType\",\"x\"]", MP_OUTCOME_COMPLETE, NULL},
    {"\"result\":{\"resultType\":\"complete\"}", MP_OUTCOME_COMPLETE, NULL},
    {"\"result\":{\"resultType\":\"complete\",\"a\":1}", MP_OUTCOME_COMPLETE, NULL},
    {"\"result\":{\"a\":1,\"resultType\":\"complete\"}", MP_OUTCOME_COMPLETE, NULL},
    {"\"result\":{ \"a\":1, \"resultType\" : \"complete\" ,\"b\":2}", MP_OUTCOME_COMPLETE, NULL},
    {"\"result\":{\"resultType\":\"input_required\"}", MP_OUTCOME_INPUT_REQUIRED, NULL},
    {"\"result\":{\"inputRequests\":{},\"resultType\":\"input_required\"}",
     MP_OUTCOME_INPUT_REQUIRED, NULL},
    {"\"result\":{\"resultType\":\"task\",\"task\":{}}", MP_OUTCOME_UNKNOWN, "\"task\""},
    {"\"result\":{\"resultType\":\"\"}", MP_OUTCOME_UNKNOWN, "\"\""},
    {"\"result\":{\"resultType\":null}", MP_OUTCOME_UNKNOWN, "null"},
    {"\"result\":{\"resultType\":{\"resultType\":\"complete\"}}", MP_OUTCOME_UNKNOWN,
     "{\"resultType\":\"complete\"}"},
    /* What looks like the usual end is within a string, or within another object. */
    {"\"result\":{\"resultType\":\"x\",\"a\":\"{\\\"resultType\\\":\\\"complete\\\"}\"}",
     MP_OUTCOME_UNKNOWN, "\"x\""},
    {"\"result\":{\"resultType\":\"x\",\"a\":\",\\\"resultType\\\":\\\"complete\"}",
     MP_OUTCOME_UNKNOWN, "\"x\""},
    {"\"result\":{\"resultType\":\"x\",\"a\":{\"b\":1,\"resultType\":\"complete\"}}",
     MP_OUTCOME_UNKNOWN, "\"x\""},
    {"\"error\":{\"code\":1,\"message\":\"m\",\"resultType\":\"x\"}", MP_OUTCOME_COMPLETE, NULL},
};

Test(outcome, of_results)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct mp_span type = {"", 0};
        mcpump_reply *reply = reply_of(rows[i].member);
        cr_expect_eq(mp_outcome_of(reply, &type), rows[i].outcome, "%s", rows[i].member);
        if (rows[i].type != NULL)
            cr_expect(type.size == strlen(rows[i].type) &&
                          memcmp(type.bytes, rows[i].type, type.size) == 0,
                      "%s", rows[i].member);
        mcpump_reply_free(reply);
    }
}
