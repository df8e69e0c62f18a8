"""The posting columns of a build and of a merge do not depend on how they are cut."""

import os
import random
import time

import numpy as np
import pytest

from tests.engine import answers
from tests.index.contents import contents
from triseek.index import batch, build, merge, posting_columns, update
from triseek.index.reader import IndexReader
from triseek.model.index import no_progress
from triseek.store import layout
from triseek.store.check import check
from triseek.store.segment import SegmentBuilder


def test_lists_of_many_spills_are_those_of_one(tmp_path, monkeypatch):
    """Small buffers spill again and again, and shares of three files make many batches."""
    rng = random.Random(3)
    files = {f"f{k:03}": rng.randbytes(3_000).replace(b"\0", b"\n") for k in range(40)}
    answers.write(tmp_path / "root", files)
    answers.write(tmp_path / "root", {"large": b"ab\ncd ef\n" * 400_000})
    whole = index_of(tmp_path, "whole")
    monkeypatch.setattr(build, "SHARE_FILES", 3)
    monkeypatch.setattr(batch, "PAIRS", 20_000)
    monkeypatch.setattr(batch, "SMALL_PAIRS", 10)
    monkeypatch.setattr(batch, "PARK_BYTES", 64)
    monkeypatch.setattr(posting_columns, "JOINED_BYTES", 5_000)
    monkeypatch.setattr(posting_columns, "_SMALL", 0)
    parted = index_of(tmp_path, "parted")
    for left, right in zip(whole, parted, strict=True):
        assert np.array_equal(left, right)


def index_of(folder, name):
    build.build(str(folder / "root"), folder / name)
    check(folder / name, no_progress)
    assert not list((folder / name).rglob("*.tmp"))
    segment = IndexReader.open(folder / name).views[0].segment
    table = (segment.blocks.numbers(column) for column, _ in layout.BLOCKS)
    return segment.trigrams, segment.offsets, segment.frequency, segment.postings.values, *table


@pytest.fixture
def two_segments(tmp_path, monkeypatch):
    """An index of two segments, with a dead file in the first."""
    answers.shorten_racy_times(monkeypatch)
    root, index_dir = str(tmp_path / "root"), tmp_path / "index"
    os.makedirs(f"{root}/.git")
    answers.write(root, {f"f{k}": f"needle {k}\n" * 30 for k in range(9)})
    time.sleep(2 * answers.TICK_S)
    build.build(root, index_dir)
    answers.write(root, {"f3": "another needle\n", "new": "needle too\n"})
    time.sleep(2 * answers.TICK_S)
    update.update(root, index_dir)
    return index_dir


@pytest.mark.parametrize("postings", [1, 7, 1 << 20])
def test_lists_folded_in_any_stretches_are_the_same(two_segments, monkeypatch, postings):
    before = contents(two_segments)
    monkeypatch.setattr(posting_columns, "FOLDED_POSTINGS", postings)
    merge.merge(two_segments, IndexReader.open(two_segments), [0, 1])
    check(two_segments, no_progress)
    assert len(IndexReader.open(two_segments).views) == 1
    assert contents(two_segments) == before


def test_a_fold_that_is_stopped_says_so(two_segments):
    views = IndexReader.open(two_segments).views
    sources = [view.segment for view in views]
    remaps = [np.arange(view.blocks, dtype=np.uint32) for view in views]
    with SegmentBuilder(two_segments) as segment, pytest.raises(posting_columns.Stopped):
        posting_columns.fold(segment, sources, remaps, no_progress, lambda: True)


def test_distinct_trigrams_are_ascending_however_many_there_are(monkeypatch):
    parts = [np.array(part, np.uint32) for part in ([9, 2], [], [2, 1 << 23])]
    few = posting_columns.distinct(parts)
    monkeypatch.setattr(posting_columns, "_SMALL", 0)
    many = posting_columns.distinct(parts)
    assert few.tolist() == many.tolist() == [2, 9, 1 << 23]
    assert few.dtype == many.dtype == np.uint32
