"""The manifest: the live segments of a generation. Only `commit` changes what an index contains."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from triseek import errors, private
from triseek.store import atomic, column, layout

if TYPE_CHECKING:
    from triseek.store.column import ColumnEntry
    from triseek.store.segment import Segment, SegmentBuilder


_trusted: set[str] = set()
"""Folders already checked: no other user can have changed them since."""


@dataclass(frozen=True, slots=True)
class Live:
    """One live segment."""

    id: str
    xxh3: str
    """Checksum of its `segment.json`."""
    dead: str = ""
    """Column of its dead files, relative to `segments/`, without `.npy`; "" if it has none."""
    dead_entry: ColumnEntry | None = None
    """That column's length, dtype and checksum."""

    @property
    def home(self) -> str:
        """The segment whose folder holds the `dead` column; "" if there is none."""
        return self.dead.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Manifest:
    """One generation of an index."""

    generation: int
    root: str
    """Canonical root, `os.fsdecode`d."""
    segments: tuple[Live, ...]
    """Oldest first."""
    tree: str
    """The segment that holds the newest directories, watched and excluded tables."""
    text_bytes: int = 0
    """Bytes of searchable text, recorded here so that the router need not open a segment."""

    @property
    def folders(self) -> set[str]:
        """The names of all segment folders that this generation needs."""
        homes = {live.home for live in self.segments if live.dead}
        return {live.id for live in self.segments} | {self.tree} | homes


def read(index_dir: str | os.PathLike[str]) -> Manifest | None:
    """Return the current generation; None if there is no index, or its format is too old.

    Raises:
        IndexCorrupt: `CURRENT` is damaged.
        FormatTooNew: a later triseek wrote it.
        IndexUnavailable: it exists but may not be read, or another user may have written it.
    """
    path = Path(index_dir) / layout.CURRENT
    try:
        with path.open("rb") as file:
            _check_trust(os.fspath(index_dir), os.fstat(file.fileno()))
            data = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise errors.IndexUnavailable(
            f"cannot use {path}: {error.strerror}",
            next_step="Run `triseek doctor`.",
            tool_step="Searches work without an index, only slower.",
        ) from error
    return _parse(path, data)


def commit(index_dir: str | os.PathLike[str], manifest: Manifest) -> None:
    """Make `manifest` the current generation and remove the segments that it does not use.

    The caller must hold the writer lock.
    """
    body = json.dumps({"format": layout.FORMAT, **asdict(manifest)}).encode()
    atomic.write(Path(index_dir) / layout.CURRENT, atomic.with_checksum(body))
    sweep(index_dir, manifest)


def bury(segment: SegmentBuilder, live: Live, dead: np.ndarray[Any, Any]) -> Live:
    """Write the dead files (int64, ascending) of a live segment into the segment being built.

    Returns the live segment's new entry.
    """
    name = f"dead.{live.id}"
    entry = column.write(segment.folder / f"{name}.npy", dead, np.uint32)
    return Live(live.id, live.xxh3, f"{segment.id}/{name}", entry)


def dead_files(segment: Segment, live: Live) -> np.ndarray[Any, Any]:
    """Return the numbers of a live segment's dead files, as int64, ascending.

    Raises:
        IndexCorrupt: the column is damaged, or not in order.
    """
    if live.dead_entry is None:
        return np.empty(0, np.int64)
    path = segment.folder.parent / f"{live.dead}.npy"
    dead = column.load(path, live.dead_entry)
    rising = bool((dead[1:] > dead[:-1]).all())
    if len(dead) and (not rising or int(dead[-1]) >= segment.files.rows):
        raise errors.IndexCorrupt(f"the dead files in {path} are not in order")
    return dead.astype(np.int64)


def sweep(index_dir: str | os.PathLike[str], manifest: Manifest) -> None:
    """Remove segments that this generation does not use, and partial files of killed processes.

    Readers of an older generation have mapped its files and keep them although they are unlinked
    here. A reader that is just opening it finds a file missing and opens this generation instead.
    The caller must hold the writer lock, so no `.partial` folder belongs to a live writer.
    """
    kept = manifest.folders
    segments = Path(index_dir) / layout.SEGMENTS
    for folder in segments.iterdir() if segments.exists() else ():
        if folder.name not in kept:
            shutil.rmtree(folder, ignore_errors=True)
    # This may remove the partial `checked.json` of a reader, which can do without it.
    for aside in Path(index_dir).glob("*.partial"):
        aside.unlink(missing_ok=True)


def _check_trust(folder: str, status: os.stat_result) -> None:
    """Refuse an index that another user may have written; `status` is the stat of its manifest.

    Raises:
        Untrusted: it belongs neither to this user nor to root.
    """
    trouble = private.distrust_owner(os.path.join(folder, layout.CURRENT), status)  # noqa: PTH118
    if trouble is None and folder not in _trusted:
        private.tighten(folder)  # earlier versions let others read it
        trouble = private.distrust(folder)
    if trouble is not None:
        raise trouble
    _trusted.add(folder)


@lru_cache(maxsize=64)  # each search reads the manifest several times
def _parse(path: Path, data: bytes) -> Manifest | None:
    body, intact = atomic.split_checksum(data)
    try:
        fields = json.loads(body)
        written = int(fields.pop("format"))
        # Before the checksum: a later format may compute it differently.
        if written > layout.FORMAT:
            raise errors.FormatTooNew(
                f"{path} has format {written}; this triseek reads up to {layout.FORMAT}"
            )
        if not intact:
            raise errors.IndexCorrupt(f"checksum mismatch in {path}")
        if written < layout.FORMAT_OLDEST:
            return None
        segments = tuple(Live(**live) for live in fields.pop("segments"))
        return Manifest(segments=segments, **fields)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise errors.IndexCorrupt(f"{path} does not say what a manifest says: {error}") from error
