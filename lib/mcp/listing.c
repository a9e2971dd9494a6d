/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/listing.h"

#include <stdio.h>
#include <string.h>

#include "mcp/tree.h"
#include "wire/member.h"

/* A server that never stops giving new cursors must not grow a list for ever. */
#define MAX_PAGES    10000
#define MAX_MESSAGES 8 /* of the largest size that is taken */

static const struct kind {
    const char *method, *member, *changed;
} kinds[MP_LISTS] = {
    [MP_LIST_TOOLS] = {"tools/list", "tools", "notifications/tools/list_changed"},
    [MP_LIST_RESOURCES] = {"resources/list", "resources", "notifications/resources/list_changed"},
    [MP_LIST_RESOURCE_TEMPLATES] = {"resources/templates/list", "resourceTemplates",
                                    "notifications/resources/list_changed"},
    [MP_LIST_PROMPTS] = {"prompts/list", "prompts", "notifications/prompts/list_changed"},
};

const char *mp_list_changed(enum mp_list list)
{
    return kinds[list].changed;
}

/* What a list is gathered from: pages until there is no new cursor. */
struct listing {
    const struct mp_session *session;
    const struct kind *kind;
    const struct mp_call_limits *limits;
    struct mp_buffer items;  /* "[item,item" */
    struct mp_buffer cursor; /* as the server spelled it, with its quotes; empty: none */
    struct mp_buffer seen;   /* the cursors so far, each ended by LF, which none contains */
    mp_deadline fresh_until; /* of the page that is stale first */
    bool has_more;
    mcpump_failure **ret_failure;
};

/* -- one page */

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

/* A page without ttlMs, which the legacy era does not know, is stale at once. */
static void note_freshness(struct listing *listing, struct mp_span result)
{
    struct mp_span number;
    int64_t ttl_ms = 0;
    if (listing->session->revision->era != MCPUMP_ERA_MODERN ||
        !mp_member_find(result, "ttlMs", &number) || !mp_tree_integer(number, &ttl_ms) ||
        ttl_ms < 0)
        ttl_ms = 0;
    listing->fresh_until = mp_deadline_earlier(listing->fresh_until, mp_deadline_after_ms(ttl_ms));
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

/* Remembers the cursor of the next page, unless there is none, or we have been there. */
static void note_cursor(struct listing *listing, struct mp_span result)
{
    struct mp_span cursor;
    bool has_cursor =
        mp_member_find(result, "nextCursor", &cursor) && cursor.bytes[0] == '"' && cursor.size > 2;
    listing->has_more = has_cursor && !was_seen(listing, cursor);
    if (!listing->has_more)
        return;
    mp_buffer_add(&listing->seen, cursor.bytes, cursor.size);
    mp_buffer_add_text(&listing->seen, "\n");
    mp_buffer_done(&listing->cursor);
    mp_buffer_add(&listing->cursor, cursor.bytes, cursor.size);
}

static bool has_failed(const struct listing *listing)
{
    return listing->items.failed || listing->seen.failed || listing->cursor.failed;
}

static bool is_too_long(const struct listing *listing)
{
    size_t size = listing->items.size + listing->seen.size;
    return size / MAX_MESSAGES > listing->session->transport->options.max_message_bytes;
}

static void done_buffer(void *buffer)
{
    mp_buffer_done(buffer);
}

static mcpump_err request_page(struct listing *listing, mcpump_reply **ret_reply)
{
    struct mp_buffer params = MP_BUFFER_INIT;
    if (listing->cursor.size > 0) {
        mp_buffer_add_text(&params, "{\"cursor\":");
        mp_buffer_add(&params, listing->cursor.bytes, listing->cursor.size);
        mp_buffer_add_text(&params, "}");
    }
    mcpump_err err = MCPUMP_ERR_NO_MEMORY;
    pthread_cleanup_push(done_buffer, &params); /* of a thread that is cancelled */
    if (!params.failed)
        err = mp_session_demand(listing->session, listing->kind->method, params.bytes,
                                listing->limits, ret_reply, listing->ret_failure);
    pthread_cleanup_pop(true);
    return err;
}

static mcpump_err fail(struct listing *listing, const char *words, mcpump_reply *reply)
{
    return mp_session_fail_over(listing->session, MCPUMP_ERR_INVALID_REPLY, listing->kind->method,
                                words, reply, listing->ret_failure);
}

static mcpump_err list_page(struct listing *listing)
{
    mcpump_reply *reply = NULL;
    mcpump_err err = request_page(listing, &reply);
    if (err != MCPUMP_OK)
        return err;
    struct mp_span result, list;
    result.bytes = mcpump_reply_value(reply, &result.size);
    if (!mp_member_find(result, listing->kind->member, &list) || list.bytes[0] != '[') {
        char words[64];
        snprintf(words, sizeof(words), "the result has no array \"%s\"", listing->kind->member);
        return fail(listing, words, reply);
    }
    add_items(listing, list);
    note_freshness(listing, result);
    note_cursor(listing, result);
    if (is_too_long(listing))
        return fail(listing, "the list is longer than eight messages may be", reply);
    mcpump_reply_free(reply);
    return has_failed(listing) ? MCPUMP_ERR_NO_MEMORY : MCPUMP_OK;
}

/* -- all of them */

static mcpump_err list_pages(struct listing *listing)
{
    mcpump_err err = MCPUMP_OK;
    mp_buffer_add_text(&listing->items, "[");
    for (int page = 0; err == MCPUMP_OK && listing->has_more; page++) {
        if (page == MAX_PAGES)
            return fail(listing, "the list has more than 10000 pages", NULL);
        err = list_page(listing);
    }
    mp_buffer_add_text(&listing->items, "]");
    return err == MCPUMP_OK && has_failed(listing) ? MCPUMP_ERR_NO_MEMORY : err;
}

static void done_listing(void *arg)
{
    struct listing *listing = arg;
    mp_buffer_done(&listing->items);
    mp_buffer_done(&listing->cursor);
    mp_buffer_done(&listing->seen);
}

mcpump_err mp_session_list(const struct mp_session *session, enum mp_list list,
                           const struct mp_call_limits *limits, struct mp_listed *ret_listed,
                           mcpump_failure **ret_failure)
{
    struct listing listing = {.session = session,
                              .kind = &kinds[list],
                              .limits = limits,
                              .fresh_until = MP_NEVER,
                              .has_more = true,
                              .ret_failure = ret_failure};
    mcpump_err err;
    pthread_cleanup_push(done_listing, &listing); /* of a thread that is cancelled */
    err = list_pages(&listing);
    if (err == MCPUMP_OK)
        *ret_listed = (struct mp_listed){mp_buffer_take(&listing.items), listing.fresh_until};
    pthread_cleanup_pop(true);
    return err;
}
