"""Slow twin of `engine.repositories`: reads every file and evaluates a query with Python's `re`."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from triseek.query.zoekt import syntax

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.query.zoekt.syntax import Node

DEFINITION = re.compile(rb"^def (\w+)", re.MULTILINE)


def files_of(root: str, inner: tuple[str, ...] = ()) -> Iterator[tuple[bytes, bytes]]:
    """Yield path and content of each file of a root, without those of the folders `inner`."""
    top = os.fsencode(root)
    for folder, folders, names in os.walk(top):
        folders[:] = [
            name for name in folders
            if not name.startswith(b".") and os.fsdecode(folder + b"/" + name) not in inner
        ]  # fmt: skip
        for name in names:
            if not name.startswith(b"."):
                location = os.path.join(folder, name)
                with open(location, "rb") as file:
                    yield os.path.relpath(location, top), file.read()


def expression(text: syntax.Text) -> re.Pattern[bytes]:
    """Return a text as an expression of Python, which agrees with Go's on the tests' patterns."""
    pattern = re.escape(text.pattern) if isinstance(text, syntax.Substring) else text.pattern
    flags = re.MULTILINE | (0 if text.case_sensitive else re.IGNORECASE)
    return re.compile(pattern.encode(), flags)


class Twin:
    """One file."""

    def __init__(self, repository: str, path: bytes, content: bytes) -> None:
        self.repository, self.path = repository, path
        self.content = b"" if b"\0" in content else content

    def spans(self, node: Node) -> tuple[bool, set[tuple[bool, int, int]]]:
        """Return whether a query matches, and the spans that made it true: in name, begin, end."""
        match node:
            case syntax.Const():
                return node.value, set()
            case syntax.Repo():
                return re.search(node.pattern, self.repository) is not None, set()
            case syntax.Substring() | syntax.Regexp():
                return self._of_text(node)
            case syntax.Symbol():
                return self._of_symbol(node.name)
            case syntax.Not():
                return not self.spans(node.child)[0], set()
            case syntax.Type():
                holds, spans = self.spans(node.child)
                return holds, spans if node.kind == "filematch" else set()
            case syntax.And():
                parts = [self.spans(child) for child in node.children]
                holds = all(part for part, _ in parts)
            case syntax.Or():
                parts = [self.spans(child) for child in node.children]
                holds = any(part for part, _ in parts)
                if any(self.constant(child) for child in node.children):
                    return True, set()  # what is always true shows nothing
            case _:
                raise AssertionError(node)
        return holds, {span for part, spans in parts if part for span in spans}

    def constant(self, node: Node) -> bool | None:
        """Return what a query is for all files of the repository; None if it depends on them."""
        match node:
            case syntax.Const() | syntax.Repo():
                return self.spans(node)[0]
            case syntax.Not():
                child = self.constant(node.child)
                return None if child is None else not child
            case syntax.Type():
                return self.constant(node.child)
            case syntax.And() | syntax.Or():
                decisive = isinstance(node, syntax.Or)
                parts = [self.constant(child) for child in node.children]
                if decisive in parts:
                    return decisive
                return None if None in parts else not decisive
            case _:
                return None

    def lines(self, node: Node) -> dict[int, list[tuple[int, int]]] | None:
        """Return the spans that are shown, by line (0 for the name); None if there is no match."""
        holds, spans = self.spans(node)
        if not holds:
            return None
        in_content = sorted((b, -e) for name, b, e in spans if not name and e > b)
        in_name = sorted((b, -e) for name, b, e in spans if name and e > b)
        if not in_content:
            return {0: _apart(in_name) or [(0, len(self.path))]}
        shown: dict[int, list[tuple[int, int]]] = {}
        starts = [0, *(match.end() for match in re.finditer(b"\n", self.content))]
        for begin, end in _apart(in_content):
            for number, start in enumerate(starts, 1):
                stop = self.content.find(b"\n", start)
                stop = len(self.content) if stop < 0 else stop
                low, high = max(begin, start), min(end, stop)
                if low < high:
                    shown.setdefault(number, []).append((low - start, high - start))
        return shown

    def _of_text(self, text: syntax.Text) -> tuple[bool, set[tuple[bool, int, int]]]:
        wanted, found, holds = expression(text), set(), False
        for in_name, where, data in ((True, "file", self.path), (False, "content", self.content)):
            if text.where in ("any", where):
                matches = list(wanted.finditer(data))
                holds = holds or bool(matches)
                found |= {(in_name, *match.span()) for match in matches}
        return holds, found

    def _of_symbol(self, name: syntax.Text) -> tuple[bool, set[tuple[bool, int, int]]]:
        found = set()
        for definition in DEFINITION.finditer(self.content):
            match = expression(name).search(definition[1])
            if match is not None:
                begin = definition.start(1)
                found.add((False, begin + match.start(), begin + match.end()))
        return bool(found), found


def _apart(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    kept: list[tuple[int, int]] = []
    for begin, negative in spans:
        if not kept or begin >= kept[-1][1]:
            kept.append((begin, -negative))
    return kept
