"""A cluster's answers with the working tree of one of its repositories laid over them.

What of that repository is not as the cluster has indexed it is left out of the cluster's answer
and searched here instead. So an edit is seen at once, and a file deleted here is not shown.
"""

from __future__ import annotations

import os
import time
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from triseek.errors import InvalidRequest
from triseek.files import containment
from triseek.files.checksum import crc64
from triseek.files.containment import open_file
from triseek.query.zoekt import syntax
from triseek.query.zoekt.go_text import escaped
from triseek.query.zoekt.parse import parse
from triseek.query.zoekt.simplify import simplify
from triseek.query.zoekt.text import text_of
from triseek.zoekt import checkout, merge

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.model.code_search import (
        CodeFile,
        CodeRequest,
        CodeResult,
        CodeSource,
        Repository,
    )
    from triseek.query.zoekt.syntax import Node
    from triseek.zoekt.checkout import Comparison

EXCLUDED_MAX = 200
"""Files that a query names to leave them out. If more differ, they are left out of its answer."""
CLOCK_NS = 20_000_000
"""How far the clock of file times may be behind: the kernel advances it at its ticks."""
COMPARED_BYTES_MAX = 16 << 20
"""Larger files are not compared by their content; they are searched here."""


class _Tree(NamedTuple):
    """The working tree, compared with what the cluster has of it."""

    repository: Repository
    branch: str
    comparison: Comparison
    started_ns: int
    """Unix time in nanoseconds before the comparison began."""


