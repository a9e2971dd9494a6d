#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who may include what: a room only the rooms above it, programs only the public headers."""
import os
import re
import sys

import tree

# room: the rooms above it
ROOMS = {
    "base": [],
    "wire": ["base"],
    "process": ["base"],
    "transport": ["base", "wire", "process"],
    "mcp": ["base", "wire", "process", "transport"],
    "config": ["base", "wire", "process", "transport", "mcp"],
    "manager": ["base", "wire", "process", "transport", "mcp", "config"],
}
# system header: the only rooms that may know it
SYSTEM = {
    "pthread.h": ["base", "process"],
    "threads.h": [],
    "json-c/": ["mcp"],
    "sys/wait.h": ["process"],
}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)
LOCKS = re.compile(r"\bpthread_(?:mutex|cond|rwlock|spin|barrier)_\w+\s*\(|\bpthread_(?:create|join)\s*\(")


def includes(path):
    text = tree.read(path)
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield f"{path}:{line}", match.group(1) == "<", match.group(2)


def check_room(path, room):
    allowed = [room, *ROOMS[room], "mcpump"]
    for where, system, name in includes(path):
        if not system and name.split("/")[0] not in allowed:
            yield f'{where}: {room}/ may not include "{name}"'
        for header, rooms in SYSTEM.items():
            if system and name.startswith(header) and room not in rooms:
                yield f"{where}: {room}/ may not include <{name}>"


def check_public(path):
    for where, system, name in includes(path):
        if not system and ("/" in name or not os.path.exists(f"{tree.ROOT}/include/mcpump/{name}")):
            yield f'{where}: a public header may not include "{name}"'


def check_program(path):
    folder = os.path.dirname(os.path.join(tree.ROOT, path))
    for where, system, name in includes(path):
        own = os.path.exists(os.path.join(folder, name))
        if not system and not own and not name.startswith("mcpump/"):
            yield f'{where}: a program uses the public headers only, not "{name}"'


def check_locks(path):
    code = tree.code_of(tree.read(path))
    for match in LOCKS.finditer(code):
        line = code.count("\n", 0, match.start()) + 1
        yield f"{path}:{line}: only base/sync.c calls {match.group().rstrip('( ')}"


def findings():
    for path in tree.files(".c", ".h", under="lib/"):
        room = path.split("/")[1]
        if room not in ROOMS:
            yield f"{path}: not in a room"
            continue
        yield from check_room(path, room)
        if path != "lib/base/sync.c":
            yield from check_locks(path)
    for path in tree.files(".h", under="include/"):
        yield from check_public(path)
    for folder in ("tools/", "docs/"):
        for path in tree.files(".c", ".h", under=folder):
            yield from check_program(path)


if __name__ == "__main__":
    sys.exit(tree.report(list(findings())))
