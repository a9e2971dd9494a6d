/* SPDX-License-Identifier: Apache-2.0 */
#include "mcpump/version.h"

#define STRING(x)       #x
#define DOTTED(a, b, c) STRING(a) "." STRING(b) "." STRING(c)

const char *mcpump_version(void)
{
    return DOTTED(MCPUMP_VERSION_MAJOR, MCPUMP_VERSION_MINOR, MCPUMP_VERSION_PATCH);
}
