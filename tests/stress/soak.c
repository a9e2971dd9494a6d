/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A minute of dying servers: they are killed at random while 16 threads call through a manager.
 * Every call ends with its own answer or a typed failure; no server ever receives one twice, and
 * what says that it was not sent never arrived. The scale is in percent of the minute.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "stress.h"

#define CALLERS 16
#define SERVERS 3
#define MOST    4000000 /* calls */

/* What became of a call, by its number. */
enum fate { UNUSED, ANSWERED, FAILED, NOT_SENT };

struct soak {
    mcpump_manager *manager;
    char folder[32];
    int64_t until_ms;
    _Atomic uint32_t next;
    unsigned char *fates;
    unsigned char *arrivals; /* how often a server received it */
    atomic_int answered, failed, kills;
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void name_server(char name[4], uint32_t dice)
{
    snprintf(name, 4, "s%u", dice % SERVERS);
}

static bool fits(mcpump_err err)
{
    return err == MCPUMP_ERR_CLOSED || err == MCPUMP_ERR_UNAVAILABLE || err == MCPUMP_ERR_TIMEOUT;
}

static enum fate judge(mcpump_err err, uint32_t number, const mcpump_reply *reply,
                       const mcpump_failure *failure)
{
    if (err == MCPUMP_OK) {
        size_t size;
        char wanted[32];
        const char *value = mcpump_reply_value(reply, &size);
        snprintf(wanted, sizeof(wanted), "\"soak\":%" PRIu32 ",", number);
        STRESS_CHECK(memmem(value, size, wanted, strlen(wanted)) != NULL,
                     "call %" PRIu32 " got %.*s", number, (int)size, value);
        return ANSWERED;
    }
    STRESS_CHECK(fits(err), "call %" PRIu32 ": %s", number, mcpump_err_name(err));
    STRESS_CHECK(failure != NULL, "call %" PRIu32 ": no failure", number);
    return mcpump_failure_sent(failure) == MCPUMP_NOT_SENT ? NOT_SENT : FAILED;
}

static void call(struct soak *soak, uint32_t *random)
{
    char name[4], params[64];
    uint32_t number = atomic_fetch_add(&soak->next, 1);
    mcpump_call_options options = MCPUMP_CALL_OPTIONS_INIT;
    mcpump_reply *reply = NULL;
    mcpump_failure *failure = NULL;
    uint32_t dice = stress_random(random);
    name_server(name, dice >> 8);
    options.wait_for_ready = dice % 4 != 0;
    snprintf(params, sizeof(params), "{\"soak\":%" PRIu32 ",\"end\":0}", number);
    mcpump_server *server = mcpump_manager_find(soak->manager, name);
    mcpump_err err = mcpump_server_request(server, "test/echo", params, &options, &reply, &failure);
    soak->fates[number] = (unsigned char)judge(err, number, reply, failure);
    atomic_fetch_add(err == MCPUMP_OK ? &soak->answered : &soak->failed, 1);
    mcpump_reply_free(reply);
    mcpump_failure_free(failure);
    mcpump_server_free(server);
}

/* One that is ready, after each so many calls of the killer's own. */
static void kill_one(struct soak *soak, uint32_t dice)
{
    char name[4];
    mcpump_server_status status = {.size = sizeof(status)};
    name_server(name, dice);
    mcpump_server *server = mcpump_manager_find(soak->manager, name);
    mcpump_server_get_status(server, &status);
    if (status.state == MCPUMP_SERVER_READY && status.pid > 0 && kill(status.pid, SIGKILL) == 0)
        atomic_fetch_add(&soak->kills, 1);
    mcpump_server_free(server);
}

static void live(void *context, int number)
{
    struct soak *soak = context;
    uint32_t random = 2463534242u * (uint32_t)(number + 1);
    for (int round = 1; now_ms() < soak->until_ms && atomic_load(&soak->next) < MOST - CALLERS;
         round++) {
        call(soak, &random);
        if (number == 0 && round % 50 == 0)
            kill_one(soak, stress_random(&random));
    }
}

/* -- what the servers have seen */

static void read_log(struct soak *soak, const char *path)
{
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "re");
    STRESS_CHECK(file != NULL, "no log %s", path);
    while (getline(&line, &room, file) > 0) {
        const char *mark = strstr(line, "\"soak\":");
        if (strncmp(line, "recv ", 5) == 0 && mark != NULL)
            soak->arrivals[strtoul(mark + 7, NULL, 10) % MOST]++;
    }
    free(line);
    fclose(file);
}

static void check_arrivals(const struct soak *soak)
{
    for (uint32_t i = 0; i < soak->next; i++) {
        int arrivals = soak->arrivals[i];
        STRESS_CHECK(arrivals <= 1, "call %" PRIu32 " was made %d times", i, arrivals);
        STRESS_CHECK(soak->fates[i] != ANSWERED || arrivals == 1,
                     "call %" PRIu32 " was answered by nobody", i);
        STRESS_CHECK(soak->fates[i] != NOT_SENT || arrivals == 0,
                     "call %" PRIu32 " arrived, and was not sent", i);
    }
}

/* -- the whole */

static void log_path(const struct soak *soak, int number, char path[64])
{
    snprintf(path, 64, "%s/s%d.log", soak->folder, number);
}

static void begin(struct soak *soak, const struct stress *stress)
{
    snprintf(soak->folder, sizeof(soak->folder), "/tmp/mcpump-soak-XXXXXX");
    STRESS_CHECK(mkdtemp(soak->folder) != NULL, "no folder");
    STRESS_CHECK(mcpump_manager_new(NULL, &soak->manager, NULL) == MCPUMP_OK, "no manager");
    for (int i = 0; i < SERVERS; i++) {
        char name[4], path[64];
        name_server(name, (uint32_t)i);
        log_path(soak, i, path);
        const char *args[] = {"--lifetime", "3600", "--log", path, NULL};
        mcpump_server_options options = MCPUMP_SERVER_OPTIONS_INIT;
        options.transport.command = stress->server;
        options.transport.args = args;
        options.transport.stderr_sink = MCPUMP_STDERR_DISCARD;
        options.backoff_first_ms = 1;
        options.backoff_most_ms = 20;
        options.max_reconnects = 1000000;
        STRESS_CHECK(mcpump_manager_add(soak->manager, name, &options, i > 0, NULL) == MCPUMP_OK,
                     "no server");
    }
}

static void end(struct soak *soak)
{
    mcpump_manager_free(soak->manager);
    for (int i = 0; i < SERVERS; i++) {
        char path[64];
        log_path(soak, i, path);
        read_log(soak, path);
        unlink(path);
    }
    rmdir(soak->folder);
    check_arrivals(soak);
}

int main(int argc, char **argv)
{
    struct stress stress = stress_init(argc, argv);
    struct stress_footprint before = stress_footprint();
    struct soak soak = {.until_ms = now_ms() + stress_count(&stress, 60000)};
    soak.fates = calloc(MOST, 1);
    soak.arrivals = calloc(MOST, 1);
    STRESS_CHECK(soak.fates != NULL && soak.arrivals != NULL, "no memory");
    begin(&soak, &stress);
    stress_run(CALLERS, live, &soak);
    end(&soak);
    STRESS_CHECK(soak.answered > 0 && soak.kills > 0, "nothing happened");
    stress_check_footprint(before);
    printf("%d answered, %d failed, %d kills\n", soak.answered, soak.failed, soak.kills);
    free(soak.fates);
    free(soak.arrivals);
    return 0;
}
