#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what a client wrote to a server, line by line, against the schema of its revision.

    schema_check.py RECORDING...

A connection is of the modern revision until it says `initialize`; from there on it is legacy.
"""
import json
import pathlib
import sys

import jsonschema

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
LEGACY = "2025-11-25"
MODERN = "2026-07-28"


class Revision:
    """The definitions of one schema, by the method that they describe."""

    def __init__(self, version):
        self.version = version
        self.schema = json.loads((DATA / f"mcp-{version}.schema.json").read_text())
        self.requests = self._by_method("ClientRequest")
        self.notifications = self._by_method("ClientNotification")

    def _by_method(self, union):
        definitions = self.schema["$defs"]
        parts = [part["$ref"].rsplit("/", 1)[1] for part in definitions[union].get("anyOf", [])]
        return {definitions[name]["properties"]["method"]["const"]: name
                for name in parts or [union]}

    def errors(self, message, definition):
        schema = {"$defs": self.schema["$defs"], "$ref": f"#/$defs/{definition}"}
        for error in jsonschema.Draft202012Validator(schema).iter_errors(message):
            at = "/".join(map(str, error.absolute_path)) or "message"
            yield f"{self.version} {definition}: {at}: {error.message}"


REVISIONS = {version: Revision(version) for version in (LEGACY, MODERN)}


def definition_of(message, revision):
    """The name of the definition that the message must fit, or None when there is none."""
    method = message.get("method")
    if method is None:
        # The client of a modern server is asked nothing, so it answers nothing.
        if revision.version == MODERN:
            return None
        return "JSONRPCErrorResponse" if "error" in message else "JSONRPCResultResponse"
    known = revision.requests if "id" in message else revision.notifications
    return known.get(method)


def check_lines(lines):
    """Returns the methods that were seen ("" for a response), and what is wrong."""
    revision, seen, wrong = REVISIONS[MODERN], set(), []
    for number, line in enumerate(lines, 1):
        try:
            message = json.loads(line)
        except ValueError as error:
            wrong.append(f"line {number}: {error}: {line[:200]}")
            continue
        if not isinstance(message, dict):
            wrong.append(f"line {number}: not an object: {line[:200]}")
            continue
        if message.get("method") == "initialize":
            revision = REVISIONS[LEGACY]
        seen.add(message.get("method", ""))
        definition = definition_of(message, revision)
        errors = (revision.errors(message, definition) if definition
                  else [f"{revision.version} has no such message for a client"])
        wrong += [f"line {number}: {error}: {line[:200]}" for error in errors]
    return seen, wrong


def check_file(path):
    data = pathlib.Path(path).read_bytes()
    seen, wrong = check_lines(data.decode().split("\n")[:-1])
    if data and not data.endswith(b"\n"):
        wrong.append("the last line has no end")
    return seen, wrong


if __name__ == "__main__":
    failures = [f"{path}: {text}" for path in sys.argv[1:] for text in check_file(path)[1]]
    print(*failures, sep="\n", end="\n" if failures else "")
    sys.exit(1 if failures else 0)