class Overlaid:
    """A cluster as a `CodeSource` that sees the working tree of one repository, for one run.

    The tree is compared with the cluster's index once, with the first query, because git takes
    longer than a query: an instance answers the queries of one command or one call of a tool, and
    the next makes another. Of the files in an answer it is seen if they changed since.
    """

    name = "zoekt"

    def __init__(
        self,
        cluster: CodeSource,
        local: Callable[[str, frozenset[bytes] | None], CodeSource],
        root: str,
        repository: str = "",
    ) -> None:
        """Lay a working tree over a cluster.

        Args:
            cluster: Asked for everything else.
            local: Returns a source that searches files of `root` as a repository of that name:
                those of a set, or all.
            root: The folder of the repository, not one inside it.
            repository: Its name on the cluster; "" for that which git says.
        """
        self._cluster = cluster
        self._local = local
        self._root = root
        self._name = repository
        self._lock = Lock()
        self._kept: tuple[_Tree | None] | None = None
        """The comparison, once it is made and nothing is in doubt."""

    def search(self, request: CodeRequest) -> CodeResult:
        """Answer a query. `CodeSource.search` documents the errors."""
        query = simplify(parse(request.query))
        if isinstance(query, syntax.Type) and query.kind == "repo":
            return self._with_own(self._cluster.search(request), request.query)
        tree = self._compared()
        if tree is None:
            return self._cluster.search(request)
        result = self._cluster.search(_narrowed(request, query, tree))
        kept: list[CodeFile] = []
        left_out: list[CodeFile] = []
        for file in result.files:
            (kept if self._holds(file, tree) else left_out).append(file)
        here = self._here(tree.comparison.differing | {file.path for file in left_out})
        if here:
            own = self._local(tree.repository.name, here).search(request)
        else:
            own = replace(
                result, files=[], file_count=0, match_count=0, counts={}, partial=(), at_limits=()
            )
        doubts = (f"{tree.comparison.doubt}.",) if tree.comparison.doubt else ()
        matches = sum(file.match_count for file in left_out)
        files, _, _ = merge.merged_files((tuple(kept), tuple(own.files)))
        return replace(
            result,
            files=merge.capped(files, request.max_files, request.max_matches),
            file_count=result.file_count - len(left_out) + own.file_count,
            match_count=result.match_count - matches + own.match_count,
            counts={},
            partial=tuple(dict.fromkeys((*result.partial, *own.partial, *doubts))),
            at_limits=(*result.at_limits, *own.at_limits),
        )

    def repositories(self, query: str = "") -> CodeResult:
        """Return all repositories, or those in which a query matches, by name."""
        result = self._cluster.repositories(query)
        return self._with_own(result, query) if query else result

    def read(self, repository: str, path: bytes) -> bytes:
        """Return the content of a file, as it is here. `CodeSource.read` documents the errors."""
        tree = self._compared()
        if tree is None or tree.repository.name != repository:
            return self._cluster.read(repository, path)
        return self._local(repository, None).read(repository, path)

    def _with_own(self, result: CodeResult, query: str) -> CodeResult:
        """Add the repository that is here if the query matches in a file that differs."""
        tree = self._compared()
        if tree is None or any(each.name == tree.repository.name for each in result.repositories):
            return result
        here = self._here(tree.comparison.differing)
        if not here or not self._local(tree.repository.name, here).repositories(query).repositories:
            return result
        entries = sorted([*result.repositories, tree.repository], key=lambda each: each.name)
        return replace(result, repositories=entries)

    def _compared(self) -> _Tree | None:
        """Return the comparison of this run; None if the cluster does not know the repository."""
        with self._lock:  # who asks meanwhile needs the same comparison
            if self._kept is not None:
                return self._kept[0]
            tree = self._compare()
            if tree is None or not tree.comparison.doubt:  # it may be the time that was too short
                self._kept = (tree,)
            return tree

    def _compare(self) -> _Tree | None:
        """Compare the working tree; None if the cluster does not know its repository."""
        started_ns = time.time_ns() - CLOCK_NS
        try:
            repository = checkout.repository_of(self._root, self._cluster, self._name)
        except InvalidRequest:
            if self._name:
                raise
            return None
        branch = checkout.branch_of(self._root, repository)
        compared = checkout.compare(self._root, repository, branch)
        return _Tree(repository, branch, compared, started_ns)

    def _holds(self, file: CodeFile, tree: _Tree) -> bool:
        """Return whether the cluster's answer about a file is one about the file that is here."""
        is_own = file.repository == tree.repository.name
        if not is_own or (file.branches and tree.branch not in file.branches):
            return True  # of another repository, or of a branch that is not checked out
        same = tree.comparison.same
        if same is not None:
            commit = dict(tree.repository.branches).get(tree.branch, "")
            return (
                file.path in same
                and file.version in ("", commit)
                and self._is_older(file.path, tree.started_ns)
            )
        return file.path not in tree.comparison.differing and self._is_content(file)

    def _is_older(self, path: bytes, time_ns: int) -> bool:
        """Return whether a file here has not changed since a time."""
        try:
            status = os.lstat(os.fsencode(self._root) + b"/" + path)
        except OSError:
            return False
        return max(status.st_mtime_ns, status.st_ctime_ns) < time_ns

    def _is_content(self, file: CodeFile) -> bool:
        """Return whether the content that matched is the content here."""
        try:
            with open(open_file(self._root, os.fsdecode(file.path)), "rb") as content:  # noqa: PTH123
                data = content.read(COMPARED_BYTES_MAX + 1)
        except (OSError, InvalidRequest):
            return False
        return len(data) <= COMPARED_BYTES_MAX and crc64(data) == file.checksum

    def _here(self, paths: frozenset[bytes]) -> frozenset[bytes]:
        """Return those of the paths that are regular files here, reached without links."""
        return frozenset(filter(self._is_here, paths))

    def _is_here(self, path: bytes) -> bool:
        name = os.fsdecode(path)
        try:
            inside = containment.locate(self._root, name)
        except (InvalidRequest, OSError, ValueError):
            return False
        return inside.kind == "file" and inside.real == name


def _narrowed(request: CodeRequest, query: Node, tree: _Tree) -> CodeRequest:
    """Return the request for the cluster: without the files that differ, or for as many more.

    With them left out by the query itself, counts and limits are exact.
    """
    differing = tree.comparison.differing
    if not differing:
        return request
    if len(differing) > EXCLUDED_MAX or len(tree.repository.branches) > 1:
        return replace(
            request,
            max_files=request.max_files + len(differing),
            max_matches=request.max_matches + len(differing) * 10,
        )
    names = "|".join(escaped(path.decode("utf-8", "replace")) for path in sorted(differing))
    excluded = syntax.And(
        (
            syntax.Repo(f"^{escaped(tree.repository.name)}$"),
            syntax.Regexp(rf"\A(?:{names})\z", case_sensitive=True, where="file"),
        )
    )
    if isinstance(query, syntax.Type):
        narrowed: Node = replace(query, child=syntax.And((query.child, syntax.Not(excluded))))
    else:
        narrowed = syntax.And((query, syntax.Not(excluded)))
    return replace(request, query=text_of(simplify(narrowed)))
