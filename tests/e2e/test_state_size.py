"""The state folder does not grow: bytes after edits, updates, kill -9 and merges.

An index takes at most twice the bytes of a fresh one for files that were changed, half as much for
deltas that are not merged yet, and 64 KiB for what does not depend on the text.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from triseek import paths
from triseek.engine import leftovers
from triseek.engine.reindex_process import write_index
from triseek.engine.roots import index_dir
from triseek.index.build import build
from triseek.model.index import no_progress
from triseek.store import layout, manifest

pytestmark = pytest.mark.long

FILES = 400
CYCLES = 12
CYCLES_SLOW = 100
SHARE = 2.5
CONSTANT = 64 << 10
CHILD = """
import os, signal, sys
from triseek.engine.reindex_process import write_index
from triseek.model.index import no_progress
root, index, syncs = sys.argv[1], sys.argv[2], int(sys.argv[3])
sync = os.fsync
def sync_or_die(descriptor):
    global syncs
    syncs -= 1
    if syncs < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    sync(descriptor)
os.fsync = sync_or_die
write_index(root, index, sys.argv[4], no_progress)
"""
"""Writes an index, and dies before it makes so many files durable."""


def written(root: Path, numbers: range | list[int], chance: random.Random) -> None:
    words = [f"word{number}" for number in range(3_000)]
    for number in numbers:
        text = "".join(" ".join(chance.choices(words, k=8)) + "\n" for _ in range(80))
        (root / f"{number}.txt").write_text(text)


def size(folder: str | Path) -> int:
    """The bytes of all files below a folder."""
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


def unused(folder: str) -> set[str]:
    """The segments that the manifest does not name, and unfinished files."""
    current = manifest.read(folder)
    segments = set(os.listdir(Path(folder, layout.SEGMENTS)))
    partial = {name for name in os.listdir(folder) if name.endswith(".partial")}
    return partial | segments - (current.folders if current else set())


def grow_and_kill(tmp_path: Path, cycles: int) -> None:
    chance = random.Random(11)
    root = Path(os.path.realpath(tmp_path)) / "work" / "root"
    root.mkdir(parents=True)
    written(root, range(FILES), chance)
    folder = index_dir(str(root))
    write_index(str(root), folder, "full", no_progress)
    killed, left, most = 0, 0, 0.0
    for cycle in range(cycles):
        written(root, chance.sample(range(FILES), chance.choice([1, 8, 60])), chance)
        mode = "full" if cycle % 4 == 0 else "incremental"
        syncs = str(chance.randrange(24))
        words = [sys.executable, "-c", CHILD, str(root), folder, syncs, mode]
        killed += subprocess.run(words, check=False).returncode == -signal.SIGKILL
        left += bool(unused(folder))
        leftovers.clean()
        assert not unused(folder), cycle
        write_index(str(root), folder, "incremental", no_progress)
        assert not unused(folder), cycle
        fresh = str(tmp_path / f"fresh-{cycle}")
        build(str(root), fresh)
        assert size(folder) <= SHARE * size(fresh) + CONSTANT
        most = max(most, size(folder) / size(fresh))
        shutil.rmtree(fresh)
    print(f"\n{killed} of {cycles} writers killed, {left} left something; at most {most:.2f} times")
    assert killed >= cycles // 3
    assert left >= killed // 2
    shutil.rmtree(root)
    leftovers.clean()
    assert size(paths.indexes()) == 0


def test_edits_updates_kills_and_merges_leave_no_bytes_behind(tmp_path: Path) -> None:
    grow_and_kill(tmp_path, CYCLES)


@pytest.mark.slow
def test_a_hundred_of_them_leave_none_either(tmp_path: Path) -> None:
    grow_and_kill(tmp_path, CYCLES_SLOW)


def test_a_first_build_that_was_killed_leaves_none(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    written(root, range(FILES), random.Random(12))
    folder = index_dir(os.path.realpath(root))
    subprocess.run([sys.executable, "-c", CHILD, str(root), folder, "5", "full"], check=False)
    assert size(folder) > 100_000

    leftovers.clean()

    assert size(paths.indexes()) == 0
