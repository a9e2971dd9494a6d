/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets reach the server and nothing else: no text that the library makes, and of its memory only
 * the vaults. The secret of these tests is never a constant, and the test's own copies are wiped
 * before memory is searched; what it looks for it keeps masked.
 */
#include "raw.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECRET_BYTES 32
#define MASK         0x5A
#define BLOCK        ((size_t)1024 * 1024)

/* The needle: the secret, each byte changed. */
static char masked[SECRET_BYTES];

static void make_secret(char text[SECRET_BYTES + 1])
{
    for (int i = 0; i < SECRET_BYTES; i++) {
        text[i] = (char)('A' + (i * 7 + getpid()) % 26);
        masked[i] = (char)(text[i] ^ MASK);
    }
    text[SECRET_BYTES] = '\0';
}

static mcpump_secret *new_secret(void)
{
    char text[SECRET_BYTES + 1];
    make_secret(text);
    mcpump_secret *secret = mcpump_secret_new(text);
    explicit_bzero(text, sizeof(text));
    cr_assert_not_null(secret);
    return secret;
}

static bool is_secret(const char *bytes)
{
    for (int i = 0; i < SECRET_BYTES; i++) {
        if ((bytes[i] ^ MASK) != masked[i])
            return false;
    }
    return true;
}

static bool holds_secret(const char *text)
{
    size_t size = strlen(text);
    for (size_t i = 0; i + SECRET_BYTES <= size; i++) {
        if (is_secret(text + i))
            return true;
    }
    return false;
}

/* -- the memory of this process */

struct search {
    int mem_fd;
    char *block;   /* a mapping of its own: what is read into it is not searched */
    int in_vaults; /* in mappings that are left out of core dumps */
    int elsewhere;
    char where[256]; /* the last of those */
};

static int count_in(struct search *search, unsigned long start, unsigned long end)
{
    int count = 0;
    /* Overlapping by what a secret that lies across has in the block before. */
    for (unsigned long at = start; at < end; at += BLOCK - SECRET_BYTES) {
        size_t size = end - at < BLOCK ? end - at : BLOCK;
        ssize_t got = pread(search->mem_fd, search->block, size, (off_t)at);
        size_t last = at + size < end ? BLOCK - SECRET_BYTES : size;
        for (ssize_t i = 0; i + SECRET_BYTES <= got && (size_t)i < last; i++)
            count += search->block[i] == (char)(masked[0] ^ MASK) && is_secret(search->block + i);
    }
    memset(search->block, 0, BLOCK);
    return count;
}

/* Of a mapping that is writable, by its lines in smaps. */
static void search_mapping(struct search *search, const char *header, const char *flags)
{
    unsigned long start = 0, end = 0;
    char access[8] = "";
    cr_assert_eq(sscanf(header, "%lx-%lx %7s", &start, &end, access), 3, "%s", header);
    bool is_ours = (unsigned long)search->block >= start && (unsigned long)search->block < end;
    if (access[1] != 'w' || is_ours)
        return;
    int count = count_in(search, start, end);
    bool is_vault = strstr(flags, " dd") != NULL;
    *(is_vault ? &search->in_vaults : &search->elsewhere) += count;
    if (count > 0 && !is_vault)
        snprintf(search->where, sizeof(search->where), "%s", header);
}

/* Not with a sanitizer: its shadow is too large to be searched, and it keeps freed memory. */
static struct search search_memory(void)
{
    struct search search = {.mem_fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)};
    char line[512], header[512] = "";
    cr_assert_geq(search.mem_fd, 0);
    search.block = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert(search.block != MAP_FAILED);
    FILE *smaps = fopen("/proc/self/smaps", "re");
    cr_assert_not_null(smaps);
    while (fgets(line, sizeof(line), smaps) != NULL) {
        unsigned long start, end;
        if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
            snprintf(header, sizeof(header), "%s", line);
        else if (strncmp(line, "VmFlags:", 8) == 0)
            search_mapping(&search, header, line);
    }
    fclose(smaps);
    munmap(search.block, BLOCK);
    close(search.mem_fd);
    return search;
}

