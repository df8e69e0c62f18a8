"""Config files as people and programs leave them."""

from __future__ import annotations

import json

OTHER = {"command": "other-server", "args": ["--flag", "é"], "env": {"KEY": "v"}}
HOOK = {"matcher": "Bash", "hooks": [{"type": "command", "command": "notify-send done"}]}
OLD_HOOK = "'/old/place/triseek' memo-observe --event pre-tool-use"


def pretty(value: object, indent: int | str = 2) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False) + "\n"


def plain(servers: str) -> dict[str, bytes | None]:
    """What every client reads. servers: the member that holds the list of servers."""
    full = {"theme": "dark", servers: {"other": OTHER}, "hooks": {"PreToolUse": [HOOK]}, "n": 1}
    many = {servers: {f"s{n}": OTHER for n in range(40)}, "hooks": {"Stop": [HOOK] * 3}}
    deep: dict[str, object] = {"x": 1}
    for _ in range(120):
        deep = {"deeper": [deep]}
    elsewhere = {**OTHER, "command": "/old/place/triseek", "args": ["mcp", "serve"]}
    texts = {
        "empty": "",
        "blank": " \n\n",
        "object": "{}",
        "object and newline": "{}\n",
        "spread object": "{\n}\n",
        "spaced object": "{ }",
        "one line": '{"theme":"dark","n":1}',
        "one line, servers": json.dumps(full),
        "minified": json.dumps(full, separators=(",", ":")),
        "pretty": pretty(full),
        "four spaces": pretty(full, 4),
        "tabs": pretty(full, "\t"),
        "no final newline": pretty(full).rstrip(),
        "CRLF": pretty(full).replace("\n", "\r\n"),
        "many newlines at the end": pretty(full) + "\n\n",
        "empty servers": pretty({servers: {}, "hooks": {}}),
        "empty lists": pretty({"hooks": {"PreToolUse": [], "PostToolUse": []}, servers: {}}),
        "other servers": pretty({servers: {"a": OTHER, "triseek2": OTHER}}),
        "other hooks": pretty({"hooks": {name: [HOOK] for name in ("PreToolUse", "SessionEnd")}}),
        "unicode": pretty({"naïve 🙂": "日本語\u2028", servers: {"ünï": OTHER}}),
        "escapes": '{"a\\u0062\\"c": "\\ud83d\\ude42 \\\\", "n": -1.5e+10, "s": "// no comment"}\n',
        "deep": pretty(deep, 1),
        "many": pretty(many),
        "ours from elsewhere": pretty({servers: {"triseek": elsewhere, "z": OTHER}}),
        "our older hooks": pretty(
            {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": OLD_HOOK}]}]}}
        ),
        "odd layout": '\n\n  { "theme"\n:\n"dark" ,\n"n":1\n,"hooks":{"PreToolUse":[\n]\n}}\n',
    }
    return {"absent": None} | {name: text.encode() for name, text in texts.items()}


def lenient(servers: str) -> dict[str, bytes]:
    """What is read with a byte-order mark, or with a name twice."""
    full = {servers: {"other": OTHER}, "hooks": {"PreToolUse": [HOOK]}}
    texts = {
        "BOM": "\ufeff" + pretty(full),
        "BOM and CRLF": "\ufeff" + pretty(full).replace("\n", "\r\n"),
        "BOM alone": "\ufeff",
        "a name twice": f'{{"{servers}": {{}}, "hooks": {{}}, "{servers}": {{"b": {{}}}}}}',
    }
    return {name: text.encode() for name, text in texts.items()}


def commented(servers: str) -> dict[str, bytes]:
    """What only clients read that take comments."""
    texts = {
        "line comments": '// mine\n{\n  // a\n  "%s": {\n    "a": {} // last\n  } // end\n}\n',
        "block comments": '/* a */ {\n  "%s": { /* b */ "a": /* c */ {} } /* e */\n} /* f */',
        "trailing commas": '{\n  "%s": {\n    "a": {},\n  },\n  "hooks": {"PreToolUse": [],},\n}\n',
        "comment in nothing": '{\n  "%s": {\n    // none yet\n  }\n}\n',
        "comment after comma": '{\n  "%s": {}, // why\n  /* more */\n  "n": 1, // last\n}\n',
        "an entry commented out": '{\n  "%s": {\n    // "triseek": {},\n    "a": {}\n  }\n}\n',
        "slashes in text": '{\n  "u": "http://x/*y*/", // "%s"\n  "v": [1, 2, ],\n}\n',
        "CRLF": '{\r\n\t// one\r\n\t"%s": {\r\n\t\t"a": {}, // two\r\n\t},\r\n}\r\n',
    }
    return {name: (text % servers).encode() for name, text in texts.items()} | {
        "comments alone": b"// nothing yet\n",
        "a comment without a newline": b"/* nothing */ // yet",
    }


def broken(servers: str) -> dict[str, bytes]:
    """What nothing can be added to."""
    foreign = {servers: {"triseek": {"command": "somebody-elses", "args": []}}}
    return {
        "unclosed": b'{"a": {',
        "a word": b"hello",
        "two values": b"{} {}",
        "an array": b"[]\n",
        "a string": b'"x"',
        "null": b"null",
        "no colon": b'{"a" 1}',
        "an open comment": b'{"a": 1} /* ',
        "single quotes": b"{'a': 1}",
        "a lone comma": b"{,}",
        "not UTF-8": b'{"a": "\xff"}',
        "UTF-16": '{"a": 1}'.encode("utf-16"),
        "NUL": b'{"a": "\0"}',
        "nested without end": b"[" * 100_000,
        "servers are a list": pretty({servers: [], "hooks": []}).encode(),
        "servers are null": pretty({servers: None, "hooks": None}).encode(),
        "somebody's entry": pretty(foreign | {"hooks": "x"}).encode(),
        "a number of a million digits": b'{"a": ' + b"1" * 1_000_000 + b"}",
    }


TOML: dict[str, bytes | None] = {"absent": None} | {
    name: text.encode()
    for name, text in {
        "empty": "",
        "blank": "\n\n",
        "comment": "# mine\n",
        "keys": 'model = "gpt"\napproval = "never"\n',
        "no final newline": 'model = "gpt"',
        "no final newline, table": "[a]\nb = 1",
        "CRLF": 'model = "gpt"\r\n\r\n[a]\r\nb = 1\r\n',
        "BOM": '\ufeffmodel = "gpt"\n',
        "other servers": '[mcp_servers.other]\ncommand = "x"\n\n[mcp_servers.other.env]\nK = "v"\n',
        "tables after": '[mcp_servers.a]\ncommand = "x"\n\n# why\n[projects."/a b"]\ntrust = "y"\n',
        "dotted": 'mcp_servers.other.command = "x"\n',
        "quoted": '["mcp_servers"."oth.er"]\ncommand = "x"\n',
        "long strings": "a = \"\"\"\n[mcp_servers.triseek]\n\"\"\"\nb = '''\n[x\n'''\n",
        "arrays": "a = [\n  1, # one\n  2,\n]\n",
        "arrays of tables": "[[a]]\nb = 1\n[[a]]\nb = 2\n",
        "inline tables": "a = { b = { c = 1 } }\n",
        "unicode": '"naïve 🙂" = "日本語"\n',
        "comment at the end": "[a]\nb = 1 # one\n# the end",
        "many newlines at the end": "[a]\nb = 1\n\n\n\n",
        "indented": "[a]\n  b = 1\n  [a.c]\n    d = 1\n",
        "dates": "at = 1979-05-27T07:32:00Z\n",
        "ours from elsewhere": (
            '[mcp_servers.triseek] # mine\ncommand = "/old/triseek"\nargs = ["mcp", "serve"]\n'
            '[mcp_servers.triseek.env]\nA = "b"\n\n# next\n[z]\na = 1\n'
        ),
        "ours at the end": '[a]\n[mcp_servers.triseek]\ncommand="triseek"\nargs=["mcp","serve"]',
        "hooks state": '[hooks.state."/a/hooks.json:pre_tool_use:0:0"]\ntrusted_hash = "1"\n',
        "tabs": "[a]\n\tb = 1\n",
        "empty table": "[mcp_servers]\n",
    }.items()
}
TOML_BROKEN: dict[str, bytes] = {
    "unclosed": b"[a\n",
    "a word": b"hello\n",
    "a key twice": b"a = 1\na = 2\n",
    "not UTF-8": b'a = "\xff"\n',
    "UTF-16": 'a = "b"'.encode("utf-16"),
    "NUL": b'a = "\0"\n',
    "JSON": b'{"a": 1}',
    "inline servers": b'mcp_servers = { other = { command = "x" } }\n',
    "servers are a list": b"mcp_servers = []\n",
    "somebody's entry": b'[mcp_servers.triseek]\ncommand = "somebody-elses"\n',
    "ours inline": b'mcp_servers = {triseek = {command = "triseek", args = ["mcp", "serve"]}}\n',
    "ours dotted": b'mcp_servers.triseek.command = "triseek"\nmcp_servers.triseek.args = '
    b'["mcp", "serve"]\n',
}
