/* SPDX-License-Identifier: Apache-2.0 */
#include "interrupt.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "report.h"

/* All are written before the handlers are installed, or from the handlers, which touch nothing
 * else. Sequentially consistent: signals are rare. */
static mcpump_server *_Atomic watched;
static atomic_int first_signal;
static atomic_bool closing;
static sem_t hurry;

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
#define NUMBERS (sizeof(numbers) / sizeof(*numbers))

/* Async-signal-safe calls only. */
static void on_signal(int number)
{
    int saved = errno, none = 0;
    bool is_first = atomic_compare_exchange_strong(&first_signal, &none, number);
    if (atomic_load(&closing)) {
        sem_post(&hurry);
    } else {
        mcpump_server_interrupt(atomic_load(&watched));
        if (!is_first)
            sem_post(&hurry);
    }
    errno = saved;
}

void cli_interrupt_watch(mcpump_server *server)
{
    sem_init(&hurry, 0, 0);
    atomic_store(&watched, server);
    for (size_t i = 0; i < NUMBERS; i++) {
        struct sigaction old, action = {.sa_handler = on_signal};
        sigfillset(&action.sa_mask);
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    }
}

void cli_interrupt_block(sigset_t *ret_old)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < NUMBERS; i++)
        sigaddset(&set, numbers[i]);
    pthread_sigmask(SIG_BLOCK, &set, ret_old);
}

int cli_interrupt_signal(void)
{
    return atomic_load(&first_signal);
}

int cli_interrupt_exit(void)
{
    int number = cli_interrupt_signal();
    return CLI_EXIT_SIGNAL + (number != 0 ? number : SIGINT);
}

/* A close from a second thread is what makes the first one skip its waiting. */
static void *close_in_a_hurry(void *server)
{
    while (sem_wait(&hurry) != 0) {
    }
    mcpump_server_close(server);
    return NULL;
}

void cli_interrupt_close(mcpump_server *server)
{
    atomic_store(&closing, true);
    pthread_t hurrying;
    bool is_watched = pthread_create(&hurrying, NULL, close_in_a_hurry, server) == 0;
    mcpump_server_close(server);
    if (is_watched) {
        sem_post(&hurry);
        pthread_join(hurrying, NULL);
    }
}
