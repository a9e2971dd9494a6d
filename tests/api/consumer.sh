#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# consumer.sh BUILD-FOLDER EXAMPLE DEMO-SERVER CC-COMMAND: installs the library, builds the README's
# example against that with nothing but pkg-config, shared and static, and runs both.
set -e
build=$1
example=$2
server=$3
shift 3
there=$(mktemp -d)
trap 'rm -rf "$there"' EXIT

meson install -C "$build" --no-rebuild --destdir "$there" >"$there/log" 2>&1 || {
    cat "$there/log"
    exit 1
}
pc=$(find "$there" -name mcpump.pc)
[ -n "$pc" ] || { echo "no mcpump.pc was installed"; exit 1; }
export PKG_CONFIG_PATH="${pc%/*}${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"

# The prefix of the .pc file is the one that was configured; below the destdir it is elsewhere.
prefix="$there$(pkg-config --variable=prefix mcpump)"
flags="$(pkg-config --define-variable=prefix="$prefix" --cflags mcpump)"
libdir=$(pkg-config --define-variable=prefix="$prefix" --variable=libdir mcpump)

"$@" -o "$there/shared" "$example" $flags \
    $(pkg-config --define-variable=prefix="$prefix" --libs mcpump)
LD_LIBRARY_PATH="$libdir" "$there/shared" "$server"
LD_LIBRARY_PATH="$libdir" ldd "$there/shared" | grep -q "$libdir/libmcpump\.so"

# The other libraries stay shared: not every system has an archive of them.
rm -f "$libdir"/libmcpump.so*
"$@" -o "$there/static" "$example" $flags \
    $(pkg-config --define-variable=prefix="$prefix" --static --libs mcpump)
"$there/static" "$server"
