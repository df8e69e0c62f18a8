"""index_status: what a root's index holds, and whether it is what the tree holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek import errors
from triseek.model.index import IndexStatus

if TYPE_CHECKING:
    from triseek.engine.backends.indexed import Indexed

UNUSABLE = (errors.IndexCorrupt, errors.FormatTooNew, errors.IndexUnavailable)


def index_status(root: str, index_dir: str, indexed: Indexed) -> IndexStatus:
    """Look at the index and compare it with the tree now; a damaged one is a status too."""
    from triseek.index.status import status_of

    try:
        reader = indexed.reader
        reader.verify()
        dirt = indexed.dirt()
    except UNUSABLE as error:
        missing = isinstance(error, errors.IndexUnavailable) and "no index" in str(error)
        return IndexStatus(
            root=root,
            index_dir=index_dir,
            present=False,
            fresh=False,
            problem="" if missing else str(error),
        )
    fresh = dirt.freshness != "unverified" and dirt.count == 0
    return status_of(root, reader, dirty=dirt.count, fresh=fresh)
