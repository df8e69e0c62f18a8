"""Random histories of a tree: nothing changes untold, and who follows what is told is right."""

from __future__ import annotations

import ctypes
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.files.following import Follower, join, snapshot, untold
from triseek.files.watch.watcher import Watcher

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify")

NAMES = [b"a", b"b", b"c", b"d.txt", b"caf\xe9", b"two\nlines", b" ", b"-r", b"\xf0\x9f\x8e\x88"]
_EXCHANGE = 2
_HERE = -100


def exchange(first: bytes, second: bytes) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(_HERE, first, _HERE, second, _EXCHANGE):
        raise OSError(ctypes.get_errno(), "renameat2")


def write(path: bytes, mode: str) -> None:
    with open(path, mode) as file:
        file.write("x" * random.randrange(1, 9))


def write_over(path: bytes, aside: bytes) -> None:
    write(aside, "w")
    os.replace(aside, path)


def remove(path: bytes) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def anything(dice: random.Random, root: bytes, depth: int = 3) -> bytes:
    """Some path, of something or nothing."""
    path = b"/".join(dice.choice(NAMES) for _ in range(dice.randint(1, depth)))
    return join(root, path)


def step(dice: random.Random, root: bytes, *, links: bool = True) -> None:
    """Change something; what the file system refuses has changed nothing, or half."""
    one, two = anything(dice, root), anything(dice, root)
    actions = [
        lambda: write(one, "w"),
        lambda: write(one, "a"),
        lambda: write_over(one, two),
        lambda: write_over(one, one + b"~"),
        lambda: remove(one),
        lambda: os.makedirs(one, exist_ok=True),
        lambda: os.makedirs(anything(dice, root, 5), exist_ok=True),
        lambda: os.rename(one, two),
        lambda: os.rename(one, two),
        lambda: os.symlink(dice.choice([b"a", b"../b", b"nowhere", root]), one),
        lambda: os.chmod(one, dice.choice([0o700, 0o755, 0o750])),
        lambda: links and os.link(one, two, follow_symlinks=False),
        lambda: os.truncate(one, dice.randrange(5)),
        lambda: os.utime(one, (1, dice.randrange(1000))),
        lambda: exchange(one, two),
    ]
    try:
        dice.choice(actions)()
    except (OSError, shutil.Error):
        return


def seeds(few: int, many: int) -> list:
    more = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(few, many)]
    return [*range(few), *more]


@pytest.mark.parametrize("seed", seeds(10, 100))
def test_nothing_changes_untold(tmp_path, seed):
    dice = random.Random(seed)
    root = os.fsencode(tmp_path / "repo")
    os.mkdir(root)
    for _ in range(30):
        step(dice, root)
    changed = 0
    with Watcher(root, str(tmp_path / "cookies"), native=True) as watcher:
        follower = Follower(watcher, root)
        for _ in range(60):
            before = snapshot(root)
            for _ in range(dice.randint(1, 6)):
                step(dice, root)
            after = snapshot(root)
            assert watcher.sync()
            changes = follower.catch_up()
            assert not changes.lost
            assert untold(changes, before, after) == []
            changed += before != after
        assert_watches_are_right(watcher, root)
    assert changed > 20


def assert_watches_are_right(watcher: Watcher, root: bytes) -> None:
    """A write in each folder is told under that folder's path, and under no other."""
    watcher.take()
    for folder in [path for path, row in snapshot(root).items() if row[0] == "folder"]:
        assert watcher.is_watched(folder)
        with open(join(root, join(folder, b"probe")), "w"):
            pass
        assert watcher.sync()
        assert watcher.take().files == {join(folder, b"probe")}


STORM = """
import os, random, sys
sys.path.insert(0, sys.argv[3])
from tests.files.watch.test_watcher_histories import step
dice = random.Random(int(sys.argv[2]))
for _ in range(int(sys.argv[4])):
    step(dice, os.fsencode(sys.argv[1]), links=False)
"""


@pytest.mark.parametrize("seed", seeds(2, 12))
def test_who_follows_a_storm_of_changes_ends_with_the_tree(tmp_path, seed):
    """Folders are watched while they move: two processes change the tree meanwhile.

    No hard links here: of a file of several names only the one it was written by is told.
    """
    root = os.fsencode(tmp_path / "repo")
    os.mkdir(root)
    top = Path(__file__).parents[3]
    with Watcher(root, str(tmp_path / "cookies"), native=True) as watcher:
        follower = Follower(watcher, root)
        storms = [
            subprocess.Popen([sys.executable, "-c", STORM, root, str(storm), str(top), "3000"])
            for storm in (2 * seed, 2 * seed + 1)
        ]
        rounds = 0
        while any(storm.poll() is None for storm in storms):
            watcher.wait(0.05)
            follower.catch_up()
            rounds += 1
        assert [storm.returncode for storm in storms] == [0, 0]
        assert watcher.sync()
        while watcher.wait(0):
            follower.catch_up()
            assert watcher.sync()
        assert rounds > 5
        assert follower.rows == snapshot(root)
        assert_watches_are_right(watcher, root)
