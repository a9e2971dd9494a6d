/* SPDX-License-Identifier: Apache-2.0 */
/* What every public header needs: symbol export and C linkage. */
#ifndef MCPUMP_EXPORT_H
#define MCPUMP_EXPORT_H

#if defined(__GNUC__)
#define MCPUMP_API                __attribute__((visibility("default")))
#define MCPUMP_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#else
#define MCPUMP_API
#define MCPUMP_PRINTF(fmt, first)
#endif

#ifdef __cplusplus
#define MCPUMP_BEGIN_DECLS extern "C" {
#define MCPUMP_END_DECLS   }
#else
#define MCPUMP_BEGIN_DECLS
#define MCPUMP_END_DECLS
#endif

#endif
