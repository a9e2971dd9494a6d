/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vault.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

/* In front of the bytes; keeps them aligned as malloc does. */
struct header {
    _Alignas(max_align_t) size_t mapped;
};

void *mp_vault_new(size_t size, bool wipe_on_fork)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    size_t mapped = sizeof(struct header) + size;
    struct header *header =
        mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (header == MAP_FAILED)
        return NULL;
    /* All three are the best that can be had, not conditions: a kernel may lack the advice, a limit
     * forbid the lock. */
    madvise(header, mapped, MADV_DONTDUMP);
    mlock(header, mapped);
    if (wipe_on_fork)
        madvise(header, mapped, MADV_WIPEONFORK);
    header->mapped = mapped;
    return header + 1;
}

void mp_vault_free(void *bytes)
{
    if (bytes == NULL)
        return;
    struct header *header = (struct header *)bytes - 1;
    size_t mapped = header->mapped;
    /* Zero in a forked child: its copy was wiped, and goes with the child. */
    if (mapped == 0)
        return;
    explicit_bzero(header, mapped);
    munmap(header, mapped);
}
