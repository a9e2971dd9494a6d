/* SPDX-License-Identifier: Apache-2.0 */
/* The typed calls: ping, list_tools, call_tool. */
#include <stdio.h>
#include <string.h>

#include "mcp/answer.h"
#include "mcp/session.h"
#include "wire/member.h"
#include "wire/splice.h"

#define NS_PER_US 1000
/* A server that never stops giving new cursors must not grow a list for ever. */
#define MAX_PAGES 10000

static struct mp_span value_of(const mcpump_reply *reply)
{
    struct mp_span value;
    value.bytes = mcpump_reply_value(reply, &value.size);
    return value;
}

/* A reply that is an error becomes a failure with the server's words. */
static mcpump_err check_result(const struct mp_session *session, const char *method,
                               const mcpump_reply *reply, mcpump_failure **ret_failure)
{
    if (!mcpump_reply_is_error(reply))
        return MCPUMP_OK;
    char error[384], words[448];
    mp_answer_error(reply, error, sizeof(error));
    snprintf(words, sizeof(words), "the server answered with %s", error);
    return mp_session_fail(session, MCPUMP_ERR_SERVER_ERROR, MCPUMP_PHASE_REQUEST, method, words,
                           ret_failure);
}

/* -- ping */

static const char *ping_method(const struct mp_revision *revision)
{
    return revision->era == MCPUMP_ERA_MODERN ? "server/discover" : "ping";
}

mcpump_err mp_session_ping(const struct mp_session *session, const struct mp_call_limits *limits,
                           int64_t *ret_us, mcpump_failure **ret_failure)
{
    const char *method = ping_method(session->revision);
    mcpump_reply *reply = NULL;
    int64_t start = mp_now_ns();
    mcpump_err err = mp_session_request(session, method, NULL, limits, &reply, ret_failure);
    if (err != MCPUMP_OK)
        return err;
    int64_t us = (mp_now_ns() - start) / NS_PER_US;
    err = check_result(session, method, reply, ret_failure);
    mcpump_reply_free(reply);
    if (err == MCPUMP_OK && ret_us != NULL)
        *ret_us = us;
    return err;
}

/* -- list_tools */

/* What a list is gathered from: pages until there is no new cursor. */
struct listing {
    const struct mp_session *session;
    const struct mp_call_limits *limits;
    struct mp_buffer items;  /* "[item,item" */
    struct mp_buffer cursor; /* as the server spelled it, with its quotes; empty: none */
    struct mp_buffer seen;   /* the cursors so far, each ended by LF, which none contains */
    mcpump_failure **ret_failure;
};

/* The items of a page, byte for byte, without the brackets around them. */
static void add_items(struct listing *listing, struct mp_span list)
{
    struct mp_span inner = {list.bytes + 1, list.size - 2};
    bool is_empty = true;
    for (size_t i = 0; i < inner.size && is_empty; i++)
        is_empty = strchr(" \t\r\n", inner.bytes[i]) != NULL;
    if (is_empty)
        return;
    if (listing->items.size > 1)
        mp_buffer_add_text(&listing->items, ",");
    mp_buffer_add(&listing->items, inner.bytes, inner.size);
}

static bool was_seen(const struct listing *listing, struct mp_span cursor)
{
    const char *at = listing->seen.bytes;
    const char *end = at + listing->seen.size;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        if ((size_t)(line_end - at) == cursor.size && memcmp(at, cursor.bytes, cursor.size) == 0)
            return true;
        at = line_end + 1;
    }
    return false;
}

/* Remembers the cursor of the next page; false: there is none, or we have been there, or no memory.
 */
static bool go_on(struct listing *listing, struct mp_span result)
{
    struct mp_span cursor;
    bool has_cursor =
        mp_member_find(result, "nextCursor", &cursor) && cursor.bytes[0] == '"' && cursor.size > 2;
    if (!has_cursor || was_seen(listing, cursor))
        return false;
    mp_buffer_add(&listing->seen, cursor.bytes, cursor.size);
    mp_buffer_add_text(&listing->seen, "\n");
    mp_buffer_done(&listing->cursor);
    mp_buffer_add(&listing->cursor, cursor.bytes, cursor.size);
    return !listing->seen.failed && !listing->cursor.failed;
}

