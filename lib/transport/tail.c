/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/tail.h"

#include <stdlib.h>
#include <string.h>

void mp_tail_init(struct mp_tail *tail)
{
    mp_mutex_init(&tail->lock);
    tail->text = NULL;
    tail->size = tail->lines = 0;
}

void mp_tail_done(struct mp_tail *tail)
{
    free(tail->text);
    mp_mutex_done(&tail->lock);
}

void mp_tail_clear(struct mp_tail *tail)
{
    mp_mutex_lock(&tail->lock);
    tail->size = tail->lines = 0;
    mp_mutex_unlock(&tail->lock);
}

static void drop_oldest_locked(struct mp_tail *tail) MP_REQUIRES(&tail->lock)
{
    char *line_end = memchr(tail->text, '\n', tail->size);
    size_t dropped = (size_t)(line_end - tail->text) + 1;
    tail->size -= dropped;
    tail->lines--;
    memmove(tail->text, tail->text + dropped, tail->size);
}

static void add_locked(struct mp_tail *tail, const char *line, size_t size) MP_REQUIRES(&tail->lock)
{
    if (tail->text == NULL && (tail->text = malloc(MP_TAIL_BYTES)) == NULL)
        return;
    while (tail->lines > 0 &&
           (tail->lines == MP_TAIL_LINES || tail->size + size + 1 > MP_TAIL_BYTES))
        drop_oldest_locked(tail);
    memcpy(tail->text + tail->size, line, size);
    tail->text[tail->size + size] = '\n';
    tail->size += size + 1;
    tail->lines++;
}

void mp_tail_add(struct mp_tail *tail, const char *line, size_t size)
{
    if (size >= MP_TAIL_BYTES)
        size = MP_TAIL_BYTES - 1;
    mp_mutex_lock(&tail->lock);
    add_locked(tail, line, size);
    mp_mutex_unlock(&tail->lock);
}

char *mp_tail_copy(struct mp_tail *tail)
{
    mp_mutex_lock(&tail->lock);
    char *copy = tail->size > 0 ? strndup(tail->text, tail->size) : NULL;
    mp_mutex_unlock(&tail->lock);
    return copy;
}
