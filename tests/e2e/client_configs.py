"""Configs that the agents themselves read, with a server of somebody else's that is one to them."""

from __future__ import annotations

import json

STRICT = (
    "absent", "empty", "blank", "nothing", "other keys", "other servers", "no servers", "one line",
    "crlf", "tabs", "four spaces", "no last line end", "bom", "beyond ASCII", "large",
)  # fmt: skip
COMMENTED = ("line comment", "block comment", "trailing commas", "only a comment", "comment last")
BROKEN = ("cut off", "servers are a list", "not UTF-8")


def config(kind: str, servers: str, other: dict[str, object]) -> bytes | None:
    """A config of a kind; None: there is none.

    servers: the member that holds servers. other: somebody else's server.
    """
    filled = {"$schema": "https://x/y", "theme": "dark", servers: {"other": other}, "last": [1, 2]}
    made: dict[str, str | bytes | None] = {
        "absent": None,
        "empty": "",
        "blank": "\n  \n",
        "nothing": "{}",
        "other keys": json.dumps({"$schema": "https://x/y", "a": {"b": None}}, indent=2) + "\n",
        "other servers": json.dumps(filled, indent=2) + "\n",
        "no servers": json.dumps({"$schema": "https://x/y", servers: {}}, indent=2) + "\n",
        "one line": json.dumps(filled) + "\n",
        "crlf": json.dumps(filled, indent=2).replace("\n", "\r\n") + "\r\n",
        "tabs": json.dumps(filled, indent="\t") + "\n",
        "four spaces": json.dumps(filled, indent=4) + "\n",
        "no last line end": json.dumps(filled, indent=2),
        "bom": "\ufeff" + json.dumps(filled, indent=2),
        "beyond ASCII": json.dumps({**filled, "ключ": "值🙂"}, indent=2, ensure_ascii=False),
        "large": json.dumps({**filled, "many": {f"k{n}": "x" * 50 for n in range(300)}}, indent=1),
        "line comment": '// mine\n{\n  // theirs\n  "a": 1, // "b"\n  "c": {} // end\n}\n',
        "block comment": f'/* {{ */ {{ "a": 1, /* , */ "{servers}": {{ /* none */ }} }} /* }} */\n',
        "trailing commas": '{\n  "a": [1, 2,],\n  "b": {"c": 1,},\n}\n',
        "only a comment": "// nothing yet\n",
        "comment last": f'{{\n "{servers}": {{\n  "o": {json.dumps(other)}\n  // more\n }}\n}}',
        "cut off": '{"a": 1,\n "b": {',
        "servers are a list": json.dumps({servers: []}),
        "not UTF-8": b'{"a": "\xff\xfe"}',
    }
    given = made[kind]
    return given.encode() if isinstance(given, str) else given
