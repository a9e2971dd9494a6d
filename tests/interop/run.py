#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tool against real servers from npm: what it prints, how it exits, that nothing is left.

    run.py MCPUMP FOLDER

The servers are pinned by package-lock.json and installed into FOLDER. Exit 77, which skips the
test, only where there is no npm.
"""
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import uuid

HERE = pathlib.Path(__file__).resolve().parent
PINNED = ("package.json", "package-lock.json", "modern_server.mjs")
INSTALL_SECONDS = 600
RUN_SECONDS = 180
GONE_SECONDS = 10

# server: its command; {} is the folder that it may write to
SERVERS = {
    "everything": ["node", "node_modules/@modelcontextprotocol/server-everything/dist/index.js"],
    "filesystem": ["node", "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", "{}"],
    "memory": ["node", "node_modules/@modelcontextprotocol/server-memory/dist/index.js"],
    "modern": ["node", "modern_server.mjs"],
    "modern-reject": ["node", "modern_server.mjs", "reject"],
    "npx": ["npx", "-y", "@modelcontextprotocol/server-everything"],
}

# (server, arguments of mcpump, exit status, what stdout must match)
CASES = [
    ("everything", "tools", 0, r"^echo\t.+\n"),
    ("everything", "tools --output json", 0, r'^\[\{.*"name":\s*"echo".*\]\n$'),
    ("everything", "call echo message=hello", 0, r"^Echo: hello\n$"),
    ("everything", "call get-sum a=2 b=3", 0, r"\b5\b"),
    ("everything", "call echo message=hello --era legacy", 0, r"^Echo: hello\n$"),
    ("everything", "call echo --json {}", 1, r""),
    ("everything", "call echo message=hello --era modern", 3, r"^$"),
    ("everything", "ping", 0, r"."),
    ("everything", "request tools/list", 0, r'"tools"'),
    ("everything", "call trigger-long-running-operation duration=60 steps=2 --timeout 1", 4, r"^$"),
    ("filesystem", "tools", 0, r"^list_allowed_directories\t"),
    ("filesystem", "call write_file path={}/note content=kept", 0, r"note"),
    ("filesystem", "call read_text_file path={}/note", 0, r"^kept\n$"),
    ("filesystem", "call read_text_file path=/etc/passwd", 1, r""),
    ("memory", "tools", 0, r"^create_entities\t"),
    ("memory", "call read_graph --env MEMORY_FILE_PATH={}/memory.json", 0, r'"entities"'),
    ("modern", "tools", 0, r"^echo\tGives the message back\n"),
    ("modern", "call echo message=hello", 0, r"^Echo: hello\n$"),
    ("modern", "call add a=2 b=3.5 --era modern", 0, r"^5\.5\n$"),
    ("modern", "call add a=2 b=3 --era legacy", 0, r"^5\n$"),
    ("modern", "ping", 0, r"."),
    ("modern-reject", "tools", 0, r"^add\tAdds two numbers\n"),
    ("modern-reject", "call echo message=hello", 0, r"^Echo: hello\n$"),
    ("modern-reject", "request server/discover", 0, r'"supportedVersions"'),
    ("npx", "call echo message=hello", 0, r"^Echo: hello\n$"),
]


def install(folder):
    """npm ci, unless the folder has these very files already."""
    folder.mkdir(parents=True, exist_ok=True)
    done = folder / "node_modules/.installed"
    pinned = b"".join((HERE / name).read_bytes() for name in PINNED)
    if done.exists() and done.read_bytes() == pinned:
        return
    for name in PINNED:
        shutil.copy(HERE / name, folder / name)
    subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"], cwd=folder,
                   check=True, stdin=subprocess.DEVNULL, timeout=INSTALL_SECONDS)
    done.write_bytes(pinned)


def registry_is_reached(folder):
    command = ["npm", "view", "@modelcontextprotocol/server-everything", "version"]
    return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, timeout=RUN_SECONDS,
                          capture_output=True).returncode == 0


def marked(mark):
    """The pids of living processes that have the mark in their environment."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if mark.encode() in pathlib.Path(f"/proc/{pid}/environ").read_bytes():
                yield int(pid)
        except OSError:
            pass


def left_behind(mark):
    """What the run left: a process that has been killed gets time to vanish, no other does."""
    left = []
    for pid in marked(mark):
        try:
            pidfd = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        poller = select.poll()
        poller.register(pidfd, select.POLLIN)
        if not poller.poll(GONE_SECONDS * 1000):
            left.append(pid)
            os.kill(pid, signal.SIGKILL)
        os.close(pidfd)
    return left


def run_case(mcpump, folder, scratch, case):
    """Returns what is wrong, one line each."""
    server, arguments, want_status, want_output = case
    mark = f"MCPUMP_INTEROP={uuid.uuid4()}"
    words = [word.replace("{}", scratch) if word != "{}" else word for word in arguments.split()]
    command = [word.replace("{}", scratch) for word in SERVERS[server]]
    # npx would take what is installed beside it; elsewhere it has to find the package itself.
    where = scratch if server == "npx" else folder
    done = subprocess.run([mcpump, *words, "--env", mark, "--", *command], cwd=where, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=RUN_SECONDS)
    wrong = [f"left process {pid} behind" for pid in left_behind(mark)]
    if done.returncode != want_status:
        wrong.append(f"exit status {done.returncode}, not {want_status}")
    if not re.search(want_output, done.stdout, re.MULTILINE):
        wrong.append(f"stdout does not match {want_output!r}: {done.stdout[:2000]!r}")
    if wrong:
        wrong.append(f"stderr: {done.stderr[-2000:]}")
    return wrong


def main(mcpump, folder):
    if not shutil.which("npm"):
        print("skipped: there is no npm")
        return 77
    mcpump, folder = os.path.abspath(mcpump), pathlib.Path(folder)
    install(folder)
    reached = registry_is_reached(folder)
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for case in CASES:
            name = f"{case[0]}: {case[1]}"
            if case[0] == "npx" and not reached:
                print(f"skip {name}: the npm registry is not reached")
                continue
            wrong = run_case(mcpump, folder, os.path.realpath(scratch), case)
            print("FAIL" if wrong else "ok  ", name, *wrong, sep=" " if not wrong else "\n     ")
            failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
