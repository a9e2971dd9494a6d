/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/trace_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/home.h"
#include "base/sync.h"
#include "mcpump/trace.h"
#include "mcpump/version.h"
#include "process/pipe.h"
#include "transport/failure.h"

/* There are two buffers of this size, with a NUL 512 KiB: one is filled while the other is written.
 */
#define BUFFER_BYTES (512 * 1024 - 1)
/* So much is enough to be written. */
#define WRITE_BYTES (64 * 1024)

#define NS_PER_US 1000

enum state { STATE_OFF, STATE_CHANGING, STATE_ON };

_Atomic uint32_t mp_trace_number;

static struct {
    struct mp_once once; /* lock and condition, in this process */
    struct mp_mutex lock;
    struct mp_cond written;
    /* -- protected by lock; but who has made the state CHANGING has the lines to itself */
    enum state state;
    bool is_writing;
    uint32_t traces; /* how many there were */
    struct mp_buffer lines;
    uint64_t dropped;
    /* -- who writes, or changes the state */
    struct mp_buffer batch;
    struct mp_buffer rest; /* of the line that was begun last; first, of the start of the file */
    int fd;
    off_t end, whole_end; /* of what was written, and of its last whole line */
} sink = {.fd = -1};

/* Also in a forked child, where the lock may be held for ever, and the buffers be half changed. */
static void make(void *arg)
{
    (void)arg;
    const struct mp_buffer none = MP_BUFFER_INIT;
    atomic_store(&mp_trace_number, 0);
    mp_fd_close(&sink.fd);
    mp_mutex_init(&sink.lock);
    mp_cond_init(&sink.written);
    sink.state = STATE_OFF;
    sink.is_writing = false;
    sink.lines = sink.batch = sink.rest = none;
}

bool mp_trace_is_here(void)
{
    return mp_once_was_here(&sink.once);
}

/* -- writing: with the role, without the lock */

static size_t put(char *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        struct iovec part = {bytes + done, size - done};
        ssize_t n = mp_pipe_writev_masked(sink.fd, &part, 1);
        if (n <= 0 && !(n < 0 && errno == EINTR))
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    sink.end += (off_t)done;
    return done;
}

static uint64_t count_lines(const char *bytes, size_t size)
{
    uint64_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += bytes[i] == '\n';
    return count;
}

static bool put_rest(void)
{
    size_t done = put(sink.rest.bytes, sink.rest.size);
    sink.rest.size -= done;
    memmove(sink.rest.bytes, sink.rest.bytes + done, sink.rest.size);
    if (sink.rest.size > 0)
        return false;
    sink.whole_end = sink.end;
    return true;
}

/* So much of the batch was written: keeps the rest of its last line. Returns how many lines follow
 * that one, and are lost. */
static uint64_t keep_rest(size_t done)
{
    char *bytes = sink.batch.bytes;
    const char *last = memrchr(bytes, '\n', done);
    size_t start = last != NULL ? (size_t)(last - bytes) + 1 : 0, next = done;
    sink.whole_end = sink.end - (off_t)(done - start);
    if (start < done)
        next = (size_t)((char *)memchr(bytes + done, '\n', sink.batch.size - done) - bytes) + 1;
    mp_buffer_add(&sink.rest, bytes + done, next - done); /* there is room: see start */
    return count_lines(bytes + next, sink.batch.size - next);
}

/* Returns how many lines were lost. */
static uint64_t write_batch(void)
{
    struct mp_buffer *batch = &sink.batch;
    uint64_t lost = !put_rest() ? count_lines(batch->bytes, batch->size)
                                : keep_rest(put(batch->bytes, batch->size));
    batch->size = 0;
    return lost;
}

static void take_lines_locked(void) MP_REQUIRES(&sink.lock)
{
    struct mp_buffer lines = sink.lines;
    sink.lines = sink.batch;
    sink.batch = lines;
}

static bool take_role_locked(void) MP_REQUIRES(&sink.lock)
{
    if (sink.state != STATE_ON || sink.is_writing || sink.lines.size < WRITE_BYTES)
        return false;
    sink.is_writing = true;
    take_lines_locked();
    return true;
}

static void write_with_role(void)
{
    int state = mp_cancel_disable();
    uint64_t lost = write_batch();
    mp_mutex_lock(&sink.lock);
    sink.dropped += lost;
    sink.is_writing = false;
    mp_mutex_unlock(&sink.lock);
    mp_cond_broadcast(&sink.written);
    mp_cancel_restore(state);
}

bool mp_trace_add(const struct mp_buffer *line, bool may_write)
{
    if (!mp_trace_is_here())
        return false;
    mp_mutex_lock(&sink.lock);
    bool is_on = sink.state == STATE_ON;
    bool fits = is_on && !line->failed && line->size <= MP_TRACE_LINE_BYTES &&
                line->size <= BUFFER_BYTES - sink.lines.size;
    if (fits)
        mp_buffer_add(&sink.lines, line->bytes, line->size);
    else if (is_on)
        sink.dropped++;
    bool is_writer = may_write && take_role_locked();
    mp_mutex_unlock(&sink.lock);
    if (is_writer)
        write_with_role();
    return fits;
}

