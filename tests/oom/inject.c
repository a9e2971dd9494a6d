/* SPDX-License-Identifier: Apache-2.0 */
/* The wrappers. Any thread; one lock over the counters and the list of what is live. */
#include "inject.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MOST_LIVE 16384

extern char __executable_start[]; /* by the linker */

struct live {
    const void *memory;
    const void *caller;
    size_t size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* -- protected by lock */
static struct live live[MOST_LIVE]; /* oldest first */
static long live_count;
static bool is_armed, is_lasting, has_failed;
static long asked, fail_at;

#define CALLER __builtin_return_address(0)

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void __real_free(void *memory);
void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__real_mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *at, size_t size);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *arg), void *arg);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t size);
void __wrap_free(void *memory);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset);
int __wrap_munmap(void *at, size_t size);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *arg), void *arg);

/* -- what fails */

void inject_arm(long nth, bool lasting)
{
    pthread_mutex_lock(&lock);
    is_armed = true;
    is_lasting = lasting;
    has_failed = false;
    asked = 0;
    fail_at = nth;
    pthread_mutex_unlock(&lock);
}

long inject_disarm(void)
{
    pthread_mutex_lock(&lock);
    is_armed = false;
    long count = asked;
    pthread_mutex_unlock(&lock);
    return count;
}

bool inject_has_failed(void)
{
    pthread_mutex_lock(&lock);
    bool failed = has_failed;
    pthread_mutex_unlock(&lock);
    return failed;
}

static bool must_fail(void)
{
    pthread_mutex_lock(&lock);
    asked += is_armed;
    bool fails = is_armed && (asked == fail_at || (is_lasting && asked > fail_at));
    has_failed = has_failed || fails;
    pthread_mutex_unlock(&lock);
    if (fails)
        errno = ENOMEM;
    return fails;
}

/* -- what is live */

static void *note(void *memory, size_t size, const void *caller)
{
    if (memory == NULL || memory == MAP_FAILED)
        return memory;
    pthread_mutex_lock(&lock);
    if (live_count == MOST_LIVE)
        abort();
    live[live_count++] = (struct live){memory, caller, size};
    pthread_mutex_unlock(&lock);
    return memory;
}

/* What the C library has allocated is not known here. */
static void forget(const void *memory)
{
    pthread_mutex_lock(&lock);
    long at = live_count - 1;
    while (at >= 0 && live[at].memory != memory)
        at--;
    if (at >= 0) {
        live_count--;
        memmove(&live[at], &live[at + 1], (size_t)(live_count - at) * sizeof(*live));
    }
    pthread_mutex_unlock(&lock);
}

long inject_live(void)
{
    pthread_mutex_lock(&lock);
    long count = live_count;
    pthread_mutex_unlock(&lock);
    return count;
}

void inject_show_live(long known)
{
    pthread_mutex_lock(&lock);
    for (long i = known; i < live_count; i++)
        fprintf(stderr, "  live: %zu bytes, asked for at 0x%zx\n", live[i].size,
                (size_t)((const char *)live[i].caller - __executable_start));
    pthread_mutex_unlock(&lock);
}

/* -- the wrappers */

void *__wrap_malloc(size_t size)
{
    return must_fail() ? NULL : note(__real_malloc(size), size, CALLER);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return must_fail() ? NULL : note(__real_calloc(count, size), count * size, CALLER);
}

/* Forgotten first: once it is freed, another thread may get the address. */
void *__wrap_realloc(void *memory, size_t size)
{
    if (must_fail())
        return NULL;
    forget(memory);
    return note(__real_realloc(memory, size), size, CALLER);
}

char *__wrap_strndup(const char *text, size_t size)
{
    if (must_fail())
        return NULL;
    size = strnlen(text, size);
    char *copy = note(__real_malloc(size + 1), size + 1, CALLER);
    memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

char *__wrap_strdup(const char *text)
{
    if (must_fail())
        return NULL;
    size_t size = strlen(text) + 1;
    return memcpy(note(__real_malloc(size), size, CALLER), text, size);
}

void __wrap_free(void *memory)
{
    forget(memory);
    __real_free(memory);
}

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (must_fail())
        return MAP_FAILED;
    return note(__real_mmap(at, size, protection, flags, fd, offset), size, CALLER);
}

void *__wrap_mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (must_fail())
        return MAP_FAILED;
    return note(__real_mmap64(at, size, protection, flags, fd, offset), size, CALLER);
}

int __wrap_munmap(void *at, size_t size)
{
    forget(at);
    return __real_munmap(at, size);
}

/* Its stack is memory, too. */
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *arg), void *arg)
{
    return must_fail() ? EAGAIN : __real_pthread_create(thread, attributes, run, arg);
}
