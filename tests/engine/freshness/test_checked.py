"""What was checked is saved for one generation and never believed of another."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine import answers
from triseek.engine.freshness import checked
from triseek.engine.freshness.checked import DIFFER_MAX, Checked
from triseek.engine.freshness.sweep import Sweeper
from triseek.index.build import build
from triseek.index.reader import IndexReader

NEVER = Checked(0, 0)


@pytest.fixture
def tree(tmp_path):
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    answers.write(root, {"a": "needle\n"})
    build(root, index_dir)
    return root, index_dir


def sweeper(tree):
    root, index_dir = tree
    return Sweeper(root, IndexReader.open(index_dir))


def test_what_was_remembered_of_another_generation_is_not_believed(tree):
    late = Checked(10**18, 10**18)
    checked.remember(sweeper(tree)._reader, late)
    assert sweeper(tree)._checked == late
    build(*tree)
    assert sweeper(tree)._checked == NEVER


def test_what_is_saved_is_recalled(tree):
    reader = IndexReader.open(tree[1])
    assert checked.recall(reader) == NEVER
    results = Checked(1, 2, 3, (("segment", 4),), (5, 6))
    checked.remember(reader, results)
    assert checked.recall(reader) == results


@pytest.mark.parametrize("damage", [b"", b"{}", b"[" * 5000, b"\xff", b'{"differ": [1]}'])
def test_what_is_damaged_counts_as_never_checked(tree, damage):
    reader = IndexReader.open(tree[1])
    checked.remember(reader, Checked(1, 2))
    (Path(tree[1]) / "checked.json").write_bytes(damage)
    assert checked.recall(reader) == NEVER


def test_what_was_edited_counts_as_never_checked(tree):
    reader = IndexReader.open(tree[1])
    checked.remember(reader, Checked(1, 2))
    file = Path(tree[1]) / "checked.json"
    file.write_bytes(file.read_bytes().replace(b"[1, 2, 0]", b"[9, 2, 0]"))
    assert checked.recall(reader) == NEVER


def test_too_many_results_are_not_saved(tree):
    reader = IndexReader.open(tree[1])
    checked.remember(reader, Checked(1, 2, folders=tuple(range(DIFFER_MAX + 1))))
    assert checked.recall(reader) == NEVER
