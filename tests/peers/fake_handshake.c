/* SPDX-License-Identifier: Apache-2.0 */
/* server/discover and initialize, as they should be and as they are, and what every server knows.
 */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>

#define LEGACY_VERSION "2025-11-25"
#define MODERN_VERSION "2026-07-28"

/* A comma-separated list as a JSON array of strings. */
static void add_list(struct out *out, const char *list)
{
    out_text(out, "[");
    while (list != NULL && *list != '\0') {
        size_t size = strcspn(list, ",");
        out_string(out, list, size);
        list += size;
        if (*list == ',') {
            out_text(out, ",");
            list++;
        }
    }
    out_text(out, "]");
}

static int64_t number_or(const char *argument, int64_t otherwise)
{
    return argument != NULL ? strtoll(argument, NULL, 10) : otherwise;
}

/* -- server/discover */

static void add_discover(struct fake *fake, const struct fake_request *request,
                         const char *versions, const char *extra)
{
    fake_reply_begin(fake, request->id);
    out_text(&fake->out, "{\"supportedVersions\":");
    add_list(&fake->out, versions);
    out_f(&fake->out,
          ",\"resultType\":\"complete\",\"ttlMs\":0,\"cacheScope\":\"private\","
          "\"capabilities\":{\"tools\":{}}%s}",
          extra);
    fake_reply_end(fake);
    if (strstr(versions, MODERN_VERSION) != NULL)
        fake->phase = FAKE_MODERN;
}

static void probe_discover(struct fake *fake, const struct fake_request *request,
                           const char *argument)
{
    (void)argument;
    add_discover(fake, request, fake->options.supported, "");
}

static void probe_error(struct fake *fake, const struct fake_request *request, const char *argument)
{
    fake_error(fake, request->id, number_or(argument, -32601), "the fake server says no", NULL);
}

static void probe_error_null_id(struct fake *fake, const struct fake_request *request,
                                const char *argument)
{
    struct json_span nobody = {NULL, 0};
    (void)request;
    fake_error(fake, nobody, number_or(argument, -32700), "the fake server says no", NULL);
}

static void probe_error_no_code(struct fake *fake, const struct fake_request *request,
                                const char *argument)
{
    (void)argument;
    out_text(&fake->out, "{\"jsonrpc\":\"2.0\",\"id\":");
    out_span(&fake->out, request->id);
    out_text(&fake->out, ",\"error\":{\"message\":\"no code\"}}");
    fake_end_line(fake);
}

static void silent(struct fake *fake, const struct fake_request *request, const char *argument)
{
    (void)fake;
    (void)request;
    (void)argument;
}

static void exit_now(struct fake *fake, const struct fake_request *request, const char *argument)
{
    (void)request;
    fake_exit(fake, (int)number_or(argument, 0));
}

static void fire_discover(struct fake *fake, struct fake_job *job)
{
    add_discover(fake, &job->request, fake->options.supported, "");
}

static void probe_late(struct fake *fake, const struct fake_request *request, const char *argument)
{
    fake_later(fake, number_or(argument, 1000), request, fire_discover);
}

static void log_line(struct fake *fake)
{
    fake_notify(fake, "notifications/message",
                "{\"level\":\"info\",\"data\":\"the fake server is here\"}");
}

static void probe_log_then_error(struct fake *fake, const struct fake_request *request,
                                 const char *argument)
{
    log_line(fake);
    probe_error(fake, request, argument);
}

static void probe_log(struct fake *fake, const struct fake_request *request, const char *argument)
{
    (void)request;
    (void)argument;
    log_line(fake);
}

static void probe_only_legacy(struct fake *fake, const struct fake_request *request,
                              const char *argument)
{
    add_discover(fake, request, argument != NULL ? argument : LEGACY_VERSION, "");
}

static void refuse_version(struct fake *fake, const struct fake_request *request, int code,
                           const char *versions)
{
    struct out data = {NULL, 0, 0};
    out_text(&data, "{\"requested\":\"2026-07-28\",\"supported\":");
    add_list(&data, versions);
    out_bytes(&data, "}", sizeof("}"));
    fake_error(fake, request->id, code, "Unsupported protocol version", data.bytes);
    out_done(&data);
}

static void probe_unsupported(struct fake *fake, const struct fake_request *request,
                              const char *argument)
{
    refuse_version(fake, request, -32022, argument);
}

