#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Words that must stand in a file, and words that must not."""
import re
import sys

import tree

SPDX = re.compile(r"SPDX-License-Identifier: Apache-2\.0")
WITH_SPDX = (".c", ".h", ".py", ".sh", ".mjs", "meson.build", "meson_options.txt", "tools/dev",
             ".ci/run", "tools/lint/run")


def code(path):
    return path.endswith((".c", ".h"))


def in_lib(path):
    return path.startswith("lib/") and code(path)


def in_tests(path):
    return path.startswith("tests/") and code(path) and not path.startswith("tests/peers/")


# Forbidden in the text of a file, comments and strings included: (which files, pattern, why)
IN_TEXT = [
    (lambda path: True, r"/(?:work|home|root|Users)/", "a path of somebody's machine"),
    (lambda path: True, r"\b(?:TO[D]O|FI[X]ME)\b(?!.{0,3}#\d)", "no issue number stands beside it"),
    (lambda path: path.startswith("tests/") and path.endswith(".py"), r"\btime\.sleep\b",
     "tests wait on events"),
    (lambda path: path.startswith("tests/") and path.endswith(".sh"), r"(?m)^\s*sleep\b",
     "tests wait on events"),
]
# Forbidden in C code, comments and strings aside
IN_CODE = [
    (in_tests, r"\b(?:u?sleep|(?:clock_)?nanosleep|thrd_sleep)\s*\(", "tests wait on events"),
    (in_lib, r"\b(?:u?sleep|(?:clock_)?nanosleep)\s*\(", "the library waits on events"),
    (in_lib, r"\b(?:atexit|on_exit|setenv|unsetenv|putenv|clearenv|chdir|umask|setlocale)\s*\(",
     "a process-wide side effect"),
    (in_lib, r"\b(?:signal|sigaction|sigprocmask|alarm|setitimer)\s*\(", "a process-wide side effect"),
    (in_lib, r"\bwaitpid\s*\(\s*(?:-1|0)\b|\bwait3?\s*\(|\bP_ALL\b", "only our own pids are waited for"),
    (in_lib, r"\b(?:alloca|strcpy|strcat|sprintf|gets|system|popen)\s*\(", "not used here"),
]
# The child between fork and exec owns its process.
EXCUSED = {("lib/process/spawn_child.c", "a process-wide side effect")}


def matches(path, text, rules):
    for applies, pattern, why in rules:
        if not applies(path) or (path, why) in EXCUSED:
            continue
        for match in re.finditer(pattern, text):
            line = text.count("\n", 0, match.start()) + 1
            yield f"{path}:{line}: {match.group().strip()!r}: {why}"


def findings():
    for path in tree.files():
        text = tree.read(path)
        if text is None:
            continue
        count = len(SPDX.findall("\n".join(text.splitlines()[:3])))
        if path.endswith(WITH_SPDX) and count != 1:
            yield f"{path}: one SPDX line is wanted at the top, there are {count}"
        yield from matches(path, text, IN_TEXT)
        if code(path):
            yield from matches(path, tree.code_of(text), IN_CODE)


if __name__ == "__main__":
    sys.exit(tree.report(list(findings())))
