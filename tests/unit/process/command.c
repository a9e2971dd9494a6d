/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/command.h"
#include "support.h"

static struct test_folder folder;

static void make_tree(void)
{
    test_folder_init(&folder);
    test_folder_add(&folder, "a", NULL, 0755);
    test_folder_add(&folder, "a/tool", "", 0644);
    test_folder_add(&folder, "a/plain", "", 0644);
    test_folder_add(&folder, "b", NULL, 0755);
    test_folder_add(&folder, "b/tool", "", 0755);
    test_folder_add(&folder, "b/sub", NULL, 0755);
    test_folder_add(&folder, "d", NULL, 0755);
    test_folder_add(&folder, "d/tool", NULL, 0755);
    test_folder_add(&folder, "d/plain", NULL, 0755);
    char path[512];
    cr_assert_eq(mkfifo(test_folder_path(&folder, "b/fifo", path, sizeof(path)), 0755), 0);
    cr_assert_eq(symlink("loop", test_folder_path(&folder, "b/loop", path, sizeof(path))), 0);
    cr_assert_eq(symlink("tool", test_folder_path(&folder, "b/link", path, sizeof(path))), 0);
}

static void remove_tree(void)
{
    test_folder_done(&folder);
}

TestSuite(command, .init = make_tree, .fini = remove_tree);

/* Each '@' stands for the folder. */
static const char *expand(const char *text, char *out, size_t capacity)
{
    size_t size = 0;
    if (text == NULL)
        return NULL;
    for (; *text != '\0'; text++) {
        char one[] = {*text, '\0'};
        int added = snprintf(out + size, capacity - size, "%s", *text == '@' ? folder.path : one);
        size += (size_t)added;
    }
    out[size] = '\0';
    return out;
}

static const struct {
    const char *name, *command, *path, *cwd;
    int err;
    const char *found;
} rows[] = {
    {"the only directory", "tool", "@/b", NULL, 0, "@/b/tool"},
    {"the first that may be executed", "tool", "@/a:@/d:@/b", NULL, 0, "@/b/tool"},
    {"a link", "link", "@/b", NULL, 0, "@/b/link"},
    {"a slash at the end of an element", "tool", "@/b/", NULL, 0, "@/b/tool"},
    {"a file among the directories", "tool", "@/b/tool:@/b", NULL, 0, "@/b/tool"},
    {"in no directory", "missing", "@/a:@/b", NULL, ENOENT, NULL},
    {"in no directory, one is a file", "missing", "@/a:@/b/tool", NULL, ENOENT, NULL},
    {"not executable", "plain", "@/a", NULL, EACCES, NULL},
    {"not executable, then in none", "plain", "@/a:@/b:@/none", NULL, EACCES, NULL},
    {"a directory", "sub", "@/b", NULL, EISDIR, NULL},
    {"a directory, then in none", "sub", "@/b:@/a", NULL, EISDIR, NULL},
    {"not executable, then a directory", "plain", "@/a:@/d", NULL, EACCES, NULL},
    {"a directory, then not executable", "plain", "@/d:@/a", NULL, EACCES, NULL},
    {"a fifo", "fifo", "@/b", NULL, EACCES, NULL},
    {"a loop of links", "loop", "@/b:@/a", NULL, ELOOP, NULL},
    {"no name", "", "@/b", NULL, ENOENT, NULL},
    {"an absolute command", "@/b/tool", "@/a", "@/d", 0, "@/b/tool"},
    {"an absolute command, not executable", "@/a/tool", "@/b", NULL, EACCES, NULL},
    {"an absolute command, a directory", "@/d/tool", "@/b", NULL, EISDIR, NULL},
    {"a slash is not looked up", "b/tool", "@", "@/a", ENOENT, NULL},
    {"a relative command counts from cwd", "b/tool", "@/a", "@", 0, "@/b/tool"},
    {"a dot in front", "./tool", "@/a", "@/b", 0, "@/b/./tool"},
    {"through a file", "b/tool/x", "@/b", "@", ENOTDIR, NULL},
    {"a relative element counts from cwd", "tool", "b", "@", 0, "@/b/tool"},
    {"an empty element in front is cwd", "tool", ":@/a", "@/b", 0, "@/b/tool"},
    {"an empty element in between is cwd", "tool", "@/a::@/d", "@/b", 0, "@/b/tool"},
    {"an empty element at the end is cwd", "tool", "@/a:", "@/b", 0, "@/b/tool"},
    {"an empty path is cwd", "tool", "", "@/b", 0, "@/b/tool"},
};

Test(command, table)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char command[512], path[1024], cwd[512], wanted[512];
        char untouched[] = "untouched", *found = untouched;
        int err = mp_command_find(expand(rows[i].command, command, sizeof(command)),
                                  expand(rows[i].path, path, sizeof(path)),
                                  expand(rows[i].cwd, cwd, sizeof(cwd)), &found);
        cr_expect_eq(err, rows[i].err, "%s: %s", rows[i].name, strerror(err));
        if (err != 0) {
            cr_expect_eq(found, untouched, "%s: result touched", rows[i].name);
            continue;
        }
        cr_expect_str_eq(found, expand(rows[i].found, wanted, sizeof(wanted)), "%s: %s",
                         rows[i].name, found);
        free(found);
    }
}

Test(command, without_cwd_the_hosts_counts)
{
    static const char *const ways[][2] = {{"tool", "b"}, {"b/tool", "/nowhere"}};
    cr_assert_eq(chdir(folder.path), 0);
    for (size_t i = 0; i < 2; i++) {
        char *found;
        cr_assert_eq(mp_command_find(ways[i][0], ways[i][1], NULL, &found), 0);
        cr_expect_eq(access(found, X_OK), 0, "%s", found);
        cr_expect_not_null(strchr(found, '/'), "%s: execve must not look it up", found);
        free(found);
    }
}

Test(command, a_slash_is_a_path_without_a_look)
{
    static const char *const ways[][3] = {
        {"/missing/tool", "/b", "/missing/tool"},
        {"missing/tool", "/b", "/b/missing/tool"},
        {"./tool", "/b/", "/b/./tool"},
        {"a/tool", NULL, "./a/tool"},
        {"tool", "/b", NULL},
        {"", "/b", NULL},
    };
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        char untouched[] = "untouched", *path = untouched;
        cr_assert_eq(mp_command_path(ways[i][0], ways[i][1], &path), 0);
        cr_assert_eq(path != NULL, ways[i][2] != NULL, "%s", ways[i][0]);
        cr_expect(path == NULL || strcmp(path, ways[i][2]) == 0, "%s: %s", ways[i][0], path);
        free(path);
    }
}

Test(command, default_path)
{
    char *found;
    cr_assert_eq(mp_command_find("sh", NULL, NULL, &found), 0);
    cr_expect(strcmp(found, "/bin/sh") == 0 || strcmp(found, "/usr/bin/sh") == 0, "%s", found);
    free(found);
}

Test(command, longer_than_any_name)
{
    char name[8192], *found;
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    cr_expect_eq(mp_command_find(name, "/bin:/usr/bin", NULL, &found), ENAMETOOLONG);
}
