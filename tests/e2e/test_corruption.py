"""Random damage to the files of an index: the answer is right, or another backend gives it.

`TRISEEK_CORRUPTIONS` says how many cases the slow test takes, `TRISEEK_SEED` where they begin.
"""

from __future__ import annotations

import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.running import triseek
from tests.e2e.generated import GeneratedTree
from triseek.engine import roots
from triseek.store import manifest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
CASES = 40
CASES_SLOW = int(os.environ.get("TRISEEK_CORRUPTIONS", "2000"))
FIRST = int(os.environ.get("TRISEEK_SEED", "0"))
PATIENCE_S = 120
"""An answer that takes longer is a hang."""


@pytest.mark.slow
def test_two_thousand_damages_never_make_an_answer_wrong(tmp_path: Path) -> None:
    answered, wrong = damaged(tmp_path, CASES_SLOW)
    print(f"\n{CASES_SLOW} cases: {dict(answered)}")
    assert not wrong, "\n".join(wrong)


def test_damage_never_makes_an_answer_wrong(tmp_path: Path) -> None:
    answered, wrong = damaged(tmp_path, CASES)

    assert not wrong, "\n".join(wrong)
    assert answered["ok another backend"] > 0
    assert answered["ok indexed"] > 0


def damaged(folder: Path, cases: int) -> tuple[Counter[str], list[str]]:
    """Run the cases in a worker, and another one where it dies."""
    root, index, whole = two_generations(folder)
    worker = Worker(root, index, whole)
    answered: Counter[str] = Counter()
    wrong: list[str] = []
    try:
        for seed in range(FIRST, FIRST + cases):
            said = worker.ask(seed)
            if said.startswith("ok"):
                answered[said] += 1
                continue
            wrong.append(said)
            if not worker.is_alive():
                shutil.rmtree(index)
                shutil.copytree(whole, index)
                worker = Worker(root, index, whole)
    finally:
        worker.end()
    return answered, wrong


def two_generations(folder: Path) -> tuple[Path, Path, Path]:
    """A tree, its index of two segments with tombstones, and a copy of that index."""
    tree = GeneratedTree(folder / "tree", 600)
    # What is indexed within two seconds of its last change is scanned, and would hide damage.
    time.sleep(2.2)
    assert triseek(["build"], tree.root).status == 0
    tree.change(0)
    time.sleep(2.2)
    assert triseek(["update"], tree.root).status == 0
    assert triseek(["token_everywhere", "-q"], tree.root).status == 0
    index = Path(roots.index_dir(os.path.realpath(tree.root)))
    current = manifest.read(index)
    assert current is not None
    assert len(current.segments) == 2
    assert any(live.dead for live in current.segments)
    whole = folder / "whole"
    shutil.copytree(index, whole)
    return tree.root, index, whole


class Worker:
    """`tests.e2e.corruption_worker` as a process."""

    def __init__(self, *places: Path) -> None:
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-X",
                "faulthandler",
                "-m",
                "tests.e2e.corruption_worker",
                *map(str, places),
            ],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def ask(self, seed: int) -> str:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{seed}\n")
        self._process.stdin.flush()
        try:
            said = self._lines.get(timeout=PATIENCE_S)
        except queue.Empty:
            self._process.kill()
            self._process.wait()
            said = f"HANG in case {seed}"
        return said or f"CRASH in case {seed}: ended with {self._process.wait(PATIENCE_S)}"

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def end(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(PATIENCE_S)
        self._process.stdout.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put("")
