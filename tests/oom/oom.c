/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation fails in turn: oom FAKE_SERVER once|lasting. Each scene is played again and
 * again, each time with the next of its allocations failing (and, if lasting, all after that one),
 * until none is left. A step of a scene succeeds, or says that memory was missing; afterwards the
 * same object works, and nothing is left: no memory, fd, thread or process.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "inject.h"
#include "mcpump/mcpump.h"
#include "steps.h"

#define LENGTH(array)  (sizeof(array) / sizeof((array)[0]))
#define MANY           9 /* one more than a board holds without allocating */
#define PATIENCE_S     30
#define SHORT_MS       1
#define BRIEF_MS       2000 /* but enough for a connect */
#define MOST_COMPLAINT 20

static const char *fake_server;
static mcpump_secret *secret;

/* -- what is being played, for messages */

static const char *scene_name;
static long nth;
static bool is_lasting;
static int complaints;

void check(bool ok, const char *format, ...)
{
    if (ok || complaints++ > MOST_COMPLAINT)
        return;
    va_list args;
    fprintf(stderr, "%s, allocation %ld%s: ", scene_name, nth, is_lasting ? " and on" : "");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

static void arm(void)
{
    inject_arm(nth, is_lasting);
}

/* Whether the failure says that memory was missing. There is none when memory for it was, too. */
static bool is_for_memory(mcpump_err err, const mcpump_failure *failure)
{
    if (err == MCPUMP_ERR_NO_MEMORY || failure == NULL)
        return true;
    int sys_errno = mcpump_failure_errno(failure);
    if (err == MCPUMP_ERR_CLOSED)
        return mcpump_failure_cause(failure) == MCPUMP_CAUSE_NO_MEMORY;
    return (err == MCPUMP_ERR_SPAWN || err == MCPUMP_ERR_SYSTEM) &&
           (sys_errno == ENOMEM || sys_errno == EAGAIN);
}

void check_step(const char *step, mcpump_err err, mcpump_err wanted, mcpump_failure *failure)
{
    bool failed = inject_has_failed();
    /* UNAVAILABLE: the connect before it, which is a step of its own, has failed. */
    bool is_excused = failed && (err == MCPUMP_OK || err == MCPUMP_ERR_NOT_OPEN ||
                                 err == MCPUMP_ERR_UNAVAILABLE || is_for_memory(err, failure));
    check(err == wanted || is_excused, "%s: %s: %s", step, mcpump_err_name(err),
          mcpump_failure_message(failure));
    check(err != MCPUMP_OK || failure == NULL, "%s: a failure beside success", step);
    check(failure == NULL || mcpump_failure_error(failure) == err, "%s: another error", step);
    mcpump_failure_free(failure);
}

/* -- steps on a transport */

static mcpump_transport_options plain_options(const char *const *switches)
{
    mcpump_transport_options options = MCPUMP_TRANSPORT_OPTIONS_INIT;
    options.command = fake_server;
    options.args = switches;
    options.stderr_sink = MCPUMP_STDERR_DISCARD;
    return options;
}

static mcpump_err send(mcpump_transport *transport, const char *request, int64_t timeout_ms,
                       mcpump_failure **ret_failure)
{
    mcpump_call_options options = MCPUMP_CALL_OPTIONS_INIT;
    mcpump_reply *reply = NULL;
    options.timeout_ms = timeout_ms;
    options.cancel_reason = "memory";
    mcpump_err err = mcpump_transport_send_request(transport, request, strlen(request), &options,
                                                   &reply, ret_failure);
    mcpump_reply_free(reply);
    return err;
}

#define REQUEST(method, params)                                                                    \
    "{\"jsonrpc\":\"2.0\",\"id\":\"own\",\"method\":\"" method "\",\"params\":" params "}"
#define NOTE "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/fake\"}"

static void step_open(mcpump_transport *transport)
{
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_transport_open(transport, &failure);
    check_step("open", err, MCPUMP_OK, failure);
}

static void step_send(mcpump_transport *transport, const char *name, const char *request)
{
    mcpump_failure *failure = NULL;
    mcpump_err err = send(transport, request, 0, &failure);
    check_step(name, err, MCPUMP_OK, failure);
}

static void step_give_up(mcpump_transport *transport)
{
    mcpump_failure *failure = NULL;
    mcpump_err err = send(transport, REQUEST("test/drop", "{}"), SHORT_MS, &failure);
    bool is_late = failure != NULL && err == MCPUMP_ERR_TIMEOUT; /* it may come to that first */
    check_step("give up", err, is_late ? err : MCPUMP_ERR_TIMEOUT, failure);
}

static void step_notify(mcpump_transport *transport)
{
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_transport_notify(transport, NOTE, strlen(NOTE), &failure);
    check_step("notify", err, MCPUMP_OK, failure);
}

/* With memory back: the same object works, opened again if its connection was lost. */
static void recover(mcpump_transport *transport)
{
    mcpump_failure *failure = NULL;
    mcpump_err err = MCPUMP_OK;
    if (!mcpump_transport_is_connected(transport)) {
        mcpump_transport_close(transport);
        err = mcpump_transport_open(transport, &failure);
        check(err == MCPUMP_OK, "opened again: %s", mcpump_failure_message(failure));
    }
    if (err == MCPUMP_OK)
        err = send(transport, REQUEST("test/echo", "{}"), 0, &failure);
    check(err == MCPUMP_OK, "called again: %s", mcpump_failure_message(failure));
    mcpump_failure_free(failure);
}

/* -- scenes with a transport */

static void play_secret(void)
{
    arm();
    mcpump_secret *made = mcpump_secret_new("a secret");
    inject_disarm();
    check(made != NULL || inject_has_failed(), "no secret");
    mcpump_secret_free(made);
}

static void play_options(void)
{
    const mcpump_secret_variable secrets[] = {{"TOKEN", secret}, {NULL, NULL}};
    const mcpump_rlimit limits[] = {{RLIMIT_CORE, 0, 0}};
    mcpump_transport_options options = plain_options((const char *const[]){"a", "b", NULL});
    options.env = (const char *const[]){"A=1", "B=2", NULL};
    options.inherit_env = options.unset_env = (const char *const[]){"LANG", NULL};
    options.secret_env = secrets;
    options.cwd = "/";
    options.guard_path = "/none";
    options.stderr_sink = MCPUMP_STDERR_FILE;
    options.stderr_file = "/dev/null";
    options.rlimits = limits;
    options.rlimit_count = LENGTH(limits);
    mcpump_transport *transport = NULL;
    mcpump_failure *failure = NULL;
    arm();
    mcpump_err err = mcpump_transport_new(&options, &transport, &failure);
    check_step("new", err, MCPUMP_OK, failure);
    if (err == MCPUMP_OK) {
        err = mcpump_transport_set_working_dir(transport, "/tmp", &failure);
        check_step("set_working_dir", err, MCPUMP_OK, failure);
    }
    inject_disarm();
    mcpump_transport_free(transport);
}

static void play_many(void)
{
    mcpump_transport *transports[MANY] = {NULL};
    mcpump_transport_options options = plain_options(NULL);
    arm();
    mcpump_group *group = mcpump_group_new();
    check(group != NULL || inject_has_failed(), "no group");
    for (size_t i = 0; i < MANY; i++) {
        mcpump_failure *failure = NULL;
        mcpump_err err = mcpump_transport_new(&options, &transports[i], &failure);
        check_step("new", err, MCPUMP_OK, failure);
        if (err == MCPUMP_OK && group != NULL) {
            err = mcpump_group_add(group, transports[i]);
            check_step("add", err, MCPUMP_OK, NULL);
            if (err == MCPUMP_OK)
                mcpump_group_interrupt(group);
            if (err == MCPUMP_OK)
                mcpump_group_remove(group, transports[i]);
        }
    }
    inject_disarm();
    for (size_t i = 0; i < MANY; i++)
        mcpump_transport_free(transports[i]);
    mcpump_group_free(group);
}

static void play_transport(void)
{
    mcpump_transport_options options = plain_options(NULL);
    mcpump_transport *transport = NULL;
    check(mcpump_transport_new(&options, &transport, NULL) == MCPUMP_OK, "not made");
    arm();
    step_open(transport);
    step_notify(transport);
    step_send(transport, "echo", REQUEST("test/echo", "{\"a\":[1,2,3]}"));
    step_send(transport, "stderr", REQUEST("test/stderr", "{\"text\":\"words\"}"));
    step_send(transport, "error", REQUEST("test/error", "{}"));
    step_send(transport, "large", REQUEST("test/big", "{\"size\":200000}"));
    step_give_up(transport);
    mcpump_transport_close(transport);
    inject_disarm();
    recover(transport);
    mcpump_transport_free(transport);
}

/* The connection stays; only the calls meet the failure. */
static void play_calls(void)
{
    mcpump_transport_options options = plain_options(NULL);
    mcpump_transport *transport = NULL;
    check(mcpump_transport_new(&options, &transport, NULL) == MCPUMP_OK, "not made");
    check(mcpump_transport_open(transport, NULL) == MCPUMP_OK, "not open");
    arm();
    mcpump_run *run = mcpump_run_new(NULL), *below = run != NULL ? mcpump_run_new(run) : NULL;
    mcpump_run_scope scope;
    check(below != NULL || inject_has_failed(), "no run");
    mcpump_run_enter(below, &scope);
    step_send(transport, "echo", REQUEST("test/echo", "{}"));
    step_give_up(transport);
    mcpump_run_leave(&scope);
    step_notify(transport);
    inject_disarm();
    recover(transport);
    mcpump_run_free(run);
    mcpump_run_free(below);
    mcpump_transport_free(transport);
}

/* The server asks; an answer that finds no memory is missed, and so is what waits for it. */
static void play_asked(void)
{
    mcpump_transport_options options = plain_options(NULL);
    mcpump_transport *transport = NULL;
    mcpump_failure *failure = NULL;
    check(mcpump_transport_new(&options, &transport, NULL) == MCPUMP_OK, "not made");
    check(mcpump_transport_open(transport, NULL) == MCPUMP_OK, "not open");
    arm();
    mcpump_err err = send(transport, REQUEST("test/ping-me", "{}"), 200, &failure);
    inject_disarm();
    check_step("ping-me", err, inject_has_failed() && err == MCPUMP_ERR_TIMEOUT ? err : MCPUMP_OK,
               failure);
    recover(transport);
    mcpump_transport_free(transport);
}

/* -- scenes with a server */

/* The one answer that decides may find no memory when it comes: then the time passes. */
static void step_connect(mcpump_server *server)
{
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_server_connect(server, &failure);
    bool is_lost = inject_has_failed() && err == MCPUMP_ERR_TIMEOUT;
    check_step("connect", err, is_lost ? err : MCPUMP_OK, failure);
}

static void step_use(mcpump_server *server)
{
    mcpump_failure *failure = NULL;
    mcpump_reply *reply = NULL;
    char *tools = NULL;
    mcpump_err err = mcpump_server_list_tools(server, NULL, &tools, &failure);
    check(err != MCPUMP_OK || tools != NULL, "no text");
    check_step("list_tools", err, MCPUMP_OK, failure);
    mcpump_text_free(tools);
    err = mcpump_server_call_tool(server, "fake", "{\"a\":1}", NULL, &reply, &failure);
    check_step("call_tool", err, MCPUMP_OK, failure);
    mcpump_reply_free(reply);
    err = mcpump_server_ping(server, NULL, NULL, &failure);
    check_step("ping", err, MCPUMP_OK, failure);
    err = mcpump_server_notify(server, "notifications/fake", "{}", &failure);
    check_step("server notify", err, MCPUMP_OK, failure);
}

static void step_lose(mcpump_server *server)
{
    mcpump_failure *failure = NULL;
    mcpump_reply *reply = NULL;
    mcpump_err err = mcpump_server_request(server, "test/exit", "{}", NULL, &reply, &failure);
    bool is_lost = err == MCPUMP_ERR_CLOSED; /* for whatever cause */
    check_step("exit", err, is_lost ? err : MCPUMP_ERR_CLOSED, failure);
}

static void recover_server(mcpump_server *server)
{
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_server_connect(server, &failure);
    check(err == MCPUMP_OK, "connected again: %s", mcpump_failure_message(failure));
    if (err == MCPUMP_OK)
        err = mcpump_server_ping(server, NULL, NULL, &failure);
    check(err == MCPUMP_OK, "pinged again: %s", mcpump_failure_message(failure));
    mcpump_failure_free(failure);
}

/* The cursor, with its quotes, fills what the list of cursors holds at first to the last byte. */
#define CURSOR "0123456789012345678901234567890123456789012345678901234567890"
#define PAGES  "--on", "tools/list:echo:{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":\"" CURSOR "\"}"

static void play_server(const char *const *switches, int64_t probe_timeout_ms, mcpump_era era)
{
    mcpump_server_options options = MCPUMP_SERVER_OPTIONS_INIT;
    mcpump_server *server = NULL;
    mcpump_failure *failure = NULL;
    options.transport = plain_options(switches);
    options.probe_timeout_ms = probe_timeout_ms;
    options.connect_timeout_ms = probe_timeout_ms != 0 ? BRIEF_MS : 0;
    arm();
    mcpump_err err = mcpump_server_new(&options, &server, &failure);
    check_step("new", err, MCPUMP_OK, failure);
    if (err == MCPUMP_OK) {
        step_connect(server);
        step_use(server);
        step_typed(server);
        check(inject_has_failed() || mcpump_server_era(server) == era, "another era");
        step_lose(server);
        step_connect(server);
        mcpump_server_close(server);
    }
    inject_disarm();
    if (err == MCPUMP_OK)
        recover_server(server);
    mcpump_server_free(server);
}

static void play_modern(void)
{
    play_server((const char *const[]){"--era", "modern", PAGES, TYPED, NULL}, 0, MCPUMP_ERA_MODERN);
}

static void play_legacy(void)
{
    play_server((const char *const[]){"--era", "legacy", PAGES, TYPED, NULL}, 0, MCPUMP_ERA_LEGACY);
}

static void play_silent(void)
{
    play_server((const char *const[]){"--probe", "silent", TYPED, NULL}, SHORT_MS,
                MCPUMP_ERA_LEGACY);
}

static void play_late(void)
{
    play_server((const char *const[]){"--probe", "late:10", "--init", "silent", TYPED, NULL},
                SHORT_MS, MCPUMP_ERA_MODERN);
}

static void play_respawn(void)
{
    play_server((const char *const[]){"--probe", "exit:3", TYPED, NULL}, 0, MCPUMP_ERA_LEGACY);
}

/* -- a scene with two threads */

struct comer {
    mcpump_server *server;
    pthread_barrier_t *start;
    mcpump_err err;
    mcpump_failure *failure;
};

static void *come(void *arg)
{
    struct comer *comer = arg;
    pthread_barrier_wait(comer->start);
    comer->err = mcpump_server_connect(comer->server, &comer->failure);
    return NULL;
}

/* One of the two connects, the other waits for it. */
static void play_two(void)
{
    mcpump_server_options options = MCPUMP_SERVER_OPTIONS_INIT;
    pthread_barrier_t start;
    pthread_t thread;
    struct comer comers[2] = {{.start = &start}, {.start = &start}};
    options.transport = plain_options((const char *const[]){"--delay-start", "5", NULL});
    check(mcpump_server_new(&options, &comers[0].server, NULL) == MCPUMP_OK, "not made");
    comers[1].server = comers[0].server;
    pthread_barrier_init(&start, NULL, 2);
    pthread_create(&thread, NULL, come, &comers[0]);
    arm();
    come(&comers[1]);
    pthread_join(thread, NULL);
    inject_disarm();
    pthread_barrier_destroy(&start);
    for (size_t i = 0; i < LENGTH(comers); i++)
        check_step("connect", comers[i].err, MCPUMP_OK, comers[i].failure);
    recover_server(comers[0].server);
    mcpump_server_free(comers[0].server);
}

/* -- scenes with a configuration */

/* A usable entry of every kind of value, one with a problem, one with a warning. */
static const char config_text[] =
    "{\"mcpServers\": {\"a\": {\"command\": \"a\", \"args\": [\"b\", \"${NONE:-c}\"],"
    "\"env\": {\"A\": \"a secret\", \"B\": 1, \"C\": null}, \"envFile\": \"/dev/null\","
    "\"cwd\": \"/\", \"mcpump\": {\"inherit_env\": [\"D\"], \"unset_env\": [\"E\"],"
    "\"stderr_file\": \"x.log\", \"rlimits\": {\"core\": 0}}},"
    "\"b\": {\"command\": \"b\", \"envFile\": \"/nowhere\"}, \"c\": {\"command\": \"c\", \"zag\": "
    "1}}}";

static void play_config(void)
{
    mcpump_config *config = NULL;
    mcpump_failure *failure = NULL;
    arm();
    mcpump_err err =
        mcpump_config_parse("f.json", config_text, strlen(config_text), &config, &failure);
    inject_disarm();
    check_step("parse", err, MCPUMP_OK, failure);
    check((err == MCPUMP_OK) == (config != NULL), "a configuration beside failure");
    if (config != NULL) {
        check(mcpump_config_count(config) == 3, "entries are missing");
        check(mcpump_config_options(config, 0) != NULL, "%s", mcpump_config_problem(config, 0));
        check(mcpump_config_state(config, 1) == MCPUMP_ENTRY_INVALID, "no problem");
        check(mcpump_config_warning_count(config) == 1, "no warning");
    }
    mcpump_config_free(config);
}

static void play_config_faults(void)
{
    static const char text[] = "{\"mcpServers\": {\"a\": {}, \"a\": {}}}";
    mcpump_config *config = NULL;
    mcpump_failure *failure = NULL;
    arm();
    mcpump_err err = mcpump_config_parse("f.json", text, strlen(text), &config, &failure);
    check_step("twice", err, MCPUMP_ERR_INVALID_ARGUMENT, failure);
    err = mcpump_config_load("/dev/null", &config, &failure);
    check_step("empty", err, MCPUMP_ERR_INVALID_ARGUMENT, failure);
    err = mcpump_config_load("/nowhere", &config, &failure);
    check_step("nowhere", err, MCPUMP_ERR_SYSTEM, failure);
    setenv("XDG_CONFIG_HOME", "/nowhere", 1);
    err = mcpump_config_load(NULL, &config, &failure);
    check_step("no file", err, MCPUMP_ERR_SYSTEM, failure);
    inject_disarm();
    check(config == NULL, "a configuration beside failure");
}

/* -- a manager */

static void change(mcpump_manager *manager, const mcpump_config *config)
{
    mcpump_failure *failure = NULL;
    mcpump_event *event;
    mcpump_server_options options = {.size = sizeof(options),
                                     .transport = plain_options((const char *const[]){NULL})};
    mcpump_err err = mcpump_manager_add(manager, "a", &options, true, &failure);
    check_step("add", err, MCPUMP_OK, failure);
    err = mcpump_manager_replace(manager, "a", &options, false, &failure);
    check_step("replace", err, inject_has_failed() ? err : MCPUMP_OK, failure);
    err = mcpump_manager_apply(manager, config, &failure);
    check_step("apply", err, MCPUMP_OK, failure);
    while (mcpump_manager_next_event(manager, 0, &event) == MCPUMP_OK)
        mcpump_event_free(event);
}

static void play_manager(void)
{
    mcpump_manager *manager = NULL;
    mcpump_config *config = NULL;
    mcpump_failure *failure = NULL;
    const char *text = "{\"mcpServers\": {\"a\": {\"command\": \"cat\"}}}";
    mcpump_config_parse("f.json", text, strlen(text), &config, NULL);
    arm();
    mcpump_err err = mcpump_manager_new(NULL, &manager, &failure);
    check_step("new", err, MCPUMP_OK, failure);
    if (err == MCPUMP_OK)
        change(manager, config);
    inject_disarm();
    check(err != MCPUMP_OK || mcpump_manager_apply(manager, config, NULL) == MCPUMP_OK, "later");
    mcpump_manager_free(manager);
    mcpump_config_free(config);
}

/* -- what is left */

static int count_entries(const char *directory)
{
    int count = 0;
    DIR *entries = opendir(directory);
    while (readdir(entries) != NULL)
        count++;
    closedir(entries);
    return count;
}

/* A thread that was joined stands in /proc for some instants more. */
static int count_threads(int wanted)
{
    time_t until = time(NULL) + PATIENCE_S;
    int count = count_entries("/proc/self/task");
    for (; count > wanted && time(NULL) < until; count = count_entries("/proc/self/task"))
        sched_yield();
    return count;
}

static bool has_children(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* -- all of them */

struct scene {
    const char *name;
    void (*play)(void);
    bool keeps; /* what the process keeps for good */
};

static const struct scene scenes[] = {
    {"many transports", play_many, true},  {"secret", play_secret, false},
    {"options", play_options, false},      {"transport", play_transport, false},
    {"calls", play_calls, false},          {"asked", play_asked, false},
    {"modern server", play_modern, false}, {"legacy server", play_legacy, false},
    {"silent probe", play_silent, false},  {"late probe", play_late, false},
    {"respawn", play_respawn, false},      {"two threads", play_two, false},
    {"config", play_config, false},        {"config faults", play_config_faults, false},
    {"manager", play_manager, false},
};

/* Whether an allocation failed: else the scene has no more of them. */
static bool play_once(const struct scene *scene)
{
    int fds = count_entries("/proc/self/fd"), threads = count_entries("/proc/self/task");
    long live = inject_live();
    scene->play();
    int threads_left = count_threads(threads);
    check(threads_left == threads, "%d threads, were %d", threads_left, threads);
    check(count_entries("/proc/self/fd") == fds, "%d fds, were %d", count_entries("/proc/self/fd"),
          fds);
    check(!has_children(), "a child is left");
    check(scene->keeps || inject_live() == live, "%ld live, were %ld", inject_live(), live);
    if (!scene->keeps && inject_live() != live)
        inject_show_live(live);
    return inject_has_failed();
}

static void play_all(const struct scene *scene)
{
    scene_name = scene->name;
    nth = 1;
    while (play_once(scene) && complaints <= MOST_COMPLAINT)
        nth++;
    printf("%-16s %3ld allocations\n", scene->name, nth - 1);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: oom FAKE_SERVER once|lasting [SCENE]\n");
        return 2;
    }
    fake_server = argv[1];
    is_lasting = strcmp(argv[2], "lasting") == 0;
    secret = mcpump_secret_new("a secret");
    for (size_t i = 0; i < LENGTH(scenes); i++) {
        if (argc == 3 || strcmp(argv[3], scenes[i].name) == 0)
            play_all(&scenes[i]);
    }
    mcpump_secret_free(secret);
    return complaints > 0;
}
