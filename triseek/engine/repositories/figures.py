"""What an index says of its repository, without the compiled kernels that a search needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.engine.roots import index_dir
from triseek.errors import TriseekError
from triseek.model.code_search import Repository
from triseek.store import manifest
from triseek.store.segment import Segment
from triseek.store.size import size_on_disk

if TYPE_CHECKING:
    from triseek.engine.repositories.roots import Root


def described(root: Root) -> Repository:
    """Return a repository with the figures of its index; they are 0 if it cannot be read."""
    files = content = size = created_ns = 0
    folder = index_dir(root.folder)
    try:
        current = manifest.read(folder)
        for live in current.segments if current is not None else ():
            segment = Segment(folder, live.id, live.xxh3)
            files += segment.files.rows - len(manifest.dead_files(segment, live))
            created_ns = max(created_ns, int(segment.facts["created_ns"]))
        if current is not None:
            content, size = current.text_bytes, size_on_disk(folder)
    except TriseekError:
        files = content = size = created_ns = 0
    return Repository(
        name=root.name,
        url=root.url,
        branches=((root.branch, ""),) if root.branch else (),
        files=files,
        content_bytes=content,
        index_bytes=size,
        indexed_at=created_ns / 1e9,
        has_symbols=True,
        root=root.folder,
    )