static void expect_only_in_vaults(const char *when, int vaults)
{
    if (TEST_IS_SANITIZED)
        return;
    struct search search = search_memory();
    cr_expect_eq(search.in_vaults, vaults, "%s: %d in vaults", when, search.in_vaults);
    cr_expect_eq(search.elsewhere, 0, "%s: %d elsewhere, in %s", when, search.elsewhere,
                 search.where);
}

/* Or the next test would show nothing. */
TIDY_TEST(a_copy_is_found)
{
    if (TEST_IS_SANITIZED)
        cr_skip("see search_memory");
    char text[SECRET_BYTES + 1];
    make_secret(text);
    struct search search = search_memory();
    cr_expect_eq(search.elsewhere, 1, "the one on the stack");
    cr_expect_eq(search.in_vaults, 0);
    explicit_bzero(text, sizeof(text));
}

TIDY_TEST(in_memory_it_is_in_vaults_only)
{
    mcpump_secret *secret = new_secret();
    const mcpump_secret_variable variables[] = {{"TOKEN", secret}, {NULL, NULL}};
    expect_only_in_vaults("made", 1);
    mcpump_transport_options options = raw_options(NO_STRINGS);
    options.secret_env = variables;
    mcpump_transport *transport = NULL;
    cr_assert_eq(mcpump_transport_new(&options, &transport, NULL), MCPUMP_OK);
    expect_only_in_vaults("with a transport", 2);
    for (int round = 0; round < 3; round++) {
        cr_assert_eq(mcpump_transport_open(transport, NULL), MCPUMP_OK);
        expect_only_in_vaults("open", 2);
        raw_expect(transport, "call", "test/echo", "{}", "{}");
        mcpump_transport_close(transport);
        expect_only_in_vaults("closed", 2);
    }
    mcpump_secret_free(secret);
    expect_only_in_vaults("ours is freed", 1);
    mcpump_transport_free(transport);
    expect_only_in_vaults("all is freed", 0);
}

/* -- where it has to be, and where it must not be */

static mcpump_transport_options options_with(const mcpump_secret_variable *variables,
                                             struct raw_lines *lines)
{
    mcpump_transport_options options = raw_options(NULL);
    options.secret_env = variables;
    options.log_fn = raw_lines_log;
    options.log_user = lines;
    options.log_level = MCPUMP_LOG_DEBUG;
    options.stderr_sink = MCPUMP_STDERR_CALLBACK;
    options.stderr_fn = raw_lines_stderr;
    options.stderr_user = lines;
    return options;
}

/* The environment of the server, as it says itself. To be put. */
static json_object *server_environment(mcpump_transport *transport)
{
    struct raw_call call = {.transport = transport, .method = "test/env"};
    json_object *result = NULL;
    raw_call_make(&call);
    cr_assert_eq(call.err, MCPUMP_OK, "%s", raw_call_words(&call));
    json_object *reply = json_tokener_parse(mcpump_reply_text(call.reply, NULL));
    cr_assert(json_object_object_get_ex(reply, "result", &result));
    json_object_get(result);
    json_object_put(reply);
    raw_call_done(&call);
    return result;
}

static const char *variable_of(json_object *environment, const char *name)
{
    json_object *value = NULL;
    return json_object_object_get_ex(environment, name, &value) ? json_object_get_string(value)
                                                                : NULL;
}