static void probe_unsupported_once(struct fake *fake, const struct fake_request *request,
                                   const char *argument)
{
    if (fake->probed)
        add_discover(fake, request, fake->options.supported, "");
    else
        refuse_version(fake, request, -32022, argument);
}

static void probe_unsupported_bare(struct fake *fake, const struct fake_request *request,
                                   const char *argument)
{
    (void)argument;
    fake_error(fake, request->id, -32022, "Unsupported protocol version", NULL);
}

static void probe_draft(struct fake *fake, const struct fake_request *request, const char *argument)
{
    if (argument != NULL)
        refuse_version(fake, request, -32004, argument);
    else
        fake_error(fake, request->id, -32004, "Resource not found", "{\"supported\":\"none\"}");
}

static void probe_extra_members(struct fake *fake, const struct fake_request *request,
                                const char *argument)
{
    (void)argument;
    add_discover(fake, request, fake->options.supported,
                 ",\"supported\":7,\"x-extra\":[{}],\"serverInfo\":{\"name\":\"fake\"},"
                 "\"protocolVersion\":\"2024-11-05\",\"_meta\":{\"x/y\":null}");
}

const struct fake_behaviour fake_probe_behaviours[] = {
    {"discover", probe_discover, "a DiscoverResult (default, unless --era legacy)"},
    {"error[:CODE]", probe_error, "an error (default of --era legacy: -32601)"},
    {"error-no-code", probe_error_no_code, "an error object without code"},
    {"error-null-id[:CODE]", probe_error_null_id, "an error with id null (default -32700)"},
    {"silent", silent, "nothing"},
    {"exit[:STATUS]", exit_now, "the server exits"},
    {"late[:MS]", probe_late, "a DiscoverResult after so long (default 1000)"},
    {"log", probe_log, "a notifications/message and nothing else"},
    {"log-then-error[:CODE]", probe_log_then_error, "a notifications/message, then an error"},
    {"only-legacy[:V,V]", probe_only_legacy, "a DiscoverResult with legacy versions only"},
    {"unsupported[:V,V]", probe_unsupported, "always -32022 with this list"},
    {"unsupported-once[:V,V]", probe_unsupported_once, "-32022, then a DiscoverResult"},
    {"unsupported-bare", probe_unsupported_bare, "always -32022 without data"},
    {"draft[:V,V]", probe_draft, "-32004 with this list; without one, data.supported is no list"},
    {"extra-members", probe_extra_members, "a DiscoverResult with unknown members"},
    {NULL, NULL, NULL},
};

/* -- initialize */

static void add_initialize(struct fake *fake, const struct fake_request *request,
                           const char *version, const char *extra)
{
    fake_reply_begin(fake, request->id);
    out_f(&fake->out,
          "{\"protocolVersion\":\"%s\",\"capabilities\":{\"tools\":{},\"logging\":{}},"
          "\"serverInfo\":{\"name\":\"fake\",\"version\":\"1\"}%s}",
          version, extra);
    fake_reply_end(fake);
    if (fake->phase == FAKE_INITIALIZE)
        fake->phase = FAKE_INITIALIZED;
}

static void init_reply(struct fake *fake, const struct fake_request *request, const char *argument)
{
    add_initialize(fake, request, argument != NULL ? argument : LEGACY_VERSION, "");
}

static void init_error(struct fake *fake, const struct fake_request *request, const char *argument)
{
    fake_error(fake, request->id, number_or(argument, -32603), "the fake server will not start",
               NULL);
}

static void init_unknown_version(struct fake *fake, const struct fake_request *request,
                                 const char *argument)
{
    (void)argument;
    add_initialize(fake, request, "1999-12-31", "");
}

static void init_no_version(struct fake *fake, const struct fake_request *request,
                            const char *argument)
{
    (void)argument;
    fake_reply(fake, request, "{\"capabilities\":{}}");
}

static void fire_initialize(struct fake *fake, struct fake_job *job)
{
    add_initialize(fake, &job->request, LEGACY_VERSION, "");
}

static void init_late(struct fake *fake, const struct fake_request *request, const char *argument)
{
    fake_later(fake, number_or(argument, 1000), request, fire_initialize);
}

static void init_modern_error(struct fake *fake, const struct fake_request *request,
                              const char *argument)
{
    refuse_version(fake, request, -32022, argument != NULL ? argument : MODERN_VERSION);
    fake->phase = FAKE_MODERN;
}

