"""A cluster of one host without Zoekt: a copy of a tree, as it was when it was indexed."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.zoekt.git_repository import git
from triseek.engine.repositories.local import LocalRepositories
from triseek.engine.repositories.roots import Root
from triseek.files.checksum import crc64
from triseek.model.code_search import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from triseek.engine.service import Service
    from triseek.model.code_search import CodeRequest, CodeResult


class IndexedCopy:
    """The `CodeSource` of what a tree was, with the facts of a cluster's answers."""

    name = "zoekt"

    def __init__(
        self, service: Service, tree: Path, copy: Path, *, commit: str = "", name: str = ""
    ) -> None:
        shutil.copytree(tree, copy, symlinks=True)
        self.copy, self.commit, self.repository = copy, commit, name or tree.name
        self.queries: list[str] = []
        self.partial: tuple[str, ...] = ()
        self.files = len(git(tree, "ls-tree", "-r", commit).splitlines()) if commit else 0
        self.indexed_at = time.time()
        self._local = LocalRepositories(service, (Root(name=self.repository, folder=str(copy)),))

    def search(self, request: CodeRequest) -> CodeResult:
        self.queries.append(request.query)
        result = self._local.search(request)
        for file in result.files:
            file.version, file.branches = self.commit, ("HEAD",) if self.commit else ()
            file.checksum = crc64((self.copy / file.path.decode()).read_bytes())
            file.host = "copy"
        return replace(result, partial=self.partial)

    def repositories(self, query: str = "") -> CodeResult:
        result = self._local.repositories(query)
        entry = Repository(
            name=self.repository,
            branches=(("HEAD", self.commit),) if self.commit else (),
            files=self.files,
            indexed_at=self.indexed_at,
        )
        return replace(result, repositories=[entry] if result.repositories else [])

    def read(self, repository: str, path: bytes) -> bytes:
        return self._local.read(repository, path)
