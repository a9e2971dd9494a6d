/* SPDX-License-Identifier: Apache-2.0 */
/* The demo server's options, and its loop: read, answer every whole line, write once. */
#include "demo.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mcpump/version.h"

#define READ_BYTES     (256 * 1024)
#define MAX_LINE_BYTES (128 * 1024 * 1024)
#define FLUSH_AT_BYTES (1024 * 1024) /* of answers, within one read */

static const char usage[] =
    "Usage: mcpump-demo-server [--era legacy|modern|both] [--page-size N]\n"
    "A small MCP server on stdin and stdout, for trying out and measuring clients.\n"
    "  --era ERA       revisions it speaks: up to 2025-11-25, 2026-07-28, or both (default)\n"
    "  --page-size N   tools on one page of tools/list (default: all)\n"
    "Tools: echo (message, size), add (a, b), slow (ms, steps), fail.\n";

struct input {
    char *bytes;
    size_t size;    /* read and not yet answered */
    size_t scanned; /* of these, without a line's end */
    size_t capacity;
};

static bool parse_era(const char *name, unsigned *ret_eras)
{
    static const struct {
        const char *name;
        unsigned eras;
    } eras[] = {
        {"legacy", DEMO_LEGACY}, {"modern", DEMO_MODERN}, {"both", DEMO_LEGACY | DEMO_MODERN}};
    for (size_t i = 0; i < sizeof(eras) / sizeof(eras[0]); i++) {
        if (strcmp(name, eras[i].name) == 0) {
            *ret_eras = eras[i].eras;
            return true;
        }
    }
    return false;
}

static bool parse_options(int argc, char **argv, struct demo_server *server)
{
    static const struct option options[] = {{"era", required_argument, NULL, 'e'},
                                            {"page-size", required_argument, NULL, 'p'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        bool good = false;
        if (option == 'h') {
            fputs(usage, stdout);
            exit(0);
        } else if (option == 'e') {
            good = parse_era(optarg, &server->eras);
        } else if (option == 'p') {
            server->page_size = (size_t)strtoul(optarg, NULL, 10);
            good = server->page_size > 0;
        }
        if (!good)
            return false;
    }
    return optind == argc;
}

/* Room for one more read behind what is there. False: a line without end, or no memory. */
static bool make_room(struct input *input)
{
    if (input->capacity - input->size >= READ_BYTES)
        return true;
    if (input->size > MAX_LINE_BYTES)
        return false;
    size_t capacity = input->capacity ? input->capacity * 2 : 2 * READ_BYTES;
    char *bytes = realloc(input->bytes, capacity);
    if (bytes == NULL)
        return false;
    input->bytes = bytes;
    input->capacity = capacity;
    return true;
}

/* Answers every whole line; what is left moves to the front. False: nobody reads the answers. */
static bool answer_lines(struct demo_server *server, struct input *input)
{
    char *line = input->bytes, *end = input->bytes + input->size, *lf;
    char *from = line + input->scanned;
    while ((lf = memchr(from, '\n', (size_t)(end - from))) != NULL) {
        demo_handle_line(server, (struct json_span){line, (size_t)(lf - line)});
        line = from = lf + 1;
        if (server->out.size >= FLUSH_AT_BYTES && !out_flush(&server->out, STDOUT_FILENO))
            return false;
    }
    input->size = input->scanned = (size_t)(end - line);
    if (line != input->bytes)
        memmove(input->bytes, line, input->size);
    return true;
}

/* Until stdin ends or nobody reads stdout. Returns the program's exit status. */
static int serve(struct demo_server *server, struct input *input)
{
    for (;;) {
        int idle_ms = demo_slow_run(server);
        if (!out_flush(&server->out, STDOUT_FILENO))
            return 1;
        if (!make_room(input)) {
            fputs("mcpump-demo-server: the line is too long\n", stderr);
            return 1;
        }
        struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
        /* Without running calls the read itself may wait: one system call less a message. */
        if (idle_ms >= 0 && poll(&in, 1, idle_ms) <= 0)
            continue;
        ssize_t n = read(STDIN_FILENO, input->bytes + input->size, READ_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        input->size += (size_t)n;
        if (!answer_lines(server, input))
            return 1;
    }
}

int main(int argc, char **argv)
{
    struct demo_server server = {.eras = DEMO_LEGACY | DEMO_MODERN};
    struct input input = {NULL, 0, 0, 0};
    if (!parse_options(argc, argv, &server)) {
        fputs(usage, stderr);
        return 2;
    }
    int status = serve(&server, &input);
    if (input.size > 0 && status == 0)
        demo_handle_line(&server, (struct json_span){input.bytes, input.size});
    demo_slow_end(&server);
    out_flush(&server.out, STDOUT_FILENO);
    out_done(&server.out);
    free(input.bytes);
    return status;
}
