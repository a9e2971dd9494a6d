/* SPDX-License-Identifier: Apache-2.0 */
/* Files: where one is looked for, what relative paths count from, envFile. Each test has a folder
 * of its own, which is its current one. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/file.h"
#include "support.h"

static char folder[PATH_MAX];

static void enter_folder(void)
{
    char template[] = "/tmp/mcpump-config-XXXXXX";
    cr_assert_not_null(mkdtemp(template));
    cr_assert_eq(chdir(template), 0);
    cr_assert_not_null(getcwd(folder, sizeof(folder)));
    setenv("HOME", folder, 1);
    unsetenv("XDG_CONFIG_HOME");
}

static int delete (const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info, (void)type, (void)walk;
    return remove(path);
}

static void leave_folder(void)
{
    cr_assert_eq(chdir("/"), 0);
    nftw(folder, delete, 8, FTW_DEPTH | FTW_PHYS);
}

TestSuite(files, .init = enter_folder, .fini = leave_folder);

static void write_bytes(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file, "%s", path);
    cr_assert_eq(fwrite(bytes, 1, size, file), size);
    cr_assert_eq(fclose(file), 0);
}

static void write_file(const char *path, const char *text)
{
    write_bytes(path, text, strlen(text));
}

static mcpump_config *load(const char *path)
{
    mcpump_config *config = NULL;
    mcpump_failure *failure = NULL;
    mcpump_err err = mcpump_config_load(path, &config, &failure);
    cr_assert_eq(err, MCPUMP_OK, "%s", mcpump_failure_message(failure));
    cr_assert_null(failure);
    return config;
}

/* The words with the folder in place of DIR. */
static const char *with_folder(const char *words)
{
    static char text[PATH_MAX * 2];
    size_t size = 0;
    for (const char *at; (at = strstr(words, "DIR")) != NULL; words = at + 3)
        size += (size_t)snprintf(text + size, sizeof(text) - size, "%.*s%s", (int)(at - words),
                                 words, folder);
    snprintf(text + size, sizeof(text) - size, "%s", words);
    return text;
}

static void expect_failure(const char *path, mcpump_err err, int sys_errno, const char *words)
{
    mcpump_config *config = NULL;
    mcpump_failure *failure = NULL;
    cr_expect_eq(mcpump_config_load(path, &config, &failure), err);
    cr_expect_null(config);
    cr_expect_str_eq(mcpump_failure_message(failure), with_folder(words));
    cr_assert_not_null(failure);
    cr_expect_eq(mcpump_failure_errno(failure), sys_errno);
    mcpump_failure_free(failure);
}

/* -- places */

#define ONE_NAMED(name) "{\"mcpServers\": {\"" name "\": {\"command\": \"a\"}}}"

static void expect_found(const char *name, const char *path)
{
    mcpump_config *config = load(NULL);
    cr_expect_str_eq(mcpump_config_name(config, 0), name);
    cr_expect_str_eq(mcpump_config_path(config), path, "%s", mcpump_config_path(config));
    mcpump_config_free(config);
}

Test(files, places)
{
    char path[PATH_MAX + 64];
    expect_failure(NULL, MCPUMP_ERR_SYSTEM, ENOENT,
                   "no configuration was found; tried ./.mcp.json and "
                   "DIR/.config/mcpump/servers.json: No such file or directory");
    mkdir(".config", 0700);
    mkdir(".config/mcpump", 0700);
    write_file(".config/mcpump/servers.json", ONE_NAMED("home"));
    snprintf(path, sizeof(path), "%s/.config/mcpump/servers.json", folder);
    expect_found("home", path);

    mkdir("xdg", 0700);
    mkdir("xdg/mcpump", 0700);
    snprintf(path, sizeof(path), "%s/xdg", folder);
    setenv("XDG_CONFIG_HOME", path, 1);
    expect_failure(NULL, MCPUMP_ERR_SYSTEM, ENOENT,
                   "no configuration was found; tried ./.mcp.json and "
                   "DIR/xdg/mcpump/servers.json: No such file or directory");
    write_file("xdg/mcpump/servers.json", ONE_NAMED("xdg"));
    snprintf(path, sizeof(path), "%s/xdg/mcpump/servers.json", folder);
    expect_found("xdg", path);

    snprintf(path, sizeof(path), "%s/.config/mcpump/servers.json", folder);
    setenv("XDG_CONFIG_HOME", "xdg", 1); /* relative: as if it were not set */
    expect_found("home", path);
    setenv("XDG_CONFIG_HOME", "", 1);
    expect_found("home", path);

    write_file(".mcp.json", ONE_NAMED("here"));
    expect_found("here", "./.mcp.json");

    /* There, but no good: what comes after it is not taken instead. */
    write_file(".mcp.json", "{");
    expect_failure(NULL, MCPUMP_ERR_INVALID_ARGUMENT, 0, "./.mcp.json:1: the text ends too early");
    remove(".mcp.json");
    mkdir(".mcp.json", 0700);
    expect_failure(NULL, MCPUMP_ERR_SYSTEM, EISDIR,
                   "./.mcp.json: it cannot be read: Is a directory");
}

