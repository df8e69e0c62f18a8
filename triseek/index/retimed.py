"""Change times that moved although nothing was changed, remembered beside the index.

A hard link, a `chmod`, a restored backup: the change time of every file may move at once while no
byte does. Once a sweep has compared such files' content, the new times are as good as the old
ones; written here, later processes need not compare again. This is a memory, not part of the
index: what is missing or damaged is only compared once more.
"""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xxhash

from triseek import errors
from triseek.kernels.fetch import STAT_CTIME
from triseek.store import atomic, column

if TYPE_CHECKING:
    from triseek.index.reader import Reader

_LIST = "retimed.json"


def restore(reader: Reader) -> None:
    """Give the reader's files the change times that were remembered for its segments."""
    folder = Path(reader.index_dir)
    for view in reader.views:
        entry = _entries(folder).get(view.segment.id)
        try:
            times = None if entry is None else column.load(folder / entry["file"], entry)
        except (errors.IndexCorrupt, KeyError, TypeError, ValueError):
            continue
        if times is not None and len(times) == view.segment.files.rows:
            view.retime(times)


def remember(reader: Reader) -> None:
    """Write down the change times the reader's files have now; silent where it cannot be done."""
    folder = Path(reader.index_dir)
    try:
        entries = {
            view.segment.id: _write(folder, view.stats[:, STAT_CTIME]) for view in reader.views
        }
        body = json.dumps(entries).encode()
        atomic.write(folder / _LIST, body + b"\n" + _seal(body) + b"\n")
        kept = {entry["file"] for entry in entries.values()}
        for path in folder.glob("retimed.*.npy"):
            if path.name not in kept:
                path.unlink(missing_ok=True)
    except OSError:
        return


def _write(folder: Path, times: Any) -> dict[str, Any]:  # noqa: ANN401 - int64[files]
    name = f"retimed.{secrets.token_hex(6)}.npy"
    return {"file": name, **column.write(folder / name, times, "<i8")}


def _entries(folder: Path) -> dict[str, Any]:
    """What is remembered, by segment; nothing where it is not what was written."""
    try:
        body, _, seal = (folder / _LIST).read_bytes().rstrip(b"\n").partition(b"\n")
        entries: Any = json.loads(body) if seal == _seal(body) else {}
    except (OSError, ValueError):
        return {}
    return entries if isinstance(entries, dict) else {}


def _seal(body: bytes) -> bytes:
    return xxhash.xxh3_64_hexdigest(body).encode()
