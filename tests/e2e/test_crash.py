"""kill -9 at random moments of build, update and merge: what is searched next is answered rightly.

`TRISEEK_CRASHES` says how many moments the slow test takes.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.running import triseek
from tests.e2e.generated import GeneratedTree
from triseek.engine import roots
from triseek.index import update
from triseek.index.reader import IndexReader
from triseek.store import layout, lock, manifest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
FILES = 3_000
MOMENTS = 6
VERBS = ("build", "update", "merge")
MOMENTS_SLOW = int(os.environ.get("TRISEEK_CRASHES", "100"))

# Imports take longer than the work: they are done first, so that the moments fall into the work.
CHILD = """
import sys
import numba, pyarrow
from triseek.cli import command_tree, main
from triseek.terminal import report_text
from triseek.index import build, merge, update
from triseek.index.reader import IndexReader
from triseek.kernels import blocks, fetch, invert, postings
print("ready", flush=True)
sys.stdin.readline()
verb, root, index = sys.argv[1:]
if verb == "merge":
    reader = IndexReader.open(index)
    sys.exit(merge.merge(index, reader, range(len(reader.views))) is None)
sys.exit(main.run([verb, root]))
"""


@pytest.mark.slow
def test_after_a_hundred_kills_every_search_is_right(tmp_path: Path) -> None:
    started = survive(tmp_path, MOMENTS_SLOW)
    print(f"\n{MOMENTS_SLOW} of {started} processes were killed at work")


def test_after_a_kill_a_search_is_right_and_the_next_build_succeeds(tmp_path: Path) -> None:
    survive(tmp_path, MOMENTS)


def test_what_a_killed_writer_left_aside_is_swept_by_the_next(tmp_path: Path) -> None:
    tree = GeneratedTree(tmp_path / "tree", 20)
    assert triseek(["build"], tree.root).status == 0
    index = folder_of(tree.root)
    (index / "CURRENT.123.partial").write_text("half a line")
    (index / layout.SEGMENTS / "0123.partial").mkdir()
    (index / layout.SEGMENTS / "0123.partial" / "postings.npy").write_text("half a column")
    (index / layout.SEGMENTS / "0123-never-committed").mkdir()

    assert triseek(["build"], tree.root).status == 0

    assert leftovers(index) == []


def survive(folder: Path, moments: int) -> int:
    """Kill, search, mend, until so many processes were killed at work; how many were started."""
    tree = GeneratedTree(folder / "tree", FILES)
    chance = random.Random(int(os.environ.get("TRISEEK_SEED", "7")))
    # As long as each verb takes undisturbed; from then on there is an index to fall back on.
    spans = {}
    for number, verb in enumerate(VERBS):
        if verb == "merge":
            make_segments(tree, -1 - number)
        spans[verb] = work(verb, tree.root)[1]
    started = killed = 0
    while killed < moments:
        verb = VERBS[started % len(VERBS)]
        tree.change(started)
        if started % 7 == 6:
            remove_index(tree.root)
        if verb == "merge":
            make_segments(tree, started)
        at_work, took = work(verb, tree.root, kill_after=chance.uniform(0, spans[verb]))
        killed += at_work
        if not at_work:
            spans[verb] = took
        check_answers(tree)
        check_lock_is_free(tree.root)
        if started % 4 >= 2 or killed == moments:
            check_mending(tree, ("update", "build")[started // 4 % 2])
        started += 1
    return started


def make_segments(tree: GeneratedTree, number: int) -> None:
    """Leave something to merge, dead files and the tree's tables among it."""
    index = folder_of(tree.root)
    for again in range(3):
        update.update(str(tree.root), index)
        tree.change(10_000 + 10 * number + again)
    update.update(str(tree.root), index)
    reader = IndexReader.open(index)
    assert reader is not None
    assert len(reader.views) > 2


def work(verb: str, root: Path, *, kill_after: float | None = None) -> tuple[bool, float]:
    """Run a verb in a process; whether it was killed at work, and how long the work took."""
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, verb, str(root), str(folder_of(root))],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        started = time.perf_counter()
        process.stdin.write(b"go\n")
        process.stdin.flush()
        if kill_after is not None:
            time.sleep(kill_after)
            process.send_signal(signal.SIGKILL)
        _, complaint = process.communicate(timeout=120)
        took = time.perf_counter() - started
    if kill_after is None:
        assert process.returncode == 0, complaint
    assert process.returncode in (0, -signal.SIGKILL), complaint
    return process.returncode != 0, took


def check_answers(tree: GeneratedTree) -> None:
    """All tokens at once, and the newest alone."""
    for tokens in (tree.tokens, tree.tokens[-1:]):
        words = ["-n", *(part for token in tokens for part in ("-e", token))]
        expected = triseek(["--engine=scan", *words], tree.root)
        for backend in ("index", "auto"):
            found = triseek([f"--engine={backend}", *words], tree.root)
            if backend == "index" and not has_index(tree.root):
                assert found.status == 2
                continue
            assert found.out == expected.out, (backend, tokens)
            assert found.status == expected.status, (backend, tokens, found.err)


def check_lock_is_free(root: Path) -> None:
    with lock.writer(folder_of(root)):
        pass


def check_mending(tree: GeneratedTree, verb: str) -> None:
    mended = triseek([verb], tree.root)
    assert mended.status == 0, mended.err
    assert leftovers(folder_of(tree.root)) == []
    assert triseek(["check"], tree.root).status == 0
    check_answers(tree)


def folder_of(root: Path) -> Path:
    return Path(roots.index_dir(os.path.realpath(root)))


def has_index(root: Path) -> bool:
    return manifest.read(folder_of(root)) is not None


def remove_index(root: Path) -> None:
    (folder_of(root) / layout.CURRENT).unlink(missing_ok=True)


def leftovers(index: Path) -> list[str]:
    """Whatever is in an index folder and belongs to no generation."""
    current = manifest.read(index)
    assert current is not None
    kept = {live.id for live in current.segments} | {current.tree}
    kept |= {live.dead.split("/")[0] for live in current.segments if live.dead}
    names = {path.name for path in index.iterdir()}
    segments = {path.name for path in (index / layout.SEGMENTS).iterdir()}
    beside = {"checked.json", "journal.json", "frecency.json", "frecency.lock"}
    unknown = names - beside - {layout.CURRENT, "lock", layout.SEGMENTS}
    unknown = {name for name in unknown if not name.startswith("retimed.")}
    partial = [str(path) for path in index.rglob("*") if path.name.endswith((".tmp", ".partial"))]
    return sorted([*unknown, *(segments - kept), *partial])