Test(files, places_without_home)
{
    unsetenv("HOME");
    expect_failure(NULL, MCPUMP_ERR_SYSTEM, ENOENT,
                   "no configuration was found; tried ./.mcp.json: No such file or directory");
}

Test(files, that_cannot_be_read)
{
    expect_failure("nowhere.json", MCPUMP_ERR_SYSTEM, ENOENT,
                   "nowhere.json: it cannot be read: No such file or directory");
    write_file("plain", "");
    expect_failure("plain/x", MCPUMP_ERR_SYSTEM, ENOTDIR,
                   "plain/x: it cannot be read: Not a directory");
    expect_failure("plain", MCPUMP_ERR_INVALID_ARGUMENT, 0, "plain:1: the text ends too early");
    expect_failure("/dev/zero", MCPUMP_ERR_INVALID_ARGUMENT, 0,
                   "/dev/zero: it is larger than 4 MiB");
}

/* -- reading */

static void *write_slowly(void *arg)
{
    int fd = *(int *)arg;
    char chunk[1000];
    memset(chunk, ' ', sizeof(chunk));
    for (size_t i = 0; i < 100; i++)
        cr_assert_eq(write(fd, chunk, sizeof(chunk)), (ssize_t)sizeof(chunk));
    cr_assert_gt(write(fd, ONE_NAMED("pipe"), strlen(ONE_NAMED("pipe"))), 0);
    close(fd);
    return NULL;
}

/* Of no known size, in many pieces. */
Test(files, pipe)
{
    int fds[2];
    char path[32];
    pthread_t thread;
    cr_assert_eq(pipe(fds), 0);
    snprintf(path, sizeof(path), "/dev/fd/%d", fds[0]);
    pthread_create(&thread, NULL, write_slowly, &fds[1]);
    mcpump_config *config = load(path);
    pthread_join(thread, NULL);
    close(fds[0]);
    cr_expect_str_eq(mcpump_config_name(config, 0), "pipe");
    mcpump_config_free(config);
}

/* Whatever the size is beside the steps in which a file is read. */
Test(files, sizes)
{
    static const char tail[] = ONE_NAMED("x");
    static const size_t sizes[] = {64, 4095, 4096, 4097, 8191, 8192, 8193, (4 << 20) - 1, 4 << 20};
    char *bytes = malloc(4 << 20);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        memset(bytes, ' ', sizes[i]);
        memcpy(bytes + sizes[i] - strlen(tail), tail, strlen(tail));
        write_bytes("f.json", bytes, sizes[i]);
        mcpump_config *config = load("f.json");
        cr_expect_str_eq(mcpump_config_name(config, 0), "x", "%zu bytes", sizes[i]);
        mcpump_config_free(config);
    }
    free(bytes);
}

/* No descriptor is left, whatever comes of it. */
Test(files, descriptors)
{
    int before = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(before);
    write_file("f.json", ONE_NAMED("x"));
    mcpump_config_free(load("f.json"));
    expect_failure("/dev/zero", MCPUMP_ERR_INVALID_ARGUMENT, 0,
                   "/dev/zero: it is larger than 4 MiB");
    mcpump_config *config = NULL;
    mcpump_config_load(".", &config, NULL);
    int after = open("/dev/null", O_RDONLY | O_CLOEXEC);
    cr_expect_eq(before, after);
    close(after);
}

/* -- what relative paths count from */

Test(files, base)
{
    static const struct {
        const char *path, *base; /* what starts with "." counts from the folder */
    } rows[] = {
        {"/a/b/f.json", "/a/b"},
        {"/a/b//f.json", "/a/b"},
        {"/f.json", "/"},
        {"/a/.vscode/mcp.json", "/a"},
        {"/a/x.vscode/mcp.json", "/a/x.vscode"},
        {"/.vscode/mcp.json", "/"},
        {"f.json", "."},
        {"./f.json", "."},
        {"././f.json", "."},
        {"a/f.json", "./a"},
        {"../f.json", "./.."},
        {".vscode/mcp.json", "."},
        {"", "."},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char base[PATH_MAX + 16];
        struct mp_buffer out = MP_BUFFER_INIT;
        bool is_relative = rows[i].base[0] == '.';
        snprintf(base, sizeof(base), "%s%s", is_relative ? folder : "", rows[i].base + is_relative);
        cr_expect(mp_file_base(&out, rows[i].path));
        cr_expect_str_eq(out.bytes, base, "%s: %s", rows[i].path, out.bytes);
        mp_buffer_done(&out);
    }
}

