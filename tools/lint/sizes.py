#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No function over 60 lines, no file over 600. The C functions are found by universal-ctags."""
import json
import subprocess
import sys

import tree

FUNCTION_LINES = 60
FILE_LINES = 600
SOURCES = (".c", ".h", ".py", ".sh", ".mjs", ".scd", "meson.build", "tools/dev", ".ci/run")


def long_files():
    for path in tree.files(*SOURCES):
        lines = tree.read(path).count("\n")
        if lines > FILE_LINES:
            yield f"{path}: {lines} lines, {FILE_LINES} are allowed"


def long_functions():
    paths = tree.files(".c", ".h")
    command = ["ctags", "--output-format=json", "--fields=+ne", "--languages=C", "--langmap=C:.c.h",
               "--kinds-C=f", "-L", "-", "-f", "-"]
    tags = subprocess.run(command, input="\n".join(paths), cwd=tree.ROOT, text=True,
                          capture_output=True, check=True).stdout
    for tag in map(json.loads, tags.splitlines()):
        lines = tag.get("end", tag["line"]) - tag["line"] + 1
        if lines > FUNCTION_LINES:
            yield (f"{tag['path']}:{tag['line']}: {tag['name']} has {lines} lines, "
                   f"{FUNCTION_LINES} are allowed")


if __name__ == "__main__":
    sys.exit(tree.report([*long_files(), *long_functions()]))
