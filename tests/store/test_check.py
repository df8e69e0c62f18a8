"""`check` finds damage, and faults of the writer that no checksum shows."""

import os

import numpy as np
import pytest

from tests.engine import answers
from triseek import errors
from triseek.index.build import build
from triseek.index.reader import IndexReader
from triseek.model.index import no_progress
from triseek.store import check as checking
from triseek.store import manifest
from triseek.store.check import check
from triseek.store.segment import SegmentBuilder


@pytest.fixture
def index_dir(tmp_path):
    answers.write(str(tmp_path / "root"), {"a": "needle\n" * 5000, "b": "other\n"})
    build(str(tmp_path / "root"), tmp_path / "index")
    return tmp_path / "index"


def test_every_segment_is_reported_and_the_bytes_are_counted(index_dir):
    steps = []
    size = check(index_dir, lambda *step: steps.append(step))
    paths = [path for path in index_dir.rglob("*") if path.is_file() and path.name != "lock"]
    assert size == sum(os.path.getsize(path) for path in paths)
    assert steps == [("check", 0, 1), ("check", 1, 1)]


def test_without_an_index_there_is_nothing_to_check(tmp_path):
    with pytest.raises(errors.IndexUnavailable, match="no index"):
        check(tmp_path, no_progress)


@pytest.mark.parametrize("dead", [[1, 0], [0, 0], [0, 2]], ids=str)
def test_dead_files_that_are_not_in_order_are_found_by_every_reader(index_dir, dead):
    before = manifest.read(index_dir)
    with SegmentBuilder(index_dir) as segment:
        live = manifest.bury(segment, before.segments[0], np.array(dead))
        segment.publish({"files": 0})
    after = manifest.Manifest(2, before.root, (live,), before.tree)
    manifest.commit(index_dir, after)
    for use in (lambda: check(index_dir, no_progress), lambda: IndexReader.open(index_dir)):
        with pytest.raises(errors.IndexCorrupt, match="dead files"):
            use()


@pytest.mark.parametrize(
    ("column", "values"),
    [("offset", [1, 16384, 0]), ("length", [9, 9, 6]), ("first_line", [2, 1, 1])],
)
def test_blocks_that_do_not_follow_each_other_are_found(index_dir, column, values):
    (view,) = IndexReader.open(index_dir).views
    rows = view.segment.blocks
    numbers = rows.numbers
    assert rows.rows == 4
    values = np.array([*values, 0], np.int64)
    rows.numbers = lambda name: values if name == column else numbers(name)
    with pytest.raises(errors.IndexCorrupt, match="blocks of a file"):
        checking._check_blocks(view.segment)
