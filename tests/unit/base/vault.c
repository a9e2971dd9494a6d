/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vault.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whether the mapping that holds the address has the flag, as /proc/self/smaps spells it. */
static bool mapping_has(const void *address, const char *flag)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[512];
    bool is_it = false, found = false;
    cr_assert_not_null(maps);
    while (fgets(line, sizeof(line), maps) != NULL) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            is_it = (uintptr_t)address >= from && (uintptr_t)address < to;
        else if (is_it && strncmp(line, "VmFlags:", 8) == 0)
            found = strstr(line, flag) != NULL;
    }
    fclose(maps);
    return found;
}

Test(vault, is_zeroed_and_left_out_of_dumps)
{
    char *bytes = mp_vault_new(5000, false);
    cr_assert_not_null(bytes);
    for (size_t i = 0; i < 5000; i++)
        cr_assert_eq(bytes[i], 0);
    cr_assert(mapping_has(bytes, " dd"));
    mp_vault_free(bytes);
    mp_vault_free(NULL);
}

Test(vault, a_forked_child_finds_nothing)
{
    char *wiped = mp_vault_new(16, true), *kept = mp_vault_new(16, false);
    strcpy(wiped, "secret");
    strcpy(kept, "secret");
    pid_t pid = fork();
    if (pid == 0) {
        bool ok = wiped[0] == 0 && strcmp(kept, "secret") == 0;
        mp_vault_free(wiped);
        mp_vault_free(kept);
        _exit(ok ? 0 : 1);
    }
    int status;
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_assert_eq(status, 0);
    cr_assert_str_eq(wiped, "secret");
    mp_vault_free(wiped);
    mp_vault_free(kept);
}

Test(vault, too_much_is_refused)
{
    cr_assert_null(mp_vault_new(SIZE_MAX, false));
}
