"""What sweeps have found out about racy things, remembered beside the index.

A memory, not a part of the index: what is missing or damaged is only looked at once more.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import xxhash

from triseek.store import atomic

if TYPE_CHECKING:
    from triseek.index.reader import Reader

DIFFER_MAX = 1_000
"""More files that differ behind their stats are not written down: each process reads them again."""
_FILE = "checked.json"


class Checked(NamedTuple):
    """What is known of racy things; times in nanoseconds since the epoch, 0: never yet."""

    files_ns: int
    """When every racy file at rest had been compared."""
    folders_ns: int
    """When every racy folder at rest had been listed."""
    rules_ns: int = 0
    """When racy rules at rest had been read again, and were what they had been."""
    differ: tuple[tuple[str, int], ...] = ()
    """Files, by segment and number, that are not what was indexed although their stats may be."""
    folders: tuple[int, ...] = ()
    """Folders, by number, with names the walk did not see although their stats are the same."""


def recall(reader: Reader) -> Checked:
    """What an earlier sweep of this generation wrote down."""
    try:
        body = json.loads((Path(reader.index_dir) / _FILE).read_bytes())
        differ = tuple((str(segment), int(number)) for segment, number in body["differ"])
        files_ns, folders_ns, rules_ns = map(int, body["times"])
        folders = tuple(map(int, body["folders"]))
        checked = Checked(files_ns, folders_ns, rules_ns, differ, folders)
        return checked if body["xxh3"] == _seal(reader, checked) else Checked(0, 0)
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return Checked(0, 0)


def remember(reader: Reader, checked: Checked) -> None:
    """Say to later processes, if that is possible, since when nothing racy is left."""
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


def _seal(reader: Reader, checked: Checked) -> str:
    """What makes a `checked.json` believable, and this generation's."""
    said = f"{reader.generation} {reader.manifest.tree} {json.dumps(checked)}"
    return xxhash.xxh3_64_hexdigest(said.encode())
