/* SPDX-License-Identifier: Apache-2.0 */
/* The version of the headers, and of the library that is loaded. */
#ifndef MCPUMP_VERSION_H
#define MCPUMP_VERSION_H

#include "export.h"

#define MCPUMP_VERSION_MAJOR 0
#define MCPUMP_VERSION_MINOR 1
#define MCPUMP_VERSION_PATCH 0

MCPUMP_BEGIN_DECLS

/** The version of the library that is loaded, as "MAJOR.MINOR.PATCH". Static. Any thread. */
MCPUMP_API const char *mcpump_version(void);

MCPUMP_END_DECLS

#endif