static void done_buffer(void *buffer)
{
    mp_buffer_done(buffer);
}

static mcpump_err request_page(struct listing *listing, const char *method,
                               mcpump_reply **ret_reply)
{
    struct mp_buffer params = MP_BUFFER_INIT;
    if (listing->cursor.size > 0)
        mp_buffer_addf(&params, "{\"cursor\":%s}", listing->cursor.bytes);
    mcpump_err err = MCPUMP_ERR_NO_MEMORY;
    pthread_cleanup_push(done_buffer, &params); /* of a thread that is cancelled */
    if (!params.failed)
        err = mp_session_request(listing->session, method, params.bytes, listing->limits, ret_reply,
                                 listing->ret_failure);
    pthread_cleanup_pop(true);
    return err;
}

static mcpump_err list_page(struct listing *listing, bool *ret_more)
{
    static const char method[] = "tools/list";
    mcpump_reply *reply = NULL;
    mcpump_err err = request_page(listing, method, &reply);
    if (err != MCPUMP_OK)
        return err;
    err = check_result(listing->session, method, reply, listing->ret_failure);
    struct mp_span list;
    if (err == MCPUMP_OK &&
        !(mp_member_find(value_of(reply), "tools", &list) && list.bytes[0] == '['))
        err = mp_session_fail(listing->session, MCPUMP_ERR_INVALID_REPLY, MCPUMP_PHASE_REQUEST,
                              method, "the result has no array \"tools\"", listing->ret_failure);
    if (err == MCPUMP_OK) {
        add_items(listing, list);
        *ret_more = go_on(listing, value_of(reply));
    }
    mcpump_reply_free(reply);
    return err;
}

static mcpump_err list_pages(struct listing *listing)
{
    bool more = true;
    mcpump_err err = MCPUMP_OK;
    mp_buffer_add_text(&listing->items, "[");
    for (int page = 0; err == MCPUMP_OK && more && page < MAX_PAGES; page++)
        err = list_page(listing, &more);
    mp_buffer_add_text(&listing->items, "]");
    return err;
}

static void done_listing(void *arg)
{
    struct listing *listing = arg;
    mp_buffer_done(&listing->items);
    mp_buffer_done(&listing->cursor);
    mp_buffer_done(&listing->seen);
}

mcpump_err mp_session_list_tools(const struct mp_session *session,
                                 const struct mp_call_limits *limits, char **ret_tools,
                                 mcpump_failure **ret_failure)
{
    struct listing listing = {.session = session, .limits = limits, .ret_failure = ret_failure};
    mcpump_err err;
    pthread_cleanup_push(done_listing, &listing); /* of a thread that is cancelled */
    err = list_pages(&listing);
    bool failed = listing.items.failed || listing.seen.failed || listing.cursor.failed;
    if (err == MCPUMP_OK && failed)
        err = MCPUMP_ERR_NO_MEMORY;
    if (err == MCPUMP_OK)
        *ret_tools = mp_buffer_take(&listing.items);
    pthread_cleanup_pop(true);
    return err;
}

/* -- call_tool */

mcpump_err mp_session_call_tool(const struct mp_session *session, const char *tool,
                                const char *arguments, const struct mp_call_limits *limits,
                                mcpump_reply **ret_reply, mcpump_failure **ret_failure)
{
    struct mp_buffer params = MP_BUFFER_INIT;
    mp_buffer_add_text(&params, "{\"name\":");
    mp_splice_string(&params, tool, strlen(tool));
    mp_buffer_add_text(&params, ",\"arguments\":");
    mp_buffer_add_text(&params, arguments != NULL ? arguments : "{}");
    mp_buffer_add_text(&params, "}");
    mcpump_err err = MCPUMP_ERR_NO_MEMORY;
    pthread_cleanup_push(done_buffer, &params); /* of a thread that is cancelled */
    if (!params.failed)
        err =
            mp_session_request(session, "tools/call", params.bytes, limits, ret_reply, ret_failure);
    pthread_cleanup_pop(true);
    return err;
}
