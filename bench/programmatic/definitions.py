"""Definitions as universal-ctags sees them: with their extent, and independent of triseek."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from bench import command
from bench.model import Faulty

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_ARGUMENTS = (
    "--options=NONE", "--output-format=json", "--fields=+ne", "--sort=no",
    "--languages=Python,Go,Rust,TypeScript,JavaScript", "--exclude=.git",
)  # fmt: skip
_KINDS = frozenset(
    ["class", "enum", "func", "function", "interface", "method", "struct", "trait", "type"]
)
"""Without variables, fields and imports, of which ctags' parsers disagree."""
_PYTHON_METHOD = "member"
_CLOSING = re.compile(r"(\s*)\}[;,)]*$")
_BRACED = (".rs", ".ts", ".tsx", ".js")
"""Languages of which ctags 5.9 does not know where definitions end."""


class Definition(NamedTuple):
    """A definition of a name."""

    path: str
    line: int
    end: int
    """Its last line; 0 where ctags does not know it."""


def of_folder(folder: Path) -> Mapping[str, list[Definition]]:
    """Return the definitions below a folder by name; paths are relative to it.

    Raises:
        Faulty: Universal ctags is not installed, or failed.
    """
    try:
        ended = command.run(["ctags", *_ARGUMENTS, "-R", "-f", "-", "."], cwd=folder, keep=True)
    except FileNotFoundError as error:
        raise Faulty("ctags is not on PATH; definitions are compared with those it sees") from error
    if ended.code:
        raise Faulty(f"ctags: {ended.errors[-200:]}")
    found: dict[str, list[Definition]] = defaultdict(list)
    for line in ended.output.decode(errors="replace").splitlines():
        tag = json.loads(line)
        if tag.get("_type") == "tag" and _is_definition(tag["path"], tag.get("kind", "")):
            path = tag["path"].removeprefix("./")
            found[tag["name"]].append(Definition(path, tag["line"], tag.get("end", 0)))
    return found


def _is_definition(path: str, kind: str) -> bool:
    return kind in _KINDS or (kind == _PYTHON_METHOD and path.endswith(".py"))


def extent(folder: Path, definition: Definition) -> int:
    """Return the last line of a definition; 0 if it is not known.

    Where ctags does not say it, it is the next line that closes a brace and is indented as the
    definition is: the formatters of Rust and TypeScript write it so.
    """
    if definition.end or not definition.path.endswith(_BRACED):
        return definition.end
    lines = (folder / definition.path).read_text("utf-8", "replace").split("\n")
    head = lines[definition.line - 1]
    indentation = head[: len(head) - len(head.lstrip())]
    if head.rstrip().endswith((";", "}")):
        return 0
    for number, line in enumerate(lines[definition.line :], definition.line + 1):
        closing = _CLOSING.fullmatch(line.rstrip())
        if closing and closing[1] == indentation:
            return number
    return 0
