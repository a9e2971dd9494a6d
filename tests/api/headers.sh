#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# headers.sh FOLDER CC-COMMAND: each public header compiles alone, as C99 and as C++, with every
# warning an error. FOLDER is the one that holds mcpump/. Without a C++ compiler only C is tried.
include=$1
shift
strict="-Wall -Wextra -Wpedantic -Wundef -Werror -fsyntax-only"
cxx=$(command -v c++ || command -v g++ || command -v clang++)
[ -n "$cxx" ] || echo "note: no C++ compiler, only C is tried"

failed=0
tried=0
for header in "$include"/mcpump/*.h; do
    # Twice, and with a declaration of its own: C99 wants one in every file.
    line=$(printf '#include <mcpump/%s>\n' "${header##*/}" "${header##*/}"; echo "extern int one;")
    tried=$((tried + 1))
    echo "$line" | "$@" -std=c99 $strict "-I$include" -x c - || failed=1
    [ -z "$cxx" ] || echo "$line" | "$cxx" -std=c++11 $strict "-I$include" -x c++ - || failed=1
done
echo "$tried headers"
[ $tried -gt 0 ] && [ $failed = 0 ]