TIDY_TEST(it_reaches_the_server_and_wins)
{
    mcpump_secret *secret = new_secret(), *empty = mcpump_secret_new("");
    const mcpump_secret_variable variables[] = {
        {"TOKEN", secret}, {"HOME", secret}, {"EMPTY", empty}, {NULL, NULL}};
    mcpump_transport_options options = raw_options(NO_STRINGS);
    options.secret_env = variables;
    options.env = STRINGS("TOKEN=of env", "EMPTY=of env", "PLAIN=plain");
    options.unset_env = STRINGS("HOME");
    mcpump_transport *transport = raw_open(&options);
    mcpump_secret_free(secret); /* the transport has copies */
    mcpump_secret_free(empty);
    for (int round = 0; round < 2; round++) {
        json_object *environment = server_environment(transport);
        const char *token = variable_of(environment, "TOKEN");
        const char *home = variable_of(environment, "HOME");
        cr_expect(token != NULL && strlen(token) == SECRET_BYTES && is_secret(token));
        cr_expect(home != NULL && strlen(home) == SECRET_BYTES && is_secret(home));
        cr_expect_str_eq(variable_of(environment, "EMPTY"), "");
        cr_expect_str_eq(variable_of(environment, "PLAIN"), "plain");
        json_object_put(environment);
        mcpump_transport_close(transport);
        cr_assert_eq(mcpump_transport_open(transport, NULL), MCPUMP_OK);
    }
    mcpump_transport_free(transport);
}

static void expect_no_secret(const mcpump_failure *failure, const char *name)
{
    cr_assert_not_null(failure, "%s", name);
    cr_expect_not(holds_secret(mcpump_failure_message(failure)), "%s", name);
    cr_expect_not(holds_secret(mcpump_failure_stderr(failure)), "%s", name);
}

static const struct failure_row {
    const char *name;
    const char *command; /* NULL: the fake server */
    const char *method, *params;
    mcpump_err wanted;
} failing[] = {
    {"not found", "no-such-program", NULL, NULL, MCPUMP_ERR_SPAWN},
    {"no program", "/dev/null", NULL, NULL, MCPUMP_ERR_SPAWN},
    {"timeout", NULL, "test/drop", "{}", MCPUMP_ERR_TIMEOUT},
    {"exit", NULL, "test/exit", "{\"status\":3}", MCPUMP_ERR_CLOSED},
    {"junk", NULL, "test/junk", "{\"lines\":100}", MCPUMP_ERR_CLOSED},
    {"words on stderr, and a signal", NULL, "test/kill", "{}", MCPUMP_ERR_CLOSED},
};

static void expect_failure_without(const struct failure_row *row,
                                   const mcpump_secret_variable *variables)
{
    struct raw_lines lines;
    raw_lines_init(&lines);
    mcpump_transport_options options = options_with(variables, &lines);
    mcpump_transport *transport = NULL;
    mcpump_failure *failure = NULL;
    if (row->command != NULL)
        options.command = row->command;
    cr_assert_eq(mcpump_transport_new(&options, &transport, NULL), MCPUMP_OK);
    mcpump_err err = mcpump_transport_open(transport, &failure);
    if (row->command == NULL) {
        cr_assert_eq(err, MCPUMP_OK);
        raw_expect(transport, row->name, "test/stderr", "{\"text\":\"words\"}", "{}");
        struct raw_call call = {
            .transport = transport, .method = row->method, .params = row->params};
        call.options.timeout_ms = row->wanted == MCPUMP_ERR_TIMEOUT ? 10 : TEST_PATIENCE_MS;
        raw_call_make(&call);
        err = call.err;
        failure = call.failure;
        mcpump_reply_free(call.reply);
    }
    cr_expect_eq(err, row->wanted, "%s: %s", row->name, mcpump_err_name(err));
    expect_no_secret(failure, row->name);
    mcpump_failure_free(failure);
    mcpump_transport_free(transport);
    cr_expect_not(holds_secret(lines.text), "%s: in the log or on stderr", row->name);
    raw_lines_done(&lines);
}

TIDY_TEST(no_failure_no_log_and_no_stderr_shows_it)
{
    mcpump_secret *secret = new_secret();
    const mcpump_secret_variable variables[] = {{"TOKEN", secret}, {NULL, NULL}};
    for (size_t i = 0; i < LENGTH(failing); i++)
        expect_failure_without(&failing[i], variables);
    cr_expect_str_eq(mcpump_secret_shown(secret), "***");
    mcpump_secret_free(secret);
}

/* PATH decides where the command is looked for, and is named when it is not found: as a secret too
 * it must not be shown. */
