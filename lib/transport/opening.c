/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a transport: the reader thread is started first and makes the rest, the sink, the
 * process, the other two threads, undone when one of them fails; the thread that opens waits for
 * the outcome. The reader is the one to spawn because it lives as long as the process may: the
 * kernel's parent-death signal is bound to the thread that made the child.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "process/environment.h"
#include "process/spawn.h"
#include "transport/transport.h"

extern char **environ;

static int open_sink(const mcpump_transport *transport, struct mp_stderr_sink *ret_sink)
{
    const struct mp_options *options = &transport->options;
    struct mp_stderr_sink sink = {.kind = options->stderr_sink,
                                  .fd = -1,
                                  .fn = options->stderr_fn,
                                  .user = options->stderr_user,
                                  .listener_fn = transport->listener.said,
                                  .listener_user = transport->listener.user};
    if (sink.kind == MCPUMP_STDERR_INHERIT)
        sink.fd = STDERR_FILENO;
    /* Not blocking: a fifo without reader must not hold us. */
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    if (sink.kind == MCPUMP_STDERR_FILE)
        sink.fd = mp_fd_above_stdio(open(options->stderr_file, flags, 0600));
    if (sink.kind == MCPUMP_STDERR_FILE && sink.fd < 0)
        return errno;
    *ret_sink = sink;
    return 0;
}

static void close_sink(struct mp_stderr_sink *sink)
{
    if (sink->kind == MCPUMP_STDERR_FILE)
        mp_fd_close(&sink->fd);
}

static const char *guard_path(const struct mp_options *options)
{
    return options->guard_path != NULL ? options->guard_path : MP_GUARD_PATH;
}

/* What failed, in words that name the thing. */
static mcpump_err fail_start(mcpump_transport *transport, const struct mp_spawn_error *error,
                             const char *path, mcpump_failure **ret_failure)
{
    const struct mp_options *options = &transport->options;
    char detail[1024] = "";
    if (error->stage == MCPUMP_STAGE_LOOKUP && strchr(options->command, '/') == NULL)
        snprintf(detail, sizeof(detail), "not in PATH (%s)", path != NULL ? path : "");
    else if (error->stage == MCPUMP_STAGE_GUARD)
        snprintf(detail, sizeof(detail), "%s", guard_path(options));
    else if (error->stage == MCPUMP_STAGE_DIRECTORY)
        snprintf(detail, sizeof(detail), "%s", transport->cwd != NULL ? transport->cwd : ".");
    struct mp_failure_facts facts = {.name = options->label,
                                     .err = MCPUMP_ERR_SPAWN,
                                     .phase = MCPUMP_PHASE_START,
                                     .stage = error->stage,
                                     .sys_errno = error->err,
                                     .subject = options->command,
                                     .detail = detail[0] != '\0' ? detail : NULL};
    return mp_fail(ret_failure, &facts, NULL);
}

/* The PATH that was searched, as it may be shown. */
static const char *shown_path(const struct mp_options *options, char *const *environment)
{
    const mcpump_secret_variable *each = options->secret_env;
    while (each->name != NULL && strcmp(each->name, "PATH") != 0)
        each++;
    return each->name != NULL ? mcpump_secret_shown(each->value)
                              : mp_environment_get(environment, "PATH");
}

static mcpump_err spawn(mcpump_transport *transport, struct mp_spawned *ret_spawned,
                        mcpump_failure **ret_failure)
{
    const struct mp_options *options = &transport->options;
    struct mp_spawn_error error = {MCPUMP_STAGE_FORK, ENOMEM};
    struct mp_environment_plan plan = {
        .host = environ,
        .inherit = options->inherit_env,
        .unset = options->unset_env,
        .own = options->env,
        .secrets = options->secret_env,
    };
    char **environment = mp_environment_new(&plan);
    struct mp_spawn_request request = {
        .command = options->command,
        .args = options->args,
        .environment = environment,
        .cwd = transport->cwd,
        .new_session = options->new_session,
        .nice = options->nice,
        .rlimits = options->rlimits,
        .rlimit_count = options->rlimit_count,
        .orphans = options->orphans,
        .guard = guard_path(options),
        .stdin_grace_ms = options->stdin_grace_ms,
        .term_grace_ms = options->term_grace_ms,
    };
    mcpump_err err = MCPUMP_OK;
    if (environment == NULL || mp_spawn(&request, ret_spawned, &error) != 0)
        err =
            fail_start(transport, &error,
                       environment != NULL ? shown_path(options, environment) : NULL, ret_failure);
    mp_environment_free(environment);
    return err;
}