Test(files, base_of_the_editors_folder)
{
    mkdir(".vscode", 0700);
    cr_assert_eq(chdir(".vscode"), 0);
    struct mp_buffer out = MP_BUFFER_INIT;
    cr_expect(mp_file_base(&out, "mcp.json"));
    cr_expect_str_eq(out.bytes, folder);
    mp_buffer_done(&out);
}

Test(files, relative_paths)
{
    char expected[PATH_MAX + 32];
    mkdir("work", 0700);
    mkdir(".vscode", 0700);
    write_file(".env", "KEY=of the file\n");
    write_file(".vscode/mcp.json",
               "{\"servers\": {\"x\": {\"command\": \"./run\", \"cwd\": \"work\", \"envFile\": "
               "\"${workspaceFolder}/.env\", \"args\": [\"${workspaceFolder}\"], \"mcpump\": "
               "{\"stderr_file\": \"x.log\"}}}}");
    mcpump_config *config = load(".vscode/mcp.json");
    const mcpump_transport_options *options = first(config);
    cr_expect_str_eq(options->command, "./run");
    snprintf(expected, sizeof(expected), "%s/work", folder);
    cr_expect_str_eq(options->cwd, expected);
    snprintf(expected, sizeof(expected), "%s/x.log", folder);
    cr_expect_str_eq(options->stderr_file, expected);
    cr_expect_str_eq(options->args[0], folder);
    cr_expect_str_eq(show_secrets(options), "KEY=of the file ");
    mcpump_config_free(config);
}

/* A folder that was deleted has no name; what needs none still works. */
Test(files, no_current_directory)
{
    mkdir("gone", 0700);
    cr_assert_eq(chdir("gone"), 0);
    rmdir("../gone");
    mcpump_config *config = NULL;
    static const char text[] = "{\"servers\": {\"a\": {\"command\": \"a\"}, \"b\": {\"command\": "
                               "\"a\", \"cwd\": \"x\"}}}";
    cr_assert_eq(mcpump_config_parse("f.json", text, strlen(text), &config, NULL), MCPUMP_OK);
    cr_expect_eq(mcpump_config_state(config, 0), MCPUMP_ENTRY_USABLE);
    cr_expect_str_eq(mcpump_config_problem(config, 1),
                     "f.json:1: servers.b.cwd: it is relative, and the current directory is gone");
    mcpump_config_free(config);
}

/* -- envFile */

static mcpump_config *load_env(const char *env_file, const char *env)
{
    char text[512];
    write_file(".env", env_file);
    snprintf(text, sizeof(text),
             "{\"servers\": {\"x\": {\"command\": \"a\", %s \"envFile\": \".env\"}}}", env);
    write_file("f.json", text);
    return load("f.json");
}

Test(files, env_wins_over_env_file)
{
    mcpump_config *config =
        load_env("A=1\nB=2\nC=3\nD=4\nD=5\n", "\"env\": {\"B\": \"own\", \"C\": null},");
    const mcpump_transport_options *options = first(config);
    cr_expect_str_eq(show_secrets(options), "B=own A=1 D=4 D=5 ");
    cr_expect_str_eq(show_list(options->unset_env), "C ");
    mcpump_config_free(config);
}

Test(files, env_file_is_not_expanded)
{
    mcpump_config *config = load_env("A=${HOME}", "");
    cr_expect_str_eq(show_secrets(first(config)), "A=${HOME} ");
    mcpump_config_free(config);
}

/* A variable that is not inherited by the settings may be given by the file. */
Test(files, env_file_and_unset_env)
{
    mcpump_config *config = load_env("A=1\n", "\"mcpump\": {\"unset_env\": [\"A\"]},");
    cr_expect_str_eq(show_secrets(first(config)), "A=1 ");
    cr_expect_str_eq(show_list(first(config)->unset_env), "A ");
    mcpump_config_free(config);
}

static void expect_env_problem(const char *env_file, const char *words)
{
    mcpump_config *config = load_env(env_file, "");
    cr_expect_str_eq(mcpump_config_problem(config, 0), with_folder(words));
    mcpump_config_free(config);
}

Test(files, wrong_env_files)
{
    char *text = malloc(2 << 20), *at = text;
    expect_env_problem(
        "A=1\nhunter2\n",
        "f.json:1: servers.x.envFile: line 2 of \"DIR/.env\" is not of the form NAME=VALUE");
    for (size_t i = 0; i < 1025; i++)
        at += sprintf(at, "A%zu=\n", i);
    expect_env_problem(
        text, "f.json:1: servers.x.envFile: \"DIR/.env\": it holds more than 1024 variables");
    memset(text, '\n', 2 << 20);
    text[(1 << 20) + 1] = '\0';
    expect_env_problem(text, "f.json:1: servers.x.envFile: \"DIR/.env\": File too large");
    free(text);
}
