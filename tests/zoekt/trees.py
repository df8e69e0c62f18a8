"""Small repositories, and the answers of the real Zoekt about them, recorded for machines without.

`TRISEEK_GOLDEN=update pytest tests/zoekt/test_recorded.py` records them again.
"""

from __future__ import annotations

import json
import os
import shutil
import urllib.parse
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests import zoekt_programs

if TYPE_CHECKING:
    from collections.abc import Iterator

GOLDEN = Path(__file__).parent.parent / "golden" / "zoekt"
FILES: dict[str, dict[str, bytes]] = {
    "shapes": {
        "main.go": b"package shapes\n\n// Caf\xc3\xa9 needle\n"
        b"type Needle struct {\n\tName string\n}\n\n"
        b"func (n *Needle) Thread() string {\n\treturn n.Name\n}\n",
        "latin.txt": b"caf\xe9 needle\nlast line without an end: needle",
        "crlf.txt": b"one\r\ntwo needle\r\nthree\r\n",
        "many.txt": b"".join(b"line %d\n" % i for i in range(1, 30)) + b"needle needle\n",
        "docs/needle.md": b"nothing of that word here\n",
        "binary.bin": b"\0\1\2 needle",
        "\u00e9t\u00e9.txt": "été needle été needle\n".encode(),
    },
    "tools": {
        "run.py": b"import sys\n\n\ndef needle(argument):\n    return argument\n\n\n"
        b"needle(sys.argv)\n",
        "empty.txt": b"",
    },
    "space name": {"x.c": b"int needle = 1;\n"},
}
QUERIES = {
    "word": "needle",
    "symbol": "sym:needle",
    "file": "f:needle",
    "lines": r"needle\nlast",
    "multiline": r"string..\n\treturn",
    "accent": "été",
    "none": "nothing_has_this_word",
}


def write(folder: Path, *names: str) -> None:
    """Write some of the repositories; all of them by default."""
    for name in names or FILES:
        for path, content in FILES[name].items():
            target = folder / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


def index(trees: Path, indexes: Path, *names: str) -> None:
    """Index repositories, with symbols if Universal Ctags is here."""
    if program := ctags():
        os.environ.setdefault("CTAGS_COMMAND", program)
    for name in names or FILES:
        zoekt_programs.index(trees / name, indexes)


def ctags() -> str | None:
    """The program of Universal Ctags, which Zoekt finds by itself under one name only."""
    return shutil.which("universal-ctags") or shutil.which("ctags")


def answers(url: str) -> Iterator[tuple[str, Any]]:
    """Yield name and document of the answers of a server."""
    for name, query in QUERIES.items():
        for kind, chunks in (("lines", False), ("chunks", True)):
            options = {
                "MaxDocDisplayCount": 50, "MaxMatchDisplayCount": 200, "NumContextLines": 1,
                "ChunkMatches": chunks,
            }  # fmt: skip
            yield f"{name}_{kind}", post(f"{url}/api/search", {"Q": query, "Opts": options})
        words = urllib.parse.urlencode({"q": query, "num": 50, "ctx": 1, "format": "json"})
        with urllib.request.urlopen(f"{url}/search?{words}") as reply:
            yield f"{name}_web", json.load(reply)
    yield "list", post(f"{url}/api/list", {"Q": ""})
    with urllib.request.urlopen(f"{url}/search?q=r:&format=json") as reply:
        yield "list_web", json.load(reply)


def post(url: str, document: Any) -> Any:
    """Return the JSON with which a server answers JSON."""
    request = urllib.request.Request(url, json.dumps(document).encode())
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)


def recorded(name: str) -> bytes:
    """The body of a recorded answer."""
    return (GOLDEN / f"{name}.json").read_bytes()


def record(url: str) -> None:
    """Record the answers of a server, without what differs each time."""
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for name, document in answers(url):
        text = json.dumps(stable(document), indent=1, sort_keys=True) + "\n"
        (GOLDEN / f"{name}.json").write_text(text, encoding="ascii")


def stable(value: Any, name: str = "") -> Any:
    """Return a document with durations, dates and folders replaced."""
    if name in ("Duration", "Wait", "MatchTreeConstruction", "MatchTreeSearch"):
        return 1000
    if name == "IndexTime" or name == "LatestCommitDate":
        return "2026-11-23T10:00:00.123456789Z"
    if name == "Source":
        return "/repositories"
    if name == "ID" and isinstance(value, str):
        return "0"
    if isinstance(value, dict):
        return {key: stable(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [stable(item) for item in value]
    return value


def unordered(value: Any) -> Any:
    """Return a document whose lists are sorted: shards are answered from in any order."""
    if isinstance(value, dict):
        return {key: unordered(item) for key, item in value.items()}
    if isinstance(value, list):
        return sorted(map(unordered, value), key=lambda item: json.dumps(item, sort_keys=True))
    return value
