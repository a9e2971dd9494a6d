/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCPUMP_H
#define MCPUMP_H

#include "call.h"
#include "error.h"
#include "export.h"
#include "failure.h"
#include "log.h"
#include "options.h"
#include "reply.h"
#include "server.h"
#include "transport.h"
#include "version.h"

#endif
