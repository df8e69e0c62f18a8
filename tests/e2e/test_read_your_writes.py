"""Whatever is done to a tree, a search by another process right afterwards knows it.

`TRISEEK_TRIALS` says how many trials the slow test makes.
"""

from __future__ import annotations

import os
import random
import shutil
import statistics
import subprocess
import sys
import time

import pytest

from tests.e2e.generated import GeneratedTree
from tests.e2e.living import Living
from triseek.engine.engine import Engine
from triseek.index.build import build
from triseek.model.search import PatternSpec, SearchRequest

pytestmark = pytest.mark.long

TRIALS = 60
TRIALS_SLOW = int(os.environ.get("TRISEEK_TRIALS", "1000"))
GIT = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "advice.detachedHead=false"]


class Tree:
    """A repository with two branches, and what is to be found in it after each deed."""

    def __init__(self, root, seed):
        self.root, self.chance = root, random.Random(seed)
        GeneratedTree(root, 400)
        self.git("init", "-qb", "main")
        self.write("branch.txt", "on_main_only\n")
        self.commit()
        self.git("checkout", "-qb", "other")
        self.write("branch.txt", "on_other_only\n")
        for number in range(30):
            self.write(f"other/{number}.txt", f"on_other_only {number}\n")
        self.commit()
        self.git("checkout", "-q", "main")
        self.branch = "main"
        self.number = 0

    def git(self, *words):
        subprocess.run([*GIT, *words], cwd=self.root, check=True, capture_output=True)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-qm", "x")

    def write(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def deed(self):
        """Do one thing; the pattern that tells whether it was seen, and the files it is in."""
        self.number += 1
        return self.chance.choice(
            (self.edit, self.rename_over, self.delete, self.create_folder, self.checkout)
        )(f"token_{self.number}_{self.chance.randrange(10**9)}x")

    def edit(self, token):
        name = f"own/{self.chance.randrange(20)}.txt"
        self.write(name, f"{token}\n")
        return token, {name.encode()}

    def rename_over(self, token):
        self.write("own/1.txt~", f"{token}\n")
        os.replace(f"{self.root}/own/1.txt~", f"{self.root}/own/1.txt")
        return token, {b"own/1.txt"}

    def delete(self, token):
        self.write("own/gone.txt", f"{token}\n")
        os.unlink(f"{self.root}/own/gone.txt")
        return token, set()

    def create_folder(self, token):
        top = f"{self.root}/made"
        shutil.rmtree(top, ignore_errors=True)
        self.write("made/a/b/c.txt", f"{token}\n")
        return token, {b"made/a/b/c.txt"}

    def checkout(self, _):
        self.branch = "other" if self.branch == "main" else "main"
        self.git("checkout", "-q", self.branch)
        if self.branch == "main":
            return "on_other_only", set()
        return "on_other_only", {b"branch.txt", *(f"other/{n}.txt".encode() for n in range(30))}


@pytest.fixture
def living(tmp_path):
    with Living(tmp_path / "state") as living:
        yield living


def watched_trials(living, root, trials):
    tree = Tree(root, 7)
    assert living.run("build", cwd=root).status == 0
    living.start()
    living.wait_watched(root)
    calls, syncs, stale, modes = [], [], [], {}
    for _ in range(trials):
        pattern, expected = tree.deed()
        said = living.run("-l", "--", pattern, cwd=root)
        calls.append(said.seconds)
        if set(said.out.splitlines()) != expected:
            stale.append((pattern, expected, said))
        told = living.ask("sync", target_root=str(root))
        syncs.append(told["ms"])
        modes[told["freshness"]] = modes.get(told["freshness"], 0) + 1
    floor = statistics.median(_pass() for _ in range(15))
    print(
        f"\n{trials} trials, {len(stale)} stale; sync p50 {statistics.median(syncs):.2f} ms; "
        f"`triseek` p50 {statistics.median(calls) * 1e3:.1f} ms, "
        f"`python -c pass` {floor * 1e3:.1f} ms; {modes}"
    )
    assert stale == []
    assert modes.get("synced", 0) >= trials * 0.9


def _pass():
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return time.perf_counter() - began


def test_a_search_sees_what_was_done_before_it(living, tmp_path):
    watched_trials(living, tmp_path / "tree", TRIALS)


@pytest.mark.slow
def test_of_a_thousand_searches_not_one_misses_what_was_done_before_it(living, tmp_path):
    watched_trials(living, tmp_path / "tree", TRIALS_SLOW)


def swept_trials(root, index_dir, trials):
    """The same by the sweep: deeds by another process, an index in this one, nobody watching."""
    tree = Tree(root, 11)
    build(str(root), str(index_dir))
    engine = Engine(str(root), index_dir=str(index_dir))
    stale, times = [], []
    for _ in range(trials):
        pattern, expected = tree.deed()
        began = time.perf_counter()
        request = SearchRequest(pattern=PatternSpec(patterns=(pattern,)), engine="index")
        search = engine.search(request)
        found = {path for batch in search for path in batch.paths}
        times.append(time.perf_counter() - began)
        assert search.totals.freshness == "swept"
        if found != expected:
            stale.append((pattern, expected, found))
    print(f"\n{trials} trials by the sweep, p50 {statistics.median(times) * 1e3:.1f} ms")
    assert stale == []


def test_a_sweep_sees_what_was_done_before_it(tmp_path):
    swept_trials(tmp_path / "tree", tmp_path / "index", TRIALS)


@pytest.mark.slow
def test_of_a_thousand_sweeps_not_one_misses_what_was_done_before_it(tmp_path):
    swept_trials(tmp_path / "tree", tmp_path / "index", TRIALS_SLOW)