static void init_notifications_first(struct fake *fake, const struct fake_request *request,
                                     const char *argument)
{
    log_line(fake);
    fake_notify(fake, "notifications/tools/list_changed", "{}");
    fake_notify(fake, "notifications/fake", "{\"id\":1}");
    init_reply(fake, request, argument);
}

static void ping_answered(struct fake *fake, const struct fake_request *request,
                          struct json_span message)
{
    (void)message;
    add_initialize(fake, request, LEGACY_VERSION, "");
}

static void init_ping_first(struct fake *fake, const struct fake_request *request,
                            const char *argument)
{
    struct json_span none = {NULL, 0};
    (void)argument;
    fake_ask_client(fake, none, "ping", none, request, ping_answered);
}

static void init_request_with_reply(struct fake *fake, const struct fake_request *request,
                                    const char *argument)
{
    struct json_span none = {NULL, 0};
    init_reply(fake, request, NULL);
    fake_ask_client(fake, none, argument != NULL ? argument : "roots/list", none, NULL, NULL);
}

static void init_extra_members(struct fake *fake, const struct fake_request *request,
                               const char *argument)
{
    (void)argument;
    add_initialize(
        fake, request, LEGACY_VERSION,
        ",\"instructions\":\"none\",\"x-extra\":{\"id\":[1]},\"resultType\":\"complete\"");
}

const struct fake_behaviour fake_init_behaviours[] = {
    {"reply[:VERSION]", init_reply, "a result (default, unless --era modern; 2025-11-25)"},
    {"error[:CODE]", init_error, "an error (default -32603)"},
    {"unknown-version", init_unknown_version, "a result with version 1999-12-31"},
    {"no-version", init_no_version, "a result without protocolVersion"},
    {"silent", silent, "nothing"},
    {"exit[:STATUS]", exit_now, "the server exits"},
    {"late[:MS]", init_late, "a result after so long (default 1000)"},
    {"modern-error[:V,V]", init_modern_error, "-32022 with this list (default of --era modern)"},
    {"notifications-first", init_notifications_first, "three notifications, then a result"},
    {"ping-first", init_ping_first, "a ping, and a result once it was answered"},
    {"request-with-reply[:METHOD]", init_request_with_reply,
     "a result and a request (roots/list) in one write"},
    {"extra-members", init_extra_members, "a result with unknown members"},
    {NULL, NULL, NULL},
};

/* Runs the row that `how` names, up to a colon, with what stands behind it. */
static void run_behaviour(struct fake *fake, const struct fake_behaviour *row, const char *how,
                          const struct fake_request *request)
{
    size_t size = strcspn(how, ":");
    for (; row->name != NULL; row++) {
        if (strcspn(row->name, "[") == size && strncmp(row->name, how, size) == 0) {
            row->run(fake, request, how[size] == ':' ? how + size + 1 : NULL);
            return;
        }
    }
    fprintf(stderr, "fake_server: unknown behaviour %s; see --help\n", how);
    fake_exit(fake, 2);
}

static void discover(struct fake *fake, const struct fake_request *request)
{
    run_behaviour(fake, fake_probe_behaviours, fake->options.probe, request);
    fake->probed = true;
}

static void initialize(struct fake *fake, const struct fake_request *request)
{
    run_behaviour(fake, fake_init_behaviours, fake->options.init, request);
}

static void ping(struct fake *fake, const struct fake_request *request)
{
    if (fake->phase == FAKE_MODERN)
        fake_error(fake, request->id, -32601, "ping is gone", NULL);
    else
        fake_reply(fake, request, "{}");
}

static void list_tools(struct fake *fake, const struct fake_request *request)
{
    fake_reply(fake, request,
               "{\"resultType\":\"complete\",\"ttlMs\":0,\"cacheScope\":\"private\",\"tools\":["
               "{\"name\":\"fake\",\"description\":\"Does nothing.\","
               "\"inputSchema\":{\"type\":\"object\"}}]}");
}

static void call_tool(struct fake *fake, const struct fake_request *request)
{
    fake_reply(fake, request,
               "{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\",\"text\":\"fake\"}]}");
}

const struct fake_method fake_standard_methods[] = {
    {"server/discover", discover, "see --probe"},
    {"initialize", initialize, "see --init"},
    {"ping", ping, "an empty result, or -32601 in the modern era"},
    {"tools/list", list_tools, "one tool, fake"},
    {"tools/call", call_tool, "the text fake, whatever is called"},
    {NULL, NULL, NULL},
};
