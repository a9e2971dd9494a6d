/* SPDX-License-Identifier: Apache-2.0 */
/* A request made from its method and params, with and without metadata. */
#include "hot_path.h"
#include "mcp/metadata.h"

#define PARAMS "{\"name\":\"search\",\"arguments\":{\"query\":\"where is it\",\"limit\":10}}"

static struct mp_client client;

static void start_client(void)
{
    MUST(mp_client_init(&client, "host", "1.2.3"));
}

static void make_message(void)
{
    struct mp_message message;
    MUST(mp_message_init(&message, "tools/call", PARAMS, false) == NULL);
    mp_message_done(&message);
}

static void make_modern_message(void)
{
    struct mp_message message;
    const struct mp_metadata metadata = {.client = &client, .version = "2026-07-28"};
    MUST(mp_message_init(&message, "tools/call", PARAMS, false) == NULL);
    MUST(mp_message_add_metadata(&message, &metadata) == NULL);
    mp_message_done(&message);
}

static void stop_client(void)
{
    mp_client_done(&client);
}

const struct piece mcp_pieces[] = {
    {"message: make", NULL, make_message, NULL},
    {"message: with metadata", start_client, make_modern_message, stop_client},
    {NULL, NULL, NULL, NULL},
};
