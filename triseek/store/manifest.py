"""Which segments are live at which generation. `commit` is the only mutation of an index."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xxhash

from triseek import errors, private
from triseek.store import atomic, column, layout

if TYPE_CHECKING:
    from triseek.store.segment import SegmentBuilder


_trusted: set[str] = set()
"""Folders that have been looked at: nobody else can have changed them since."""


@dataclass(frozen=True, slots=True)
class Live:
    """One live segment."""

    id: str
    xxh3: str
    """Checksum of its `segment.json`."""
    dead: str = ""
    """Column of its dead files, relative to `segments/`, without `.npy`; "" when none is."""
    dead_entry: dict[str, Any] | None = None
    """That column's length, dtype and checksum."""

    @property
    def home(self) -> str:
        """The segment whose folder holds the column; "" when there is none."""
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
    """Text that can be searched: known without opening a segment, for the router."""

    @property
    def folders(self) -> set[str]:
        """Every segment folder that this generation needs."""
        homes = {live.home for live in self.segments if live.dead}
        return {live.id for live in self.segments} | {self.tree} | homes


def read(index_dir: str | os.PathLike[str]) -> Manifest | None:
    """The current generation, or None when there is no index, or one in a format of the past.

    Raises:
        IndexCorrupt: `CURRENT` is not what was written.
        FormatTooNew: a later triseek wrote it.
        IndexUnavailable: it is there but may not be read, or another user may have written it.
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
            f"cannot use {path}: {error.strerror}", next_step="Run `triseek doctor`."
        ) from error
    return _parse(path, data)


def commit(index_dir: str | os.PathLike[str], manifest: Manifest) -> None:
    """Make `manifest` the current generation; the caller holds the writer lock."""
    body = json.dumps({"format": layout.FORMAT, **asdict(manifest)}).encode()
    digest = xxhash.xxh3_64_hexdigest(body).encode()
    atomic.write(Path(index_dir) / layout.CURRENT, body + b"\n" + digest + b"\n")


def bury(segment: SegmentBuilder, live: Live, dead: np.ndarray[Any, Any]) -> Live:
    """Write all the dead files (int64, rising) of a live segment into one under way."""
    name = f"dead.{live.id}"
    entry = column.write(segment.folder / f"{name}.npy", dead, np.uint32)
    return Live(live.id, live.xxh3, f"{segment.id}/{name}", entry)


def sweep(index_dir: str | os.PathLike[str], manifest: Manifest) -> None:
    """Remove segments that this generation does not use, and files a killed process left aside.

    Readers of an older generation have mapped its files and keep them whatever is unlinked here;
    one that is just opening it finds a file missing, and opens this generation instead.
    The caller holds the writer lock, so no `.partial` folder belongs to a living writer.
    """
    kept = manifest.folders
    segments = Path(index_dir) / layout.SEGMENTS
    for folder in segments.iterdir() if segments.exists() else ():
        if folder.name not in kept:
            shutil.rmtree(folder, ignore_errors=True)
    # A reader that is just writing its `checked.json` aside does without, should it be swept.
    for aside in Path(index_dir).glob("*.partial"):
        aside.unlink(missing_ok=True)


def _check_trust(folder: str, status: os.stat_result) -> None:
    """Refuse an index that another user may have written; `status` is its manifest's.

    Raises:
        Untrusted: it is not this user's, nor root's.
    """
    trouble = private.distrust_owner(os.path.join(folder, layout.CURRENT), status)  # noqa: PTH118
    if trouble is None and folder not in _trusted:
        private.tighten(folder)  # earlier versions let others read it
        trouble = private.distrust(folder)
    if trouble is not None:
        raise trouble
    _trusted.add(folder)


def _parse(path: Path, data: bytes) -> Manifest | None:
    body, _, digest = data.rstrip(b"\n").partition(b"\n")
    try:
        fields = json.loads(body)
        written = int(fields.pop("format"))
        # Asked first: a later format may be checked in another way.
        if written > layout.FORMAT:
            raise errors.FormatTooNew(
                f"{path} has format {written}; this triseek reads up to {layout.FORMAT}"
            )
        if xxhash.xxh3_64_hexdigest(body).encode() != digest:
            raise errors.IndexCorrupt(f"checksum mismatch in {path}")
        if written < layout.FORMAT_OLDEST:
            return None
        segments = tuple(Live(**live) for live in fields.pop("segments"))
        return Manifest(segments=segments, **fields)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise errors.IndexCorrupt(f"{path} does not say what a manifest says: {error}") from error