/* Made ready before the other threads run. */
static void reset(mcpump_transport *transport, struct mp_spawned *spawned)
{
    struct mp_reader *reader = &transport->reader;
    mp_framer_reset(&reader->framer);
    reader->answered = NULL;
    reader->has_answered = false;
    reader->full_reads = 0;
    mp_lease_reset(&transport->lease);
    reader->junk_run = 0;
    reader->junk_preview[0] = '\0';
    reader->at_end = reader->process_ended = false;
    reader->drain_until = MP_NEVER;
    transport->stdout_fd = spawned->stdout_fd;
    atomic_store(&transport->escalate, false);
    mp_bell_hear(&transport->bell);

    mp_mutex_lock(&transport->lock);
    mp_process_init(&transport->process, spawned);
    memset(&transport->verdict, 0, sizeof(transport->verdict));
    mp_mutex_unlock(&transport->lock);
}

static void thread_name(char out[32], char kind, const mcpump_transport *transport)
{
    snprintf(out, 32, "mcp-%c:%.20s", kind, transport->options.label);
}

/* 0, and fds and sink have gone over to their threads; or an errno, and they are closed. */
static int start_pumps(mcpump_transport *transport, struct mp_spawned *spawned,
                       struct mp_stderr_sink *sink)
{
    char name[32];
    thread_name(name, 'e', transport);
    int err = mp_stderr_pump_start(&transport->stderr_pump, spawned->stderr_fd, sink, name);
    if (err != 0) {
        mp_fd_close(&spawned->stderr_fd);
        mp_fd_close(&spawned->stdin_fd);
        close_sink(sink);
        return err;
    }
    thread_name(name, 'w', transport);
    const struct mp_writer_start start = {
        .fd = spawned->stdin_fd,
        .on_failure = &transport->bell,
        .connection = mp_pending_connection(&transport->pending) + 1, /* that calls will see */
    };
    err = mp_writer_start(&transport->writer, &start, name);
    if (err != 0)
        mp_fd_close(&spawned->stdin_fd);
    return err;
}

/* Ends a server that could not be given its threads; those that run are told to end. */
static void abandon(mcpump_transport *transport)
{
    struct mp_process *process = &transport->process;
    mp_process_end(process);
    mp_fd_close(&transport->stdout_fd);
    if (transport->writer.thread.running)
        mp_writer_stop(&transport->writer, 0);
    if (transport->stderr_pump.thread.running)
        mp_stderr_pump_stop(&transport->stderr_pump);
    mp_mutex_lock(&transport->lock);
    mp_process_done(process);
    mp_mutex_unlock(&transport->lock);
}

static mcpump_err make(mcpump_transport *transport, mcpump_failure **ret_failure)
{
    struct mp_stderr_sink sink;
    struct mp_spawned spawned;
    int sink_errno = open_sink(transport, &sink);
    if (sink_errno != 0) {
        struct mp_failure_facts facts = {.name = transport->options.label,
                                         .err = MCPUMP_ERR_SPAWN,
                                         .phase = MCPUMP_PHASE_START,
                                         .stage = MCPUMP_STAGE_STDIO,
                                         .sys_errno = sink_errno,
                                         .subject = "stderr_file",
                                         .detail = transport->options.stderr_file};
        return mp_fail(ret_failure, &facts, NULL);
    }
    mcpump_err err = spawn(transport, &spawned, ret_failure);
    if (err != MCPUMP_OK) {
        close_sink(&sink);
        return err;
    }
    reset(transport, &spawned);
    struct mp_spawn_error error = {MCPUMP_STAGE_THREADS, start_pumps(transport, &spawned, &sink)};
    if (error.err == 0)
        return MCPUMP_OK;
    abandon(transport);
    return fail_start(transport, &error, NULL, ret_failure);
}

static void trace_spawn(mcpump_transport *transport)
{
    char pid[32];
    snprintf(pid, sizeof(pid), "pid %d", (int)transport->process.pid);
    mp_trace_moment(&transport->row, transport->options.label, "spawned", pid);
}

