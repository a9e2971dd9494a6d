/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a secret, for the one place that lets it out, the environment of a child, and the
 * one that keeps it in, the tap. */
#ifndef MP_BASE_SECRET_H
#define MP_BASE_SECRET_H

#include "mcpump/secret.h"

/* The value; borrowed. Copied to vaults only. */
const char *mp_secret_text(const mcpump_secret *secret);

#endif
