"""Sizes and counts of an index."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from triseek.model.index import IndexStatus, category_of
from triseek.store import layout

if TYPE_CHECKING:
    from triseek.index.reader import IndexReader


def status_of(root: str, reader: IndexReader, *, dirty: int, fresh: bool) -> IndexStatus:
    """Return the status of the reader's generation.

    `dirty` and `fresh` are the caller's, from its comparison with the tree.

    Raises:
        IndexCorrupt: a table that is counted here is damaged.
    """
    views = reader.views
    files = sum(int(view.searchable.sum()) for view in views)
    size = reader.text_bytes()
    return IndexStatus(
        root=root,
        index_dir=os.fspath(reader.index_dir),
        present=True,
        fresh=fresh,
        generation=reader.generation,
        files=files,
        files_binary=sum(
            int((view.alive & (view.skip == layout.SKIP_BINARY)).sum()) for view in views
        ),
        files_unreadable=sum(
            int((view.alive & (view.skip == layout.SKIP_UNREADABLE)).sum()) for view in views
        ),
        blocks=sum(view.blocks for view in views),
        trigrams=max(view.segment.distinct for view in views),
        segments=len(views),
        text_bytes=size,
        index_bytes=size_on_disk(reader.index_dir),
        updated_ns=max(int(view.segment.facts["created_ns"]) for view in views),
        dirty=dirty,
        category=category_of(files, size),
    )


def size_on_disk(index_dir: str | os.PathLike[str]) -> int:
    """Return the bytes of all files below an index folder.

    A writer may be active: files that vanish meanwhile are not counted.
    """
    size = 0
    for folder, _, names in os.walk(index_dir):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                size += os.lstat(os.path.join(folder, name)).st_size  # noqa: PTH118
    return size
