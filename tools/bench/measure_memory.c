/* SPDX-License-Identifier: Apache-2.0 */
/* What one more idle connection adds to this process: resident memory and threads. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "request.h"

/* The first ones pay for what all of them share. */
#define FIRST_COUNT 8
#define MORE_COUNT  32

/* Counted page by page; the figure in /proc/self/statm lags behind. */
static double resident_kib(void)
{
    char line[256];
    double kib = -1;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file != NULL && kib < 0 && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "Rss:", 4) == 0)
            kib = strtod(line + 4, NULL);
    }
    if (kib < 0)
        bench_die("/proc/self/smaps_rollup does not tell the resident memory");
    fclose(file);
    return kib;
}

static int thread_count(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    if (tasks == NULL)
        bench_die("/proc/self/task cannot be read");
    for (const struct dirent *task; (task = readdir(tasks)) != NULL;)
        count += task->d_name[0] != '.';
    closedir(tasks);
    return count;
}

static void open_some(const struct bench_plan *plan, mcpump_transport *transports[], int count)
{
    for (int i = 0; i < count; i++) {
        transports[i] = bench_client_open(plan);
        bench_client_prepare(transports[i], &bench_echo);
    }
}

void bench_memory(const struct bench_plan *plan, struct bench_values *ret_values)
{
    mcpump_transport *transports[FIRST_COUNT + MORE_COUNT];
    open_some(plan, transports, FIRST_COUNT);
    double kib = resident_kib();
    int threads = thread_count();
    open_some(plan, transports + FIRST_COUNT, MORE_COUNT);
    ret_values->of[BENCH_IDLE_CONNECTION_KIB] = (resident_kib() - kib) / MORE_COUNT;
    ret_values->of[BENCH_IDLE_CONNECTION_THREADS] = (double)(thread_count() - threads) / MORE_COUNT;
    for (int i = 0; i < FIRST_COUNT + MORE_COUNT; i++)
        mcpump_transport_free(transports[i]);
}
