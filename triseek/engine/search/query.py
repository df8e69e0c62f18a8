"""A search request, resolved once: its pattern and scope compiled, its paths sorted by kind.

A `Query` is made when a search begins, and travels from the router through every backend. What is
derived from the request is computed here, on first use, and nowhere else.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Self

from triseek.errors import InvalidQuery, InvalidRequest
from triseek.files.tree.walk import path_order
from triseek.query.globs.scope import Scope
from triseek.query.pattern import compile as compile_pattern
from triseek.query.pattern import with_pattern
from triseek.query.plan import plan
from triseek.query.regex.syntax import Assertion, Bytes, Chars, fold

if TYPE_CHECKING:
    from collections.abc import Iterable

    from triseek.model.search import ScopeSpec, SearchRequest
    from triseek.query.pattern import Pattern
    from triseek.query.plan import Plan
    from triseek.query.regex.syntax import Node

_NEWLINE = 10


class Selection(NamedTuple):
    """The files that a request is about: a compiled scope, and its paths by kind.

    Paths are relative to the root, which is the empty path; each list is in path order.
    """

    scope: Scope
    folders: list[bytes]
    files: list[bytes]
    missing: list[bytes]

    @classmethod
    def of(cls, root: str, spec: ScopeSpec, paths: Iterable[str] = ()) -> Self:
        """Compile a scope and look up the kinds of its paths.

        Raises:
            InvalidQuery: A glob or a type of the scope is invalid.
            InvalidRequest: A path leads out of the root.
        """
        scope = Scope.compile(spec)
        folders, files, missing = kinds = set[bytes](), set[bytes](), set[bytes]()
        for path in paths:
            normal = os.path.normpath(os.fsencode(path))
            if normal == b".." or normal.startswith((b"../", b"/")):
                raise InvalidRequest(
                    f"outside of the searched folder: {path}",
                    next_step="Name a path inside it, relative to it.",
                )
            relative = b"" if normal == b"." else normal
            location = os.fsencode(root) + b"/" + relative
            if os.path.isdir(location):  # noqa: PTH112
                folders.add(relative)
            else:
                (files if os.path.lexists(location) else missing).add(relative)
        return cls(scope, *(sorted(kind, key=path_order) for kind in kinds))

    @property
    def spec(self) -> ScopeSpec:
        """The scope as requested."""
        return self.scope.spec

    def includes(self, path: bytes) -> bool:
        """Return whether a path is below one of the folders; True if there are none."""
        return not self.folders or any(
            not folder or path.startswith(folder + b"/") for folder in self.folders
        )


@dataclass(frozen=True, eq=False)
class Query:
    """One search of one root."""

    root: str
    request: SearchRequest
    pattern: Pattern
    """The request's pattern, compiled."""

    @classmethod
    def of(cls, root: str, request: SearchRequest) -> Self:
        """Resolve a request.

        Raises:
            InvalidQuery: The pattern, a glob or a type cannot be understood, or the pattern needs
                a NUL byte in text.
            InvalidRequest: A path leads out of the root.
        """
        query = cls(root, request, compile_pattern(request.pattern))
        if query.pattern.needs_nul and not request.scope.text:
            raise InvalidQuery(
                "the pattern asks for a NUL byte, and a file that holds one is not searched",
                next_step="Add -a (--text) to search binary files as well.",
                tool_step="Search for a part of it that has no NUL byte.",
            )
        _ = query.selection  # raises
        return query

    @cached_property
    def selection(self) -> Selection:
        """The files to search. Raises the errors of `Selection.of` on first use."""
        return Selection.of(self.root, self.request.scope, self.request.paths)

    @cached_property
    def plan(self) -> Plan:
        """How an index can answer the pattern."""
        return plan(self.pattern)

    @cached_property
    def spans_lines(self) -> bool:
        """Whether a match may depend on other lines, so the text must be searched whole.

        As in ripgrep, `-U` alone is not enough: a pattern that can neither match a newline nor
        assert one is searched line by line.
        """
        return self.request.pattern.multiline and _sees_newline(self.pattern)

    @property
    def lists_misses(self) -> bool:
        """Whether what does not match is asked for, so that every file must be read."""
        request = self.request
        return request.invert or request.passthru or request.mode == "files_without_match"


@with_pattern
def _sees_newline(pattern: Pattern) -> bool:
    """Return whether a pattern can match a newline or assert line or text boundaries."""
    return fold(pattern.tree, _newline_here)


def _newline_here(node: Node, below: list[bool]) -> bool:
    if isinstance(node, Chars | Bytes):
        return any(low <= _NEWLINE <= high for low, high in node.ranges)
    return any(below) or (isinstance(node, Assertion) and node.kind.startswith(("text_", "line_")))
