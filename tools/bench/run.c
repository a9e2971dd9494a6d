/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "place.h"
#include "rounds.h"

/* A measurement that takes so much longer than its slices hangs. */
#define SPARE_SECONDS 60

void bench_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("mcpump-bench: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

void bench_die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("mcpump-bench: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    _exit(1);
}

void *bench_need(void *memory)
{
    if (memory == NULL)
        bench_die("out of memory");
    return memory;
}

static unsigned time_limit(const struct bench_plan *plan)
{
    int64_t ns = 2 * (plan->rounds + 1) * plan->slice_ns + plan->idle_ns;
    return SPARE_SECONDS + (unsigned)(2 * ns / 1000000000);
}

static _Noreturn void measure(const struct bench_measurement *measurement,
                              const struct bench_plan *plan, struct bench_values *ret_values)
{
    struct bench_values values;
    bench_values_clear(&values);
    alarm(time_limit(plan));
    bench_place_client(plan->place);
    measurement->measure(plan, &values);
    const struct bench_view *view = measurement->view;
    if (view->raw != BENCH_NONE)
        values.of[BENCH_RATIO] = values.of[view->main] / values.of[view->raw];
    *ret_values = values;
    _exit(0);
}

static bool has_measured(int status)
{
    if (WIFSIGNALED(status))
        bench_say("ended by the signal: %s", strsignal(WTERMSIG(status)));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool bench_run(const struct bench_measurement *measurement, enum bench_place place,
               const struct bench_plan *plan, struct bench_values *ret_values)
{
    struct bench_plan whole = *plan;
    whole.place = place;
    whole.argument = measurement->argument;
    bench_values_clear(ret_values);
    if (!bench_place_is_possible(place)) {
        bench_say("%s, %s: there are too few cores", measurement->name, bench_place_name(place));
        return true;
    }
    struct bench_values *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        bench_die("out of memory");
    pid_t pid = fork();
    if (pid < 0)
        bench_die("cannot fork: %s", strerror(errno));
    if (pid == 0)
        measure(measurement, &whole, shared);

    int status = 0;
    waitpid(pid, &status, 0);
    bool measured = has_measured(status);
    if (measured)
        *ret_values = *shared;
    else
        bench_say("%s, %s: not measured", measurement->name, bench_place_name(place));
    munmap(shared, sizeof(*shared));
    return measured;
}
