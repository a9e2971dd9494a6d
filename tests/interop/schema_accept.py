#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Everything that a server may send, by the schema of its revision, is taken.

    schema_accept.py FAKE_SERVER TYPED_HOST

The schemas hold no examples, so objects are made from the definitions: one with what is required,
one with all members, and one for each alternative. Each is checked against the schema first. What
the fake server then sends must come out of the host byte for byte, and nothing may count as junk.
"""
import json
import subprocess
import sys

try:
    import jsonschema
    import schema_check
except ImportError as missing:
    print(f"skipped: {missing} (Debian: python3-jsonschema)")
    sys.exit(77)

RUN_SECONDS = 60
DEPTH = 7  # of what is not required

FORMATS = {"uri": "file:///a", "uri-template": "file:///{a}", "byte": "AAAA"}
# What a string or a number may well be, and is written in more than one way.
STRING = 'a"\\/\n\u00e9\u2028\U0001f600'

# definition: the call of the host, the request that it makes, the member that a list gives
TYPED = {
    "ListToolsResult": ("list-tools", "tools/list", "tools"),
    "ListResourcesResult": ("list-resources", "resources/list", "resources"),
    "ListResourceTemplatesResult": ("list-templates", "resources/templates/list",
                                    "resourceTemplates"),
    "ListPromptsResult": ("list-prompts", "prompts/list", "prompts"),
    "CallToolResult": ("call t", "tools/call", None),
    "ReadResourceResult": ("read file:///a", "resources/read", None),
    "GetPromptResult": ("prompt p", "prompts/get", None),
    "CompleteResult": ("complete-prompt p a v", "completion/complete", None),
}
HELLO = {"InitializeResult": "initialize", "DiscoverResult": "server/discover"}
RAW = "x/request"  # makes any other result the reply of a raw request


class Maker:
    """Objects that fit a definition."""

    def __init__(self, revision):
        self.revision = revision
        self.definitions = revision.schema["$defs"]

    def resolve(self, schema):
        while "$ref" in schema:
            schema = self.definitions[schema["$ref"].rsplit("/", 1)[1]]
        parts = [self.resolve(part) for part in schema.get("allOf", ())]
        if not parts:
            return schema
        return {"type": "object", "required": sum((p.get("required", []) for p in parts), []),
                "properties": {key: value for p in parts
                               for key, value in p.get("properties", {}).items()}}

    def alternatives(self, schema):
        schema = self.resolve(schema)
        for part in schema.get("anyOf", ()):
            yield from self.alternatives(part)
        if "anyOf" not in schema:
            yield schema

    def make(self, schema, full, choice=0, depth=0):
        options = list(self.alternatives(schema))
        schema = options[choice % len(options)]
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][choice % len(schema["enum"])]
        kinds = schema.get("type", "object" if "properties" in schema else "any")
        kind = kinds if isinstance(kinds, str) else kinds[choice % len(kinds)]
        return getattr(self, f"make_{kind}")(schema, full, choice, depth)

    def make_string(self, schema, full, choice, depth):
        return FORMATS.get(schema.get("format"), STRING)

    def make_integer(self, schema, full, choice, depth):
        return [0, 9007199254740993, 12345678901234567890123][choice % 3]

    def make_number(self, schema, full, choice, depth):
        numbers = [0.5, 1, 1e-7] if schema.get("maximum") == 1 else [0.5, 12, 1e300]
        return numbers[choice % 3]

    def make_boolean(self, schema, full, choice, depth):
        return True

    def make_null(self, schema, full, choice, depth):
        return None

    def make_any(self, schema, full, choice, depth):
        return [None, 1.5, "s", [1], {"k": []}, False][choice % 6]

    def make_array(self, schema, full, choice, depth):
        items = schema.get("items", {})
        count = len(list(self.alternatives(items))) if full and depth < DEPTH else 0
        count = max(count, schema.get("minItems", 0))
        return [self.make(items, full, choice + i, depth + 1) for i in range(count)]

    def make_object(self, schema, full, choice, depth):
        required = schema.get("required", [])
        wanted = schema.get("properties", {}) if full and depth < DEPTH else required
        made = {key: self.make(schema.get("properties", {}).get(key, {}), full, choice, depth + 1)
                for key in wanted}
        more = schema.get("additionalProperties", not schema.get("properties"))
        if full and depth < DEPTH and more is not False:
            value = more if isinstance(more, dict) else {"type": "string"}
            made["x.example/more"] = self.make(value, full, choice, depth + 1)
        return made

    def samples(self, name):
        """Objects that fit, none twice."""
        seen = []
        for full, choice in [(False, 0), *((True, i) for i in range(6))]:
            sample = self.make({"$ref": f"#/$defs/{name}"}, full, choice)
            if sample not in seen:
                seen.append(sample)
        for sample in seen:
            for error in self.revision.errors(sample, name):
                raise SystemExit(f"the maker is wrong: {error}")
        return seen


def in_union(revision, union):
    return [part["$ref"].rsplit("/", 1)[1]
            for part in revision.schema["$defs"].get(union, {}).get("anyOf", [])]


def text_of(value, way):
    """One of several spellings."""
    return (json.dumps(value) if way % 2 else
            json.dumps(value, ensure_ascii=False, separators=(",", ":")))


class Host:
    def __init__(self, fake, typed, version):
        self.fake, self.typed = fake, typed
        self.era = "modern" if version == schema_check.MODERN else "legacy"

    def run(self, call, *rules):
        """The output of the call, or None and what went wrong."""
        switches = [word for rule in rules for word in ("--on", rule)]
        command = [self.typed, "--era", self.era, *call, "--", self.fake, "--era", self.era, *switches]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=RUN_SECONDS)
        self.status = done.returncode
        return done.stdout.decode(), f"status {done.returncode}: {done.stderr.decode()[-500:]}"


def check_result(host, name, sample, way):
    call, method, member = TYPED.get(name, (f"request {RAW}", RAW, None))
    if member is not None:
        sample = {key: value for key, value in sample.items() if key != "nextCursor"}
    if name in TYPED and "resultType" in sample:
        sample["resultType"] = "complete"
    text = text_of(sample, way)
    output, why = host.run(call.split(), f"{method}:echo:{text}")
    if host.status != 0:
        return why
    if member is None:
        return None if output == text else f"came out as {output[:500]}"
    return None if json.loads(output) == sample[member] else f"came out as {output[:500]}"


def check_hello(host, name, sample, way):
    """It is connected, and what it said of itself comes out."""
    if name == "InitializeResult":
        sample["protocolVersion"] = schema_check.LEGACY
        info = sample["serverInfo"]
    else:
        sample["supportedVersions"] = ["2099-01-01", schema_check.MODERN]
        info = sample.get("_meta", {}).get("io.modelcontextprotocol/serverInfo")
    output, why = host.run(["info"], f"{HELLO[name]}:echo:{text_of(sample, way)}")
    if host.status != 0:
        return why
    if info is None:
        return None if output == "" else f"came out as {output[:500]}"
    return None if json.loads(output) == info else f"came out as {output[:500]}"


def check_notification(host, name, sample, way):
    params = text_of({"method": sample["method"], "params": sample.get("params", {})}, way)
    _, why = host.run(["request", RAW, "{}"], f"{RAW}:notify:{params}")
    return None if host.status == 0 else why


def check_request(host, name, sample, way):
    ask = text_of({"method": sample["method"], "params": sample.get("params", {})}, way)
    output, why = host.run(["request", RAW, "{}"], f"{RAW}:ask:{ask}")
    if host.status != 0:
        return why
    answer = json.loads(output)["answer"]
    return None if ("result" in answer) != ("error" in answer) else f"answered with {answer}"


def check_error(host, name, sample, way):
    sample["error"]["code"] = min(sample["error"]["code"], 2**62)  # what the fake server can write
    output, why = host.run(["call", "t"], f"tools/call:error:{text_of(sample['error'], way)}")
    if host.status != 1:
        return why
    return None if json.loads(output) == sample["error"] else f"came out as {output[:500]}"


def checks_of(revision):
    for union, check in (("ServerResult", check_result), ("ServerNotification", check_notification),
                         ("ServerRequest", check_request)):
        for name in in_union(revision, union):
            yield name, check_hello if name in HELLO else check
    yield "JSONRPCErrorResponse", check_error


def main(fake, typed):
    count, failed = 0, 0
    for version, revision in schema_check.REVISIONS.items():
        host, maker, names = Host(fake, typed, version), Maker(revision), set()
        for name, check in checks_of(revision):
            names.add(name)
            for way, sample in enumerate(maker.samples(name)):
                why = check(host, name, sample, way)
                count += 1
                failed += why is not None
                if why is not None:
                    print(f"FAIL {version} {name}: {text_of(sample, way)[:1500]}\n     {why}")
        missing = set(TYPED) - names
        if missing:
            print(f"FAIL {version}: no definition {sorted(missing)}")
            failed += 1
    print(f"{count} objects, {failed} of them not taken")
    return 1 if failed or count < 100 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
