/* SPDX-License-Identifier: Apache-2.0 */
#include "subject.h"

#include <stdlib.h>
#include <string.h>

void subject_init(struct subject *subject, const char *era, const char *const *switches)
{
    const char *list[32] = {"--era", era};
    size_t size = 2;
    subject->before = test_resources();
    test_folder_init(&subject->folder);
    while (*switches != NULL)
        list[size++] = *switches++;
    list[size++] = "--log";
    list[size] = subject->folder.log;
    mcpump_server_options options = test_options(list);
    options.backoff_first_ms = options.backoff_most_ms = 1;
    options.max_reconnects = 1000;
    subject->server = test_server_new(&options);
    test_connect_ok(subject->server);
}

void subject_done(struct subject *subject)
{
    mcpump_server_free(subject->server);
    test_folder_done(&subject->folder);
    EXPECT_NOTHING_LEFT(subject->before, "");
}

int subject_received(const struct subject *subject, const char *part)
{
    return test_count_received(subject->folder.log, part);
}

char *subject_value(const mcpump_reply *reply)
{
    size_t size;
    const char *value = mcpump_reply_value(reply, &size);
    return strndup(value, size);
}

void subject_expect_refused(const mcpump_reply *reply)
{
    int64_t code = 0;
    char *message = NULL;
    size_t size = 0;
    cr_assert(mcpump_reply_is_error(reply));
    cr_expect(mcpump_reply_error_code(reply, &code));
    cr_expect_eq(code, -32602);
    cr_expect_eq(mcpump_reply_error_message(reply, &message), MCPUMP_OK);
    cr_expect_str_eq(message, "no A");
    const char *data = mcpump_reply_error_data(reply, &size);
    cr_expect(size == 10 && memcmp(data, "{\"n\":1.00}", size) == 0, "%.*s", (int)size, data);
    mcpump_text_free(message);
}