/* -- starting and stopping */

static bool change_state(enum state from)
{
    mp_mutex_lock(&sink.lock);
    bool is_ours = sink.state == from;
    if (is_ours)
        sink.state = STATE_CHANGING;
    mp_mutex_unlock(&sink.lock);
    return is_ours;
}

static void set_state(enum state state)
{
    mp_mutex_lock(&sink.lock);
    sink.state = state;
    if (state == STATE_ON)
        atomic_store(&mp_trace_number, ++sink.traces);
    mp_mutex_unlock(&sink.lock);
}

static void free_buffers(void)
{
    mp_buffer_done(&sink.lines);
    mp_buffer_done(&sink.batch);
    mp_buffer_done(&sink.rest);
}

/* All the memory it will need, and the start of the file, which is written with the first lines.
 * False: no memory. */
static bool make_buffers(void)
{
    bool has_room = mp_buffer_reserve(&sink.lines, BUFFER_BYTES) &&
                    mp_buffer_reserve(&sink.batch, BUFFER_BYTES) &&
                    mp_buffer_reserve(&sink.rest, MP_TRACE_LINE_BYTES);
    if (has_room)
        mp_buffer_addf(&sink.rest,
                       "[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"tid\":1,"
                       "\"args\":{\"name\":\"host\",\"pid\":%d,\"mcpump\":\"%s\"}},\n",
                       (int)getpid(), mcpump_version());
    else
        free_buffers();
    return has_room;
}

/* 0 or an errno. */
static int open_file(const char *path)
{
    /* Not blocking: a FIFO must not hold a call. */
    const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    int state = mp_cancel_disable();
    sink.fd = mp_fd_above_stdio(open(path, flags, 0600));
    int err = sink.fd < 0 ? errno : 0;
    mp_cancel_restore(state);
    sink.end = sink.whole_end = 0;
    sink.dropped = 0;
    if (err == 0 && !make_buffers()) {
        mp_fd_close(&sink.fd);
        err = ENOMEM;
    }
    return err;
}

static mcpump_err fail(mcpump_err err, int sys_errno, const char *words,
                       mcpump_failure **ret_failure)
{
    struct mp_failure_facts facts = {
        .err = err, .phase = MCPUMP_PHASE_OPTIONS, .sys_errno = sys_errno, .detail = words};
    return mp_fail(ret_failure, &facts, NULL);
}

mcpump_err mcpump_trace_start(const char *path, mcpump_failure **ret_failure)
{
    if (ret_failure != NULL)
        *ret_failure = NULL;
    if (path == NULL || *path == '\0')
        return fail(MCPUMP_ERR_INVALID_ARGUMENT, 0, "a trace needs a file", ret_failure);
    mp_once_here(&sink.once, make, NULL);
    if (!change_state(STATE_OFF))
        return fail(MCPUMP_ERR_ALREADY_OPEN, 0, "a trace is being written already", ret_failure);
    int err = open_file(path);
    set_state(err == 0 ? STATE_ON : STATE_OFF);
    if (err == 0)
        return MCPUMP_OK;
    return fail(err == ENOMEM ? MCPUMP_ERR_NO_MEMORY : MCPUMP_ERR_SYSTEM, err, path, ret_failure);
}

/* The last record has no comma. A line that cannot be finished is taken back, where that can be
 * done; without its start the file gets one here. */
static void put_end(void)
{
    if (sink.rest.size > 0 && ftruncate(sink.fd, sink.whole_end) == 0 &&
        lseek(sink.fd, sink.whole_end, SEEK_SET) > 0)
        sink.dropped++;
    int64_t now = mp_now_ns();
    sink.batch.size = 0;
    mp_buffer_addf(&sink.batch,
                   "%s{\"name\":\"end of trace\",\"ph\":\"i\",\"s\":\"g\",\"pid\":1,\"tid\":1,"
                   "\"ts\":%" PRId64 ".%03d,\"args\":{\"dropped\":%" PRIu64 "}}\n]\n",
                   sink.whole_end > 0 ? "" : "[\n", now / NS_PER_US, (int)(now % NS_PER_US),
                   sink.dropped);
    put(sink.batch.bytes, sink.batch.size);
}

void mcpump_trace_stop(void)
{
    if (!mp_trace_is_here() || !change_state(STATE_ON))
        return;
    atomic_store(&mp_trace_number, 0);
    int state = mp_cancel_disable();
    mp_mutex_lock(&sink.lock);
    /* Woken by who writes. */
    while (sink.is_writing)
        mp_cond_wait(&sink.written, &sink.lock, MP_NEVER);
    take_lines_locked();
    mp_mutex_unlock(&sink.lock);
    sink.dropped += write_batch(); /* nobody else counts, while the state changes */
    put_end();
    mp_fd_close(&sink.fd);
    free_buffers();
    mp_cancel_restore(state);
    set_state(STATE_OFF);
}
