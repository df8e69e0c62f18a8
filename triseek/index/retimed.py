"""Change times of files that moved without a change of content, stored beside the index.

A hard link, a `chmod` or a restored backup may move the change time of every file at once and
change no byte. When a sweep has compared the content of such files, the new times are as good as
the old ones. They are stored here, so that later processes need not compare again. This is a cache,
not part of the index: files whose entry is missing or damaged are compared once more.
"""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triseek import errors
from triseek.kernels.fetch import STAT_CTIME
from triseek.store import atomic, column

if TYPE_CHECKING:
    from triseek.index.reader import IndexReader

_LIST = "retimed.json"


class _Entry(column.ColumnEntry):
    """What the list says of one segment's column of change times."""

    file: str


def restore(reader: IndexReader) -> None:
    """Set the change times of the reader's files to those stored for its segments."""
    folder = Path(reader.index_dir)
    for view in reader.views:
        entry = _entries(folder).get(view.segment.id)
        try:
            times = None if entry is None else column.load(folder / entry["file"], entry)
        except (errors.IndexCorrupt, KeyError, TypeError, ValueError):
            continue
        if times is not None and len(times) == view.segment.files.rows:
            view.stats[:, STAT_CTIME] = times


def remember(reader: IndexReader) -> None:
    """Store the current change times of the reader's files. A write error is ignored."""
    folder = Path(reader.index_dir)
    try:
        entries: dict[str, _Entry] = {}
        for view in reader.views:
            name = f"retimed.{secrets.token_hex(6)}.npy"
            entry = column.write(folder / name, view.stats[:, STAT_CTIME], "<i8")
            entries[view.segment.id] = {"file": name, **entry}
        body = json.dumps(entries).encode()
        atomic.write(folder / _LIST, atomic.with_checksum(body))
        kept = {entry["file"] for entry in entries.values()}
        for path in folder.glob("retimed.*.npy"):
            if path.name not in kept:
                path.unlink(missing_ok=True)
    except OSError:
        return


def _entries(folder: Path) -> dict[str, _Entry]:
    """Return the stored entries by segment; empty if the list is missing or damaged."""
    try:
        body, intact = atomic.split_checksum((folder / _LIST).read_bytes())
        entries: Any = json.loads(body) if intact else {}
    except (OSError, ValueError):
        return {}
    return entries if isinstance(entries, dict) else {}
