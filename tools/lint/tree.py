#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files of the tree: those that git has or would take, or all of them where there is no git."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _listed_by_git():
    command = ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return [name for name in done.stdout.decode().split("\0") if name]


def _walked():
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [f for f in folders if not f.startswith("build") and f != ".git"]
        found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names]
    return found


def files(*endings, under=""):
    """Paths from the root, sorted; all of them when no ending is named."""
    listed = _listed_by_git()
    if listed is None:
        listed = _walked()
    return sorted(
        path for path in listed
        if path.startswith(under) and (not endings or path.endswith(endings))
        and os.path.isfile(os.path.join(ROOT, path)))


def read(path):
    """The text, or None when it is not text."""
    with open(os.path.join(ROOT, path), "rb") as file:
        data = file.read()
    try:
        return None if b"\0" in data else data.decode()
    except UnicodeDecodeError:
        return None


_NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def code_of(text):
    """C without its comments and the contents of its strings; the lines stay where they are."""
    return _NOT_CODE.sub(lambda match: '""' + "\n" * match.group().count("\n"), text)


def report(findings):
    """Prints the findings; the exit status of a check."""
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    print("\n".join(files(*sys.argv[1:])))
