/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/params.h"

#include <string.h>

#include "wire/scan.h"
#include "wire/splice.h"

static void add_string(struct mp_buffer *params, const char *text)
{
    mp_splice_string(params, text, strlen(text));
}

/* One object and nothing else: not the end of ours and more members. What it holds is checked with
 * the message. */
static bool is_object(const char *text)
{
    const char *end = text + strlen(text);
    const char *start = mp_scan_space(text, end);
    if (start == end || *start != '{')
        return false;
    const char *behind = mp_scan_value(start, end, MP_JSON_MAX_DEPTH);
    return behind != NULL && mp_scan_space(behind, end) == end;
}

const char *mp_params_call(struct mp_buffer *params, const char *name, const char *arguments)
{
    if (arguments != NULL && !is_object(arguments))
        return "the arguments are not a JSON object";
    mp_buffer_add_text(params, "{\"name\":");
    add_string(params, name);
    mp_buffer_add_text(params, ",\"arguments\":");
    mp_buffer_add_text(params, arguments != NULL ? arguments : "{}");
    mp_buffer_add_text(params, "}");
    return NULL;
}

const char *mp_params_read(struct mp_buffer *params, const char *uri)
{
    mp_buffer_add_text(params, "{\"uri\":");
    add_string(params, uri);
    mp_buffer_add_text(params, "}");
    return NULL;
}

const char *mp_params_complete(struct mp_buffer *params, const mcpump_completion *completion)
{
    bool of_prompt = completion->prompt != NULL;
    if (of_prompt == (completion->uri_template != NULL))
        return "either a prompt or a uri_template is to be named";
    if (completion->argument == NULL)
        return "the argument is not named";
    if (completion->context != NULL && !is_object(completion->context))
        return "the context is not a JSON object";
    mp_buffer_add_text(params, of_prompt ? "{\"ref\":{\"type\":\"ref/prompt\",\"name\":"
                                         : "{\"ref\":{\"type\":\"ref/resource\",\"uri\":");
    add_string(params, of_prompt ? completion->prompt : completion->uri_template);
    mp_buffer_add_text(params, "},\"argument\":{\"name\":");
    add_string(params, completion->argument);
    mp_buffer_add_text(params, ",\"value\":");
    add_string(params, completion->value != NULL ? completion->value : "");
    mp_buffer_add_text(params, "}");
    if (completion->context != NULL) {
        mp_buffer_add_text(params, ",\"context\":{\"arguments\":");
        mp_buffer_add_text(params, completion->context);
        mp_buffer_add_text(params, "}");
    }
    mp_buffer_add_text(params, "}");
    return NULL;
}

const char *mp_params_level(const char *level)
{
    static const char *const levels[] = {"debug", "info",     "notice", "warning",
                                         "error", "critical", "alert",  "emergency"};
    for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
        if (strcmp(levels[i], level) == 0)
            return levels[i];
    }
    return NULL;
}
