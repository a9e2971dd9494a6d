#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the libraries export: exactly the functions of the public headers, and nothing of ours that
could clash with a host's names.

    symbols.py INCLUDE SONAME SHARED STATIC
"""
import pathlib
import re
import subprocess
import sys

DECLARED = re.compile(r"\bMCPUMP_API\b[^;{]*?\b(mcpump_\w+)\s*\(")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# What sanitizers and coverage add to every object
INSTRUMENTED = re.compile(r"^(?:__odr_asan|__asan|__ubsan|__tsan|__gcov|__llvm)")


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def declared_in(include):
    text = "".join(COMMENT.sub("", path.read_text()) for path in include.glob("mcpump/*.h"))
    text = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    return set(DECLARED.findall(text))


def defined_in(library, *options):
    for line in output("nm", "--defined-only", "--extern-only", *options, library).splitlines():
        words = line.split()
        if len(words) == 3 and not INSTRUMENTED.match(words[2]):
            yield words[2]


def main(include, want_soname, shared, static):
    wrong = []
    declared = declared_in(pathlib.Path(include))
    exported = set(defined_in(shared, "--dynamic"))
    wrong += [f"declared, but not exported: {name}" for name in sorted(declared - exported)]
    wrong += [f"exported, but not declared: {name}" for name in sorted(exported - declared)]

    soname = re.search(r"\(SONAME\)[^[]*\[(.*)\]", output("readelf", "--dynamic", shared))
    if not soname or soname.group(1) != want_soname:
        wrong.append(f"the soname is {soname and soname.group(1)}, not {want_soname}")

    own = set(defined_in(static))
    wrong += [f"in the static library, without our prefix: {name}"
              for name in sorted(own) if not name.startswith(("mcpump_", "mp_"))]
    wrong += [f"declared, but not in the static library: {name}" for name in sorted(declared - own)]

    print(*wrong, f"{len(exported)} functions exported", sep="\n")
    return 1 if wrong or not declared else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
