"""What has to be true of sessions and snapshots whose process was killed."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, NamedTuple

from triseek.model.session import LogEntry
from triseek.sessions import snapshot_files
from triseek.sessions.action_log import NAME

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Log(NamedTuple):
    """A session's log, as it is found."""

    entries: list[LogEntry]
    torn: bool
    """Whether something stands behind the last whole line."""


def logs(folder: Path) -> Mapping[str, Log]:
    """Every log; each line but the last has to be a whole entry."""
    return {path.parent.name: log(path) for path in sorted(folder.glob(f"*/{NAME}"))}


def log(path: Path) -> Log:
    *lines, tail = path.read_bytes().split(b"\n")
    entries = [LogEntry.read(json.loads(line)) for line in lines]
    assert all(entry.session_id == path.parent.name for entry in entries)
    numbers = [entry.entry_id for entry in entries]
    assert numbers == sorted(set(numbers)), "a number twice, or out of order"
    return Log(entries, bool(tail))


def no_number_twice(found: Mapping[str, Log]) -> int:
    """Over all sessions; how many entries there are."""
    numbers = [entry.entry_id for each in found.values() for entry in each.entries]
    assert len(numbers) == len(set(numbers))
    return len(numbers)


def whole_snapshots(folder: Path) -> dict[str, snapshot_files.Snapshot]:
    """Every snapshot, each of which can be read; and what was being built, which is told apart."""
    found = {}
    for each in folder.iterdir() if folder.exists() else ():
        if not each.name.endswith(".partial"):
            snapshot = snapshot_files.read_folder(each)
            assert snapshot.manifest.snapshot_id == each.name
            found[each.name] = snapshot
    return found


def partial(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.partial"))


def aged(folder: Path) -> None:
    """Let what is half built be an hour old: it is not swept before a minute."""
    for path in folder.glob("*.partial"):
        os.utime(path, (time.time() - 3_600,) * 2)