TIDY_TEST(a_secret_path_is_searched_and_not_shown)
{
    mcpump_secret *secret = new_secret();
    const mcpump_secret_variable variables[] = {{"PATH", secret}, {NULL, NULL}};
    const struct failure_row row = {"PATH", "no-such-program", NULL, NULL, MCPUMP_ERR_SPAWN};
    expect_failure_without(&row, variables);
    mcpump_secret_free(secret);
}

/* -- a forked child */

TIDY_TEST(a_forked_child_has_none_of_it)
{
    mcpump_secret *secret = new_secret();
    const mcpump_secret_variable variables[] = {{"TOKEN", secret}, {NULL, NULL}};
    mcpump_transport_options options = raw_options(NO_STRINGS);
    options.secret_env = variables;
    mcpump_transport *transport = raw_open(&options);
    int report[2], in_child = -1;
    cr_assert_eq(pipe2(report, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct search search = {.in_vaults = 0};
        if (!TEST_IS_SANITIZED)
            search = search_memory();
        in_child = search.in_vaults + search.elsewhere;
        mcpump_transport_free(transport);
        mcpump_secret_free(secret);
        bool wrote = write(report[1], &in_child, sizeof(in_child)) == sizeof(in_child);
        _exit(wrote ? 0 : 1);
    }
    cr_assert_eq(read(report[0], &in_child, sizeof(in_child)), sizeof(in_child));
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
    cr_expect_eq(in_child, 0, "%d copies", in_child);
    close(report[0]);
    close(report[1]);
    raw_expect(transport, "the parent has it still", "test/echo", "{}", "{}");
    json_object *environment = server_environment(transport);
    cr_expect(is_secret(variable_of(environment, "TOKEN")));
    json_object_put(environment);
    mcpump_transport_free(transport);
    mcpump_secret_free(secret);
}

/* -- what else is in the environment */

static const struct environment_row {
    const char *name;
    const char *inherit[3], *unset[3], *own[3];
    const char *home, *extra; /* NULL: not there */
} environments[] = {
    {"by default", {NULL}, {NULL}, {NULL}, "/of host", NULL},
    {"inherited", {"EXTRA", NULL}, {NULL}, {NULL}, "/of host", "of host"},
    {"unset", {NULL}, {"HOME", NULL}, {NULL}, NULL, NULL},
    {"unset wins over inherited", {"EXTRA", NULL}, {"EXTRA", NULL}, {NULL}, "/of host", NULL},
    {"own wins over unset", {NULL}, {"HOME", NULL}, {"HOME=own", NULL}, "own", NULL},
    {"own wins over inherited", {"EXTRA", NULL}, {NULL}, {"EXTRA=own", NULL}, "/of host", "own"},
    {"what the host has not", {"NOWHERE", NULL}, {"NEITHER", NULL}, {NULL}, "/of host", NULL},
};

static void expect_variable(json_object *environment, const char *name, const char *wanted,
                            const char *row)
{
    const char *found = variable_of(environment, name);
    bool is_right = wanted == NULL ? found == NULL : found != NULL && strcmp(found, wanted) == 0;
    cr_expect(is_right, "%s: %s is %s", row, name, found != NULL ? found : "not there");
}

TIDY_TEST(inherited_unset_own)
{
    setenv("HOME", "/of host", 1);
    setenv("EXTRA", "of host", 1);
    setenv("OTHER", "of host", 1);
    for (size_t i = 0; i < LENGTH(environments); i++) {
        const struct environment_row *row = &environments[i];
        mcpump_transport_options options = raw_options(NO_STRINGS);
        options.inherit_env = row->inherit;
        options.unset_env = row->unset;
        options.env = row->own;
        mcpump_transport *transport = raw_open(&options);
        json_object *environment = server_environment(transport);
        expect_variable(environment, "HOME", row->home, row->name);
        expect_variable(environment, "EXTRA", row->extra, row->name);
        expect_variable(environment, "OTHER", NULL, row->name);
        json_object_put(environment);
        mcpump_transport_free(transport);
    }
}
