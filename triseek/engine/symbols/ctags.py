"""Definitions by universal-ctags, for languages without a grammar, where it is installed.

ctags runs in its interactive mode with its system-call sandbox: it gets texts through its input
and opens no file. Of a path it gets the last component alone, by which it finds the language.
Options of the user, of the searched tree and of the environment are not read.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import cache
from itertools import pairwise
from typing import Any

from triseek.engine.symbols.child import Child, ChildFailed, ChildSlow
from triseek.engine.symbols.parser import Parsed
from triseek.ipc import children
from triseek.model import budget
from triseek.model.symbol import Symbol

TAGS_MAX = 50_000
"""Most symbols of one text."""
LINE_BYTES_MAX = 2_048
"""Bytes of a line in which a name is looked for; longer lines are data."""
_DATA = "JSON,XML,SVG,Yaml,DTD,PlistXML,RelaxNG,Maven2,Glade,DBusIntrospect"
"""Languages of data: their keys are no definitions."""
_OPTIONS = (
    "--options=NONE", f"--languages=-{_DATA}", "--_interactive=sandbox", "--fields=NneKspZ",
)  # fmt: skip
_PROBE_S = 5.0
_KINDS = {"func": "function", "const": "constant", "var": "variable"}
_COMPLETED = b'{"_type": "completed"'
_LINE_ENDS = re.compile(rb"\n")


@cache
def program() -> str:
    """Return the path of a ctags that can be used, with its version; "" if there is none."""
    for name in ("universal-ctags", "ctags"):
        path = shutil.which(name)
        if path is not None and _has_sandbox(path):
            return path
    return ""


@cache
def edition() -> str:
    """Return a name of the ctags that is used, which changes with its version."""
    try:
        words = [program(), "--options=NONE", "--version"]
        version = children.run(words, timeout=_PROBE_S, **_QUIET).stdout.splitlines()[0]
    except (OSError, subprocess.TimeoutExpired, IndexError):
        return "ctags"
    return f"ctags {version.decode(errors='replace')}"


_QUIET: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": "/"}


def _has_sandbox(path: str) -> bool:
    try:
        words = [path, "--options=NONE", "--list-features"]
        out = children.run(words, timeout=_PROBE_S, **_QUIET).stdout
    except (OSError, subprocess.TimeoutExpired):
        return False
    features = {line.split()[0] for line in out.splitlines() if line.strip()}
    return {b"json", b"interactive", b"sandbox"} <= features


class Ctags:
    """A ctags process; thread-safe."""

    def __init__(self) -> None:
        self._child = Child((program() or "ctags", *_OPTIONS), _is_complete)

    def parse(self, path: bytes, text: bytes, seconds: float) -> Parsed:
        """Return the symbols of a text, as `Parser.parse` does."""
        name = path[path.rfind(b"/") + 1 :].decode(errors="replace")
        command = {"command": "generate-tags", "filename": name, "size": len(text)}
        message = json.dumps(command).encode() + b"\n" + text
        try:
            answer = self._child.ask(message, seconds)
        except ChildSlow:
            return Parsed(problem=f"it was not parsed by ctags within {seconds:.1f} s")
        except ChildFailed as error:
            return Parsed(problem=f"ctags failed ({error})")
        return Parsed(_symbols(answer, text))

    def close(self) -> None:
        """End the process. A later request starts it again."""
        self._child.close()


def _is_part(text: bytes, begin: int, end: int) -> bool:
    """Return whether a span is a part of a longer word."""
    return text[begin - 1 : begin].isalnum() or text[end : end + 1].isalnum()


def _is_complete(answer: bytearray) -> bool:
    if not answer.endswith(b"\n"):
        return False
    return answer.startswith(_COMPLETED, answer.rfind(b"\n", 0, -1) + 1)


def _symbols(answer: bytes, text: bytes) -> tuple[Symbol, ...]:
    """Return the symbols that ctags reports, with the places of their names."""
    edges = [0, *(match.end() for match in _LINE_ENDS.finditer(text)), len(text)]
    lines = list(pairwise(edges))
    symbols: dict[tuple[int, int], Symbol] = {}
    for line in answer.splitlines()[:TAGS_MAX]:
        budget.check()
        try:
            tag = json.loads(line.decode(errors="replace"))
        except ValueError:
            continue
        if not isinstance(tag, dict) or tag.get("_type") != "tag":
            continue
        number, name = tag.get("line"), tag.get("name")
        if isinstance(number, int) and isinstance(name, str) and 0 < number <= len(lines):
            symbol = _placed(tag, name, number, text, lines[number - 1])
            if symbol is not None:
                symbols.setdefault((symbol.begin, symbol.end), symbol)
    return tuple(symbols[span] for span in sorted(symbols))


def _placed(
    tag: dict[str, Any], name: str, number: int, text: bytes, line: tuple[int, int]
) -> Symbol | None:
    """Return a symbol with the place of its name in its line; None if it is not there."""
    word, end = name.encode(), min(line[1], line[0] + LINE_BYTES_MAX)
    begin = first = text.find(word, line[0], end)
    while begin >= 0 and _is_part(text, begin, begin + len(word)):
        begin = text.find(word, begin + 1, end)
    begin = begin if begin >= 0 else first
    if begin < 0 or not word:
        return None
    end_line, kind = tag.get("end"), str(tag.get("kind", ""))
    scope = re.split(r"::|[./]", str(tag.get("scope", "")))[-1]
    scope_kind = str(tag.get("scopeKind", "")) if scope else ""
    return Symbol(
        name,
        _KINDS.get(kind, kind),
        number,
        end_line if isinstance(end_line, int) and end_line >= number else number,
        begin,
        begin + len(word),
        scope,
        _KINDS.get(scope_kind, scope_kind),
    )
