/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of typed calls share: a fake server of one era with its log, and what is looked at
 * in replies.
 */
#ifndef TEST_INTEGRATION_SUBJECT_H
#define TEST_INTEGRATION_SUBJECT_H

#include "support.h"

#define TRACEPARENT "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

struct subject {
    struct test_resources before;
    struct test_folder folder;
    mcpump_server *server;
};

/* Ready; it comes back at once whenever it dies. */
void subject_init(struct subject *subject, const char *era, const char *const *switches);
/* Also checks that nothing is left. */
void subject_done(struct subject *subject);
/* So many messages that it has received hold `part`. */
int subject_received(const struct subject *subject, const char *part);

/* The value of a reply as text; new. */
char *subject_value(const mcpump_reply *reply);

/* For --on METHOD:..., an error, and what is to be read out of it. */
#define REFUSED "error:{\"code\":-32602,\"message\":\"no \\u0041\",\"data\":{\"n\":1.00}}"
void subject_expect_refused(const mcpump_reply *reply);

#endif
