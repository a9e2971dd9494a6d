#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# record.sh FOLDER COMMAND ARG...: runs a server and keeps what it is told, a new file each time.
file=$(mktemp "$1/XXXXXX")
shift
tee "$file" | "$@"
