/* SPDX-License-Identifier: Apache-2.0 */
/* For json.c only: what people may write in JSON, and JSON does not allow, taken out. */
#ifndef MP_CONFIG_RELAX_H
#define MP_CONFIG_RELAX_H

#include <stddef.h>

/* Comments and needless commas become spaces; line ends stay. NULL, or the start of a comment that
 * has no end. */
const char *mp_relax(char *text, size_t size);

#endif
