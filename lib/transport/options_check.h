/* SPDX-License-Identifier: Apache-2.0 */
/* For options.c only: the checks. */
#ifndef MP_TRANSPORT_OPTIONS_CHECK_H
#define MP_TRANSPORT_OPTIONS_CHECK_H

#include "transport/options.h"

/* Carries the first complaint through the checks. */
struct mp_options_check {
    const mcpump_transport_options *given;
    struct mp_options *out; /* texts and lists have been copied to it; numbers are filled in here */
    mcpump_err err;
    const char *key; /* NULL: no key is to blame */
    char detail[512];
};

/* Notes the complaint unless there was one before. */
void mp_options_complain(struct mp_options_check *check, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void mp_options_check_all(struct mp_options_check *check);

#endif
