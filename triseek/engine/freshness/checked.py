"""Results of earlier checks of racy files, folders and rules, saved beside the index.

This is a cache, not part of the index: if it is missing or damaged, the checks are repeated once.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import xxhash

from triseek.store import atomic

if TYPE_CHECKING:
    from triseek.index.reader import IndexReader

DIFFER_MAX = 1_000
"""If more files and folders differ, nothing is saved and each process checks them again."""
_FILE = "checked.json"


class Checked(NamedTuple):
    """Results for racy files, folders and rules. Times are ns since the epoch; 0 means never."""

    files_ns: int
    """When all resting racy files had been compared with the index."""
    folders_ns: int
    """When all resting racy folders had been listed."""
    rules_ns: int = 0
    """When resting racy ignore rules were last read again and found unchanged."""
    differ: tuple[tuple[str, int], ...] = ()
    """Files, by segment and number, that differ from the index although their stats may not."""
    folders: tuple[int, ...] = ()
    """Folders, by number, that hold names the walk did not see although their stats match."""


def recall(reader: IndexReader) -> Checked:
    """Load what an earlier sweep of this generation saved; empty if missing or damaged."""
    try:
        body = json.loads((Path(reader.index_dir) / _FILE).read_bytes())
        differ = tuple((str(segment), int(number)) for segment, number in body["differ"])
        files_ns, folders_ns, rules_ns = map(int, body["times"])
        folders = tuple(map(int, body["folders"]))
        checked = Checked(files_ns, folders_ns, rules_ns, differ, folders)
        return checked if body["xxh3"] == _seal(reader, checked) else Checked(0, 0)
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return Checked(0, 0)


def remember(reader: IndexReader, checked: Checked) -> None:
    """Save the results for later processes. Do nothing if there are too many or on an OSError."""
    if len(checked.differ) + len(checked.folders) > DIFFER_MAX:
        return
    body = {
        "times": checked[:3], "differ": checked.differ, "folders": checked.folders,
        "xxh3": _seal(reader, checked),
    }  # fmt: skip
    try:
        atomic.write(Path(reader.index_dir) / _FILE, json.dumps(body).encode())
    except OSError:
        return


def _seal(reader: IndexReader, checked: Checked) -> str:
    """Return the checksum of `checked.json`, which also ties it to this generation."""
    content = f"{reader.generation} {reader.manifest.tree} {json.dumps(checked)}"
    return xxhash.xxh3_64_hexdigest(content.encode())
