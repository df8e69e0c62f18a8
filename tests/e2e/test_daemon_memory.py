"""The daemon's memory after many queries and edits is what it was after the first ones.

`TRISEEK_QUERIES` says how many queries the slow test makes, `TRISEEK_MEMORY_TREE` of which folder
it makes them: it is copied, and the copy edited. Without, the tree is a generated one.
"""

from __future__ import annotations

import os
import random
import shutil
import time

import pytest

from tests.e2e import speaking
from tests.e2e.generated import EVERYWHERE, WORDS, GeneratedTree
from tests.e2e.living import Living

pytestmark = pytest.mark.long

QUERIES_SLOW = int(os.environ.get("TRISEEK_QUERIES", "10000"))
TREE = os.environ.get("TRISEEK_MEMORY_TREE", "")
QUERIES = 700
FIRST = 500
GROWTH_MAX = 0.10


@pytest.fixture
def living(tmp_path):
    with Living(tmp_path / "state") as living:
        yield living


class Asking:
    """Mixed queries and edits, all of one daemon, from this process."""

    def __init__(self, living, root, seed=9):
        self.living, self.root = living, root
        self.chance = random.Random(seed)
        self.files = sorted(path for path in root.rglob("*.*") if path.is_file())
        self.edits = self.queries = 0

    def query(self):
        self.queries += 1
        words = self.chance.choice(self._kinds())
        answer = speaking.ask(words)
        assert answer.status in (0, 1), (words, answer.err)
        assert not answer.err, words

    def _kinds(self):
        number, word = self.chance.randrange(10**6), self.chance.choice(WORDS)
        return (
            ["-n", f"token_of_file_{number % 3000:04d}"],
            ["-n", f"def test_{self.chance.choice('abcdefgh')}[a-z]+_{word[4]}"],
            ["-l", EVERYWHERE],
            ["-n", EVERYWHERE],
            ["-c", "import|word1"],
            ["-n", "-C2", f"{word} {self.chance.choice(WORDS)}"],
            ["-n", "-g", "*.py", "-g", "*.txt", f"class [A-Z]\\w+{number % 10}"],
            ["-n", "-i", f"no such {number}"],
            ["-l", "-w", word],
            ["--files", "-g", f"*{number % 100}*"],
            ["find-files", f"file{number % 300}"],
            ["-n", "self|word2", "-T", "md", "-m", "2"],
            ["--json", f"edited_{self.chance.randrange(self.edits + 1)}x"],
            ["--envelope", word, "dir01" if (self.root / "dir01").exists() else "."],
            ["-n", "(a|b)*c{2,3}d", "-o"],
        )

    def edit(self):
        self.edits += 1
        path = self.files[self.edits * 17 % len(self.files)]
        kind = self.edits % 4
        if kind == 0 and path.exists():
            path.rename(path.with_name(f"{path.stem}_{self.edits}{path.suffix}"))
        elif kind == 1:
            path.unlink(missing_ok=True)
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"edited_{self.edits}x\n" + "some more words\n" * 40)

    def go(self, queries, edits):
        """Ask and edit, evenly mixed."""
        for number in range(queries):
            if number * edits // queries != (number + 1) * edits // queries:
                self.edit()
            self.query()


def at_rest(living, root):
    """Memory once the index has taken in what was edited, and nothing is under way."""
    deadline = time.monotonic() + 120
    while living.ask("sync", target_root=str(root))["dirty"]:
        assert time.monotonic() < deadline
        time.sleep(0.5)
    time.sleep(1)
    return living.rss_kb()


def growth(living, root, monkeypatch, queries, edits):
    monkeypatch.setenv("TRISEEK_HOME", living.home)
    monkeypatch.setenv("HOME", living.home)
    monkeypatch.chdir(root)
    assert living.run("build", cwd=root).status == 0
    living.start()
    living.wait_watched(root)
    asking, course = Asking(living, root), []
    asking.go(FIRST, FIRST * edits // queries)
    first, busy = at_rest(living, root), living.rss_kb()
    for _ in range(10):
        asking.go((queries - FIRST) // 10, edits // 10)
        course.append(living.rss_kb() >> 10)
    last = at_rest(living, root)
    print(
        f"\n{len(asking.files)} files, {asking.queries} queries, {asking.edits} edits: "
        f"RSS {first >> 10} MiB at rest after {FIRST} queries ({busy >> 10} at work), "
        f"{last >> 10} at the end ({(last / first - 1) * 100:+.1f} %), under way {course}"
    )
    assert last <= first * (1 + GROWTH_MAX)


def test_a_hundred_queries_more_take_no_memory(living, tmp_path, monkeypatch):
    root = tmp_path / "tree"
    GeneratedTree(root, 300)
    growth(living, root, monkeypatch, QUERIES, 60)


@pytest.mark.slow
def test_ten_thousand_queries_and_a_thousand_edits_take_no_memory(living, tmp_path, monkeypatch):
    root = tmp_path / "tree"
    if TREE:
        shutil.copytree(TREE, root, symlinks=True)
    else:
        GeneratedTree(root, 3_000)
    growth(living, root, monkeypatch, QUERIES_SLOW, QUERIES_SLOW // 10)
