/* SPDX-License-Identifier: Apache-2.0 */
/* The `rlimits` of an entry: an object of resources, each with one limit or two. */
#include <string.h>
#include <sys/resource.h>

#include "config/loader.h"

static const struct mp_key_word resources[] = {
    {"as", RLIMIT_AS},
    {"core", RLIMIT_CORE},
    {"cpu", RLIMIT_CPU},
    {"data", RLIMIT_DATA},
    {"fsize", RLIMIT_FSIZE},
    {"memlock", RLIMIT_MEMLOCK},
    {"nofile", RLIMIT_NOFILE},
    {"nproc", RLIMIT_NPROC},
    {"rss", RLIMIT_RSS},
    {"stack", RLIMIT_STACK},
    {NULL, 0},
};
#define RESOURCES (sizeof(resources) / sizeof(resources[0]) - 1)

static bool read_limit(struct mp_span value, uint64_t *ret_limit)
{
    int64_t number;
    if (mp_json_type(value) == '"' && mp_json_is(value, "unlimited")) {
        *ret_limit = UINT64_MAX; /* prlimit64 takes it for no limit */
        return true;
    }
    if (mp_json_type(value) != '0' || !mp_json_number(value, &number) || number < 0)
        return false;
    *ret_limit = (uint64_t)number;
    return true;
}

/* N, "unlimited", or [soft, hard]. NULL, or what is wrong. */
static const char *read_limits(struct mp_span value, mcpump_rlimit *limit)
{
    static const char wrong[] = "it must be a whole number, \"unlimited\", or [soft, hard] of such";
    uint64_t both[2];
    struct mp_json_walk walk;
    struct mp_span none, element;
    if (mp_json_type(value) == '[') {
        if (mp_value_count(value) != 2)
            return wrong;
        mp_json_enter(&walk, value);
        for (size_t i = 0; mp_json_next(&walk, &none, &element); i++) {
            if (!read_limit(element, &both[i]))
                return wrong;
        }
    } else {
        if (!read_limit(value, &both[0]))
            return wrong;
        both[1] = both[0];
    }
    limit->soft = both[0];
    limit->hard = both[1];
    return limit->soft <= limit->hard ? NULL : "the soft limit is above the hard one";
}

static bool is_set(const mcpump_rlimit *limits, size_t count, int resource)
{
    while (count > 0 && limits[count - 1].resource != resource)
        count--;
    return count > 0;
}

static bool read_rlimit(struct mp_loader *loader, const struct mp_place *place,
                        struct mp_span value, mcpump_rlimit *limits, size_t *count)
{
    const struct mp_key_word *resource = resources;
    const char *why;
    while (resource->text != NULL && strcmp(resource->text, place->keys[2]) != 0)
        resource++;
    if (resource->text == NULL)
        why = "no such resource limit is known";
    else if (is_set(limits, *count, resource->value))
        why = "it stands twice";
    else
        why = read_limits(value, &limits[*count]);
    if (why != NULL) {
        mp_report_problem(loader, place, "%s", why);
        return false;
    }
    limits[(*count)++].resource = resource->value;
    return true;
}

void mp_limits_read(struct mp_loader *loader, const struct mp_place *place, struct mp_span value)
{
    struct mp_json_walk walk;
    struct mp_span key, limit;
    mcpump_rlimit limits[RESOURCES];
    size_t count = 0;
    if (!mp_value_is(loader, place, value, '{', "an object"))
        return;
    for (mp_json_enter(&walk, value); mp_json_next(&walk, &key, &limit);) {
        struct mp_place there = *place;
        there.at = key.bytes;
        there.keys[2] = mp_value_decode(loader, place, key);
        if (there.keys[2] == NULL || !read_rlimit(loader, &there, limit, limits, &count))
            return;
    }
    mcpump_rlimit *kept = mp_loader_array(loader, count, sizeof(*kept));
    if (kept == NULL || count == 0)
        return;
    memcpy(kept, limits, count * sizeof(*kept));
    loader->entry->options.transport.rlimits = kept;
    loader->entry->options.transport.rlimit_count = count;
}