bool mp_opening_run(mcpump_transport *transport)
{
    struct mp_opening *opening = &transport->opening;
    mcpump_failure *failure = NULL;
    mcpump_err err = make(transport, &failure);
    if (err == MCPUMP_OK) {
        mp_running_add(transport);
        trace_spawn(transport);
    }
    mp_pending_accept(&transport->pending, err == MCPUMP_OK);

    mp_mutex_lock(&transport->lock);
    opening->err = err;
    opening->failure = failure;
    opening->is_made = true;
    bool is_unwanted = opening->is_unwanted;
    if (err == MCPUMP_OK)
        transport->state = MP_TRANSPORT_OPEN;
    mp_mutex_unlock(&transport->lock);
    mp_cond_broadcast(&transport->changed);
    if (err == MCPUMP_OK && is_unwanted)
        mp_transport_fault(transport, MCPUMP_CAUSE_CLOSED_BY_HOST, 0, NULL);
    return err == MCPUMP_OK;
}

/* Waits for the reader, which takes milliseconds, and wakes this. */
static mcpump_err wait_until_made(mcpump_transport *transport, mcpump_failure **ret_failure)
{
    struct mp_opening *opening = &transport->opening;
    mp_mutex_lock(&transport->lock);
    while (!opening->is_made)
        mp_cond_wait(&transport->changed, &transport->lock, MP_NEVER);
    mcpump_err err = opening->err;
    mcpump_failure *failure = opening->failure;
    mp_mutex_unlock(&transport->lock);
    if (ret_failure != NULL)
        *ret_failure = failure;
    else
        mcpump_failure_free(failure);
    return err;
}

static mcpump_err start_reader(mcpump_transport *transport, mcpump_failure **ret_failure)
{
    char name[32];
    thread_name(name, 'r', transport);
    struct mp_spawn_error error = {MCPUMP_STAGE_THREADS, 0};
    error.err = mp_thread_start(&transport->reader.thread, name, mp_reader_main, transport);
    if (error.err != 0)
        return fail_start(transport, &error, NULL, ret_failure);
    mcpump_err err = wait_until_made(transport, ret_failure);
    if (err != MCPUMP_OK)
        mp_transport_join_threads(transport);
    return err;
}

/* Whether the state lets us in. */
static bool begin_opening(mcpump_transport *transport)
{
    mp_mutex_lock(&transport->lock);
    bool may = !transport->opening.is_under_way && !transport->closing &&
               (transport->state == MP_TRANSPORT_CLOSED || transport->state == MP_TRANSPORT_ENDED);
    if (may)
        transport->opening = (struct mp_opening){.is_under_way = true};
    mp_mutex_unlock(&transport->lock);
    return may;
}

static void end_opening(mcpump_transport *transport, bool is_open)
{
    mp_mutex_lock(&transport->lock);
    transport->opening.is_under_way = false;
    if (!is_open)
        transport->state = MP_TRANSPORT_CLOSED;
    mp_mutex_unlock(&transport->lock);
    mp_cond_broadcast(&transport->changed);
}

mcpump_err mp_transport_open(mcpump_transport *transport, uint64_t latch_count,
                             mcpump_failure **ret_failure)
{
    bool is_elsewhere = mp_transport_is_elsewhere(transport);
    if (is_elsewhere || !begin_opening(transport)) {
        struct mp_failure_facts facts = {.name = transport->options.label,
                                         .err = is_elsewhere ? MCPUMP_ERR_FORKED
                                                             : MCPUMP_ERR_ALREADY_OPEN,
                                         .phase = MCPUMP_PHASE_START};
        return mp_fail(ret_failure, &facts, NULL);
    }
    mp_transport_join_threads(transport); /* of a connection that ended by itself */
    mcpump_err err = start_reader(transport, ret_failure);
    end_opening(transport, err == MCPUMP_OK);
    if (err != MCPUMP_OK)
        return err;
    mp_latch_clear_before(&transport->latch, latch_count);
    mp_count(&transport->counters.opens, 1);
    return MCPUMP_OK;
}

mcpump_err mcpump_transport_open(mcpump_transport *transport, mcpump_failure **ret_failure)
{
    if (ret_failure != NULL)
        *ret_failure = NULL;
    if (transport == NULL)
        return MCPUMP_ERR_INVALID_ARGUMENT;
    return mp_transport_open(transport, mp_latch_count(&transport->latch), ret_failure);
}
