#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints MAJOR.MINOR.PATCH as include/mcpump/version.h has it; meson asks for it.
header=$(dirname "$0")/../include/mcpump/version.h
sed -n 's/^#define MCPUMP_VERSION_\(MAJOR\|MINOR\|PATCH\) *\([0-9]*\)$/\2/p' "$header" | paste -sd.
