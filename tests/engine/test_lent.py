"""Dirt told to another process is the same dirt there, of the same generation or of none."""

from __future__ import annotations

import json
import os
import random

import numpy as np
import pytest

from tests.engine import roads
from triseek.engine import lent
from triseek.engine.dirt import Dirt
from triseek.engine.engine import Engine
from triseek.index.build import build
from triseek.index.update import update
from triseek.query.scope import Excluded


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """Two processes' engines on one index of two segments."""
    roads.shorten_racy_times(monkeypatch)
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    roads.write(root, {f"d/f{number}.txt": f"needle {number}\n" for number in range(9)})
    build(root, index_dir)
    roads.write(root, {"d/f1.txt": "novel\n", "new.txt": "needle\n"})
    update(root, index_dir)
    return [Engine(root, index_dir=index_dir) for _ in range(2)]


def through_json(dirt, reader):
    return lent.heard(json.loads(json.dumps(lent.told(dirt))), reader)


def same(one, other):
    return (
        all(map(np.array_equal, one.masks, other.masks))
        and (one.scan, one.allowlisted) == (other.scan, other.allowlisted)
        and (one.removed, one.directories) == (other.removed, other.directories)
        and (one.excluded, one.closed) == (other.excluded, other.closed)
    )


@pytest.mark.parametrize("seed", range(20))
def test_what_is_told_is_heard(opened, seed):
    chance, reader = random.Random(seed), opened[0].reader()
    names = [b"a", b"\xff/x", "ü".encode(), b"new\nline", b"z" * 300]
    dirt = Dirt(
        "synced",
        [np.array([chance.random() < 0.5 for _ in range(len(v.names))]) for v in reader.views],
        scan=chance.sample(names, 3),
        allowlisted=set(chance.sample(names, 1)),
        removed=chance.randrange(9),
        directories=chance.sample(names, 2),
        closed=chance.sample(names, 1),
        excluded=[Excluded(b"\xfe", chance.random() < 0.5, True)],
    )

    heard = through_json(dirt, opened[1].reader())

    assert heard.freshness == "synced"
    assert same(heard, dirt)


def test_real_dirt_is_the_same_there(opened):
    root = opened[0].root
    roads.write(root, {"d/f2.txt": "edited\n", "d/.github/x.yml": "y\n", ".ignore": "f3.txt\n"})
    os.unlink(f"{root}/d/f4.txt")
    reader, dirt = opened[0].indexed().look()

    assert lent.edition(reader) == lent.edition(opened[1].reader())
    assert same(through_json(dirt, opened[1].reader()), dirt)


def test_another_generation_has_another_name(opened):
    first, root = opened
    before = lent.edition(first.reader())
    roads.write(root.root, {"more.txt": "x\n"})
    update(root.root, root.index_dir)
    after = lent.edition(first.reader())
    build(root.root, root.index_dir)

    assert len({before, after, lent.edition(first.reader())}) == 3


def test_too_much_is_not_told(opened):
    reader = opened[0].reader()
    masks = [np.zeros(len(view.names), np.bool_) for view in reader.views]

    assert lent.told(Dirt("synced", masks, scan=[b"x"] * lent.MOST)) is not None
    assert lent.told(Dirt("synced", masks, scan=[b"x"] * (lent.MOST + 1))) is None


GOOD = {"changed": [[], []], "scan": [], "allowlisted": [], "removed": 0, "directories": [],
        "closed": [], "excluded": []}  # fmt: skip


@pytest.mark.parametrize(
    "changed",
    [
        {"changed": None}, {"changed": 5}, {"changed": []}, {"changed": [[]]},
        {"changed": [[], [], []]}, {"changed": [[10**6], []]}, {"changed": [[-1], []]},
        {"changed": [[2**40], []]}, {"changed": [["x"], []]}, {"changed": [[1.5], []]},
        {"changed": [[True], []]}, {"changed": [[[0]], []]},
        {"scan": None}, {"scan": [5]}, {"scan": ["\ud800"]}, {"scan": "abc"},
        {"removed": None}, {"removed": "many"}, {"excluded": [["a", True]]}, {"excluded": [5]},
        {"directories": {"a": 1}},
        {"closed": 5},
    ],
    ids=str,
)  # fmt: skip
def test_what_told_did_not_make_is_not_believed(opened, changed):
    reader = opened[0].reader()
    assert lent.heard(GOOD, reader) is not None

    assert lent.heard({**GOOD, **changed}, reader) is None
    assert lent.heard({n: v for n, v in GOOD.items() if n not in changed}, reader) is None


@pytest.mark.parametrize("body", [None, 5, "x", [], {}])
def test_what_is_no_object_is_not_believed(opened, body):
    assert lent.heard(body, opened[0].reader()) is None
