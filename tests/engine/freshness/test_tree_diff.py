"""What an update of the index takes from a tree diff, and when only a walk will do."""

from __future__ import annotations

import os

import numpy as np
import pytest

from tests.engine import answers
from triseek.engine.freshness.tree_diff import TreeDiff, changed_of, excluded_entries
from triseek.index.build import build
from triseek.index.reader import IndexReader
from triseek.query.globs.scope import Excluded

BEFORE = {
    "a": "needle\n", "d/b": "needle\n", "gone/c": "needle\n", "x.log": "needle\n",
    "gone/y.log": "needle\n", ".hidden": "needle\n", "out/o": "needle\n",
    ".ignore": "*.log\nout/\n",
}  # fmt: skip


@pytest.fixture
def tree(tmp_path):
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    answers.write(root, BEFORE)
    build(root, index_dir)
    return root, IndexReader.open(index_dir)


def diff_with(reader, **fields):
    masks = [np.zeros(len(view.names), np.bool_) for view in reader.views]
    return TreeDiff("swept", masks, **fields)


def test_entries_that_the_walk_left_out(tree):
    _, reader = tree
    entries = set(excluded_entries(reader))

    assert {Excluded(b"x.log", False), Excluded(b"out", True)} <= entries
    assert Excluded(b".hidden", False, True) in entries
    assert all(type(flag) is bool for entry in entries for flag in entry[1:])


@pytest.mark.parametrize("fields", [{"ruled": True}, {"directories": [b""]}])
def test_only_a_walk_will_do_where_rules_may_differ(tree, fields):
    assert changed_of(tree[1], diff_with(tree[1], **fields), 1) is None


def test_an_unverified_diff_changes_nothing(tree):
    diff = diff_with(tree[1])
    diff.freshness = "unverified"
    assert changed_of(tree[1], diff, 1) is None


def test_edits_alone_leave_the_folders_as_they_are(tree):
    diff = diff_with(tree[1], scan=[b"a"], removed=1)
    changed = changed_of(tree[1], diff, 7)

    assert (changed.paths, changed.removed, changed.scanned_ns) == ([b"a"], 1, 7)
    assert changed.tree is None
    assert diff.count == 2


def test_a_folder_that_went_takes_its_excluded_entries_along(tree):
    root, reader = tree
    os.unlink(f"{root}/x.log")
    changed = changed_of(reader, diff_with(reader, lost=[b"gone"], suspect=[b""]), 1)

    assert b"gone" not in changed.tree.directories
    excluded = [entry.path for entry in changed.tree.excluded]
    assert b"out" in excluded
    assert b"gone/y.log" not in excluded
    assert b"x.log" not in excluded
