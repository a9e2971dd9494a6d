/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host of one call, for the checks against the schemas:
 *
 *   typed [--era legacy|modern] [--trace] [--level LEVEL] CALL [ARG...] -- COMMAND [ARG...]
 *
 * It writes what the call gives to stdout, as text. Exit status: 0 ok, 1 the server's error (its
 * text is written), 2 usage, 3 a failure, 4 lines of the server were taken for junk.
 */
#include <mcpump/mcpump.h>
#include <stdio.h>
#include <string.h>

#define TRACEPARENT "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

/* What is to be done, and what came of it. */
struct job {
    mcpump_server *server;
    const char *args[4]; /* NULL where there is none */
    mcpump_call_options options;
    mcpump_reply *reply;
    char *text;
    mcpump_failure *failure;
};

static mcpump_err list_tools(struct job *job)
{
    return mcpump_server_list_tools(job->server, &job->options, &job->text, &job->failure);
}

static mcpump_err list_resources(struct job *job)
{
    return mcpump_server_list_resources(job->server, &job->options, &job->text, &job->failure);
}

static mcpump_err list_templates(struct job *job)
{
    return mcpump_server_list_resource_templates(job->server, &job->options, &job->text,
                                                 &job->failure);
}

static mcpump_err list_prompts(struct job *job)
{
    return mcpump_server_list_prompts(job->server, &job->options, &job->text, &job->failure);
}

static mcpump_err call_tool(struct job *job)
{
    return mcpump_server_call_tool(job->server, job->args[0], job->args[1], &job->options,
                                   &job->reply, &job->failure);
}

static mcpump_err read_resource(struct job *job)
{
    return mcpump_server_read_resource(job->server, job->args[0], &job->options, &job->reply,
                                       &job->failure);
}

static mcpump_err get_prompt(struct job *job)
{
    return mcpump_server_get_prompt(job->server, job->args[0], job->args[1], &job->options,
                                    &job->reply, &job->failure);
}

static mcpump_err complete(struct job *job, const char *prompt, const char *uri_template)
{
    mcpump_completion completion = MCPUMP_COMPLETION_INIT;
    completion.prompt = prompt;
    completion.uri_template = uri_template;
    completion.argument = job->args[1];
    completion.value = job->args[2];
    completion.context = job->args[3];
    return mcpump_server_complete(job->server, &completion, &job->options, &job->reply,
                                  &job->failure);
}

static mcpump_err complete_prompt(struct job *job)
{
    return complete(job, job->args[0], NULL);
}

static mcpump_err complete_resource(struct job *job)
{
    return complete(job, NULL, job->args[0]);
}

static mcpump_err request(struct job *job)
{
    return mcpump_server_request(job->server, job->args[0], job->args[1], &job->options,
                                 &job->reply, &job->failure);
}

static mcpump_err ping(struct job *job)
{
    return mcpump_server_ping(job->server, &job->options, NULL, &job->failure);
}

static mcpump_err info(struct job *job)
{
    mcpump_err err = mcpump_server_connect(job->server, &job->failure);
    return err == MCPUMP_OK ? mcpump_server_info(job->server, &job->text) : err;
}

static const struct {
    const char *name;
    mcpump_err (*run)(struct job *job);
} calls[] = {
    {"list-tools", list_tools},
    {"list-resources", list_resources},
    {"list-templates", list_templates},
    {"list-prompts", list_prompts},
    {"call", call_tool},
    {"read", read_resource},
    {"prompt", get_prompt},
    {"complete-prompt", complete_prompt},
    {"complete-resource", complete_resource},
    {"request", request},
    {"ping", ping},
    {"info", info},
};

static mcpump_err run(struct job *job, const char *call, const char *level)
{
    if (level != NULL) {
        mcpump_err err = mcpump_server_set_log_level(job->server, level, NULL, &job->failure);
        if (err != MCPUMP_OK)
            return err;
    }
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        if (strcmp(calls[i].name, call) == 0)
            return calls[i].run(job);
    }
    fprintf(stderr, "typed: no call %s\n", call);
    return MCPUMP_ERR_INVALID_ARGUMENT;
}

static int tell(const struct job *job, mcpump_err err)
{
    if (err != MCPUMP_OK) {
        fprintf(stderr, "typed: %s\n", mcpump_failure_message(job->failure));
        return 3;
    }
    if (job->text != NULL)
        fputs(job->text, stdout);
    if (job->reply != NULL) {
        size_t size;
        const char *value = mcpump_reply_value(job->reply, &size);
        fwrite(value, 1, size, stdout);
    }
    mcpump_stats stats = {.size = sizeof(stats)};
    mcpump_transport_stats(mcpump_server_transport(job->server), &stats);
    if (stats.junk_lines > 0)
        return 4;
    return job->reply != NULL && mcpump_reply_is_error(job->reply) ? 1 : 0;
}

/* The switches in front of the call; returns where it stands. */
static char **take_switches(char **arg, struct job *job, mcpump_era *ret_era,
                            const char **ret_level)
{
    for (; *arg != NULL && strncmp(*arg, "--", 2) == 0; arg++) {
        if (strcmp(*arg, "--trace") == 0) {
            job->options.traceparent = TRACEPARENT;
            job->options.tracestate = "vendor=1";
            job->options.baggage = "key=value";
        } else if (strcmp(*arg, "--era") == 0 && arg[1] != NULL) {
            *ret_era = strcmp(*++arg, "legacy") == 0 ? MCPUMP_ERA_LEGACY : MCPUMP_ERA_MODERN;
        } else if (strcmp(*arg, "--level") == 0 && arg[1] != NULL) {
            *ret_level = *++arg;
        } else {
            break;
        }
    }
    return arg;
}

int main(int argc, char **argv)
{
    struct job job = {.options = MCPUMP_CALL_OPTIONS_INIT};
    mcpump_server_options options = MCPUMP_SERVER_OPTIONS_INIT;
    const char *level = NULL;
    (void)argc;
    char **call = take_switches(argv + 1, &job, &options.era, &level), **arg = call;
    for (size_t i = 0; *arg != NULL && strcmp(*arg, "--") != 0; i++, arg++) {
        if (i > sizeof(job.args) / sizeof(*job.args))
            return 2;
        if (i > 0)
            job.args[i - 1] = *arg;
    }
    if (arg == call || *arg == NULL || arg[1] == NULL)
        return 2;
    options.transport.command = arg[1];
    options.transport.args = (const char *const *)&arg[2];
    if (mcpump_server_new(&options, &job.server, &job.failure) != MCPUMP_OK)
        return 2;
    int status = tell(&job, run(&job, *call, level));
    mcpump_reply_free(job.reply);
    mcpump_text_free(job.text);
    mcpump_failure_free(job.failure);
    mcpump_server_free(job.server);
    return status;
}
