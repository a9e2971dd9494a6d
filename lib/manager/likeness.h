/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two servers would run the same thing in the same way. */
#ifndef MP_MANAGER_LIKENESS_H
#define MP_MANAGER_LIKENESS_H

#include <stdbool.h>

#include "mcpump/server.h"

/* Compares what stands in their options once the defaults are filled in, but for the working
 * directory, which may be set later. Any thread: all of it is immutable. */
bool mp_servers_are_alike(const mcpump_server *one, const mcpump_server *other);

bool mp_texts_are_alike(const char *one, const char *other);

#endif
