/* SPDX-License-Identifier: Apache-2.0 */
#include "base/secret.h"

#include <string.h>

#include "base/vault.h"

struct mcpump_secret {
    char text[1]; /* and on, to its NUL */
};

mcpump_secret *mcpump_secret_new(const char *text)
{
    if (text == NULL)
        return NULL;
    size_t size = strlen(text) + 1;
    mcpump_secret *secret = mp_vault_new(size, true);
    if (secret != NULL)
        memcpy(secret, text, size);
    return secret;
}

const char *mcpump_secret_shown(const mcpump_secret *secret)
{
    (void)secret;
    return "***";
}

void mcpump_secret_free(mcpump_secret *secret)
{
    mp_vault_free(secret);
}

const char *mp_secret_text(const mcpump_secret *secret)
{
    return secret->text;
}
