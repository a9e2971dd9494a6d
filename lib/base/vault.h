/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for secrets: mappings of their own, left out of core dumps, locked in memory as far as the
 * host may, wiped before they are given back.
 */
#ifndef MP_BASE_VAULT_H
#define MP_BASE_VAULT_H

#include <stdbool.h>
#include <stddef.h>

/* New, zeroed, for mp_vault_free; NULL: no memory. `wipe_on_fork`: a child that is forked finds
 * zeros (one that shares memory until exec does not count). */
void *mp_vault_new(size_t size, bool wipe_on_fork);

/* Wipes. NULL is allowed. */
void mp_vault_free(void *bytes);

#endif
