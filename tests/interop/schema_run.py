#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every message that the tool, and a host of one typed call, writes fits the schema of its revision.

    schema_run.py MCPUMP DEMO_SERVER FAKE_SERVER TYPED_HOST

The servers run behind record.sh, which keeps what they are told. First the check itself is checked:
it has to refuse messages that are nearly right.
"""
import pathlib
import subprocess
import sys
import tempfile

try:
    import schema_check
except ImportError as missing:
    print(f"skipped: {missing} (Debian: python3-jsonschema)")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
RUN_SECONDS = 120

META = ('"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
        '"io.modelcontextprotocol/clientCapabilities":{}}')
INITIALIZE = ('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
              '"capabilities":{},"clientInfo":{"name":"n","version":"v"}}}')
GOOD = [
    [INITIALIZE, '{"jsonrpc":"2.0","method":"notifications/initialized"}',
     '{"jsonrpc":"2.0","id":"s","result":{}}', '{"jsonrpc":"2.0","id":2,"method":"ping"}'],
    ['{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{%s}}' % META],
]
BAD = {
    "not JSON": ["{"],
    "a number": ["1"],
    "modern without metadata": ['{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'],
    "modern without params": ['{"jsonrpc":"2.0","id":1,"method":"tools/list"}'],
    "ping in the modern era": ['{"jsonrpc":"2.0","id":1,"method":"ping","params":{%s}}' % META],
    "an answer in the modern era": ['{"jsonrpc":"2.0","id":1,"result":{}}'],
    "id null": [INITIALIZE, '{"jsonrpc":"2.0","id":null,"method":"tools/list"}'],
    "id a fraction": [INITIALIZE, '{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}'],
    "no jsonrpc": [INITIALIZE, '{"id":1,"method":"tools/list"}'],
    "initialize without clientInfo": [
        '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"x",'
        '"capabilities":{}}}'],
    "call without a name": [INITIALIZE, '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}'],
    "params an array": [INITIALIZE, '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}'],
    "unknown method": [INITIALIZE, '{"jsonrpc":"2.0","id":1,"method":"tools/run"}'],
    "error without a code": [INITIALIZE, '{"jsonrpc":"2.0","id":1,"error":{"message":"m"}}'],
}

# What the fake server is to do at the requests that it does not know, for the typed calls.
ANSWERS = " ".join(f"--on {method}:echo:{{{result}}}" for method, result in {
    "resources/list": '"resources":[]',
    "resources/templates/list": '"resourceTemplates":[]',
    "resources/read": '"contents":[]',
    "prompts/list": '"prompts":[]',
    "prompts/get": '"messages":[]',
    "completion/complete": '"completion":{"values":[]}',
    "logging/setLevel": "",
}.items())
PAGES = ('--on %s:sequence:{"results":[{"%s":[],"nextCursor":"a\\u0041"},'
         '{"%s":[],"nextCursor":"b"},{"%s":[]}]}')


def typed_runs():
    """As RUNS, by the host of one typed call; both eras."""
    calls = [("list-tools", "tools/list"), ("list-resources", "resources/list"),
             ("list-templates", "resources/templates/list"), ("list-prompts", "prompts/list"),
             ('call t {"a":1e400}', "tools/call"), ("call t", "tools/call"),
             ("read file:///a", "resources/read"), ('prompt p {"a":"1"}', "prompts/get"),
             ("prompt p", "prompts/get"), ("complete-prompt p a v", "completion/complete"),
             ('complete-prompt p a v {"b":"1"}', "completion/complete"),
             ("complete-resource file:///{a} a v", "completion/complete")]
    lists = [("list-tools", "tools/list", "tools"), ("list-prompts", "prompts/list", "prompts"),
             ("list-resources", "resources/list", "resources"),
             ("list-templates", "resources/templates/list", "resourceTemplates")]
    for era in ("legacy", "modern"):
        for call, method in calls:
            yield f"fake --era {era} {ANSWERS}", f"typed {call}", 0, {method}
            yield f"fake --era {era} {ANSWERS}", f"typed --trace {call}", 0, {method}
        for call, method, member in lists:
            pages = PAGES % (method, member, member, member)
            yield f"fake --era {era} {pages}", f"typed {call}", 0, {method}
        level = {"logging/setLevel"} if era == "legacy" else {"tools/call"}
        for word in ("debug", "emergency"):
            yield f"fake --era {era} {ANSWERS}", f"typed --level {word} call t", 0, level


HELLO = "call echo message=hello"
GIVE_UP = "call slow ms=60000 --timeout 0.5"
# (server, arguments of mcpump, exit status, methods that it has to have written; "" is an answer)
RUNS = [
    ("demo", "tools --era modern", 0, {"tools/list"}),
    ("demo", f"{HELLO} --era modern", 0, {"tools/call"}),
    ("demo", "ping --era modern", 0, {"server/discover"}),
    ("demo", "request resources/list --era modern", 1, {"resources/list"}),
    ("demo", f"{GIVE_UP} --era modern", 4, {"tools/call", "notifications/cancelled"}),
    ("demo", f"{HELLO} --era auto", 0, {"server/discover", "tools/call"}),
    ("demo --page-size 1", "tools --era modern", 0, {"tools/list"}),
    ("demo", "tools --era legacy", 0, {"initialize", "notifications/initialized", "tools/list"}),
    ("demo", f"{HELLO} --era legacy", 0, {"initialize", "tools/call"}),
    ("demo", "ping --era legacy", 0, {"initialize", "ping"}),
    ("demo", f"{GIVE_UP} --era legacy", 4, {"tools/call", "notifications/cancelled"}),
    ("demo --page-size 1", "tools --era legacy", 0, {"tools/list"}),
    ("demo --era legacy", HELLO, 0, {"server/discover", "initialize", "tools/call"}),
    ("fake --probe exit", HELLO, 0, {"server/discover", "initialize", "tools/call"}),
    ("fake --probe unsupported", HELLO, 3, {"server/discover"}),
    ("fake --era legacy --init ping-first", HELLO, 0, {"initialize", "tools/call", ""}),
    ("fake --era legacy --on tools/call:ping-me", HELLO, 0, {"tools/call", ""}),
    ("fake --era legacy --on tools/call:ask", HELLO, 0, {"tools/call", ""}),
]


def check_the_check():
    for lines in GOOD:
        if schema_check.check_lines(lines)[1]:
            yield f"the check refuses a good message: {schema_check.check_lines(lines)[1]}"
    for name, lines in BAD.items():
        if not schema_check.check_lines(lines)[1]:
            yield f"the check lets a bad message pass: {name}"


def check_run(hosts, servers, run):
    server, arguments, want_status, want_methods = run
    name, *switches = server.split()
    host, words = hosts["mcpump"], arguments.split()
    if words[0] == "typed":
        host = hosts[words.pop(0)]
    with tempfile.TemporaryDirectory() as folder:
        command = [host, *words, "--", HERE / "record.sh", folder,
                   servers[name], *switches]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=RUN_SECONDS)
        if done.returncode != want_status:
            yield f"exit status {done.returncode}, not {want_status}: {done.stderr[-1000:]}"
        methods = set()
        for path in pathlib.Path(folder).iterdir():
            seen, wrong = schema_check.check_file(path)
            methods |= seen
            yield from wrong
        if not want_methods <= methods:
            yield f"wrote {sorted(methods)}, and not {sorted(want_methods - methods)}"


def main(mcpump, demo, fake, typed):
    servers = {"demo": demo, "fake": fake}
    hosts = {"mcpump": mcpump, "typed": typed}
    failed = 0
    checks = [("the check itself", check_the_check())]
    checks += [(f"{run[0]}: {run[1]}", check_run(hosts, servers, run))
               for run in [*RUNS, *typed_runs()]]
    for name, findings in checks:
        wrong = list(findings)
        print("FAIL" if wrong else "ok  ", name, *wrong, sep="\n     " if wrong else " ")
        failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
