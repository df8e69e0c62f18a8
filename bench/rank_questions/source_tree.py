"""What a repository holds: source files, tests, changelogs, and definitions by Universal Ctags.

The classes of files are this module's own; nothing of the ranking is imported.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from bench.model import Faulty

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SUFFIXES = {"Python": (".py",), "Go": (".go",), "TypeScript": (".ts", ".tsx")}
TEST = re.compile(
    r"(?:^|/)(?:t|tests?|__tests__|specs?|testdata|e2e|fixtures|mocks|__mocks__)/"
    r"|(?:^|/)[^/]*[-_]tests?/|(?:^|/)(?:test_|conftest\.)[^/]*$"
    r"|[._-](?:test|tests|spec)(?:-d)?\.[^/.]+$"
)
_ELSEWHERE = re.compile(
    r"(?:^|/)(?:docs?|examples?|samples?|demos?|benchmarks?|scripts?|tools|vendor|third_party"
    r"|node_modules|dist|generated|__generated__|\.[^/]+)/|\.d\.ts$|[._]pb\.go$|_pb2\.py$"
)
CHANGELOG = re.compile(
    r"(?i)(?:^|/)(?:change(?:log|s)|history|news)[^/]*\.(?:md|mdx|rst|txt)$|^(?:CHANGES|NEWS)$"
)


class Level(IntEnum):
    """What kind of thing a definition is of."""

    MEMBER = 0
    """A method, a field, an enumerator."""
    VALUE = 1
    """A constant or a variable of a file."""
    FUNCTION = 2
    TYPE = 3


_KINDS = {
    Level.TYPE: "class struct interface enum type alias talias namespace",
    Level.FUNCTION: "function func generator",
    Level.VALUE: "constant const variable var",
    Level.MEMBER: "member method methodSpec enumerator property",
}
_FUNCTIONS = frozenset(("function", "func", "generator", "method", "methodSpec"))
_OF_FILES = (Level.FUNCTION, Level.VALUE)
_LEVELS = {kind: level for level, kinds in _KINDS.items() for kind in kinds.split()}


class Definition(NamedTuple):
    """A name, and a file that defines it."""

    name: str
    path: str
    level: Level
    is_method: bool
    """Whether it is a function in a type."""


class SourceTree(NamedTuple):
    """A repository; paths are relative to its root and sorted."""

    root: Path
    language: str
    sources: list[str]
    """Files of its language, without tests, docs, examples, tools, generated and foreign code."""
    tests: list[str]
    changelogs: list[str]
    definitions: list[Definition]
    """Of the sources."""

    def text(self, path: str) -> str:
        """What a file says."""
        return (self.root / path).read_text(encoding="utf-8", errors="replace")


def read(root: Path, language: str) -> SourceTree:
    """Read a repository.

    Raises:
        Faulty: ctags is not on this machine.
    """
    paths = sorted(
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if path.is_file() and not path.is_symlink() and ".git" not in path.parts
    )
    code = [path for path in paths if path.endswith(SUFFIXES[language])]
    sources = [path for path in code if not (TEST.search(path) or _ELSEWHERE.search(path))]
    return SourceTree(
        root,
        language,
        sources,
        [path for path in code if TEST.search(path)],
        [path for path in paths if CHANGELOG.search(path)],
        list(_definitions(root, language, sources)),
    )


def _definitions(root: Path, language: str, paths: list[str]) -> Iterable[Definition]:
    program = shutil.which("ctags")
    if program is None:
        raise Faulty("ctags is not on this machine; install universal-ctags")
    options = ["--output-format=json", "--fields=NFKP{scopeKind}", "--map-TypeScript=+.tsx"]
    done = subprocess.run(
        [program, *options, f"--languages={language}", "-L", "-", "-f", "-"],
        cwd=root, input="\n".join(paths), capture_output=True, text=True, check=True,
    )  # fmt: skip
    for line in done.stdout.splitlines():
        tag = json.loads(line)
        level = _level(tag)
        if level is not None:
            kinds = {*_FUNCTIONS, "member"} if language == "Python" else _FUNCTIONS
            is_method = level == Level.MEMBER and tag["kind"] in kinds
            yield Definition(tag["name"], tag["path"], level, is_method)


def _level(tag: dict[str, str]) -> Level | None:
    """What a tag is of; None if it is local to a function, or imported."""
    level = _LEVELS.get(tag["kind"])
    scope = tag.get("scopeKind", "package")
    line = tag["pattern"][2:]
    if tag["kind"] == "alias" and not re.search(rf"\btype {re.escape(tag['name'])}\b *[=<$]", line):
        return None  # `import { type Name, }`
    if level == Level.VALUE and (scope in _FUNCTIONS or line[:1].isspace()):
        return None
    return Level.MEMBER if scope != "package" and level in _OF_FILES else level
